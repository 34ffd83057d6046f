uniform vec3 eye;
in vec3 world;
in vec3 crownNormal;
in vec3 albedo;
in vec2 lit;
in vec4 leaf;
out vec4 colour;

void main() {
#ifdef SHADOW
  vec3 passed = mix(vec3(1.0), vec3(0.52, 0.58, 0.68), lit.r * min(sunStrength, 1.0));
  colour = vec4(passed, 1.0);
#else
  // Needles and leaves: the noise tips the crown's own normal.
  vec4 needles = texture(noise, vec2(0.21 * leaf.x + 0.13 * leaf.z, 0.55 * leaf.y + 0.11 * leaf.z));
  vec3 facing = normalize(crownNormal + 0.9 * vec3(needles.b - 0.5, needles.r - 0.5, needles.a - 0.5));
  float sun = max(dot(facing, sunDirection), 0.0) * 0.85 + 0.15;
  float inside = mix(0.50, 1.08, smoothstep(0.0, 0.75, leaf.y)); // darker down in the wood
  vec3 tint = albedo * (0.60 + 0.80 * needles.g) * 0.95;
  tint = mix(tint, vec3(0.62, 0.66, 0.70), leaf.w * smoothstep(0.05, 0.5, facing.y + 0.5 * (needles.g - 0.5)));
  vec3 received = sunColour() * sun * lit.r + 1.3 * skyLight(facing) * lit.g + 0.05 * sunColour();
  colour = vec4(withFog(tint * received * inside, world, eye), 1.0);
#endif
}
