uniform sampler2D shape;
uniform sampler2D light;
uniform sampler2D colourMap;
uniform vec3 overlayScale; // values at the ends and in the middle of the colour map; logarithms on a log scale
uniform bool overlayLog;
uniform float overlayOpacity;
uniform float overlayShading;
uniform float contourInterval; // metres; 0 for none
uniform float detail;          // 0 … 1: strength of the fine structure
uniform sampler2D history;      // wear, deposits and flow, 0 … 1
uniform float historyKnown;
uniform float clay;            // 0 … 1
uniform sampler2D gullies;     // ribs and gullies finer than the cells
uniform vec3 eye;
uniform vec4 hole;             // north-west and south-east corner of what a finer mesh draws
#ifdef SURROUNDINGS
in vec2 wide;
vec2 spot;
#else
in vec2 spot;
#endif
in vec3 world;
in float height;
out vec4 colour;

const float GULLY_WINDING = 1.6; // cells

// The noise on three planes, blended by how the surface faces them, so that cliffs are not smeared. What each tips is along its plane.
Grain grainOnSlope(vec3 p, vec3 weight) {
  Grain sum = Grain(vec2(0.0), vec3(0.0));
  if (weight.y > 0.02) {
    vec4 n = texture(noise, p.xz);
    sum = Grain(weight.y * n.rg, weight.y * vec3(n.b - 0.5, 0.0, n.a - 0.5));
  }
  if (weight.x > 0.02) {
    vec4 n = texture(noise, p.zy);
    sum.value += weight.x * n.rg;
    sum.tilt += weight.x * vec3(0.0, n.a - 0.5, n.b - 0.5);
  }
  if (weight.z > 0.02) {
    vec4 n = texture(noise, p.xy);
    sum.value += weight.z * n.rg;
    sum.tilt += weight.z * vec3(n.b - 0.5, n.a - 0.5, 0.0);
  }
  return sum;
}

// The noise, turned and at another scale: two of them repeat nowhere in sight of each other.
vec4 turnedNoise(vec2 p) {
  return texture(noise, mat2(0.8, 0.6, -0.6, 0.8) * p);
}

#ifdef CLOSE_GRAIN
// The stones around a place without a repetition in sight: two of many shifted copies, of which the noise chooses. Where they are
// smaller than a pixel, there are none: a few large ones would be left of each tile, in rows.
vec4 strewnAt(vec2 p) {
  vec2 dx = dFdx(p), dy = dFdy(p);
  float choice = 7.0 * texture(noise, p * 0.037).g, first = floor(choice);
  vec4 a = textureGrad(stones, p + fract(first * vec2(0.618, 0.414)), dx, dy);
  vec4 b = textureGrad(stones, p + fract((first + 1.0) * vec2(0.618, 0.414)), dx, dy);
  vec4 here = mix(a, b, smoothstep(0.42, 0.58, choice - first));
  float seen = 1.0 - smoothstep(0.010, 0.045, sqrt(length(dx) * length(dy)));
  return mix(vec4(0.03, 1.0, 0.5, 0.5), here, seen); // as dark as stones and the gaps between them are together
}
#endif

vec3 planes(vec3 normal) {
  vec3 weight = normal * normal;
  weight *= weight;
  return weight / (weight.x + weight.y + weight.z);
}

// A map is read by its colours: shading is held back, so that the legend stays true.
vec3 withMap(vec3 albedo, vec3 received, float value, float facing, float open) {
  if (overlayLog) value = log(max(value, 1e-30));
  float above = value - overlayScale.y, reach = above < 0.0 ? overlayScale.y - overlayScale.x : overlayScale.z - overlayScale.y;
  float t = clamp(0.5 + 0.5 * above / max(reach, 1e-30), 0.0, 1.0);
  vec3 map = texture(colourMap, vec2((t * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  albedo = mix(albedo, map, overlayOpacity);
  vec3 flatly = albedo * mix(0.50, 1.35, clamp(0.42 * facing + 0.58 * open, 0.0, 1.0));
  return mix(albedo * received, flatly, overlayOpacity * (1.0 - overlayShading));
}

// How much sun a bump gets on a slope that gets so much: what it hides from the sun darkens gradually. Under a low sun, half of all bumps
// would be black and the other half bright.
float softFacing(float bump, float slope) {
  float least = max(slope, 0.15);
  return bump < slope ? least * exp((bump - slope) / least) : bump - slope + least;
}

float contours() {
  float lines = height / contourInterval;
  float away = abs(fract(lines - 0.5) - 0.5) / fwidth(lines);
  return 1.0 - 0.45 * (1.0 - smoothstep(0.3, 1.3, away));
}

void main() {
#ifdef SURROUNDINGS
  spot = foldedPlace(wide);
#endif
#ifdef WITH_HOLE
  if (all(greaterThan(spot, hole.xy)) && all(lessThan(spot, hole.zw))) discard;
#endif
  vec4 here = texture(fields, spot);
  vec4 curve = texture(shape, spot);
  vec4 lit = texture(light, spot);
  vec3 p = vec3((spot.x - 0.5) * extent.x, height, (spot.y - 0.5) * extent.y) / grainScale;
  vec2 gullySpot = spot;
#ifdef CLOSE_GRAIN
  // From near, gullies would be straight and soft: they wind a little.
  vec4 winding = turnedNoise(p.xz * 37.0);
  gullySpot += GULLY_WINDING * (winding.rg - 0.5) * cellSize / extent;
#endif
  vec4 carved = texture(gullies, gullySpot);
  carved.yz *= detail;
#ifdef SURROUNDINGS
  curve.xy *= foldedSense(wide);
  carved.yz *= foldedSense(wide);
  lit.r = mix(lit.r, 1.0, smoothstep(0.0, 0.25, beside(wide))); // shadows of the mirrored sun
#endif
  vec3 normal = normalize(vec3(-curve.x * exaggeration, 1.0, -curve.y * exaggeration));
  float sunward = dot(normal, sunDirection);
  vec3 carvedNormal = normalize(vec3(-(curve.x + carved.y) * exaggeration, 1.0, -(curve.y + carved.z) * exaggeration));

  vec3 weight = planes(normal);
  vec4 macro = 0.6 * texture(noise, p.xz * 1.05) + 0.4 * turnedNoise(p.xz * 2.3);
  Grain meso = grainOnSlope(p * 5.3, weight);
  Grain fine = grainOnSlope(p * 31.0, weight);
#ifdef CLOSE_GRAIN
  vec4 turned = turnedNoise(p.xz * 13.7 + 0.37);
  fine.value = 0.5 + 1.15 * (0.62 * (fine.value - 0.5) + 0.38 * (turned.gr - 0.5));
  // Nearby, stones and tufts stand out.
  float near = 0.45 + 0.75 * (1.0 - smoothstep(0.004, 0.05, distance(world, eye) / (worldScale * grainScale)));
  // Grains of a pixel or two would be dither.
  float pixel = metresPerPixel(world, eye) / grainScale;
  near *= 1.0 - 0.8 * smoothstep(0.004, 0.020, 173.0 * pixel);
  Grain close = grainOnSlope(p * 173.0, weight);
  fine.value += near * (close.value - 0.5);
  fine.tilt += near * close.tilt;
#endif
  Site site;
  site.metres = vec3((spot.x - 0.5) * extent.x, height, (spot.y - 0.5) * extent.y);
  site.spot = spot;
  site.level = height / relief;
  site.steep = length(curve.xy) / steepReference;
  site.hollow = clamp(1.6 * curve.z + 0.05 * curve.w, -1.0, 1.0);
  site.basin = clamp(0.7 * curve.w, -2.0, 2.0);
  site.north = clamp(-1.6 * normal.z, -1.0, 1.0);
  site.rib = carved.x;
  site.chutes = clamp(0.5 - 0.30 * carved.x - 0.35 * carved.w + 0.25 * (fine.value.y - 0.5), 0.0, 1.0);
  site.carvedSteep = length(curve.xy + carved.yz) / steepReference;
  site.past = vec4(0.0);
  site.soil = 0.0;
  if (historyKnown > 0.0) {
    vec4 past = texture(history, spot);
    site.past = vec4(past.rgb, texture(history, spot, 2.6).b);
    site.soil = past.a;
  }
  Strewn strewn = Strewn(vec4(0.0), vec4(0.0), vec4(0.0));
#ifdef CLOSE_GRAIN
  mat2 turn = mat2(0.6, 0.8, -0.8, 0.6);
  strewn = Strewn(strewnAt(turn * turn * p.xz * 29.0), strewnAt(turn * p.xz * 110.0), strewnAt(p.xz * 430.0));
#endif
  Ground ground = groundAt(site, metresPerPixel(world, eye), here.g, here.b, historyKnown, macro, meso, fine, strewn);
  ground.albedo = mix(ground.albedo, vec3(0.36, 0.335, 0.31), clay);

  // Ledges: rock steps back between its beds.
  float ledge = 0.0;
#ifdef CLOSE_GRAIN
  float bed = bedHeight(site, macro), thickness = max(relief / 20.0, 3.0 * cellSize);
  float step = 0.012 * thickness;
  ledge = texture(noise, vec2(0.67 + 0.03 * macro.g, (bed - step) / (2.1 * thickness))).g - texture(noise, vec2(0.67 + 0.03 * macro.g, (bed + step) / (2.1 * thickness))).g;
#endif
#ifdef WITH_HOLE
  carvedNormal = normalize(carvedNormal + detailTilt(spot, distance(eye, world)));
#endif
  vec3 bumped = normalize(mix(carvedNormal, normal, 0.35 * ground.smoothed) + detail * (vec3(ground.tilt.x, 0.0, ground.tilt.y) + ground.bump * (0.8 * meso.tilt + 1.35 * fine.tilt) + vec3(0.0, 4.5 * clamp(ledge, -0.10, 0.10) * ground.ledge, 0.0)));
  float facing = softFacing(dot(bumped, sunDirection), sunward) * smoothstep(-0.04, 0.14, sunward) * lit.r;
  float open = mix(lit.g, 1.0, 0.15) * clamp(1.0 - 0.60 * curve.z - 0.030 * curve.w + 0.16 * carved.x, 0.55, 1.2);
  vec3 sun = sunColour() * facing;
  vec3 sky = skyLight(bumped) * open * mix(1.0, sqrt(open), 0.5) * 1.45;
  // Sunlit ground opposite lights what the sky does not reach.
  vec3 bounce = sunColour() * vec3(0.230, 0.188, 0.140) * (0.3 + 0.7 * max(sunDirection.y, 0.0)) * sqrt(open) * (1.15 - lit.g);
  vec3 received = sun + sky + bounce;

  colour = vec4(overlayOpacity > 0.0 ? withMap(ground.albedo, received, here.a, facing, open) : ground.albedo * received, 1.0);
  if (contourInterval > 0.0) colour.rgb *= contours();
  colour.rgb = withFog(colour.rgb, world, eye);
#ifdef SURROUNDINGS
  colour.rgb = lostInHaze(colour.rgb, world, eye, wide);
#else
  colour.rgb = withBrush(colour.rgb, spot * extent, metresPerPixel(world, eye));
#endif
}
