// How deep water stands over each cell, below zero on dry ground, so that the shore runs between the cells as the ground does; and where
// the water flows.
uniform sampler2D fields;
uniform float cellSize;
uniform float shallowest; // metres; less is no water to look at
out vec4 waterline;       // depth in metres, slope of the surface to the east and to the south, share of wet cells around

vec4 fieldsOf(ivec2 cell) {
  return texelFetch(fields, clamp(cell, ivec2(0), textureSize(fields, 0) - 1), 0);
}

void main() {
  ivec2 cell = ivec2(gl_FragCoord.xy);
  vec4 here = fieldsOf(cell);
  float wet = 0.0, all = 0.0, level = 0.0, deep = 0.0;
  int touching = 0;
  for (int y = -2; y <= 2; y++) {
    for (int x = -2; x <= 2; x++) {
      vec4 f = fieldsOf(cell + ivec2(x, y));
      float weight = exp(-0.5 * float(x * x + y * y));
      all += weight;
      if (f.g <= shallowest) continue;
      wet += weight;
      level += weight * (f.r + f.g);
      deep += weight * f.g;
      if (abs(x) <= 1 && abs(y) <= 1) touching++;
    }
  }
  level = wet > 0.0 ? level / wet : here.r;
  deep = wet > 0.0 ? deep / wet - shallowest : 0.0;
  float depth = here.g - shallowest;
  bool dry = depth <= 0.0;
  // The surface goes on into banks that are higher; lower ground beside it stays dry, except in the corners of a stream that runs
  // from cell to cell.
  if (dry && wet > 0.0) depth = min(level - here.r - shallowest, touching >= 2 ? 0.6 * deep : depth - 0.5 * shallowest);
  if (!dry) level = here.r + here.g;
  vec2 rise = vec2(0.0), reach = vec2(1e-6);
  for (int y = -2; y <= 2; y++) {
    for (int x = -2; x <= 2; x++) {
      vec4 f = fieldsOf(cell + ivec2(x, y));
      if (f.g <= shallowest) continue;
      vec2 offset = vec2(float(x), float(y));
      float weight = exp(-0.3 * dot(offset, offset));
      rise += weight * offset * (f.r + f.g - level);
      reach += weight * offset * offset;
    }
  }
  waterline = vec4(depth, clamp(rise / (reach * cellSize), -4.0, 4.0), wet / all);
}
