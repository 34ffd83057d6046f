// A sheet under the block, three times as wide: only the block's shadow on it is drawn.
uniform vec2 extent;
uniform float worldScale;
uniform float exaggeration;
uniform float floorLevel;
out vec2 spot;

void main() {
  spot = position.xy * 1.5 * extent * worldScale;
  vec3 world = vec3(spot.x, floorLevel * exaggeration * worldScale - 0.01, spot.y);
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
