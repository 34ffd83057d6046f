// 64-bit fixed point of two u32, the low half first, 32 bits behind the point: whole numbers add up alike in any order.

const UNITS: f32 = 4294967296.0;

fn fixed(a: f32) -> vec2<u32> {
  var whole = floor(a);
  var units = round((a - whole) * UNITS);
  if (units >= UNITS) {
    whole += 1.0;
    units = 0.0;
  }
  return vec2<u32>(u32(units), bitcast<u32>(i32(whole)));
}

fn add_fixed(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
