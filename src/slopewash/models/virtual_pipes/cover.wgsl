// Loose cover on bedrock: what rock and soil move through the faces of a cell, along the true fall line.

struct Fluxes {
  rock: f32,
  soil: f32,
}

// `i` and `i_n` are the cells on either side.
fn face_fluxes(i: i32, i_n: i32, b: f32, b_n: f32, R: f32, R_n: f32, gt: f32, gt_n: f32) -> Fluxes {
  let gn = b - b_n;
  let along = 0.5 * (gt + gt_n);
  let per_g = 1.0 / max(sqrt(gn * gn + along * along), TINY);
  let R_high = select(R_n, R, gn > 0.0);
  var rock = c.slide * R_high * max(0.0, 1.0 - (c.talus_0 + c.talus_1 * R_high) * per_g);
  var soil = c.creep + c.cover_slide * max(0.0, 1.0 - c.cover_talus * per_g);
#if mapped
  let share = select(slide_shares(i_n), slide_shares(i), gn > 0.0);
  let limit = c.talus_0 * share.x + (c.talus_1 * share.x) * R_high;
  rock = (c.slide * share.y) * R_high * max(0.0, 1.0 - limit * per_g);
  soil = c.creep + (c.cover_slide * share.y) * max(0.0, 1.0 - (c.cover_talus * share.x) * per_g);
#endif
  let between = b < IS_WALL && b_n < IS_WALL;
  return Fluxes(select(0.0, rounded(rock * gn), between), select(0.0, rounded(soil * gn), between));
}

// Rock and soil through the western, eastern, northern and southern face; a: straight, d: slanted neighbours. Away from
// the cell counts as positive.
struct Faces {
  rock: vec4<f32>,
  soil: vec4<f32>,
}

fn faces(
  i: i32, at: Around, b: f32, a: vec4<f32>, d: vec4<f32>, g: vec2<f32>, R: f32, R_n: vec4<f32>
) -> Faces {
  // Each face as the cell west or north of it sees it: both sides compute the same bits.
  let east = face_fluxes(i, at.i.y, b, a.y, R, R_n.y, g.y, difference(d.y, a.y, d.w));
  let south = face_fluxes(i, at.i.w, b, a.w, R, R_n.w, g.x, difference(d.z, a.w, d.w));
  let west = face_fluxes(at.i.x, i, a.x, b, R_n.x, R, difference(d.x, a.x, d.z), g.y);
  let north = face_fluxes(at.i.z, i, a.z, b, R_n.z, R, difference(d.x, a.z, d.y), g.x);
  return Faces(vec4<f32>(-west.rock, east.rock, -north.rock, south.rock),
    vec4<f32>(-west.soil, east.soil, -north.soil, south.soil));
}

fn leaving_soil(soil: vec4<f32>) -> f32 {
  return paired(max(vec4<f32>(0.0), soil));
}

// What part of the soil that would leave a cell is there.
fn portion_of(loose: f32, leaving: f32) -> f32 {
  return min(loose / max(leaving, TINY), 1.0);
}
