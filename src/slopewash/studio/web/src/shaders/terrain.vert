uniform bool finerThanField;
out vec2 spot;
out vec3 world;
out float height;

void main() {
  spot = position.xy;
  height = finerThanField ? smoothBed(spot) : fieldsAt(spot).r;
  world = worldPlace(spot, height);
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
