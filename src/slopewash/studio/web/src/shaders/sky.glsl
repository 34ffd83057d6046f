// The sky in a direction, the sun's colour and what both give to a surface: linear, shared by all that is drawn.
uniform vec3 sunDirection;

float sunLow() { return 1.0 - smoothstep(0.0, 0.55, sunDirection.y); }

vec3 sunColour() {
  float low = sunLow();
  return mix(vec3(3.55, 2.95, 2.20), vec3(3.5, 1.72, 0.74), low * low);
}

vec3 horizonColour(float near) {
  float low = sunLow();
  vec3 away = mix(vec3(0.45, 0.59, 0.74), vec3(0.44, 0.40, 0.42), low * 0.8);
  vec3 towards = mix(vec3(0.72, 0.74, 0.72), vec3(1.05, 0.60, 0.32), low);
  return mix(away, towards, near * near);
}

// The colour of distant fog: cheaper than the whole sky, because every pixel of the ground computes it.
vec3 hazeColour(vec3 direction) {
  return horizonColour(0.5 + 0.5 * dot(direction, sunDirection)) * 0.86;
}

vec3 skyColour(vec3 direction) {
  float up = max(direction.y, 0.0);
  float towards = dot(direction, sunDirection);
  vec3 zenith = mix(vec3(0.060, 0.165, 0.43), vec3(0.060, 0.105, 0.27), sunLow());
  vec3 colour = mix(horizonColour(0.5 + 0.5 * towards), zenith, 1.0 - exp(-5.5 * up));
  float near = max(towards, 0.0);
  return colour + sunColour() * (0.05 * pow(near, 10.0) + 0.25 * pow(near, 160.0));
}

// Blue from above, warm from the ground around.
vec3 skyLight(vec3 normal) {
  float up = 0.5 + 0.5 * normal.y;
  return mix(vec3(0.150, 0.118, 0.088), vec3(0.235, 0.360, 0.610), up);
}
