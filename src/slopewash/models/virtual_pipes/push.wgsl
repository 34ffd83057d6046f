// Eqs. 1-5 and 17: rain and water sources, outflow through the pipes, and the weight with which soil slides.

#include "ground.wgsl"
#include "cover.wgsl"
#include "sums.wgsl"

struct Water {
  rained: f32,
  fed: f32,
}

fn pour(i: i32) -> Water {  // Eq. 1
  let w = cell[i].y;
  var r = 1.0;
  var source = 0.0;
#if supplied
  r = supply[i].x;
  source = supply[i].y;
#endif
  let rained = rounded(w + c.rain * r);
  return Water(rained, rounded(rained + c.dt * source));
}

fn depth_after_rain(i: i32) -> f32 {
  return pour(i).fed + c.kappa * cell[i].z;
}

fn depths_after_rain(at: Around) -> vec4<f32> {
  return vec4<f32>(
    depth_after_rain(at.i.x), depth_after_rain(at.i.y), depth_after_rain(at.i.z), depth_after_rain(at.i.w));
}

fn push(i: i32, b: f32, d1: f32, around: Around, a: vec4<f32>, corners: Around, d: vec4<f32>) {  // Eqs. 2-5
  // Beyond an open edge lies dry ground at the cell's own bed, beyond a closed one a wall.
  let h = select(a + depths_after_rain(around), beyond_edges(b), around.none);
  let f = not_negative4(rounded4(c.flow_kept * flux[i]) + c.push * (b + d1 - h));
  var outflow = paired(f);
#if eight
  let h_d = surfaces_at_corners(d + depths_after_rain(corners), around, a);
  let f_d = not_negative4(rounded4(c.flow_kept * slanted_flux[i]) + (SLANTED_WIDTH * c.push) * (b + d1 - h_d));
  outflow += paired(f_d);
#endif
  let leaving = c.dt * outflow;
  let K = select(1.0, d1 / max(leaving, TINY), d1 < leaving);
  flux[i] = f * K;
#if eight
  slanted_flux[i] = f_d * K;
#endif
}

fn weigh_slides(i: i32, R: f32, b: f32, a: vec4<f32>, d: vec4<f32>) -> f32 {  // Eq. 17
  let highest = b - min(a, d);
  let H = max(max(highest.x, highest.y), max(highest.z, highest.w));
  var rate = 0.5 * c.slide;
#if mapped
  rate = rate * level[i].w;
#endif
  return rate * R * max(H, 0.0) / max(whole_drop(b - a, b - d, talus(i, R)), TINY);
}

@compute @workgroup_size(GROUP)
fn main(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32
) {
  let x = i32(id.x);
  let y = grid.first + i32(id.y);
  var gained = vec4<f32>(0.0);
  if (x < grid.width) {
    let i = place(y, x);
    let b = ground(i);
    let around = straight(y, x);
    let a = grounds(around);
    let corners = slanted(y, x);
    let d = grounds(corners);
    var w1 = cell[i].y;
    var weight = 0.0;
    if (hydraulic) {
      let water = pour(i);
      w1 = water.fed;
      gained = vec4<f32>(water.rained - cell[i].y, water.fed - water.rained, 0.0, 0.0);
      push(i, b, w1 + c.kappa * cell[i].z, around, a, corners, d);
    }
    if (eight_pipes) { weight = weigh_slides(i, exposed_erodibility(i), b, a, d); }
#if covered
    let g = vec2<f32>(difference(a.x, b, a.y), difference(a.z, b, a.w));
    let soil = faces(i, around, b, a, d, g, 0.0, vec4<f32>(0.0)).soil;
    weight = portion_of(cell[i].x - rock[i].x, leaving_soil(soil));
#endif
#if mapped
    poured[i] = vec4<f32>(w1, weight, supply[i].z, 0.0);
#endif
#if unmapped
    poured[i] = vec2<f32>(w1, weight);
#endif
  }
  let total = sum_lanes(lane, select(vec4<f32>(0.0), gained, counts(y, x)));
  if (lane == 0u) {
    add_sum(group, RAIN, total.x);
    add_sum(group, SOURCES, total.y);
  }
}
