// Behind the block: a bright table on which it stands and throws its shadow, or the sky where the ground goes on to the horizon.
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
  float touch = 0.42 * exp(-5.0 * beside) + 0.26 * exp(-0.75 * beside);
  float tall = (0.30 * relief - floorLevel) * exaggeration * worldScale;
  vec2 reach = -sunDirection.xz * tall / max(sunDirection.y, 0.30);
  float thrown = 0.0;
  for (int i = 1; i <= 3; i++) {
    float part = float(i) / 3.0;
    thrown = max(thrown, 1.0 - smoothstep(-0.5 * part, 0.2 + 0.9 * part, outsideBlock(spot - part * reach)));
  }
  return (1.0 - touch) * (1.0 - 0.34 * thrown);
}

// An even, bright table that bends up into the backdrop: no horizon behind the block. It takes a little of the light's own colour.
vec3 backdropColour(vec3 direction, float below) {
  vec3 sky = horizonColour(0.5);
  vec3 tint = mix(vec3(1.0), sky / max(dot(sky, vec3(0.2126, 0.7152, 0.0722)), 1e-3), 0.22);
  float up = max(direction.y, 0.0);
  vec3 behind = mix(vec3(0.66, 0.665, 0.675), vec3(0.38, 0.405, 0.44), 1.0 - exp(-3.2 * up));
  if (direction.y < 0.0 && below > 0.0) {
    float distance = below / max(-direction.y, 1e-4);
    vec2 spot = eye.xz + direction.xz * distance;
    vec3 table = vec3(0.80, 0.80, 0.795) * floorLight(spot);
    float away = length(spot) / 11.0;
    behind = mix(behind, table, exp(-0.20 * away * away));
  }
  return behind * tint;
}

void main() {
  vec2 at = ((gl_FragCoord.xy - targetOrigin) / targetSize) * 2.0 - 1.0;
  vec3 direction = normalize(mat3(viewToWorld) * vec3(viewCentre + at * viewExtent, -1.0));
  float below = eye.y - floorLevel * exaggeration * worldScale;
  vec3 behind = vec3(0.062, 0.066, 0.072);
  if (viewExtent.x > 0.0) {
    vec3 level = normalize(vec3(direction.x, max(direction.y, 0.0), direction.z));
    behind = surroundings < 1.0 ? backdropColour(direction, below) : vec3(0.0);
    if (surroundings > 0.0) behind = mix(behind, skyColour(level), surroundings);
  }
  colour = vec4(behind, 1.0) * opaque;
}
