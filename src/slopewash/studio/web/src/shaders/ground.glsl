// What the ground is made of: rock where it is steep, loose stones below, sediment on valley floors, grass, woods and snow.
uniform float steepReference;  // the slope that counts as steep on this terrain
uniform float snowLine;        // 0 … 1 of the relief; above 1 for none
uniform float relief;          // metres between the lowest and the highest point of the start
uniform float cellSize;

struct Grain { vec2 value; vec3 tilt; };  // two noises, and how the first tips a normal
struct Site {
  float level;   // 0 … 1 of the relief
  float steep;   // 1 where the slope counts as steep
  float hollow;  // hollows positive, crests negative, over a few cells
  float basin;   // the same over many cells
  float shade;   // 0 … 1: how little sun the slope gets in a year, as far as it faces away from it now
  vec4 past;     // wear, deposits and flow of the simulation, 0 … 1, and the flow around
};
struct Ground { vec3 albedo; float bump; };

vec3 rockColour(Site at, vec4 macro, Grain meso, Grain fine) {
  float tone = 0.55 * fine.value.x + 0.45 * meso.value.y - 0.22 * at.hollow;
  vec3 rock = mix(vec3(0.078, 0.074, 0.072), vec3(0.238, 0.222, 0.202), smoothstep(0.22, 0.78, tone));
  rock *= mix(vec3(0.90, 0.97, 1.06), vec3(1.16, 0.98, 0.80), smoothstep(0.30, 0.70, macro.g));
  return rock * (0.62 + 0.38 * smoothstep(0.26, 0.48, fine.value.y));
}

vec3 plantColour(Site at, float moist, vec4 macro, Grain meso, Grain fine) {
  vec3 grass = mix(vec3(0.136, 0.126, 0.066), vec3(0.047, 0.078, 0.026), smoothstep(0.15, 0.70, moist));
  grass *= 0.62 + 0.38 * fine.value.x + 0.36 * meso.value.y;
  vec3 alpine = mix(vec3(0.112, 0.108, 0.062), vec3(0.160, 0.150, 0.108), fine.value.x);
  grass = mix(grass, alpine, smoothstep(0.50, 0.80, at.level + 0.22 * (macro.r - 0.5)));
  float wooded = moist + 0.55 * (meso.value.x - 0.5) + 0.25 * (fine.value.y - 0.5) - 0.55 * smoothstep(0.35, 0.62, at.level) - 0.5 * smoothstep(0.75, 1.1, at.steep);
  vec3 woods = vec3(0.024, 0.046, 0.020) * (0.55 + 0.95 * fine.value.y);
  return mix(grass, woods, 0.92 * smoothstep(0.56, 0.66, wooded));
}

// Wet ground is darker; banks and drying beds show their sediment.
vec3 wetted(vec3 albedo, Site at, float water, float suspended, Grain fine) {
  float bank = smoothstep(0.02, 0.10, (water + suspended) / cellSize) * (1.0 - smoothstep(0.5, 1.1, at.steep));
  vec3 silt = vec3(0.190, 0.158, 0.112) * (0.8 + 0.4 * fine.value.x);
  albedo = mix(albedo, silt, 0.80 * bank);
  return albedo * (1.0 - 0.45 * smoothstep(0.004, 0.08, water / cellSize));
}

// Snow lies on gentle high ground, longer in hollows and in the shade; wind and cliffs leave its edge broken.
float snowCover(Site at, vec4 macro, Grain meso, Grain fine) {
  float high = 7.0 * (at.level - snowLine + 0.10 * (macro.r - 0.5) + 0.05 * at.shade) + 0.35 * clamp(at.basin, -1.0, 1.0);
  float held = 1.15 - at.steep + 0.35 * at.hollow;
  float broken = 1.5 * (meso.value.x - 0.5) + 0.8 * (fine.value.x - 0.5);
  return smoothstep(0.08, 0.30, min(high, 1.6 * held) + 0.55 * broken);
}

// Where the simulation knows what it eroded and deposited, that decides; elsewhere the shape of the ground.
Ground groundAt(Site at, float water, float suspended, float known, vec4 macro, Grain meso, Grain fine) {
  float ragged = 0.34 * (meso.value.x - 0.5) + 0.26 * (macro.r - 0.5) + 0.22 * (fine.value.x - 0.5);
  float worn = at.past.r, brought = at.past.g, flow = at.past.b, wetAround = at.past.a;
  float stripped = known * (0.45 * (worn - 0.50) - 0.60 * brought);
  float rocky = smoothstep(0.88, 1.08, at.steep + ragged - 0.16 * at.hollow - 0.10 * clamp(at.basin, -1.0, 1.0) + 0.12 * at.level + stripped);
  float loose = smoothstep(0.62, 0.82, at.steep + ragged + 0.15 * at.basin) * (1.0 - rocky);
  float laid = smoothstep(0.30, 1.10, at.basin + 0.8 * ragged) * (1.0 - smoothstep(0.30, 0.62, at.steep + 0.5 * ragged));
  float fan = smoothstep(0.10, 0.70, brought + 0.35 * ragged) * (1.0 - smoothstep(0.55, 1.0, at.steep));
  laid = mix(laid, fan, known);
  float raw = known * smoothstep(0.45, 0.95, worn + 0.6 * ragged) * smoothstep(0.35, 0.75, at.steep) * (1.0 - rocky);
  float bed = known * smoothstep(0.50, 0.82, flow + 0.16 * (fine.value.x - 0.5)) * (1.0 - smoothstep(0.9, 1.5, at.steep));
  float moist = clamp(0.60 + known * (0.55 * wetAround + 0.18 * brought - 0.22 * worn) + 0.16 * at.basin + 1.0 * (macro.r - 0.5) + 0.14 * at.shade - 0.34 * at.level, 0.0, 1.0);

  vec3 scree = mix(vec3(0.128, 0.114, 0.092), vec3(0.222, 0.198, 0.164), fine.value.x) * (0.80 + 0.35 * meso.value.y);
  vec3 sediment = mix(vec3(0.235, 0.195, 0.138), vec3(0.315, 0.275, 0.208), meso.value.x) * (0.86 + 0.28 * fine.value.y);
  vec3 albedo = plantColour(at, moist, macro, meso, fine);
  // Old fans are overgrown; along streams, where water still moves them, they are bare.
  float bare = mix(0.80, 0.25 + 0.60 * smoothstep(0.15, 0.50, wetAround), known);
  albedo = mix(albedo, sediment, bare * laid);
  vec3 earth = mix(vec3(0.150, 0.112, 0.074), vec3(0.232, 0.180, 0.124), fine.value.x) * (0.82 + 0.30 * meso.value.y);
  albedo = mix(albedo, earth, 0.62 * raw);
  albedo = mix(albedo, scree, 0.78 * loose);
  // Fresh rock is bright and warm; where nothing was eroded, it is weathered and overgrown with lichen.
  vec3 age = mix(vec3(0.74, 0.80, 0.70), vec3(1.16, 1.06, 0.94), smoothstep(0.10, 0.80, worn));
  albedo = mix(albedo, rockColour(at, macro, meso, fine) * mix(vec3(1.0), age, known), rocky);
  vec3 gravel = mix(vec3(0.215, 0.200, 0.172), vec3(0.330, 0.312, 0.275), fine.value.y);
  albedo = mix(albedo, gravel * mix(1.0, 0.45, smoothstep(0.75, 0.95, flow)), 0.75 * bed);
  albedo = wetted(albedo, at, water, suspended, fine);

  float snow = snowCover(at, macro, meso, fine) * (1.0 - smoothstep(0.01, 0.05, water / cellSize));
  vec3 white = mix(vec3(0.42, 0.465, 0.53), vec3(0.515, 0.545, 0.585), meso.value.x); // sunlit, it stays below the end of the curve
  albedo = mix(albedo, white, snow);
  return Ground(albedo, mix(mix(0.24, 0.80, rocky), 0.10, snow));
}
