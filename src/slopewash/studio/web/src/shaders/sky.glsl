// The sky in a direction, and the sun's colour: linear, shared by the background, the fog and the water's mirror.
uniform vec3 sunDirection;

vec3 sunColour() {
  float low = 1.0 - smoothstep(0.0, 0.55, sunDirection.y);
  return mix(vec3(3.05, 2.70, 2.20), vec3(3.1, 1.75, 0.92), low * low);
}

vec3 skyColour(vec3 direction) {
  float up = direction.y;
  float low = 1.0 - smoothstep(0.0, 0.5, sunDirection.y);
  vec3 zenith = mix(vec3(0.075, 0.175, 0.42), vec3(0.085, 0.13, 0.30), low);
  vec3 horizon = mix(vec3(0.46, 0.57, 0.70), vec3(0.66, 0.50, 0.40), low * 0.7);
  vec3 colour = mix(horizon, zenith, 1.0 - exp(-3.2 * max(up, 0.0)));
  vec3 haze = mix(vec3(0.12, 0.15, 0.185), vec3(0.14, 0.13, 0.14), low);
  colour = mix(colour, haze, 1.0 - exp(-3.4 * max(-up, 0.0)));
  float near = max(dot(direction, sunDirection), 0.0);
  colour += sunColour() * (0.07 * pow(near, 8.0) + 0.20 * pow(near, 90.0)) * smoothstep(-0.15, 0.1, up);
  return colour;
}

vec3 skyLight(vec3 normal) {
  float up = 0.5 + 0.5 * normal.y;
  return mix(vec3(0.13, 0.115, 0.10), vec3(0.31, 0.42, 0.62), up);
}
