// Every cell sends soil where it chose to, and receives what its neighbours send.

#include "around.wgsl"
#include "sums.wgsl"

// How many of the neighbours chose the directions that lead here; the opposite of direction k is 7 - k.
fn senders(at: Around, directions: vec4<i32>) -> i32 {
  let chosen = vec4<i32>(to[at.i.x], to[at.i.y], to[at.i.z], to[at.i.w]);
  let here = select(vec4<i32>(0), vec4<i32>(1), chosen == vec4<i32>(7) - directions);
  let counted = select(here, vec4<i32>(0), at.none);
  return counted.x + counted.y + counted.z + counted.w;
}

@compute @workgroup_size(GROUP)
fn main(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32
) {
  let x = i32(id.x);
  let y = grid.first + i32(id.y);
  var sent = 0;
  if (x < grid.width) {
    let i = place(y, x);
    let received = senders(straight(y, x), vec4<i32>(3, 4, 1, 6)) + senders(slanted(y, x), vec4<i32>(0, 2, 5, 7));
    sent = select(0, 1, to[i] != NOWHERE);
    n[i] = n[i] + talus.amplitude * (received - sent);
#if layered
    rock[i] = min(rock[i], n[i]);
#endif
  }
  let total = sum_lanes(lane, vec4<f32>(select(0.0, f32(sent), counts(y, x)), 0.0, 0.0, 0.0));
  if (lane == 0u) { add_sum(group, SENT, total.x); }
}
