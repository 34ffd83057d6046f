// Eqs. 6-14 and 18: depth, velocity, capacity, exchange between water and ground, and slides.

#include "ground.wgsl"
#include "cover.wgsl"
#include "flow.wgsl"
#include "sums.wgsl"

fn near_depth(i: i32) -> f32 {
  return poured[i].x + c.kappa * cell[i].z;
}

fn near_depths(at: Around) -> vec4<f32> {
  return vec4<f32>(near_depth(at.i.x), near_depth(at.i.y), near_depth(at.i.z), near_depth(at.i.w));
}

fn capacity_along_flow(Q: f32, P: f32) -> f32 {  // Eq. 10, with roots of the discharge and fans
  let S = P / max(Q, TINY);
  let sine = max(S / sqrt(1.0 + S * S), c.sin_min);
  let root = sqrt(Q);
  let held = c.Kc * sine * Q + sine * (c.Kc75 * (root * sqrt(root)) + c.Kc50 * root);
  return held * sqrt(min(sine * c.per_fan, 1.0));
}

// What the flow through four pipes loses, as the sum of discharge times drop.
fn lost_on_the_way(f: vec4<f32>, drops: vec4<f32>) -> f32 {
  return paired(rounded4(f * max(vec4<f32>(0.0), drops)));
}

fn capacity_by_slope(g: vec2<f32>, v: vec2<f32>) -> f32 {  // Eqs. 9-11
  let steep = g.x * g.x + g.y * g.y;
  let speed = sqrt(v.x * v.x + v.y * v.y);
  var tilt = sqrt(steep / (1.0 + steep));
  if (collision) { tilt = (g.x * v.x + g.y * v.y) / (max(speed, TINY) * sqrt(1.0 + steep)); }
  return c.Kc * max(tilt, c.sin_min) * speed;
}

// What the ground loses to the water; negative where it gains.
fn exchange(drop: f32, s: f32, R: f32, C: f32, d2: f32, loose: f32) -> f32 {  // Eqs. 12-13
  var wanted = c.take * R * (C - s);
  if (covered) {  // cover first, as soft as can be, then rock
    let soil = min(c.take * (C - s), loose);
    wanted = soil + R * (c.take * (C - s) - soil);
  }
  var take = min(wanted, c.water_0 + c.water_1 * d2);
  take = min(take, c.load_0 + c.load_1 * d2 - c.load_2 * s);
  take = min(take, c.dig_0 + c.dig_1 * max(0.0, drop));
  let fall = min(min(c.drop * (s - C), s), c.rise_0 + c.rise_1 * d2);
  return select(-fall, max(0.0, take), s < C);
}

struct Slides {
  gain: f32,
  sent: f32,
}

fn gains(at: Around, drops: vec4<f32>, distance: f32) -> vec4<f32> {  // Eq. 18
  let R = erodibilities(at);
  let limits = distance * vec4<f32>(talus(at.i.x, R.x), talus(at.i.y, R.y), talus(at.i.z, R.z), talus(at.i.w, R.w));
  let weights = vec4<f32>(poured[at.i.x].y, poured[at.i.y].y, poured[at.i.z].y, poured[at.i.w].y);
  return select(rounded4(weights * steeper(drops, limits)), vec4<f32>(0.0), at.none);
}

fn slide_eight_pipes(i: i32, b: f32, around: Around, a: vec4<f32>, corners: Around, d: vec4<f32>) -> Slides {
  let sent = rounded(poured[i].y * whole_drop(b - a, b - d, talus(i, exposed_erodibility(i))));
  let come = paired(gains(around, a - b, 1.0)) + paired(gains(corners, d - b, DIAGONAL));
  return Slides(come - sent, sent);
}

// Soil through one face along the true fall line; `i` and `i_n` are the cells on either side.
fn face_flux(i: i32, i_n: i32, b: f32, b_n: f32, R: f32, R_n: f32, gt: f32, gt_n: f32) -> f32 {
  let gn = b - b_n;
  let along = 0.5 * (gt + gt_n);
  let g = sqrt(gn * gn + along * along);
  let R_high = select(R_n, R, gn > 0.0);
  var limit = c.talus_0 + c.talus_1 * R_high;
  var slides = c.slide;
#if mapped
  let share = select(slide_shares(i_n), slide_shares(i), gn > 0.0);
  limit = c.talus_0 * share.x + (c.talus_1 * share.x) * R_high;
  slides = c.slide * share.y;
#endif
  let rate = c.creep + slides * R_high * max(0.0, 1.0 - limit / max(g, TINY));
  return select(0.0, rounded(rate * gn), b < IS_WALL && b_n < IS_WALL);
}

fn slide_fall_line(i: i32, b: f32, around: Around, a: vec4<f32>, d: vec4<f32>, g: vec2<f32>) -> Slides {
  let R = exposed_erodibility(i);
  let R_n = erodibilities(around);
  let east = face_flux(i, around.i.y, b, a.y, R, R_n.y, g.y, difference(d.y, a.y, d.w));
  let south = face_flux(i, around.i.w, b, a.w, R, R_n.w, g.x, difference(d.z, a.w, d.w));
  let west = face_flux(around.i.x, i, a.x, b, R_n.x, R, difference(d.x, a.x, d.z), g.y);
  let north = face_flux(around.i.z, i, a.z, b, R_n.z, R, difference(d.x, a.z, d.y), g.x);
  return Slides((west - east) + (north - south), abs(east) + abs(south));
}

#if covered
fn slide_with_cover(i: i32, b: f32, around: Around, a: vec4<f32>, d: vec4<f32>, g: vec2<f32>) -> Slides {
  let through = faces(i, around, b, a, d, g, exposed_erodibility(i), erodibilities(around));
  let theirs = vec4<f32>(poured[around.i.x].y, poured[around.i.y].y, poured[around.i.z].y, poured[around.i.w].y);
  // Beyond edges there are walls, to which nothing slides.
  let portion = select(theirs, vec4<f32>(poured[i].y), through.soil > vec4<f32>(0.0));
  let out = through.rock + rounded4(portion * through.soil);
  let sent = select(abs(out), vec4<f32>(0.0), vec4<bool>(true, false, true, false));
  return Slides((-out.x - out.y) + (-out.z - out.w), sent.y + sent.w);
}

// Cover that stays where soil slides.
fn cover_left(i: i32, around: Around, b: f32, a: vec4<f32>, d: vec4<f32>, g: vec2<f32>) -> f32 {
  let loose = cell[i].x - rock[i].x;
  if (!fall_line) { return loose; }
  let out = leaving_soil(faces(i, around, b, a, d, g, 0.0, vec4<f32>(0.0)).soil);
  return max(loose - rounded(poured[i].y * out), 0.0);
}

// The exponential of -x, for x of zero or more.
fn decay(x: f32) -> f32 {
  let part = x * (1.0 / DECAY);
  let t = max(1.0 - part, 0.0) / (1.0 + part);
  let t2 = t * t;
  let t4 = t2 * t2;
  return t4 * t4;
}

#endif
fn slide(i: i32, b: f32, around: Around, a: vec4<f32>, corners: Around, d: vec4<f32>, g: vec2<f32>) -> Slides {
#if covered
  if (fall_line) { return slide_with_cover(i, b, around, a, d, g); }
#endif
  if (eight_pipes) { return slide_eight_pipes(i, b, around, a, corners, d); }
  if (fall_line) { return slide_fall_line(i, b, around, a, d, g); }
  return Slides(0.0, 0.0);
}

fn lowest(heights: vec4<f32>) -> f32 {
  return min(min(heights.x, heights.y), min(heights.z, heights.w));
}

fn wear(
  i: i32, b: f32, d1: f32, around: Around, a: vec4<f32>, corners: Around, d: vec4<f32>, g: vec2<f32>
) -> f32 {
  let s = cell[i].z;
  let f = flux[i];
  let come = inflow(around);
  var leaving = paired(f);
  var coming = paired(come);
  var drop = b - lowest(a);
#if eight
  let f_d = slanted_flux[i];
  leaving += paired(f_d);
  coming += paired(slanted_inflow(corners));
  drop = max(drop, (b - lowest(d)) * SHORTENING);
#endif
  let d2 = move_depth(d1, leaving, coming);
  var C = 0.0;
  if (along_flow) {
    let h = select(a + near_depths(around), beyond_edges(b), around.none);
    var P = lost_on_the_way(f, b + d1 - h);
    var Q = sqrt(paired(rounded4(f * f)));
#if eight
    let h_d = surfaces_at_corners(d + near_depths(corners), around, a);
    P += rounded(lost_on_the_way(f_d, b + d1 - h_d) * SHORTENING);
    Q = leaving;
#endif
    C = capacity_along_flow(Q, P);
  } else {
    C = capacity_by_slope(g, velocity(discharge(f, come), d1, d2));
  }
#if mapped
  C = C * level[i].y;
#endif
  let ramp = clamp(c.ramp_0 + c.ramp_1 * d1, 0.0, 1.0);  // Eq. 10
  var loose = 0.0;
#if covered
  loose = cover_left(i, around, b, a, d, g);
#endif
  return exchange(drop, s, exposed_erodibility(i), C * ramp, d2, loose);
}

// Erodibility of the layers in the bedrock's face, by their parts of it, or 1 where loose soil covers it.
fn expose(loose: f32, below: f32, step: f32) -> f32 {
  var begins = BEGINS;
  var own = OWN;
  let face = max(step, LEAST_FACE);
  var R = own[0];
  for (var k = 1u; k < LAYERS; k++) {
    let share = max(1.0 + (below - begins[k]) / face, 0.0);  // of the face that lies below this boundary
    R = select(R + (own[k] - own[k - 1u]) * share, own[k], below >= begins[k]);
  }
  let covered = min(loose * c.per_cover, 1.0);
  return min(R * (1.0 - covered) + covered, 1.0);
}

// Sine of an angle in turns, by parabolas.
fn sine(turns: f32) -> f32 {
  let t = turns - floor(turns + 0.5);
  let half_wave = t * (8.0 - 16.0 * abs(t));
  return half_wave * ((1.0 - ROUNDING) + ROUNDING * abs(half_wave));
}

// Erodibility of the bed at the surface; R is that of the rock without its beds.
fn expose_beds(surface: f32, phase: f32, R: f32) -> f32 {
  let u = surface * c.per_bed + phase;
  let softer = c.bed_contrast * (sine(u) + SECOND * sine(u * SECOND_PER_BED + SECOND_SHIFT));
  return min(max(R + softer, HARDEST), 1.0);
}

@compute @workgroup_size(GROUP)
fn main(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32
) {
  let x = i32(id.x);
  let y = grid.first + i32(id.y);
  var moved = vec4<f32>(0.0);
  if (x < grid.width) {
    let i = place(y, x);
    let b = ground(i);
    let around = straight(y, x);
    let a = grounds(around);
    let g = vec2<f32>(difference(a.x, b, a.y), difference(a.z, b, a.w));
    let corners = slanted(y, x);
    let d = grounds(corners);
    let slid = slide(i, b, around, a, corners, d, g);
    // On open edges `level` is base level: no process takes the border below it, nor deposits anything on a graded one
    // above the sea.
    let held = on_open_edge(y, x);
    let change = cell[i].x;
    let highest = max(change, c.sea_level - base(i));
    var depth = poured[i].x;
    var delta = 0.0;
    if (hydraulic) {
      depth = near_depth(i);
      delta = wear(i, b, depth, around, a, corners, d, g);
    }
    if (held) {
      delta = min(delta, max(0.0, change));
      if (graded) { delta = max(delta, change - highest); }
    }
    let worn = rounded(change - delta);
    let lost = change - worn;  // what the ground really lost, after rounding
    let loose = rounded(worn + slid.gain);
    var left = loose;
    if (held) {
      left = max(left, 0.0);
      if (graded) { left = min(left, highest); }
    }
    var R = cell[i].w;
    if (hydraulic && lost < 0.0) { R = min(1.0, R - c.Kh * lost); }  // Eq. 14
#if rocky
    rock[i].x = min(rock[i].x, left);
#endif
#if covered
    if (b < IS_WALL) { rock[i].x -= c.weather * decay((left - rock[i].x) * c.per_weather); }
#endif
#if layered
    R = select(0.0, expose(left - rock[i].x, rock[i].y - rock[i].x, max(0.0, b - lowest(a))), b < IS_WALL);
#endif
#if bedded
    var surface = base(i) + left;
    if (covered) { surface = base(i) + rock[i].x; }
    R = select(0.0, expose_beds(surface, rock[i].y, rock[i].z), b < IS_WALL);
#endif
    worked[i] = vec4<f32>(left, depth, not_negative(cell[i].z + lost), R);
    moved = vec4<f32>(slid.sent + max(lost, 0.0), loose - left, 0.0, 0.0);
  }
  let total = sum_lanes(lane, select(vec4<f32>(0.0), moved, counts(y, x)));
  if (lane == 0u) {
    add_sum(group, MOVED, total.x);
    add_sum(group, HELD, total.y);
  }
}
