// The whole terrain as seen from straight above, over all of the target.
out vec2 spot;
out vec3 world;
out float height;

void main() {
  spot = 0.5 + 0.5 * position.xy;
  height = fieldsAt(spot).r;
  world = worldPlace(spot, height);
  gl_Position = vec4(position.xy, 0.0, 1.0);
}
