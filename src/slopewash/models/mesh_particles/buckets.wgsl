// Cells of the grid of particles, folded onto a table of buckets: cells far apart may share one, neighbours never do.

const NEIGHBOURS = array<vec2<i32>, 9>(
  vec2<i32>(-1, -1), vec2<i32>(0, -1), vec2<i32>(1, -1),
  vec2<i32>(-1, 0), vec2<i32>(0, 0), vec2<i32>(1, 0),
  vec2<i32>(-1, 1), vec2<i32>(0, 1), vec2<i32>(1, 1));

fn cell_of(x: vec2<f32>) -> vec2<i32> {
  return vec2<i32>(floor(x * flow.cells_per_metre));
}

fn bucket_of(cell: vec2<i32>) -> u32 {
  let folded = cell & vec2<i32>(flow.side - 1);
  return u32(folded.y * flow.side + folded.x);
}
