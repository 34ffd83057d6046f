// Behind the block: the sky, and under it a floor in the haze on which the block stands and throws its shadow.
uniform mat4 viewToWorld;
uniform vec2 viewExtent;   // tangents of half the field of view; zero for a plan
uniform vec2 viewCentre;
uniform vec2 targetSize;
uniform vec2 targetOrigin;  // of what is drawn in the whole image
uniform vec2 extent;
uniform float worldScale;
uniform float exaggeration;
uniform float floorLevel;
uniform float relief;
uniform vec3 eye;
uniform float opaque;
uniform float surroundings;
out vec4 colour;

float outsideBlock(vec2 p) {
  vec2 d = abs(p) - 0.5 * extent * worldScale;
  return length(max(d, 0.0)) + min(max(d.x, d.y), 0.0);
}

// The light that reaches the floor: dark where the block touches it, and a shadow that softens away from the sun.
float floorLight(vec2 spot) {
  float beside = max(outsideBlock(spot), 0.0);
  float touch = 0.55 * exp(-2.6 * beside) + 0.22 * exp(-0.55 * beside);
  float tall = (0.35 * relief - floorLevel) * exaggeration * worldScale;
  vec2 reach = -sunDirection.xz * tall / max(sunDirection.y, 0.30);
  float thrown = 0.0;
  for (int i = 1; i <= 3; i++) {
    float part = float(i) / 3.0;
    thrown = max(thrown, 1.0 - smoothstep(-0.35 * part, 0.15 + 0.65 * part, outsideBlock(spot - part * reach)));
  }
  return (1.0 - touch) * (1.0 - 0.50 * thrown);
}

vec3 floorColour(vec3 direction, float distance) {
  vec2 spot = eye.xz + direction.xz * distance;
  vec3 ground = vec3(0.142, 0.163, 0.188) * floorLight(spot);
  float behind = max(dot(spot, -normalize(eye.xz)) + 3.0, 0.0); // the haze begins at the block
  vec3 level = normalize(vec3(direction.x, 0.0, direction.z));
  return mix(horizonColour(0.5 + 0.5 * dot(level, sunDirection)), ground, exp(-0.006 * behind * behind));
}

void main() {
  vec2 at = ((gl_FragCoord.xy - targetOrigin) / targetSize) * 2.0 - 1.0;
  vec3 direction = normalize(mat3(viewToWorld) * vec3(viewCentre + at * viewExtent, -1.0));
  float below = eye.y - floorLevel * exaggeration * worldScale;
  vec3 behind = vec3(0.055, 0.065, 0.08);
  if (viewExtent.x > 0.0) {
    vec3 level = normalize(vec3(direction.x, max(direction.y, 0.0), direction.z));
    behind = skyColour(level);
    if (direction.y < 0.0 && below > 0.0) behind = mix(floorColour(direction, below / max(-direction.y, 1e-4)), behind, surroundings);
  }
  colour = vec4(behind, 1.0) * opaque;
}
