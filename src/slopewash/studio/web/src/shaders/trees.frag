uniform vec3 eye;
in vec3 world;
in vec3 crownNormal;
in vec3 albedo;
in vec2 lit;
in vec4 leaf;
in float twiggy;
in float outward;
out vec4 colour;

void main() {
#ifdef SHADOW
  // What the sky gives, and the sun between needles. Each pixel is shaded once, however many trees stand before the sun.
  vec3 passed = mix(vec3(1.0), vec3(0.47, 0.51, 0.60), lit.r * min(sunStrength, 1.0));
  colour = vec4(passed, 1.0);
#else
  // Needles and leaves: the crown has faces, and the noise tips them.
  vec4 needles = texture(noise, vec2(0.43 * leaf.x + 0.27 * leaf.z, 0.9 * leaf.y + 0.31 * leaf.z));
  vec3 face = normalize(cross(dFdx(world), dFdy(world)));
  face *= sign(dot(face, eye - world));
  // At its rim, a shrub is twigs.
  float rim = 1.0 - abs(dot(face, normalize(eye - world)));
  if (twiggy * (0.25 + 0.35 * rim) > texture(noise, 0.8 * leaf.xz + 1.3 * leaf.y).g) discard;
  vec3 facing = normalize(0.80 * crownNormal + 0.30 * face + 1.0 * vec3(needles.b - 0.5, needles.r - 0.5, needles.a - 0.5));
  float sun = max(dot(facing, sunDirection), 0.0) * 0.85 + 0.15;
  float inside = mix(0.50, 1.08, smoothstep(0.0, 0.75, leaf.y)) * mix(0.62, 1.05, smoothstep(0.45, 0.90, outward)); // darker down in the wood and between tiers
  vec3 tint = albedo * (0.45 + 1.05 * needles.g) * 0.95;
  tint = mix(tint, vec3(0.62, 0.66, 0.70), 0.8 * leaf.w * smoothstep(0.30, 0.75, facing.y + 0.9 * (needles.g - 0.5)));
  vec3 received = sunColour() * sun * lit.r + 1.3 * skyLight(facing) * lit.g + 0.05 * sunColour();
  colour = vec4(withFog(tint * received * inside, world, eye), 1.0);
#endif
}
