in float inFlow;
uniform vec2 extent;
uniform float worldScale;
uniform float exaggeration;
uniform float datum;
uniform float pixelsPerUnit;
uniform float size;
out float flow;

void main() {
  vec3 world = vec3(position.x - 0.5 * extent.x, (position.z - datum) * exaggeration, position.y - 0.5 * extent.y) * worldScale;
  flow = inFlow;
  vec4 seen = viewMatrix * vec4(world, 1.0);
  gl_Position = projectionMatrix * seen;
  gl_PointSize = clamp(size * worldScale * pixelsPerUnit / gl_Position.w, 2.0, 24.0);
}
