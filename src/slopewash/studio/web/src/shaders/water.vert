uniform sampler2D waterline;
uniform float shallowest;
out vec2 spot;
out vec3 world;

float signedDepthAt(vec2 uv) {
  vec2 size = vec2(textureSize(waterline, 0));
  vec2 p = clamp(uv * size - 0.5, vec2(0.0), size - 1.0);
  ivec2 first = ivec2(p);
  ivec2 last = ivec2(size) - 1;
  vec2 t = p - vec2(first);
  float north = mix(texelFetch(waterline, first, 0).r, texelFetch(waterline, min(first + ivec2(1, 0), last), 0).r, t.x);
  float south = mix(texelFetch(waterline, min(first + ivec2(0, 1), last), 0).r, texelFetch(waterline, min(first + ivec2(1, 1), last), 0).r, t.x);
  return mix(north, south, t.y);
}

void main() {
  spot = position.xy;
  // Bed and depth between the cells alike: still water is level up to its shore.
  world = worldPlace(spot, fieldsAt(spot).r + signedDepthAt(spot) + shallowest);
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
