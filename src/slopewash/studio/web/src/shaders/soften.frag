// Averages the dithering of the light pass away, without leaking over cliffs.
uniform sampler2D light;
uniform sampler2D fields;
uniform float cellSize;
out vec4 softened;

void main() {
  ivec2 cell = ivec2(gl_FragCoord.xy);
  ivec2 last = textureSize(light, 0) - 1;
  vec2 scale = 1.0 / vec2(textureSize(light, 0));
  float here = texture(fields, (vec2(cell) + 0.5) * scale).r;
  vec4 sum = vec4(0.0);
  float weights = 0.0;
  for (int y = -1; y <= 1; y++) {
    for (int x = -1; x <= 1; x++) {
      ivec2 at = clamp(cell + ivec2(x, y), ivec2(0), last);
      float step = abs(texture(fields, (vec2(at) + 0.5) * scale).r - here) / cellSize;
      float weight = (x == 0 ? 2.0 : 1.0) * (y == 0 ? 2.0 : 1.0) / (1.0 + step);
      sum += weight * texelFetch(light, at, 0);
      weights += weight;
    }
  }
  softened = sum / weights;
}
