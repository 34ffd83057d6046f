// 64-bit fixed point of two u32, the low half first, 32 fractional bits: integer sums do not depend on the order.

const UNITS: f32 = 4294967296.0;

fn negated(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(~a.x + 1u, ~a.y + select(0u, 1u, a.x == 0u));
}

// Rounded to the nearest unit; opposite values stay opposite.
fn fixed(a: f32) -> vec2<u32> {
  var whole = floor(abs(a));
  var units = round((abs(a) - whole) * UNITS);
  if (units >= UNITS) {
    whole += 1.0;
    units = 0.0;
  }
  let size = vec2<u32>(u32(units), u32(whole));
  if (a < 0.0) { return negated(size); }
  return size;
}

fn add_fixed(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
