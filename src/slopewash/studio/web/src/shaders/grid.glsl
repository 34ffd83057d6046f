// Where a vertex of the grid lies: the mesh has its own resolution, heights come from the field between its cells.
uniform sampler2D fields;
uniform vec2 extent;        // metres east and south
uniform float worldScale;   // world units per metre
uniform float exaggeration;

vec4 fieldsAt(vec2 uv) {
  vec2 size = vec2(textureSize(fields, 0));
  vec2 p = clamp(uv * size - 0.5, vec2(0.0), size - 1.0);
  ivec2 first = ivec2(p);
  ivec2 last = ivec2(size) - 1;
  vec2 t = p - vec2(first);
  vec4 north = mix(texelFetch(fields, first, 0), texelFetch(fields, min(first + ivec2(1, 0), last), 0), t.x);
  vec4 south = mix(texelFetch(fields, min(first + ivec2(0, 1), last), 0), texelFetch(fields, min(first + ivec2(1, 1), last), 0), t.x);
  return mix(north, south, t.y);
}

vec4 cubicWeights(float t) {
  float t2 = t * t, t3 = t2 * t;
  return 0.5 * vec4(-t3 + 2.0 * t2 - t, 3.0 * t3 - 5.0 * t2 + 2.0, -3.0 * t3 + 4.0 * t2 + t, t3 - t2);
}

// Catmull-Rom: goes through the cells' own heights, without the facets of a bilinear patch where the mesh is finer.
float smoothBed(vec2 uv) {
  vec2 size = vec2(textureSize(fields, 0));
  vec2 p = clamp(uv * size - 0.5, vec2(0.0), size - 1.0);
  ivec2 first = ivec2(p);
  ivec2 last = ivec2(size) - 1;
  vec4 wx = cubicWeights(p.x - float(first.x));
  vec4 wy = cubicWeights(p.y - float(first.y));
  float sum = 0.0;
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 4; x++)
      sum += wy[y] * wx[x] * texelFetch(fields, clamp(first + ivec2(x - 1, y - 1), ivec2(0), last), 0).r;
  return sum;
}

vec3 worldPlace(vec2 uv, float height) {
  vec2 metres = (uv - 0.5) * extent;
  return vec3(metres.x, height * exaggeration, metres.y) * worldScale;
}
