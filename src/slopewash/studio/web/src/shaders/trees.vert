// One tree per instance, found by the instance's own number: a knot of a grid over the ground, and what that place suits. Nothing is
// stored, so trees follow the ground as it changes, and a place has the same tree whoever looks at it.
uniform sampler2D shape;
uniform sampler2D light;
uniform sampler2D history;
uniform sampler2D waterline;
uniform float shallowest;
uniform float historyKnown;
uniform float grainScale;
uniform bool finerThanField;
uniform vec3 eye;
uniform vec4 treeKnots;   // first knot east and south, knots per row, knots from one to the next
uniform vec3 treeRing;    // world units from the eye between which this mesh has its trees, and where a coarser grid begins
uniform float pixelsPerUnit;
uniform float treeSpacing; // metres from one knot to the next
out vec3 world;
out vec3 crownNormal;
out vec3 albedo;
out vec2 lit;
out vec4 leaf;            // place in the crown, and how snowy it is
out float twiggy;         // 1 where the sky shows between twigs
out float outward;        // 1 at the tips of branches, less between tiers

const float LEANING = 0.16; // of its height, that a tip stands beside the foot on either side, at most half of it

uint hashed(uvec2 knot, uint salt) {
  uint h = knot.x * 0x9e3779b1u ^ knot.y * 0x85ebca6bu ^ salt * 0xc2b2ae35u;
  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  h = (h ^ (h >> 12)) * 0x297a2d39u;
  return h ^ (h >> 15);
}

float random(uvec2 knot, uint salt) {
  return float(hashed(knot, salt) & 0xffffffu) / 16777215.0;
}

Site siteAt(vec2 spot, float height, vec4 curve) {
  Site at;
  vec3 up = normalize(vec3(-curve.x * exaggeration, 1.0, -curve.y * exaggeration));
  at.metres = vec3((spot.x - 0.5) * extent.x, height, (spot.y - 0.5) * extent.y);
  at.spot = spot;
  at.level = height / relief;
  at.steep = length(curve.xy) / steepReference;
  at.hollow = 0.0;
  at.basin = clamp(0.7 * curve.w, -2.0, 2.0);
  at.north = clamp(-1.6 * up.z, -1.0, 1.0);
  at.rib = 0.0;
  at.chutes = 0.5;
  at.carvedSteep = at.steep;
  at.past = historyKnown * vec4(textureLod(history, spot, 0.0).rgb, textureLod(history, spot, 2.6).b);
  at.soil = historyKnown * textureLod(history, spot, 0.0).a;
  return at;
}

void main() {
  gl_Position = vec4(2.0, 2.0, 2.0, 1.0); // nowhere, unless a tree stands here
  world = crownNormal = albedo = vec3(0.0);
  lit = vec2(0.0);
  leaf = vec4(0.0);
  twiggy = outward = 0.0;
  int column = gl_InstanceID % int(treeKnots.z), row = gl_InstanceID / int(treeKnots.z);
  ivec2 knot = ivec2(treeKnots.xy) + ivec2(column, row) * int(treeKnots.w);
  uvec2 name = uvec2(knot + 65536);
  // Coarser grids are part of the finer ones: a knot of many keeps its place when its neighbours are left out.
  uint rank = (name.x | name.y);
  float coarse = float(min(rank & (~rank + 1u), 64u));
  vec2 place = (vec2(knot) + 0.9 * coarse * (vec2(random(name, 1u), random(name, 2u)) - 0.5)) * treeSpacing;
  vec2 wide = place / extent, spot = foldedPlace(wide);
  bool outside = beside(wide) > 0.0;
  if (outside && surroundings < 1.0) return;

  vec4 field = fieldsAt(spot);
  float away = distance(eye, worldPlace(wide, field.r));
  if (away < treeRing.x || away >= treeRing.y) return;
  // Neither in water nor on the banks that it washes.
  vec4 line = textureLod(waterline, spot, 0.0);
  float dry = (1.0 - smoothstep(-1.0, -0.4, line.r / shallowest)) * (1.0 - smoothstep(0.10, 0.32, line.w));
  if (dry <= 0.0) return;
  vec4 curve = textureLod(shape, spot, 0.0);
  Site at = siteAt(spot, field.r, curve);
  vec2 p = at.metres.xz / grainScale;
  vec4 macro = 0.6 * textureLod(noise, p * 1.05, 0.0) + 0.4 * textureLod(noise, mat2(0.8, 0.6, -0.6, 0.8) * p * 2.3, 0.0);
  vec2 meso = textureLod(noise, p * 5.3, 0.0).rg, fine = textureLod(noise, p * 31.0, 0.0).rg;
  float moist = moistAt(at, historyKnown, macro);
  float woods = woodsAt(at, moist, meso, fine) * (1.0 - 0.9 * smoothstep(1.10, 1.45, at.steep));
  dry *= 1.0 - historyKnown * smoothstep(0.50, 0.72, at.past.b); // not in stream beds
  // A few stand alone on the meadows around.
  float scrub = 1.0 - smoothstep(0.3, 0.5, country.x); // dry country has shrubs
  float clump = smoothstep(0.50, 0.72, 0.45 * meso.y + 0.55 * textureLod(noise, p * 83.0, 0.0).g); // where seeds found shade
  float alone = mix(0.05 * smoothstep(0.50, 0.70, meso.y), 0.025 + 0.55 * clump, scrub) * mix(country.x, 1.0, scrub) * smoothstep(mix(0.30, 0.10, scrub), mix(0.5, 0.45, scrub), moist) * (1.0 - smoothstep(treeLine - 0.10, treeLine, at.level)) * (1.0 - smoothstep(0.7, 1.0, at.steep));
  // Where snow stays for the summer, there are none; a country in winter has them all the same.
  float snow = summit * snowLine;
  float alpine = smoothstep(0.25, 0.35, snowLine) * smoothstep(snow - 0.12, snow - 0.03, at.level);
  float scree = looseAt(at, raggedAt(macro, meso, fine), bareAboveAt(at)) * (1.0 - grassHolds(at, moist, meso, fine)) * (1.0 - scrub);
  dry *= 1.0 - smoothstep(0.25, 0.60, scree);
  if (random(name, 3u) >= max(1.15 * woods, alone) * (1.0 - alpine) * dry) return;

  float snowy = smoothstep(-0.02, 0.10, at.level - snow + 0.06 * (macro.r - 0.5));
  float leafy = step(random(name, 4u), clamp(0.34 - 0.9 * at.level + 0.5 * (macro.b - 0.5) - snowy, 0.0, 1.0) + scrub);
  float stunted = mix(1.0, 0.45, smoothstep(treeLine - 0.20, treeLine + 0.02, at.level));
  float tall = mix(mix(8.0, 16.0, random(name, 5u)), mix(5.0, 9.5, random(name, 5u)), leafy) * stunted;
  tall *= mix(0.7, 1.3, random(name, 12u)); // old ones and young ones
  float grown = random(name, 5u);
  tall = mix(tall, mix(0.6, 2.6, grown * grown * grown) * mix(0.8, 1.25, clump), scrub); // most shrubs are small
  float broad = tall * mix(mix(0.15, 0.21, random(name, 6u)), mix(0.36, 0.50, random(name, 6u)), leafy);
  broad = mix(broad, tall * mix(0.55, 1.05, random(name, 6u)), scrub);
  float stride = treeKnots.w;
  float kept = 1.0 - (coarse < 2.0 * stride ? smoothstep(0.75, 1.0, away / treeRing.z) : 0.0);
  // Snowy trees of a pixel or two would be dark grains on white ground; the ground itself shows the woods from there.
  kept *= mix(1.0, smoothstep(1.5, 4.0, tall * worldScale * pixelsPerUnit / away), snowy);
  float bold = sqrt(max(treeSpacing * stride / 13.0, 1.0)) * kept; // fewer trees in the distance are a little larger
  tall *= bold;
  broad *= bold;

  // A cone in tiers, or a round crown with dents.
  float turn = 6.2831853 * random(name, 7u), share = position.y;
  vec2 out2 = mat2(cos(turn), sin(turn), -sin(turn), cos(turn)) * position.xz;
  float dent = mix(0.72, 0.45, scrub) + mix(0.56, 1.0, scrub) * random(name + uvec2(gl_VertexID, 0), 8u);
  float round = sqrt(max(1.0 - pow(abs(2.0 * share - 1.0), 2.2), 0.0));
  float radius = mix((1.02 - share) * mix(1.0, dent, 0.75), round * dent / max(length(position.xz), 0.35), leafy);
  vec3 part = vec3(out2.x * radius * broad, mix(share, 0.10 + 0.90 * share, leafy) * tall, out2.y * radius * broad);
  // Branches hang or rise a little, each its own way.
  part.y += 0.11 * (1.0 - leafy) * (1.0 - share) * (random(name + uvec2(gl_VertexID, 0), 15u) - 0.5) * tall;
  part.xz += LEANING * (vec2(random(name, 13u), random(name, 14u)) - 0.5) * part.y;
  float ground = outside ? loweredHeight(field.r, wide) : (finerThanField ? smoothBed(spot) : field.r) + detailAt(spot, away);
  vec3 foot = worldPlace(wide, ground - 0.04 * tall);
#ifdef SHADOW
  // Thrown onto the slope around its foot.
  vec2 fall = curve.xy * exaggeration;
  float steepness = sunDirection.y - dot(fall, sunDirection.xz);
  if (steepness < 0.30) return;
  float along = (part.y - dot(fall, part.xz)) / steepness;
  part = part - sunDirection * min(along, 1.7 * tall) + vec3(0.0, 0.012 * treeSpacing + 0.04 * tall, 0.0);
  world = foot + part * worldScale;
#else
  world = foot + vec3(part.x, part.y * exaggeration, part.z) * worldScale;
#endif
  crownNormal = normalize(vec3(out2.x, mix(0.45, 1.6 * (share - 0.35), leafy), out2.y));
  lit = textureLod(light, spot, 0.0).rg;
  albedo = mix(palette[FOREST], palette[FOREST_MIXED], clamp(0.75 * leafy + 0.5 * (random(name, 9u) - 0.5), 0.0, 1.0));
  albedo = dulled(albedo);
  albedo *= (0.60 + 0.65 * random(name, 10u)) * mix(1.0, 0.78, leafy * (1.0 - scrub));
  float yellow = random(name, 11u); // a few are younger or drier than the rest
  albedo *= mix(vec3(0.95, 0.98, 1.0), vec3(1.50, 1.18, 0.75), yellow * yellow * (1.0 - scrub));
  // Of shrubs some are silvery, some are dry and as pale as the ground, few are green.
  vec3 shrub = mix(mix(palette[FOREST], palette[HEATH] * 0.75, smoothstep(0.25, 0.9, yellow)), vec3(0.16, 0.16, 0.12), 0.45 * random(name, 9u));
  albedo = mix(albedo, shrub * (0.55 + 0.5 * random(name, 10u)), scrub);
  leaf = vec4(part / broad + 7.0 * vec3(random(name, 1u)), snowy);
  leaf.y = share;
  twiggy = scrub;
  outward = mix(clamp(length(position.xz), 0.0, 1.0), 1.0, max(leafy, smoothstep(0.85, 1.0, share)));
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
