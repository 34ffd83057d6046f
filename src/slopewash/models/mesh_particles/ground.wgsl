// Triangles of the mesh. Everything is reckoned from a triangle's first corner, where float32 is fine enough.

fn part(t: i32, k: i32) -> vec4<f32> {
  return bitcast<vec4<f32>>(triangles[PARTS * t + k]);
}

struct Plane {
  corner: vec3<f32>,
  gradient: vec2<f32>,
}

fn plane(t: i32) -> Plane {
  return Plane(part(t, 0).xyz, part(t, 1).xy);
}

// Least weight of the three corners at an offset from the first; negative outside.
fn least_weight(t: i32, offset: vec2<f32>) -> f32 {
  let other = part(t, 1).zw + vec2<f32>(
    dot(part(t, 2).xy, offset), dot(part(t, 2).zw, offset));
  return min(min(other.x, other.y), 1.0 - other.x - other.y);
}

fn inside(t: i32, x: vec2<f32>) -> f32 {
  return least_weight(t, x - part(t, 0).xy);
}

fn normal(t: i32) -> vec3<f32> {
  let g = plane(t).gradient;
  return vec3<f32>(-g, 1.0) / sqrt(1.0 + dot(g, g));
}

// First and last column and row of the grid of triangles that a box lies in, a hair widened for rounding.
struct Box {
  low: vec2<i32>,
  high: vec2<i32>,
}

fn box_of(a: vec2<f32>, b: vec2<f32>) -> Box {
  let last = vec2<i32>(flow.columns - 1, flow.rows - 1);
  let corner = vec2<f32>(flow.west, flow.north);
  let low = (min(a, b) - corner) * flow.boxes_per_metre - HAIR;
  let high = (max(a, b) - corner) * flow.boxes_per_metre + HAIR;
  return Box(clamp(vec2<i32>(low), vec2<i32>(0), last), clamp(vec2<i32>(high), vec2<i32>(0), last));
}

// Triangle below a point: the first that holds it, or the one it misses least.
fn locate(x: vec2<f32>) -> i32 {
  let box = box_of(x, x);
  var best = -1;
  var nearest = -FAR;
  for (var row = box.low.y; row <= box.high.y; row++) {
    let last = box_starts[row * flow.columns + box.high.x + 1];
    for (var k = box_starts[row * flow.columns + box.low.x]; k < last; k++) {
      let t = boxed[k];
      let least = min(inside(t, x), 0.0);
      if (least > nearest || (least == nearest && t < best)) {
        best = t;
        nearest = least;
      }
    }
  }
  return best;
}

// Share of the way at which it goes through triangle t from above (Fig. 1a).
fn strike(t: i32, x: vec3<f32>, way: vec3<f32>) -> f32 {
  let p = plane(t);
  let offset = x - p.corner;
  let above = offset.z - dot(p.gradient, offset.xy);
  let below = above + (way.z - dot(p.gradient, way.xy));
  if (above >= 0.0 && below < 0.0) {
    let share = above / (above - below);
    if (least_weight(t, offset.xy + share * way.xy) >= -SLACK) { return share; }
  }
  return MISS;
}

struct Hit {
  triangle: i32,
  share: f32,
}

// Closest triangle on the way; of equals the first. A way that never leaves a triangle can meet no other.
fn first_hit(own: i32, x: vec3<f32>, way: vec3<f32>) -> Hit {
  if (inside(own, x.xy) >= 0.0 && inside(own, x.xy + way.xy) >= 0.0) {
    let share = strike(own, x, way);
    return Hit(select(-1, own, share < MISS), share);
  }
  let box = box_of(x.xy, x.xy + way.xy);
  var hit = Hit(-1, MISS);
  for (var row = box.low.y; row <= box.high.y; row++) {
    let last = box_starts[row * flow.columns + box.high.x + 1];
    for (var k = box_starts[row * flow.columns + box.low.x]; k < last; k++) {
      let t = boxed[k];
      let share = strike(t, x, way);
      if (share < hit.share || (share == hit.share && t < hit.triangle)) { hit = Hit(t, share); }
    }
  }
  return hit;
}
