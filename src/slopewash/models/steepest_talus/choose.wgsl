// Every cell chooses its steepest neighbour, where the slope exceeds the talus. Heights are whole numbers; eight times a
// height plus the direction in which it is seen is one number: the smallest is the lowest neighbour, and among equals
// the first in scan order.

#include "around.wgsl"

const KEY_BITS: u32 = 3u;
const DIRECTION: i32 = 7;

fn seen(at: Around, directions: vec4<i32>) -> vec4<i32> {
  let heights = vec4<i32>(n[at.i.x], n[at.i.y], n[at.i.z], n[at.i.w]);
  return select(heights, vec4<i32>(WALL), at.none) * (DIRECTION + 1) + directions;
}

fn lowest(a: vec4<i32>) -> i32 {
  return min(min(a.x, a.y), min(a.z, a.w));
}

#if layered
// Number of the exposed layer; the last of the table is loose soil's.
fn exposed(i: i32) -> u32 {
  let loose = arrayLength(&strata) - 1u;
  if (n[i] > rock[i]) { return loose; }
  let low = top[i].y - rock[i];
  let depth = vec2<i32>(top[i].x + (low >> u32(LOW_BITS)), low & ((1 << u32(LOW_BITS)) - 1));
  var layer = 0u;
  for (var k = 1u; k < loose; k++) {
    let begins = strata[k].xy;
    if (depth.x > begins.x || (depth.x == begins.x && depth.y >= begins.y)) { layer = k; }
  }
  return layer;
}

#endif
fn thresholds(i: i32) -> vec2<i32> {
  var t = vec2<i32>(talus.straight, talus.diagonal);
#if varied
  t = standing[i];
#endif
#if layered
  let layer = strata[exposed(i)];
  t = layer.zw;
#endif
  return t;
}

fn choose(y: i32, x: i32) -> i32 {
  let i = place(y, x);
  let own = n[i];
  let t = thresholds(i);
  let near = lowest(seen(straight(y, x), vec4<i32>(3, 4, 1, 6)));
  let far = lowest(seen(slanted(y, x), vec4<i32>(0, 2, 5, 7)));
  let drop = own - (near >> KEY_BITS);
  let drop_far = own - (far >> KEY_BITS);
  var to = near & DIRECTION;
  var slides = drop > t.x;
  if (printed) {
    let any = min(near, far);
    to = any & DIRECTION;
    slides = own - (any >> KEY_BITS) > t.x;
  } else {
    let slides_far = drop_far > t.y;
    let steeper = rounded(f32(drop_far) * CLOSER) > f32(drop);
    if (slides_far && (steeper || !slides)) { to = far & DIRECTION; }
    slides = slides || slides_far;
  }
  return select(NOWHERE, to, slides && own < WALL);
}

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let x = i32(id.x);
  let y = grid.first + i32(id.y);
  if (x < grid.width) { to[place(y, x)] = choose(y, x); }
}
