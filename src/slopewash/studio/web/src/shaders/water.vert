uniform bool finerThanField;
out vec2 spot;
out vec3 world;

void main() {
  spot = position.xy;
  vec4 here = fieldsAt(spot);
  // On the same bed as the terrain's mesh, or its facets would cut through thin water.
  world = worldPlace(spot, (finerThanField ? smoothBed(spot) : here.r) + here.g);
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
