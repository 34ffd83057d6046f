// Where cells lie. Indices of cells beyond a closed or open edge are NOWHERE.

const NOWHERE: i32 = -1;

fn place(y: i32, x: i32) -> i32 {
  return (y - grid.origin) * grid.stride + x;
}

fn row_north(y: i32) -> i32 {
  if (y > 0) { return y - 1; }
  return grid.north;
}

fn row_south(y: i32) -> i32 {
  if (y < grid.height - 1) { return y + 1; }
  return grid.south;
}

fn column_west(x: i32) -> i32 {
  if (x > 0) { return x - 1; }
  return grid.width - 1;
}

fn column_east(x: i32) -> i32 {
  if (x < grid.width - 1) { return x + 1; }
  return 0;
}

// Cell in the row `dy` south and the column `dx` east of (y, x), each -1, 0 or 1.
fn near(y: i32, x: i32, dy: i32, dx: i32) -> i32 {
  if (!periodic && (y + dy < 0 || y + dy >= grid.height || x + dx < 0 || x + dx >= grid.width)) {
    return NOWHERE;
  }
  var row = y;
  var column = x;
  if (dy < 0) { row = row_north(y); } else if (dy > 0) { row = row_south(y); }
  if (dx < 0) { column = column_west(x); } else if (dx > 0) { column = column_east(x); }
  return place(row, column);
}

fn on_border(y: i32, x: i32) -> bool {
  return y == 0 || y == grid.height - 1 || x == 0 || x == grid.width - 1;
}

// The value as float32 has it. Compilers may else fuse a product into a sum, or simplify a - (a - b) to b: then what one
// cell gives is no longer what its neighbour takes, and mirrored ground gives other bits.
fn rounded(a: f32) -> f32 {
  return bitcast<f32>(bitcast<i32>(a) ^ grid.zero);
}

fn rounded4(a: vec4<f32>) -> vec4<f32> {
  return bitcast<vec4<f32>>(bitcast<vec4<i32>>(a) ^ vec4<i32>(grid.zero));
}
