// What the ground is made of: rock in beds where it is steep, loose stones below, sediment on valley floors, grass, woods and snow, in
// the colours of one kind of country.
uniform sampler2D bedTops;     // metres above the datum: the top of the first stratum
uniform float treesDrawn;      // 1 where trees stand on the ground, which lies in their shade
uniform float grainScale;      // metres that the noise repeats after

#ifdef CLOSE_GRAIN
uniform sampler2D stones;      // of all sizes: height, the stone's own number, and its slopes
#endif

const float TREE_HEIGHT = 12.0; // metres

struct Strewn { vec4 crags; vec4 boulders; vec4 pebbles; }; // stones of three sizes at a place, if any lie there
struct Ground { vec3 albedo; float bump; float ledge; float smoothed; vec2 tilt; };

// Height in the pile of beds, in metres: without strata of its own, the rock has beds that dip and bend a little.
float bedHeight(Site at, vec4 macro) {
  if (bedDepth > 0.0) return at.metres.y - texture(bedTops, at.spot).r;
  float bent = 0.045 * relief * (macro.r - 0.5);
  return at.metres.y + dot(at.metres.xz, vec2(-0.07, 0.11)) + bent;
}

// 1 where nothing green grows on valley floors.
float dryness() {
  return 1.0 - smoothstep(0.1, 0.5, country.y);
}

vec3 rockColour(Site at, float bed, vec4 macro, Grain meso, Grain fine) {
  float thickness = max(relief / 20.0, 3.0 * cellSize);
  float band = texture(noise, vec2(0.31 + 0.02 * macro.g, bed / (14.0 * thickness))).r;
  float thin = texture(noise, vec2(0.67 + 0.03 * macro.g, bed / (2.1 * thickness))).g;
  float tone = 0.50 + 0.42 * country.z * (band - 0.5) + 0.28 * country.z * (thin - 0.5);
  vec3 dark = palette[DARK_ROCK], middle = palette[ROCK], pale = palette[PALE_ROCK];
  if (bedDepth > 0.0) {
    vec2 stratum = stratumAt(-bed + 3.0 * (fine.value.x - 0.5));
    tone = stratum.x + 0.25 * (thin - 0.5);
    middle *= stratum.y;
  }
  tone += 0.50 * (meso.value.y - 0.5) + 0.42 * (fine.value.x - 0.5) + 0.42 * (at.chutes - 0.5) - 0.16 * at.hollow;
  vec3 rock = mix(mix(dark, middle, smoothstep(0.05, 0.50, tone)), pale, 0.85 * smoothstep(0.58, 1.05, tone));
  rock *= mix(vec3(0.90, 0.97, 1.04), vec3(1.02, 0.98, 0.93), smoothstep(0.30, 0.70, macro.g));
  float grey = dot(rock, vec3(0.2126, 0.7152, 0.0722));
  float colourful = bedDepth > 0.0 ? 1.0 : 0.72; // only dry country is so, in its strata
  rock = mix(vec3(grey), rock, mix(0.62, colourful, smoothstep(1.0, 2.0, country.z)));
#ifdef CLOSE_GRAIN
  if (bedDepth <= 0.0) rock *= mix(vec3(0.88, 0.82, 0.76), vec3(0.78, 0.80, 0.83), country.y); // darker than the debris between its crags
#endif
  // Dry country has no lichen and little shade: its rock is hardly darker than its debris.
  float dry = dryness();
  if (bedDepth <= 0.0) rock = mix(rock, mix(palette[ROCK], palette[SCREE], 0.35) * (0.82 + 0.30 * tone), 0.70 * dry);
  // Cracks and gullies stay dark.
  float crack = mix(0.34, 0.16, dry), gully = mix(0.20, 0.10, dry);
  return rock * (1.0 - crack + crack * smoothstep(0.22, 0.50, fine.value.y)) * (1.0 - gully + gully * smoothstep(0.30, 0.52, at.chutes));
}

vec3 plantColour(Site at, float moist, float woods, vec4 macro, Grain meso, Grain fine) {
  vec3 grass = mix(palette[GRASS], palette[MEADOW], smoothstep(0.35, 0.75, moist + 0.3 * (meso.value.y - 0.5)));
  grass = mix(grass, palette[LUSH], smoothstep(0.72, 1.0, moist));
  float dry = smoothstep(0.42, 0.75, at.level + 0.30 * (macro.r - 0.5) - 0.10 * at.north + 0.25 * (0.5 - moist));
  grass = mix(grass, palette[HEATH], dry);
  grass = mix(grass, palette[HEATH], 0.40 * smoothstep(0.46, 0.70, fine.value.y + 0.3 * (meso.value.x - 0.5)));
  grass *= 0.48 + 0.64 * fine.value.x + 0.40 * meso.value.y;
  grass = mix(vec3(dot(grass, vec3(0.3, 0.6, 0.1))), grass, 0.78); // a little dust and shade in every sward
  // Tussocks and stones show the earth between them.
  grass = mix(grass, palette[SOIL], 0.45 * smoothstep(0.56, 0.74, fine.value.y + 0.25 * at.steep - 0.25 * moist));
  vec3 trees = mix(palette[FOREST], palette[FOREST_MIXED], smoothstep(0.40, 0.62, 0.6 * fine.value.x + 0.4 * macro.b));
  trees = dulled(trees);
  trees *= (0.42 + 1.05 * fine.value.y) * (1.0 - 0.30 * treesDrawn);
  return mix(grass, trees, woods);
}

#ifdef CLOSE_GRAIN
// Stones that lie on a share of the ground, and tufts or lumps of earth between them.
vec3 withStones(vec3 albedo, Strewn strewn, float share, float rocky, inout vec2 tilt) {
  vec4 c = strewn.crags, b = strewn.boulders, s = strewn.pebbles;
  float boulder = smoothstep(-0.03, 0.10, 0.75 * share - b.g) * smoothstep(0.02, 0.12, b.r);
  float pebble = smoothstep(-0.03, 0.10, share + 0.05 - s.g) * smoothstep(0.02, 0.12, s.r) * (1.0 - boulder);
  float tuft = (1.0 - boulder) * (1.0 - pebble) * (1.0 - rocky);
  albedo *= 1.0 + tuft * (0.42 * smoothstep(0.0, 0.35, s.r) - 0.22);
  // Rock has faces of all sizes, each a little lighter or darker, and crevices between.
  vec3 tones = vec3(fract(3.1 * c.g), fract(5.7 * b.g), fract(7.3 * s.g)) - 0.5;
  float crevice = 1.0 - smoothstep(0.0, 0.09, min(c.r, b.r + 0.03));
  albedo *= 1.0 + rocky * mix(0.3, 0.85, country.y) * (dot(vec3(0.32, 0.28, 0.22), tones) - 0.36 * crevice);
  // Those on rock come from it: they are hardly paler.
  vec3 stone = mix(mix(palette[SCREE], palette[ROCK], 0.5) * 0.95, albedo * 1.1, 0.7 * rocky);
  albedo = mix(albedo, stone * (0.88 + 0.60 * tones.z), 0.80 * pebble);
  albedo = mix(albedo, stone * (0.88 + 0.50 * tones.y) * (0.80 + 0.40 * s.r), 0.90 * boulder);
  tilt = rocky * (1.15 * (c.ba - 0.5) + 1.05 * (b.ba - 0.5) + 0.65 * (s.ba - 0.5)) * (1.0 - boulder);
  tilt += 1.5 * boulder * (b.ba - 0.5) + (1.2 * pebble + 0.55 * tuft) * (s.ba - 0.5);
  return albedo;
}
#endif

// Wet ground is darker; banks and drying beds show their sediment.
vec3 wetted(vec3 albedo, Site at, float water, float suspended, Grain fine) {
  float bank = smoothstep(0.004, 0.05, (water + suspended) / cellSize) * (1.0 - smoothstep(0.5, 1.1, at.steep));
  albedo = mix(albedo, palette[GRAVEL] * (0.70 + 0.5 * fine.value.x), 0.70 * bank);
  return albedo * (1.0 - 0.50 * smoothstep(0.004, 0.06, water / cellSize));
}

// Snow lies on gentle high ground, longer in gullies and in the shade; ribs, cliffs and wind leave rock between, along the fall line.
float snowCover(Site at, float bed, vec4 macro, Grain meso, Grain fine) {
  // Patches of a pixel or two would be grains on the snow.
  float grains = smoothstep(0.006, 0.026, length(fwidth(at.metres.xz)) / grainScale * 31.0);
  float broken = 0.9 * (meso.value.x - 0.5) + 1.5 * (1.0 - 0.7 * grains) * (fine.value.x - 0.5);
  float high = 7.0 * (at.level - summit * snowLine + 0.08 * (macro.r - 0.5) + 0.05 * at.north) - 0.85 * at.rib + 0.35 * clamp(at.basin, -1.0, 1.0) + 0.6 * broken;
  float bared = 0.34 * at.steep + 0.66 * at.carvedSteep + 0.30 * at.rib - 0.22 * at.hollow;
  float held = 2.4 * (1.17 - bared) + broken * smoothstep(0.62, 1.0, bared); // no holes on gentle slopes
#ifdef CLOSE_GRAIN
  // Ledges between beds hold a little snow on rock.
  float ledges = texture(noise, vec2(0.67 + 0.03 * macro.g + 0.4 * meso.value.y, bed / (1.3 * max(relief / 20.0, 3.0 * cellSize)))).r - 0.5;
  held += 1.3 * (1.0 - 0.6 * grains) * ledges * smoothstep(0.6, 1.0, at.steep);
#endif
  float cover = min(high, held);
  float soft = max(0.09 + 0.12 * grains, fwidth(cover));
  return smoothstep(-soft, soft, cover);
}

// Where the simulation knows what it eroded and deposited, that decides; elsewhere the shape of the ground.
Ground groundAt(Site at, float pixel, float water, float suspended, float known, vec4 macro, Grain meso, Grain fine, Strewn strewn) {
  float ragged = raggedAt(macro, meso.value, fine.value);
  float eroded = at.past.r, brought = at.past.g, flow = at.past.b, wetAround = at.past.a;
  float stripped = known * (0.40 * (eroded - 0.50) - 0.45 * brought - 0.35 * at.soil);
  float bareAbove = bareAboveAt(at);
  float rocky = smoothstep(0.84, 1.04, mix(0.20, 0.62, country.y) * (at.level - 0.44) + 0.4 * at.steep + 0.6 * at.carvedSteep + 0.12 * at.rib + ragged - 0.20 * at.hollow - 0.10 * clamp(at.basin, -1.0, 1.0) + stripped + bareAbove);
#ifdef CLOSE_GRAIN
  // It stands out in crags; debris and a little grass lie between them. Strata have their own ledges.
  float crag = 0.6 * (meso.value.x - 0.5) + 1.1 * (fine.value.x - 0.5) + 0.30 * at.rib + 0.45 * (at.carvedSteep - 1.0) + 0.9 * (strewn.crags.r - 0.15);
  rocky *= mix(1.0, smoothstep(-0.16, 0.04, crag), bedDepth > 0.0 ? 0.25 : 0.90);
#endif
  float loose = looseAt(at, ragged, bareAbove) * (1.0 - rocky);
  float moist = moistAt(at, known, macro);
#ifdef CLOSE_GRAIN
  loose *= 1.0 - grassHolds(at, moist, meso.value, fine.value);
#endif
  float laid = smoothstep(0.30, 1.10, at.basin + 0.8 * ragged) * (1.0 - smoothstep(0.30, 0.62, at.steep + 0.5 * ragged));
  float fan = smoothstep(0.10, 0.70, brought + 0.35 * ragged) * (1.0 - smoothstep(0.55, 1.0, at.steep));
  laid = mix(laid, fan, known);
  float raw = known * smoothstep(0.45, 0.95, eroded + 0.6 * ragged) * smoothstep(0.35, 0.75, at.steep) * (1.0 - rocky);
  float bed = known * smoothstep(0.62, 0.92, flow + 0.22 * (at.chutes - 0.5) + 0.12 * (fine.value.x - 0.5)) * (1.0 - smoothstep(0.6, 1.2, at.steep));

  float woods = woodsAt(at, moist, meso.value, fine.value) * (1.0 - 0.85 * loose) * (1.0 - 0.9 * bed);
  vec3 albedo = plantColour(at, moist, woods, macro, meso, fine);
  // Old fans are overgrown; along streams, where water still moves them, they are bare, in threads.
  vec3 sediment = mix(palette[SAND], palette[GRAVEL], smoothstep(0.3, 0.7, meso.value.x)) * (0.66 + 0.34 * fine.value.y + 0.34 * at.chutes);
  float moving = smoothstep(0.30, 0.62, wetAround + 0.55 * (at.chutes - 0.5) + 0.30 * (meso.value.x - 0.5));
  float bare = mix(1.0 - country.y, 1.0, 0.75 * moving);
  albedo = mix(albedo, sediment, mix(0.75 * (1.0 - 0.6 * country.y), bare, known) * laid * (1.0 - 0.7 * woods));
  vec3 earth = palette[SOIL] * (0.60 + 0.45 * fine.value.x + 0.30 * at.chutes);
  albedo = mix(albedo, earth, 0.45 * raw);
  vec3 scree = mix(palette[SCREE], palette[ROCK], 0.35) * (0.55 + 0.40 * fine.value.x + 0.45 * at.chutes);
  albedo = mix(albedo, scree, 0.82 * loose);
  // Fresh rock is bright and warm; where nothing was eroded, it is weathered and overgrown with lichen.
  vec3 age = mix(mix(vec3(0.80, 0.84, 0.76), vec3(0.94, 0.91, 0.88), dryness()), vec3(1.05, 1.01, 0.96), smoothstep(0.10, 0.80, eroded));
  float height = bedHeight(at, macro);
  albedo = mix(albedo, rockColour(at, height, macro, meso, fine) * mix(vec3(1.0), age, known), rocky);
  vec3 gravel = palette[GRAVEL] * (0.60 + 0.55 * fine.value.y);
  albedo = mix(albedo, gravel * mix(1.0, 0.55, smoothstep(0.80, 1.0, flow)), 0.70 * bed);
  if (bedDepth <= 0.0) { // dust on dry country; strata keep their colours
    float grey = dot(albedo, vec3(0.2126, 0.7152, 0.0722));
    albedo = mix(vec3(grey), albedo, mix(1.0, 0.90, dryness()));
  }
  vec2 tilt = vec2(0.0);
#ifdef CLOSE_GRAIN
  albedo = withStones(albedo, strewn, clamp(0.85 * loose + 0.75 * bed + 0.38 * laid + 0.26 * rocky + 0.22 * raw + 0.10 + 0.25 * (macro.g - 0.5), 0.0, 0.95), rocky, tilt);
#endif
  albedo = wetted(albedo, at, water, suspended, fine);

  float snow = snowCover(at, height, macro, meso, fine) * (1.0 - smoothstep(0.01, 0.05, water / cellSize));
  albedo = mix(albedo, palette[SNOW] * (0.70 + 0.10 * meso.value.x), snow); // sunlit, it stays below the end of the curve
  // The woods of a winter are seen from far as well, where their trees are too small to be drawn.
  float distant = mix(1.0, smoothstep(0.08, 0.28, pixel / TREE_HEIGHT), treesDrawn) * (1.0 - smoothstep(0.25, 0.35, snowLine));
  float groves = woods * mix(0.35, 1.2, smoothstep(0.35, 0.60, fine.value.y)) * mix(0.7, 1.0, smoothstep(0.35, 0.60, meso.value.y));
  albedo = mix(albedo, 0.6 * dulled(palette[FOREST]), min(groves, 0.95) * distant * snow);
  float bump = mix(mix(0.22, 0.55, loose), mix(1.05, 0.70, dryness()), rocky);
  bump = mix(max(bump, 1.1 * woods), 0.12, snow);
  return Ground(albedo * 0.72, bump, rocky * (1.0 - snow) * (bedDepth > 0.0 ? 1.0 : 0.4), snow, tilt * (1.0 - snow));
}
