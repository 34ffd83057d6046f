// Where cells lie.

fn place(y: i32, x: i32) -> i32 {
  return (y - grid.origin) * grid.stride + x;
}

// Whether the cell `dy` rows south and `dx` columns east of (y, x), each -1, 0 or 1, lies beyond an edge that does not wrap.
fn beyond(y: i32, x: i32, dy: i32, dx: i32) -> bool {
  return (!wraps_rows && (y + dy < 0 || y + dy >= grid.height))
    || (!wraps_columns && (x + dx < 0 || x + dx >= grid.width));
}

// That cell; beyond an edge (y, x) itself, so that what is read there is always some cell's.
fn near(y: i32, x: i32, dy: i32, dx: i32) -> i32 {
  var row = y + dy;
  var column = x + dx;
  if (wraps_rows) {
    if (row < 0) { row = grid.north; } else if (row >= grid.height) { row = grid.south; }
  }
  if (wraps_columns) {
    if (column < 0) { column = grid.width - 1; } else if (column >= grid.width) { column = 0; }
  }
  if (beyond(y, x, dy, dx)) {
    row = y;
    column = x;
  }
  return place(row, column);
}

// The value rounded to float32. Otherwise compilers may fuse a product into a sum, or simplify a - (a - b) to b: then what
// one cell gives is no longer what its neighbour takes, and mirrored terrain gives a different result.
fn rounded(a: f32) -> f32 {
  return bitcast<f32>(bitcast<i32>(a) ^ grid.zero);
}

fn rounded4(a: vec4<f32>) -> vec4<f32> {
  return bitcast<vec4<f32>>(bitcast<vec4<i32>>(a) ^ vec4<i32>(grid.zero));
}

// Nothing below zero. Unlike max it keeps NaN, so that a run that went wrong shows.
fn not_negative(a: f32) -> f32 {
  return select(a, 0.0, a < 0.0);
}

fn not_negative4(a: vec4<f32>) -> vec4<f32> {
  return select(a, vec4<f32>(0.0), a < vec4<f32>(0.0));
}
