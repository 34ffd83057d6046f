// At the end of a step every grain on its way grows older. It falls when its time is over or its particle has evaporated,
// on the triangle below it, and is exported when its particle has left.

#include "items.wgsl"

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let g = item(id, groups);
  if (i32(g) >= flow.grains) { return; }
  var grain = grains[g];  // its particle, steps left, what became of it
  if (grain.z != ON_ITS_WAY) { return; }
  let s = states[grain.x];
  grain.y -= 1;
  if (s.y != ALIVE) {
    grain.z = EXPORTED;
  } else if (grain.y <= 0 || s.w <= 0) {
    grain.z = s.x;
  }
  grains[g] = grain;
}
