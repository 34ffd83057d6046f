// Water cut by the block's sides, like that of an aquarium: it darkens downwards, and is brightest at its surface.
uniform float cellSize;
uniform float clarity;
uniform vec3 eye;
in vec3 world;
in float below;
in float depth;
flat in int wall;
out vec4 colour;

void main() {
  vec3 normal = wall == 0 ? vec3(0.0, 0.0, -1.0) : wall == 1 ? vec3(1.0, 0.0, 0.0) : wall == 2 ? vec3(0.0, 0.0, 1.0) : vec3(-1.0, 0.0, 0.0);
  if (depth <= 0.0 || dot(normal, eye - world) < 0.0) discard;
  float down = below / (cellSize * clarity);
  vec3 light = 0.45 * sunColour() * max(sunDirection.y, 0.1) + skyLight(normal);
  vec3 tint = mix(vec3(0.055, 0.150, 0.165), vec3(0.006, 0.038, 0.056), 1.0 - exp(-0.10 * down));
  float facing = 0.85 + 0.25 * max(dot(normal, sunDirection), 0.0);
  float rim = 1.0 - smoothstep(0.0, 1.6 * fwidth(below), below);
  vec3 lit = tint * light * facing + 0.10 * rim * light;
  float thick = 0.72 + 0.24 * (1.0 - exp(-0.3 * down));
  colour = vec4(withFog(lit, world, eye), thick * smoothstep(0.0, 0.05 * cellSize, depth));
}
