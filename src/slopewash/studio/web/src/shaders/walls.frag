// The cut sides of the block: the terrain's own strata where it has them, else quiet beds of earth.
uniform sampler2D strataTops;    // metres above the datum: one row per layer and wall
uniform sampler2D strataColours;
uniform int strataLayers;
uniform float relief;
uniform float cellSize;
uniform vec3 eye;
uniform float floorLevel;
in vec2 spot;
in vec3 world;
in float height;
in float along;
in float top;
flat in int wall;
out vec4 colour;

vec3 earth(float side) {
  float warp = (texture(noise, vec2(along * 0.7 + float(wall) * 0.31, height / side * 0.6)).r - 0.5) * 0.055 + (texture(noise, vec2(along * 3.1, float(wall) * 0.17)).g - 0.5) * 0.010;
  float bed = (height / side + warp + 0.045 * along * (wall == 1 || wall == 3 ? 0.6 : 1.0)) * 30.0;
  float index = floor(bed);
  float within = bed - index;
  vec4 pick = texture(noise, vec2(index * 0.1373, 0.61));
  vec3 sand = vec3(0.345, 0.255, 0.160), clay = vec3(0.240, 0.135, 0.080), silt = vec3(0.165, 0.140, 0.112), ash = vec3(0.300, 0.262, 0.208);
  vec3 layer = pick.r < 0.42 ? mix(clay, sand, pick.g) : (pick.r < 0.58 ? mix(silt, ash, pick.g) : mix(sand, ash, pick.g));
  float seam = smoothstep(0.0, 0.10, within) * smoothstep(0.0, 0.06, 1.0 - within);
  return layer * mix(0.72, 1.0, seam);
}

vec3 realStrata() {
  vec3 layer = vec3(0.155, 0.110, 0.068); // what was laid down on top of the rock
  int points = textureSize(strataTops, 0).x;
  float at = along * float(points) - 0.5;
  int first = clamp(int(floor(at)), 0, points - 1);
  int next = min(first + 1, points - 1);
  float shade = 1.0;
  for (int i = 0; i < strataLayers; i++) {
    int row = i * 4 + wall;
    float boundary = mix(texelFetch(strataTops, ivec2(first, row), 0).r, texelFetch(strataTops, ivec2(next, row), 0).r, clamp(at - float(first), 0.0, 1.0));
    if (height <= boundary + 1e-4 * relief) layer = texelFetch(strataColours, ivec2(i, 0), 0).rgb;
    shade = min(shade, 0.72 + 0.28 * smoothstep(0.0, 0.0045 * relief, abs(height - boundary)));
  }
  return layer * shade;
}

void main() {
  float side = max(extent.x, extent.y);
  vec3 normal = wall == 0 ? vec3(0.0, 0.0, -1.0) : wall == 1 ? vec3(1.0, 0.0, 0.0) : wall == 2 ? vec3(0.0, 0.0, 1.0) : vec3(-1.0, 0.0, 0.0);
  float across = (wall == 0 || wall == 2) ? extent.x / side : extent.y / side;
  vec4 grain = texture(noise, vec2(along * across * 26.0, height / side * 26.0));
  vec4 lumps = texture(noise, vec2(along * across * 7.0 + 0.3, height / side * 11.0));
  vec3 albedo = strataLayers > 0 ? realStrata() : earth(side);
  albedo *= 0.74 + 0.36 * grain.r + 0.16 * lumps.g;

  // The soil on top, a few cells thick and never thicker than looks right on a big block.
  float soil = min(2.5 * cellSize, 0.008 * side) * (0.7 + 0.6 * lumps.r);
  if (strataLayers == 0) albedo = mix(vec3(0.075, 0.058, 0.040), albedo, smoothstep(0.5 * soil, soil, top - height));

  vec3 bumped = normalize(normal + 0.35 * vec3(grain.b - 0.5, grain.a - 0.5, grain.a - 0.5));
  float facing = max(dot(bumped, sunDirection), 0.0);
  float grounded = mix(0.42, 1.0, smoothstep(0.0, 0.10 * side, height - floorLevel));
  vec3 lit = sunColour() * facing * 0.85 + (skyLight(bumped) * vec3(0.95, 0.88, 0.78) + vec3(0.08, 0.07, 0.055)) * grounded;
  colour = vec4(withFog(albedo * lit, world, eye), 1.0);
}
