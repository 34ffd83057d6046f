uniform vec2 extent;
uniform float worldScale;
uniform vec3 sunDirection;
uniform float opaque;
in vec2 spot;
out vec4 colour;

float outside(vec2 p, vec2 half_) {
  vec2 d = abs(p) - half_;
  return length(max(d, 0.0)) + min(max(d.x, d.y), 0.0);
}

void main() {
  vec2 half_ = 0.5 * extent * worldScale;
  float touch = exp(-1.6 * max(outside(spot, half_), 0.0));
  vec2 away = -sunDirection.xz / max(sunDirection.y, 0.35);
  float thrown = 1.0 - smoothstep(-0.5, 1.6, outside(spot - 0.9 * away, half_));
  colour = vec4(0.0, 0.0, 0.0, opaque * max(0.50 * touch, 0.34 * thrown));
}
