// Open edges, and the sea beyond them.

fn on_open_edge(y: i32, x: i32) -> bool {
  return (open_west && x == 0) || (open_east && x == grid.width - 1)
    || (open_north && y == 0) || (open_south && y == grid.height - 1);
}

// What the pipes of border cells with these beds see past an open edge: dry ground. No pipe leads out of the sea.
fn outside(beds: vec4<f32>) -> vec4<f32> {
  var seen = beds;
#if sea
  seen = select(beds, vec4<f32>(WALL), beds < vec4<f32>(c.sea_level));
#endif
  return seen;
}
