// Acceleration of each particle by its neighbours: spring, damper and friction, summed bucket by bucket, by number.

#include "items.wgsl"
#include "buckets.wgsl"

fn pair(apart: vec3<f32>, approach: vec3<f32>, square: f32) -> vec3<f32> {
  let distance = sqrt(square);
  let normal = apart / distance;
  let closing = dot(approach, normal);
  let force = (flow.damper - flow.friction) * closing - flow.spring * (2.0 * flow.radius - distance);
  return force * normal + flow.friction * approach;
}

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let k = item(id, groups);
  if (k >= starts[arrayLength(&starts) - 1u]) { return; }
  let i = order[k];  // those of a bucket side by side
  let x = positions[i].xyz;
  let v = velocities[i].xyz;
  let reach = 2.0 * flow.radius;
  let cell = cell_of(x.xy);
  var around = NEIGHBOURS;
  var sum = vec3<f32>(0.0);
  for (var n = 0u; n < 9u; n++) {
    let bucket = bucket_of(cell + around[n]);
    for (var m = starts[bucket]; m < starts[bucket + 1u]; m++) {
      let j = order[m];
      let apart = positions[j].xyz - x;
      let square = dot(apart, apart);
      if (square >= reach * reach || j == i) { continue; }
      if (square == 0.0) {  // in the same place: east and west
        sum.x += select(-1.0, 1.0, i > j) * flow.spring * reach;
      } else {
        sum += pair(apart, velocities[j].xyz - v, square);
      }
    }
  }
  pushes[i] = vec4<f32>(sum, 0.0);
}
