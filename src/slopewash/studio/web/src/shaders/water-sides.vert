// The water between the bed and its surface along the cut sides of the block. position as for the walls.
uniform sampler2D waterline;
uniform float shallowest;
out vec3 world;
out float below; // metres under the surface
out float depth; // metres of water in all
flat out int wall;

void main() {
  wall = int(position.z + 0.5);
  float along = position.x;
  vec2 spot = wall == 0 ? vec2(along, 0.0) : wall == 1 ? vec2(1.0, along) : wall == 2 ? vec2(along, 1.0) : vec2(0.0, along);
  depth = texture(waterline, spot).r;
  float bed = fieldsAt(spot).r;
  float surface = bed + depth + shallowest;
  below = (1.0 - position.y) * max(depth, 0.0);
  world = worldPlace(spot, mix(bed, surface, position.y));
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
