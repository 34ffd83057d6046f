uniform sampler2D waterline;
uniform float shallowest;
uniform float floorLevel;
out vec2 wide;
out vec3 world;

void main() {
  wide = position.xy;
  vec2 spot = foldedPlace(wide);
  float depth = texture(waterline, spot).r + shallowest;
  world = worldPlace(wide, mix(floorLevel, loweredHeight(fieldsAt(spot).r + depth, wide), surroundings));
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
