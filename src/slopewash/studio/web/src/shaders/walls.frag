// The cut sides of the block: the terrain's own strata where it has them, else plain rock.
uniform sampler2D strataTops;    // metres above the datum: one row per layer and wall
uniform sampler2D strataColours;
uniform int strataLayers;
uniform float relief;
uniform float cellSize;
uniform vec3 eye;
uniform float floorLevel;
uniform float grainScale;
uniform float clay;
in vec2 spot;
in vec3 world;
in float height;
in float along;
in float top;
flat in int wall;
out vec4 colour;

vec3 plainRock(float depth, vec4 cloud, vec4 lumps) {
  vec3 rock = mix(vec3(0.190, 0.160, 0.128), vec3(0.300, 0.258, 0.206), smoothstep(0.25, 0.75, 0.65 * cloud.r + 0.35 * lumps.g));
  vec3 subsoil = vec3(0.262, 0.186, 0.116);
  return mix(mix(subsoil, rock, smoothstep(0.0, 0.035, depth + 0.02 * (lumps.r - 0.5))), rock * 0.78, smoothstep(0.06, 0.22, depth));
}

vec3 realStrata() {
  vec3 layer = vec3(0.155, 0.110, 0.068); // deposits on top of the rock
  int points = textureSize(strataTops, 0).x;
  float at = along * float(points) - 0.5;
  int first = clamp(int(floor(at)), 0, points - 1);
  int next = min(first + 1, points - 1);
  float shade = 1.0;
  for (int i = 0; i < strataLayers; i++) {
    int row = i * 4 + wall;
    float boundary = mix(texelFetch(strataTops, ivec2(first, row), 0).r, texelFetch(strataTops, ivec2(next, row), 0).r, clamp(at - float(first), 0.0, 1.0));
    if (height <= boundary + 1e-4 * relief) layer = texelFetch(strataColours, ivec2(i, 0), 0).rgb;
    shade = min(shade, 0.66 + 0.34 * smoothstep(0.0, 0.0050 * relief, abs(height - boundary)));
  }
  return layer * shade;
}

void main() {
  float side = max(extent.x, extent.y);
  vec3 normal = wall == 0 ? vec3(0.0, 0.0, -1.0) : wall == 1 ? vec3(1.0, 0.0, 0.0) : wall == 2 ? vec3(0.0, 0.0, 1.0) : vec3(-1.0, 0.0, 0.0);
  float across = (wall == 0 || wall == 2) ? extent.x / side : extent.y / side;
  vec2 p = vec2(along * across * side / grainScale + 0.37 * float(wall), height / grainScale);
  vec4 grain = texture(noise, p * 29.0);
  vec4 lumps = texture(noise, p * 7.0);
  float depth = (top - height) / side;
  vec3 albedo = strataLayers > 0 ? realStrata() : plainRock(depth, texture(noise, p * 1.7), lumps);
  albedo *= 0.72 + 0.34 * grain.r + 0.22 * lumps.g;

  // The soil on top, a few cells thick and never thicker than looks right on a big block.
  float soil = min(2.0 * cellSize / side, 0.0045) * (0.7 + 0.6 * lumps.r);
  if (strataLayers == 0) albedo = mix(vec3(0.060, 0.045, 0.030), albedo, smoothstep(0.6 * soil, soil, depth));

  albedo = mix(albedo, vec3(0.30, 0.28, 0.26), clay);

  vec3 rightward = vec3(abs(normal.z), 0.0, abs(normal.x));
  vec2 tilt = 0.30 * (grain.ba - 0.5) + 0.30 * (lumps.ba - 0.5);
  vec3 bumped = normalize(normal + rightward * tilt.x + vec3(0.0, tilt.y, 0.0));
  float facing = max(dot(bumped, sunDirection), 0.0) * smoothstep(-0.05, 0.15, dot(normal, sunDirection));
  float grounded = mix(0.45, 1.0, smoothstep(0.0, 0.09, (height - floorLevel) / side));
  vec3 floorBounce = vec3(0.34, 0.29, 0.235) * (0.4 + 0.6 * max(sunDirection.y, 0.0));
  vec3 received = sunColour() * facing * 0.68 + (skyLight(bumped) + floorBounce) * grounded;
  colour = vec4(withFog(albedo * received, world, eye), 1.0);
}
