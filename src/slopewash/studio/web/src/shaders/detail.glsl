// Relief finer than the cells, near the eye: rough on steep ground, none under water. detail.ts computes the same for the camera.
uniform float detailHeight;      // in cells; 0 for none
uniform float detailReach;       // world units from the eye at which it ends
uniform float detailSteep;       // the slope that counts as steep
uniform float detailDry;         // metres of water over which it ends

const vec3 DETAIL_TILES = vec3(13.0, 5.1, 1.9); // cells that the noise repeats after
const vec3 DETAIL_SHARES = vec3(0.60, 0.26, 0.14);
const mat2 DETAIL_TURN = mat2(0.8, 0.6, -0.6, 0.8);

float detailAmplitude(vec2 uv) {
  vec2 cell = 1.0 / vec2(textureSize(fields, 0));
  float size = extent.x * cell.x;
  vec2 rise = vec2(fieldsAt(uv + vec2(cell.x, 0.0)).r - fieldsAt(uv - vec2(cell.x, 0.0)).r, fieldsAt(uv + vec2(0.0, cell.y)).r - fieldsAt(uv - vec2(0.0, cell.y)).r) / (2.0 * size);
  float steep = smoothstep(0.45, 1.25, length(rise) / detailSteep);
  float dry = 1.0 - smoothstep(0.0, detailDry, fieldsAt(uv).g);
  return detailHeight * size * mix(0.14, 1.0, steep) * dry;
}

float detailFade(float distance) {
  return 1.0 - smoothstep(0.55 * detailReach, detailReach, distance);
}

// Noise folded over at its middle: edges, as rock has them.
float folded(float n) {
  return 0.5 - abs(2.0 * n - 1.0);
}

// Metres to add to the bed at a place so far from the eye.
float detailAt(vec2 uv, float distance) {
  float fade = detailFade(distance);
  if (detailHeight <= 0.0 || fade <= 0.0) return 0.0;
  vec2 p = uv * vec2(textureSize(fields, 0));
  // Coarser with the distance, as the mesh is.
  float lod = max(log2(max(distance / (worldScale * extent.x) * float(textureSize(fields, 0).x) / 5.0, 1e-3)), 0.0);
  float first = textureLod(noise, DETAIL_TURN * p / DETAIL_TILES.x, lod).r;
  float second = textureLod(noise, p / DETAIL_TILES.y, lod).r;
  float third = textureLod(noise, DETAIL_TURN * p / DETAIL_TILES.z, lod).r;
  return detailAmplitude(uv) * fade * dot(DETAIL_SHARES, vec3(first - 0.5, folded(second), folded(third)));
}

// How that tips the normal.
vec3 detailTilt(vec2 uv, float distance) {
  float fade = detailFade(distance);
  if (detailHeight <= 0.0 || fade <= 0.0) return vec3(0.0);
  vec2 size = vec2(textureSize(fields, 0));
  vec2 p = uv * size;
  vec2 first = transpose(DETAIL_TURN) * (texture(noise, DETAIL_TURN * p / DETAIL_TILES.x).ba - 0.5) / DETAIL_TILES.x;
  vec4 middle = texture(noise, p / DETAIL_TILES.y), fine = texture(noise, DETAIL_TURN * p / DETAIL_TILES.z);
  vec2 second = -2.0 * sign(middle.r - 0.5) * (middle.ba - 0.5) / DETAIL_TILES.y;
  vec2 third = -2.0 * sign(fine.r - 0.5) * (transpose(DETAIL_TURN) * (fine.ba - 0.5)) / DETAIL_TILES.z;
  float amplitude = detailAmplitude(uv) * fade * exaggeration;
  vec2 tilt = 256.0 / 8.0 * amplitude / (extent.x / size.x) * (DETAIL_SHARES.x * first + DETAIL_SHARES.y * second + DETAIL_SHARES.z * third);
  return vec3(tilt.x, 0.0, tilt.y);
}
