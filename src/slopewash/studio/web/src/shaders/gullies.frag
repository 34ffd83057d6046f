// Gullies and ribs finer than the cells: bands across the slope, along the fall line, in ever smaller ones that run off into those before.
uniform sampler2D fields;
uniform sampler2D shape;
uniform float steepReference;
uniform int gullyOctaves;
uniform vec2 gullyTexel; // one over the size of the target
out vec4 gullies;        // ribs positive and gullies negative, about −1 … 1; the gradient they add (metres per metre); the finest alone

const float WIDEST = 4.6;  // cells between two gullies
const float DEEP = 0.46;   // slope of their sides, as a share of the slope they run down

vec2 scatter(ivec2 knot) {
  uvec2 h = uvec2(knot + 40000) * uvec2(1597334673u, 3812015801u);
  uint n = (h.x ^ h.y) * 1597334673u;
  return vec2(n & 0xffffu, n >> 16) / 65535.0;
}

// Waves whose crests lie along the fall line, each around a knot of its own: height and how it changes across the slope.
vec2 bands(vec2 p, vec2 across) {
  ivec2 knot = ivec2(floor(p));
  vec2 sum = vec2(0.0);
  float weights = 0.0;
  for (int y = -1; y <= 1; y++) {
    for (int x = -1; x <= 1; x++) {
      vec2 random = scatter(knot + ivec2(x, y));
      vec2 from = p - vec2(knot + ivec2(x, y)) - 0.2 - 0.6 * random;
      float weight = max(exp(-2.6 * dot(from, from)) - 0.006, 0.0);
      float phase = 6.2831853 * (dot(from, across) + random.x);
      sum += weight * vec2(cos(phase), -sin(phase));
      weights += weight;
    }
  }
  return sum / max(weights, 0.05);
}

void main() {
  vec2 uv = gl_FragCoord.xy * gullyTexel;
  vec2 cells = vec2(textureSize(fields, 0));
  vec2 slope = texture(shape, uv).xy;
  float steep = length(slope);
  float strength = DEEP * steep * smoothstep(0.22, 0.85, steep / steepReference);
  vec2 p = uv * cells / WIDEST;
  vec2 tilt = vec2(0.0);
  float height = 0.0, last = 0.0, share = 0.55;
  if (strength > 0.0) {
    for (int i = 0; i < gullyOctaves; i++) {
      vec2 fall = slope + tilt;
      vec2 across = vec2(-fall.y, fall.x) / max(length(fall), 1e-4);
      vec2 band = bands(p, across);
      height += share * band.x;
      tilt += strength * band.y * across;
      last = band.x;
      p = p * 2.03 + 17.3;
      share *= 0.6;
    }
  }
  float shown = strength / (DEEP * steep + 1e-4);
  gullies = vec4(height * shown, tilt, last * shown);
}
