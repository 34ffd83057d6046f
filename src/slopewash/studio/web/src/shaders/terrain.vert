uniform bool finerThanField;
uniform vec3 eye;
uniform vec4 nearPlace; // north-west corner and size of a finer patch near the eye; size 0 for the whole terrain
out vec2 spot;
out vec3 world;
out float height;

// A patch whose vertices move onto those of the coarser mesh around it towards its rim, so that no gap opens.
vec2 onPatch(vec2 share) {
  float rim = max(abs(2.0 * share.x - 1.0), abs(2.0 * share.y - 1.0));
  vec2 grid = share * NEAR_QUADS;
  vec2 odd = 2.0 * fract(0.5 * grid + 0.01) - 0.02;
  grid -= odd * smoothstep(0.75, 0.94, rim);
  return clamp(nearPlace.xy + grid / NEAR_QUADS * nearPlace.zw, 0.0, 1.0);
}

void main() {
  spot = nearPlace.z > 0.0 ? onPatch(position.xy) : position.xy;
  height = finerThanField ? smoothBed(spot) : fieldsAt(spot).r;
  height += detailAt(spot, distance(eye, worldPlace(spot, height)));
  world = worldPlace(spot, height);
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
