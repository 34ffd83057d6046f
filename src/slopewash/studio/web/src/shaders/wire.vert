uniform vec2 extent;
uniform float worldScale;
uniform float exaggeration;
uniform float datum;

void main() {
  vec3 world = vec3(position.x - 0.5 * extent.x, (position.z - datum) * exaggeration, position.y - 0.5 * extent.y) * worldScale;
  vec4 seen = viewMatrix * vec4(world, 1.0);
  seen.z += 0.004 * abs(seen.z); // a hair nearer than the surface it lies on
  gl_Position = projectionMatrix * seen;
}
