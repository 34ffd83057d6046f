in float flow;
out vec4 colour;

void main() {
  vec2 from = gl_PointCoord * 2.0 - 1.0;
  float inside = dot(from, from);
  if (inside > 1.0) discard;
  vec3 normal = vec3(from.x, -from.y, sqrt(1.0 - inside));
  float lit = 0.35 + 0.65 * max(dot(normal, normalize(vec3(-0.4, 0.7, 0.6))), 0.0);
  vec3 water = mix(vec3(0.10, 0.42, 0.75), vec3(0.80, 0.92, 1.0), flow);
  colour = vec4(water * lit * 1.2, 1.0);
}
