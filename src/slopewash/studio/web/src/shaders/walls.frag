// The cut sides of the block: the terrain's own strata where it has them, else the beds that its slopes show, under soil.
uniform sampler2D strataTops;    // metres above the datum: one row per layer and wall
uniform int strataLayers;
uniform float relief;
uniform float cellSize;
uniform vec3 eye;
uniform float floorLevel;
uniform float grainScale;
uniform float clay;
uniform vec3 palette[14];        // as palette.ts orders them
uniform vec4 country;            // its second is the share of meadow
in vec2 spot;
in vec3 world;
in float height;
in float along;
in float top;
flat in int wall;
out vec4 colour;

const int SOIL = 6, ROCK = 7, DARK_ROCK = 8, PALE_ROCK = 9, SAND = 11;

float scattered(float number) {
  return fract(sin(number * 12.9898) * 43758.5453);
}

// How far below the joint above, with the tone of the bed: 0 … 1 each.
vec2 bedAt(float number) {
  float bed = floor(number);
  return vec2(number - bed, scattered(bed));
}

// Beds that dip and bend as those on the slopes, each of one tone, with thin ones in it and joints between.
vec3 beddedRock(vec4 macro, vec4 lumps, vec4 grain) {
  vec2 metres = (spot - 0.5) * extent;
  float thickness = max(relief / 20.0, 3.0 * cellSize);
  float bed = height + dot(metres, vec2(-0.07, 0.11)) + 0.045 * relief * (macro.r - 0.5);
  float number = bed / thickness + 0.35 * (texture(noise, vec2(0.31, bed / (14.0 * thickness))).r - 0.5) + 0.05 * (lumps.r - 0.5);
  float rate = fwidth(number);
  vec2 thick = bedAt(number), thin = bedAt(5.3 * number + 0.10 * (grain.g - 0.5));
  float tone = 0.22 + 0.55 * thick.y + mix(0.14 * (thin.y - 0.5), 0.0, smoothstep(0.08, 0.25, rate)) + 0.20 * (lumps.g - 0.5) + 0.16 * (grain.r - 0.5);
  vec3 rock = mix(mix(palette[DARK_ROCK], palette[ROCK], smoothstep(0.05, 0.50, tone)), palette[PALE_ROCK], smoothstep(0.50, 0.95, tone));
  float joint = min(thick.x, 1.0 - thick.x);
  float shade = 1.0 - 0.42 * (1.0 - smoothstep(0.0, max(0.05, 1.2 * rate), joint)) * (1.0 - smoothstep(0.3, 0.8, rate));
  return rock * shade;
}

// Dark soil with roots, then brown earth with stones, which turns into rock.
vec3 withSoil(vec3 rock, float depth, vec4 lumps, vec4 grain) {
  float soil = 0.0042 * (0.75 + 0.5 * lumps.r), earth = 0.013 * (0.6 + 0.8 * lumps.g);
  vec3 brown = mix(palette[SOIL], vec3(0.175, 0.118, 0.068), 0.55) * (0.75 + 0.5 * grain.g);
  brown = mix(brown, rock, 0.75 * smoothstep(0.55, 0.70, grain.r + 0.30 * smoothstep(soil, earth, depth)));
  vec3 below = mix(brown, rock, smoothstep(0.8 * earth, 1.15 * earth, depth + 0.004 * (grain.r - 0.5)));
  vec3 dark = mix(0.62 * palette[SOIL], vec3(0.052, 0.038, 0.026), smoothstep(0.2, 0.6, country.y)); // no humus in a desert
  return mix(dark * (0.7 + 0.6 * grain.g), below, smoothstep(0.75 * soil, soil, depth));
}

vec3 realStrata(vec4 lumps, vec4 grain) {
  int points = textureSize(strataTops, 0).x;
  float at = along * float(points) - 0.5;
  int first = clamp(int(floor(at)), 0, points - 1);
  int next = min(first + 1, points - 1);
  float shade = 1.0, below = 0.0;
  for (int i = 0; i < strataLayers; i++) {
    int row = i * 4 + wall;
    float boundary = mix(texelFetch(strataTops, ivec2(first, row), 0).r, texelFetch(strataTops, ivec2(next, row), 0).r, clamp(at - float(first), 0.0, 1.0));
    if (i == 0) below = boundary - height;
    shade = min(shade, 0.66 + 0.34 * smoothstep(0.0, 0.0050 * relief, abs(height - boundary)));
  }
  if (below < -1e-4 * relief) return mix(palette[SOIL], palette[SAND], 0.4) * shade; // deposits on top of the rock
  vec2 stratum = stratumAt(below);
  float tone = stratum.x + 0.22 * (lumps.g - 0.5) + 0.18 * (grain.r - 0.5);
  vec3 rock = mix(palette[DARK_ROCK], palette[ROCK] * stratum.y, smoothstep(0.05, 0.50, tone));
  return mix(rock, palette[PALE_ROCK], 0.85 * smoothstep(0.58, 1.05, tone)) * shade;
}

void main() {
  float side = max(extent.x, extent.y);
  vec3 normal = wall == 0 ? vec3(0.0, 0.0, -1.0) : wall == 1 ? vec3(1.0, 0.0, 0.0) : wall == 2 ? vec3(0.0, 0.0, 1.0) : vec3(-1.0, 0.0, 0.0);
  float across = (wall == 0 || wall == 2) ? extent.x / side : extent.y / side;
  vec2 p = vec2(along * across * side / grainScale + 0.37 * float(wall), height / grainScale);
  vec4 grain = texture(noise, p * 47.0);
  vec4 lumps = texture(noise, p * 9.0);
  float depth = (top - height) / side;
  vec3 albedo;
  if (strataLayers > 0) albedo = realStrata(lumps, grain) * (0.72 + 0.20 * grain.r + 0.12 * lumps.g);
  else {
    vec2 q = (spot - 0.5) * extent / grainScale;
    vec4 macro = 0.6 * texture(noise, q * 1.05) + 0.4 * texture(noise, mat2(0.8, 0.6, -0.6, 0.8) * q * 2.3);
    albedo = withSoil(beddedRock(macro, lumps, grain) * 0.80, depth, lumps, grain);
  }

  albedo = mix(albedo, vec3(0.30, 0.28, 0.26), clay);

  vec3 rightward = vec3(abs(normal.z), 0.0, abs(normal.x));
  vec2 tilt = 0.16 * (grain.ba - 0.5) + 0.14 * (lumps.ba - 0.5);
  vec3 bumped = normalize(normal + rightward * tilt.x + vec3(0.0, tilt.y, 0.0));
  float facing = max(dot(bumped, sunDirection), 0.0) * smoothstep(-0.05, 0.15, dot(normal, sunDirection));
  float grounded = mix(0.55, 1.0, smoothstep(0.0, 0.05, (height - floorLevel) / side));
  vec3 floorBounce = vec3(0.56, 0.53, 0.49) * (0.4 + 0.6 * max(sunDirection.y, 0.0)); // from the bright table
  vec3 received = sunColour() * facing * 0.68 + (1.1 * skyLight(bumped) + floorBounce) * grounded;
  colour = vec4(withFog(albedo * received, world, eye), 1.0);
}
