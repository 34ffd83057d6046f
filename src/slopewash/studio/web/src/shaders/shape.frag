// Gradient of the bed (metres per metre) and its curvature at two scales (in cells; hollows are positive).
uniform sampler2D fields;
uniform float cellSize;
out vec4 shape;

float bed(ivec2 cell) {
  return texelFetch(fields, clamp(cell, ivec2(0), textureSize(fields, 0) - 1), 0).r;
}

float ringMean(ivec2 cell, int reach) {
  int diagonal = int(float(reach) * 0.7071 + 0.5);
  return 0.125 * (bed(cell + ivec2(reach, 0)) + bed(cell - ivec2(reach, 0)) + bed(cell + ivec2(0, reach)) + bed(cell - ivec2(0, reach))
    + bed(cell + ivec2(diagonal)) + bed(cell - ivec2(diagonal)) + bed(cell + ivec2(diagonal, -diagonal)) + bed(cell - ivec2(diagonal, -diagonal)));
}

void main() {
  ivec2 cell = ivec2(gl_FragCoord.xy);
  float nw = bed(cell + ivec2(-1, -1)), n = bed(cell + ivec2(0, -1)), ne = bed(cell + ivec2(1, -1));
  float w = bed(cell + ivec2(-1, 0)), e = bed(cell + ivec2(1, 0));
  float sw = bed(cell + ivec2(-1, 1)), s = bed(cell + ivec2(0, 1)), se = bed(cell + ivec2(1, 1));
  vec2 gradient = vec2((ne + 2.0 * e + se) - (nw + 2.0 * w + sw), (sw + 2.0 * s + se) - (nw + 2.0 * n + ne)) / (8.0 * cellSize);
  float here = bed(cell);
  float fine = (0.25 * (n + s + e + w) - here) / cellSize;
  float broad = (ringMean(cell, 7) - here) / cellSize;
  shape = vec4(gradient, fine, broad);
}
