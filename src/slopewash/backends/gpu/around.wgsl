// Neighbours as vectors: axial (west, east, north, south) and diagonal (nw, ne, sw, se). Sums over them are paired, so
// that a mirrored terrain gives the mirrored result bit for bit.

#include "grid.wgsl"

struct Around {
  i: vec4<i32>,
  none: vec4<bool>,  // beyond a closed or open edge
}

fn straight(y: i32, x: i32) -> Around {
  return Around(
    vec4<i32>(near(y, x, 0, -1), near(y, x, 0, 1), near(y, x, -1, 0), near(y, x, 1, 0)),
    vec4<bool>(beyond(y, x, 0, -1), beyond(y, x, 0, 1), beyond(y, x, -1, 0), beyond(y, x, 1, 0)));
}

fn slanted(y: i32, x: i32) -> Around {
  return Around(
    vec4<i32>(near(y, x, -1, -1), near(y, x, -1, 1), near(y, x, 1, -1), near(y, x, 1, 1)),
    vec4<bool>(beyond(y, x, -1, -1), beyond(y, x, -1, 1), beyond(y, x, 1, -1), beyond(y, x, 1, 1)));
}

fn paired(a: vec4<f32>) -> f32 {
  return (a.x + a.y) + (a.z + a.w);
}
