// position: as on the block, 0 … 1, and beyond it.
uniform float floorLevel;
out vec2 wide;
out vec3 world;
out float height;

void main() {
  wide = position.xy;
  height = loweredHeight(fieldsAt(foldedPlace(wide)).r, wide);
  world = worldPlace(wide, mix(floorLevel, height, surroundings));
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
