uniform sampler2D waterline;
uniform float shallowest;
#ifdef FINE_BED
uniform bool finerThanField;
#endif
uniform float cellSize;
uniform vec3 eye;
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
  vec2 slope = textureLod(waterline, spot, 0.0).yz;
  float falling = smoothstep(0.08, 0.25, length(slope));
  // Bed and depth between the cells alike: still water is level up to its shore. A stream that falls follows the ground as it is drawn.
  float bed = fieldsAt(spot).r;
#ifdef FINE_BED
  if (finerThanField) bed = mix(bed, smoothBed(spot), falling);
#endif
  world = worldPlace(spot, bed + signedDepthAt(spot) + shallowest);
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
  // Meshes of ground and water differ a little: on slopes, the water is tested as if it were nearer by part of a cell.
  vec3 nearer = world + falling * 0.45 * cellSize * worldScale * normalize(eye - world);
  vec4 tested = projectionMatrix * viewMatrix * vec4(nearer, 1.0);
  gl_Position.z = tested.z / tested.w * gl_Position.w;
}
