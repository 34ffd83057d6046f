// The sky in a direction, the sun's colour and what both give to a surface: linear, shared by all that is drawn.
uniform vec3 sunDirection;
uniform float sunStrength;
uniform float skyFill;
uniform float overcast; // 0 … 1
uniform float clouds;   // 0 … 1: share of the sky under fair-weather clouds
uniform sampler2D noise; // two noises in r and g, the slope of the first in b and a

float sunLow() { return 1.0 - smoothstep(0.0, 0.55, sunDirection.y); }

vec3 sunColour() {
  float low = sunLow();
  return sunStrength * mix(vec3(3.20, 2.98, 2.66), vec3(3.5, 1.95, 1.00), low * low);
}

vec3 horizonColour(float near) {
  float low = sunLow();
  vec3 away = mix(vec3(0.45, 0.59, 0.74), vec3(0.44, 0.40, 0.42), low * 0.8);
  vec3 towards = mix(vec3(0.72, 0.74, 0.72), vec3(1.05, 0.60, 0.32), low);
  return mix(mix(away, towards, near * near), vec3(0.56, 0.58, 0.60), overcast);
}

// The colour of distant fog: cheaper than the whole sky, because every pixel of the ground computes it.
vec3 hazeColour(vec3 direction) {
  return horizonColour(0.5 + 0.5 * dot(direction, sunDirection)) * 0.86;
}

// High thin clouds and flat-bottomed ones below them, which thin out towards the horizon.
vec3 withClouds(vec3 colour, vec3 direction) {
  if (clouds <= 0.0 || direction.y <= 0.015) return colour;
  vec2 p = direction.xz / (direction.y + 0.10);
  vec4 broad = textureLod(noise, p * 0.021 + 0.13, 0.0);
  vec4 puffs = textureLod(noise, p * 0.083 + 0.41, 0.0);
  vec4 wisps = textureLod(noise, vec2(p.x * 0.013 + p.y * 0.006, p.y * 0.041), 0.0);
  float body = 0.62 * broad.r + 0.38 * puffs.g;
  float cover = smoothstep(0.0, 0.26, body - mix(0.68, 0.36, clouds));
  float thin = 0.30 * smoothstep(0.50, 0.90, wisps.g) * clouds;
  float towards = max(dot(direction, sunDirection), 0.0);
  vec3 lit = mix(vec3(0.62, 0.66, 0.72), 0.27 * sunColour() + 0.16, 0.55 + 0.45 * puffs.r) + 0.10 * sunColour() * towards * towards * towards * towards;
  vec3 shaded = horizonColour(0.5) * vec3(0.74, 0.78, 0.84);
  vec3 cloud = mix(lit, shaded, 0.55 * smoothstep(0.10, 0.42, body - mix(0.68, 0.36, clouds)));
  float seen = smoothstep(0.012, 0.11, direction.y) * (1.0 - overcast);
  return mix(colour, cloud, seen * max(0.92 * cover, thin));
}

vec3 skyColour(vec3 direction) {
  float up = max(direction.y, 0.0);
  float towards = dot(direction, sunDirection);
  vec3 zenith = mix(mix(vec3(0.072, 0.190, 0.46), vec3(0.060, 0.105, 0.27), sunLow()), vec3(0.46, 0.49, 0.53), overcast);
  vec3 colour = mix(horizonColour(0.5 + 0.5 * towards), zenith, 1.0 - exp(-6.5 * up));
  float near = max(towards, 0.0);
  colour = withClouds(colour, direction);
  return colour + sunColour() * (0.05 * pow(near, 10.0) + 0.25 * pow(near, 160.0));
}

// Blue from above, warm from the ground around.
vec3 skyLight(vec3 normal) {
  float up = 0.5 + 0.5 * normal.y;
  vec3 above = mix(vec3(0.270, 0.380, 0.600), vec3(0.44, 0.47, 0.50), overcast);
  return skyFill * mix(vec3(0.190, 0.152, 0.116), above, up);
}
