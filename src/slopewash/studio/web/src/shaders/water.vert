uniform sampler2D waterline;
uniform float shallowest;
uniform float riversDrawn;
#ifdef FINE_BED
uniform bool finerThanField;
#endif
uniform float cellSize;
uniform float pixelsPerUnit;
uniform vec3 eye;
out vec2 spot;
out vec3 world;

const float LYING = 0.06; // cells

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
  vec4 line = textureLod(waterline, spot, 0.0);
  float steep = length(line.yz), falling = smoothstep(0.08, 0.25, steep);
  // Bed and depth between the cells alike: still water is level up to its shore. A stream that falls follows the ground as it is drawn.
  float bed = fieldsAt(spot).r;
#ifdef FINE_BED
  if (finerThanField) bed = mix(bed, smoothBed(spot), falling);
#endif
  world = worldPlace(spot, bed + signedDepthAt(spot) + shallowest);
  // From near, where it is drawn narrower than it is, a stream lies on the ground: its own surface would stand above its banks.
  float seen = smoothstep(3.0, 7.0, cellSize * worldScale * pixelsPerUnit / distance(eye, world));
  float lying = riversDrawn * seen * smoothstep(0.004, 0.012, steep) * (1.0 - smoothstep(0.80, 1.0, line.w));
  world = mix(world, worldPlace(spot, bed + LYING * cellSize), lying);
  falling = max(falling, lying);
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
  // Meshes of ground and water differ a little: on slopes, the water is tested as if it were nearer by part of a cell.
  vec3 nearer = world + falling * 0.45 * cellSize * worldScale * normalize(eye - world);
  vec4 tested = projectionMatrix * viewMatrix * vec4(nearer, 1.0);
  gl_Position.z = tested.z / tested.w * gl_Position.w;
}
