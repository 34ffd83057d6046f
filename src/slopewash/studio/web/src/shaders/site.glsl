// A place on the ground, and which plants it suits: shared by the ground and the trees that stand on it.
uniform vec3 palette[14];      // as palette.ts orders them
uniform vec4 country;          // largest share of trees, share of meadow on floors, contrast of beds, line where plants give way to rock
uniform float treeLine;        // fractions of the relief
uniform float wooded;          // 0 where no trees are wanted, not even painted ones
uniform float steepReference;  // the slope that counts as steep on this terrain
uniform float snowLine;        // 0 … 1 of the height of the summit; above 1 for none
uniform float summit;          // height of the highest ground now, as a fraction of the relief
uniform float relief;          // metres between the lowest and the highest point of the start
uniform float cellSize;

const int FOREST = 0, FOREST_MIXED = 1, GRASS = 2, MEADOW = 3, LUSH = 4, HEATH = 5, SOIL = 6, ROCK = 7, DARK_ROCK = 8, PALE_ROCK = 9,
  SCREE = 10, SAND = 11, GRAVEL = 12, SNOW = 13;

struct Grain { vec2 value; vec3 tilt; };  // two noises, and how the first tips a normal
struct Site {
  vec3 metres;   // east, above the datum, south
  vec2 spot;
  float level;   // 0 … 1 of the relief
  float steep;   // 1 where the slope counts as steep
  float hollow;  // hollows positive, crests negative, over a few cells
  float basin;   // the same over many cells
  float north;   // 1 on slopes that face away from the midday sun, −1 on those that face it
  float rib;     // ribs positive, gullies negative, finer than the cells
  float chutes;  // 1 where stones and water leave their traces down a slope
  float carvedSteep; // as steep, with the sides of gullies
  vec4 past;     // wear, deposits and flow of the simulation, 0 … 1, and the flow around
  float soil;    // loose cover, 0 … 1
};

float moistAt(Site at, float known, vec4 macro) {
  float eroded = at.past.r, brought = at.past.g, wetAround = at.past.a;
  float past = known * (0.45 * wetAround + 0.20 * brought + 0.15 * at.soil - 0.22 * eroded);
  return clamp(0.52 + past + 0.18 * at.basin + 0.75 * (macro.r - 0.5) + 0.20 * at.north - 0.26 * at.level, 0.0, 1.0) * mix(0.55, 1.0, country.y);
}

// Share of the ground under trees: up to the tree line, where it is moist and not too steep, in groves.
float woodsAt(Site at, float moist, vec2 meso, vec2 fine) {
  float limit = smoothstep(treeLine - 0.16, treeLine + 0.04, at.level + 0.14 * (meso.x - 0.5));
  float suited = moist + 0.95 * (meso.x - 0.5) + 0.50 * (fine.y - 0.5) + 0.16 * at.north - 0.55 * smoothstep(0.90, 1.40, at.steep);
  return wooded * country.x * smoothstep(0.38, 0.56, suited) * (1.0 - limit);
}

float bareAboveAt(Site at) {
  return 0.5 * smoothstep(country.w, country.w + 0.35, at.level);
}

float raggedAt(vec4 macro, vec2 meso, vec2 fine) {
  return 0.42 * (meso.x - 0.5) + 0.22 * (macro.r - 0.5) + 0.30 * (fine.x - 0.5);
}

// Share of the ground under loose stones.
float looseAt(Site at, float ragged, float bareAbove) {
  return smoothstep(0.58, 0.80, at.steep + mix(0.15, 0.62, country.y) * (at.level - 0.44) + ragged + 0.18 * at.basin + 0.5 * (at.chutes - 0.5) + 0.4 * bareAbove);
}

// Where debris has come to rest and is moist, grass holds it.
float grassHolds(Site at, float moist, vec2 meso, vec2 fine) {
  return 0.85 * country.y * smoothstep(0.30, 0.62, moist + 0.9 * (meso.y - 0.5) + 0.7 * (fine.y - 0.5) - 0.5 * smoothstep(1.0, 1.5, at.steep) - bareAboveAt(at));
}

// The green of needles and leaves, with the dust and the twigs between them.
vec3 dulled(vec3 green) {
  return mix(vec3(dot(green, vec3(0.2126, 0.7152, 0.0722))), green, 0.75);
}
