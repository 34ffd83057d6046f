// position: x along the wall 0 … 1, y 0 at the floor and 1 at the surface, z the number of the wall (north, east, south, west).
uniform float floorLevel; // metres above the datum
out vec2 spot;
out vec3 world;
out float height;
out float along;
out float top;
flat out int wall;

void main() {
  wall = int(position.z + 0.5);
  along = position.x;
  if (wall == 0) spot = vec2(along, 0.0);
  else if (wall == 1) spot = vec2(1.0, along);
  else if (wall == 2) spot = vec2(along, 1.0);
  else spot = vec2(0.0, along);
  top = fieldsAt(spot).r;
  height = mix(floorLevel, top, position.y);
  world = worldPlace(spot, height);
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
