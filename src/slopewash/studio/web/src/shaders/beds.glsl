// The strata of a terrain, the same on slopes and on the cut sides of the block.
uniform sampler2D bedTable;    // hardness of the stratum at a depth below the top of the first, and the shade of every second one
uniform float bedDepth;        // metres that the table spans; 0 where the terrain has no strata

// Tone of the rock, from dark and hard to pale and soft, and its shade.
vec2 stratumAt(float below) {
  vec2 known = texture(bedTable, vec2(clamp(below / bedDepth, 0.0, 1.0), 0.5)).rg;
  return vec2(mix(0.92, 0.12, known.r), 0.75 + 0.25 * known.g);
}
