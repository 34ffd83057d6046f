// What kernels that see the ground share. Vectors of neighbours are (west, east, north, south) and (nw, ne, sw, se); sums
// are paired, so that a mirrored terrain gives the mirrored result bit for bit.

#include "grid.wgsl"

fn straight(y: i32, x: i32) -> vec4<i32> {
  return vec4<i32>(near(y, x, 0, -1), near(y, x, 0, 1), near(y, x, -1, 0), near(y, x, 1, 0));
}

fn skew(y: i32, x: i32) -> vec4<i32> {
  return vec4<i32>(near(y, x, -1, -1), near(y, x, -1, 1), near(y, x, 1, -1), near(y, x, 1, 1));
}

fn paired(a: vec4<f32>) -> f32 {
  return (a.x + a.y) + (a.z + a.w);
}

// Elevation above the datum; the change since the start is kept apart, because it is what is small.
fn ground(i: i32) -> f32 {
  if (i == NOWHERE) { return WALL; }
  return start[i] + cell[i].x;
}

fn grounds(i: vec4<i32>) -> vec4<f32> {
  return vec4<f32>(ground(i.x), ground(i.y), ground(i.z), ground(i.w));
}

// Erodibility of what lies open in a cell.
fn exposed_erodibility(i: i32) -> f32 {
  if (i == NOWHERE) { return 0.0; }
  return cell[i].w;
}

fn talus(i: i32) -> f32 {  // Eq. 17
  return max(c.talus_0 + c.talus_1 * exposed_erodibility(i), 0.0);
}

// The drops down which soil slides, else nothing.
fn steeper(drops: vec4<f32>, limits: vec4<f32>) -> vec4<f32> {
  return select(vec4<f32>(0.0), drops, drops > limits);
}

fn whole_drop(to_straight: vec4<f32>, to_skew: vec4<f32>, t: f32) -> f32 {
  return paired(steeper(to_straight, vec4<f32>(t))) + paired(steeper(to_skew, vec4<f32>(t * DIAGONAL)));
}
