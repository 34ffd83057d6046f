// Steps 6 and 7: transport (15) and evaporation (16).

#include "around.wgsl"
#include "edges.wgsl"
#include "flow.wgsl"
#include "sums.wgsl"

// Water and sediment that leave and come in through some pipes, and what of it leaves the grid.
struct Carried {
  out: vec2<f32>,
  come: vec2<f32>,
  exported: vec2<f32>,
}

// What a cell gives through four pipes is exactly what its neighbours take.
fn donate(i: i32, at: Around, f: vec4<f32>, come: vec4<f32>) -> Carried {
  let w = worked[at.i.x].yz;
  let e = worked[at.i.y].yz;
  let n = worked[at.i.z].yz;
  let s = worked[at.i.w].yz;
  let depths = vec4<f32>(w.x, e.x, n.x, s.x);
  let water = vec4<f32>(poured[at.i.x].x, poured[at.i.y].x, poured[at.i.z].x, poured[at.i.w].x);
  let share = rounded4(f * (c.dt / max(worked[i].y, TINY)));
  let taken = rounded4(come * (c.dt / max(depths, vec4<f32>(TINY))));
  let out_w = rounded4(share * poured[i].x);
  let out_s = rounded4(share * worked[i].z);
  let come_w = rounded4(taken * water);
  let come_s = rounded4(taken * vec4<f32>(w.y, e.y, n.y, s.y));
  return Carried(
    vec2<f32>(paired(out_w), paired(out_s)),
    vec2<f32>(paired(come_w), paired(come_s)),
    vec2<f32>(past_edges(out_w, at), past_edges(out_s, at)));
}

// Nothing flows beyond an edge that is not open.
fn past_edges(out: vec4<f32>, at: Around) -> f32 {
  return paired(select(vec4<f32>(0.0), out, at.none));
}

#if levelled
#include "base.wgsl"

#endif
#if semi_lagrangian
// A neighbour's sediment; nodata and what lies beyond closed edges count as the cell's own.
fn tap(i: i32, own: f32) -> f32 {
  return select(own, worked[i].z, base(i) < IS_WALL);
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
  return select(own, (before.y * above + after.y * below) + here.y * beside, base(i) < IS_WALL);
}

#endif
#if sea
// Water and sediment of a border cell in the sea: what stands above its level leaves, what lacks comes in.
fn at_sea_level(depth: f32, held: vec2<f32>) -> vec2<f32> {
  let s = rounded(held.y * min(depth / max(held.x + c.kappa * held.y, TINY), 1.0));
  return vec2<f32>(max(0.0, depth - c.kappa * s), s);
}

#endif
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
      var passing = length(discharged);
      var carried = donate(i, around, f, come);
#if eight
      let corners = slanted(y, x);
      let f_d = slanted_flux[i];
      let across = donate(i, corners, f_d, slanted_inflow(corners));
      passing = paired(f) + paired(f_d);
      carried.out += across.out;
      carried.come += across.come;
      carried.exported += across.exported;
#endif
      flow[i] += passing;
      let w = not_negative(poured[i].x - carried.out.x) + carried.come.x;
      var keep = c.keep;
#if mapped
      keep = c.keep * poured[i].z + (1.0 - poured[i].z);
#endif
      next.y = rounded(w * keep);  // Eq. 16
      next.z = not_negative(worked[i].z - carried.out.y) + carried.come.y;
      gone = vec4<f32>(w - next.y, carried.exported, 0.0);
#if semi_lagrangian
      let d1 = worked[i].y;
      next.z = trace_back(y, x, i, velocity(discharged, d1, move_depth(d1, paired(f), paired(come))));
      gone.z = 0.0;
#endif
#if sea
      let depth = c.sea_level - (base(i) + next.x);
      if (on_open_edge(y, x) && depth > 0.0) {
        let held = at_sea_level(depth, next.yz);
        gone = vec4<f32>(gone.x, gone.y, gone.z + (next.z - held.y), next.y - held.x);
        next = vec4<f32>(next.x, held, next.w);
      }
#endif
    }
    cell[i] = next;
  }
  let total = sum_lanes(lane, select(vec4<f32>(0.0), gone, counts(y, x)));
  if (lane == 0u) {
    add_sum(group, EVAPORATED, total.x);
    add_sum(group, WATER_EXPORTED, total.y);
    add_sum(group, SOLIDS_EXPORTED, total.z);
#if sea
    add_sum(group, SEA, total.w);
#endif
  }
}
