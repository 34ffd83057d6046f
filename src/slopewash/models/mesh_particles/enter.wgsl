// At the start of a sub-step every particle that is there enters its bucket; the time until it is there, and until it
// has evaporated, runs on.

#include "items.wgsl"
#include "buckets.wgsl"

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = item(id, groups);
  if (i >= arrayLength(&keys)) { return; }
  if (i32(i) >= flow.particles) {
    keys[i] = vec2<u32>(NO_BUCKET, 0u);
    return;
  }
  var s = states[i];
  let here = s.y == ALIVE && s.z <= 0 && s.w > 0;
  if (s.y == LEFT) { s.y = GONE; }
  states[i] = vec4<i32>(s.xy, s.z - 1, s.w - 1);
  if (here) {
    let bucket = bucket_of(cell_of(positions[i].xy));
    keys[i] = vec2<u32>(bucket, atomicAdd(&counts[bucket], 1u));
  } else {
    keys[i] = vec2<u32>(NO_BUCKET, 0u);
  }
}
