out vec2 spot;
out vec3 world;

void main() {
  spot = position.xy;
  vec4 here = fieldsAt(spot);
  world = worldPlace(spot, here.r + here.g);
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
