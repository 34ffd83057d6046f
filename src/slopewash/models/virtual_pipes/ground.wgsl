// What kernels that see the ground share.

#include "around.wgsl"
#include "edges.wgsl"
#include "base.wgsl"

// Elevation above the datum; the change is counted from a level, because it is small beside it.
fn ground(i: i32) -> f32 {
  return base(i) + cell[i].x;
}

fn grounds(at: Around) -> vec4<f32> {
  return select(vec4<f32>(ground(at.i.x), ground(at.i.y), ground(at.i.z), ground(at.i.w)), vec4<f32>(WALL), at.none);
}

// Central difference; one-sided beside nodata and walls.
fn difference(before: f32, here: f32, after: f32) -> f32 {
  let has_before = before < IS_WALL;
  let has_after = after < IS_WALL;
  let span = select(1.0, 0.5, has_before && has_after);
  return (select(here, after, has_after) - select(here, before, has_before)) * span;
}

// Erodibility of what is exposed in a cell.
fn exposed_erodibility(i: i32) -> f32 {
  return cell[i].w;
}

fn erodibilities(at: Around) -> vec4<f32> {
  return vec4<f32>(
    exposed_erodibility(at.i.x), exposed_erodibility(at.i.y), exposed_erodibility(at.i.z), exposed_erodibility(at.i.w));
}

fn talus(i: i32, R: f32) -> f32 {  // Eq. 17
  var limit = c.talus_0 + c.talus_1 * R;
#if mapped
  limit = c.talus_0 * level[i].z + (c.talus_1 * level[i].z) * R;
#endif
  return max(limit, 0.0);
}

// What multiplies the talus and the rate of slides, where a map gives them.
fn slide_shares(i: i32) -> vec2<f32> {
  var given = vec2<f32>(1.0);
#if mapped
  given = level[i].zw;
#endif
  return given;
}

// The drops down which soil slides, else nothing.
fn steeper(drops: vec4<f32>, limits: vec4<f32>) -> vec4<f32> {
  return select(vec4<f32>(0.0), drops, drops > limits);
}

fn whole_drop(to_straight: vec4<f32>, to_slanted: vec4<f32>, t: f32) -> f32 {
  return paired(steeper(to_straight, vec4<f32>(t))) + paired(steeper(to_slanted, vec4<f32>(t * DIAGONAL)));
}

// The surface beyond each edge: dry ground at the cell's own bed past open ones, a wall past others and the sea.
fn beyond_edges(b: f32) -> vec4<f32> {
  return select(vec4<f32>(WALL), outside(vec4<f32>(b)), vec4<bool>(open_west, open_east, open_north, open_south));
}

// The same for the corners: past open edges dry ground at the bed of the edge cell beside it, but none past two edges.
fn surfaces_at_corners(inside: vec4<f32>, around: Around, a: vec4<f32>) -> vec4<f32> {
  let past_columns = select(vec4<f32>(WALL), outside(a.zzww), vec4<bool>(open_west, open_east, open_west, open_east));
  let past_rows = select(vec4<f32>(WALL), outside(a.xyxy), vec4<bool>(open_north, open_north, open_south, open_south));
  return select(select(inside, past_columns, around.none.xyxy), past_rows, around.none.zzww);
}
