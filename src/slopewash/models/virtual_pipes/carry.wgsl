// Steps 6 and 7: transport (15) and evaporation (16).

#include "around.wgsl"
#include "flow.wgsl"
#include "sums.wgsl"

struct Carried {
  out_w: vec4<f32>,
  out_s: vec4<f32>,
  w: f32,
  s: f32,
}

// Water and sediment that leave and come in through the pipes: what a cell gives is exactly what its neighbours take.
fn donate(i: i32, around: Around, f: vec4<f32>, come: vec4<f32>) -> Carried {
  let own = worked[i];
  let w_n = worked[around.i.x].yz;
  let e_n = worked[around.i.y].yz;
  let n_n = worked[around.i.z].yz;
  let s_n = worked[around.i.w].yz;
  let depths = vec4<f32>(depth[around.i.x], depth[around.i.y], depth[around.i.z], depth[around.i.w]);
  let share = rounded4(f * (c.dt / max(depth[i], TINY)));
  let taken = rounded4(come * (c.dt / max(depths, vec4<f32>(TINY))));
  let out_w = rounded4(share * own.y);
  let out_s = rounded4(share * own.z);
  let come_w = rounded4(taken * vec4<f32>(w_n.x, e_n.x, n_n.x, s_n.x));
  let come_s = rounded4(taken * vec4<f32>(w_n.y, e_n.y, n_n.y, s_n.y));
  return Carried(
    out_w, out_s,
    not_negative(own.y - paired(out_w)) + paired(come_w),
    not_negative(own.z - paired(out_s)) + paired(come_s));
}

#if semi_lagrangian
// A neighbour's sediment; nodata and what lies beyond closed edges count as the cell's own.
fn tap(i: i32, own: f32) -> f32 {
  return select(own, worked[i].z, level[i] < IS_WALL);
}

fn trace_back(y: i32, x: i32, i: i32, v: vec2<f32>) -> f32 {  // Eq. 15
  let own = worked[i].z;
  let back = clamp(-c.dt * v, vec2<f32>(-1.0), vec2<f32>(1.0));
  let before = max(vec2<f32>(0.0), -back);  // west, north
  let after = max(vec2<f32>(0.0), back);  // east, south
  let here = 1.0 - abs(back);
  let above = (before.x * tap(near(y, x, -1, -1), own) + after.x * tap(near(y, x, -1, 1), own))
    + here.x * tap(near(y, x, -1, 0), own);
  let below = (before.x * tap(near(y, x, 1, -1), own) + after.x * tap(near(y, x, 1, 1), own))
    + here.x * tap(near(y, x, 1, 0), own);
  let beside = (before.x * tap(near(y, x, 0, -1), own) + after.x * tap(near(y, x, 0, 1), own)) + here.x * own;
  return select(own, (before.y * above + after.y * below) + here.y * beside, level[i] < IS_WALL);
}

#endif
// What leaves through the pipes of an open border cell.
fn exported(y: i32, x: i32, out: vec4<f32>) -> f32 {
  let open_pipes = vec4<bool>(
    open_west && x == 0, open_east && x == grid.width - 1, open_north && y == 0, open_south && y == grid.height - 1);
  return paired(select(vec4<f32>(0.0), out, open_pipes));
}

@compute @workgroup_size(GROUP)
fn main(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32
) {
  let x = i32(id.x);
  let y = grid.first + i32(id.y);
  var gone = vec4<f32>(0.0);
  if (x < grid.width) {
    let i = place(y, x);
    let around = straight(y, x);
    var next = worked[i];
    if (hydraulic) {
      let f = flux[i];
      let come = inflow(around);
      let discharged = discharge(f, come);
      flow[i] += length(discharged);
      let carried = donate(i, around, f, come);
      next.y = rounded(carried.w * c.keep);  // Eq. 16
      next.z = carried.s;
      gone.x = carried.w - next.y;
#if semi_lagrangian
      next.z = trace_back(y, x, i, velocity(discharged, depth[i], move_depth(depth[i], f, come)));
#endif
      gone.y = exported(y, x, carried.out_w);
      if (!semi_lagrangian) { gone.z = exported(y, x, carried.out_s); }
    }
    cell[i] = next;
  }
  let total = sum_lanes(lane, gone);
  if (lane == 0u) {
    add_sum(group, EVAPORATED, total.x);
    add_sum(group, WATER_EXPORTED, total.y);
    add_sum(group, SOLIDS_EXPORTED, total.z);
  }
}
