uniform sampler2D shape;
uniform sampler2D light;
uniform sampler2D colourMap;
uniform vec2 overlayRange; // logarithms on a log scale
uniform bool overlayLog;
uniform float overlayOpacity;
uniform float overlayShading;
uniform float contourInterval; // metres; 0 for none
uniform float detail;          // 0 … 1: strength of the fine structure
uniform sampler2D history;      // wear, deposits and flow, 0 … 1
uniform float historyKnown;
uniform float grainScale;      // metres
uniform float clay;            // 0 … 1
uniform float closeGrain;      // 0 … 1: one more octave for those who come near
uniform vec3 eye;
in vec2 spot;
in vec3 world;
in float height;
out vec4 colour;

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

vec3 planes(vec3 normal) {
  vec3 weight = normal * normal;
  weight *= weight;
  return weight / (weight.x + weight.y + weight.z);
}

// A map is read by its colours: shading is held back, so that the legend stays true.
vec3 withMap(vec3 albedo, vec3 received, float value, float facing, float open) {
  if (overlayLog) value = log(max(value, 1e-30));
  float t = clamp((value - overlayRange.x) / (overlayRange.y - overlayRange.x), 0.0, 1.0);
  vec3 map = texture(colourMap, vec2((t * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  albedo = mix(albedo, map, overlayOpacity);
  vec3 flatly = albedo * mix(0.50, 1.35, clamp(0.42 * facing + 0.58 * open, 0.0, 1.0));
  return mix(albedo * received, flatly, overlayOpacity * (1.0 - overlayShading));
}

float contours() {
  float lines = height / contourInterval;
  float away = abs(fract(lines - 0.5) - 0.5) / fwidth(lines);
  return 1.0 - 0.45 * (1.0 - smoothstep(0.3, 1.3, away));
}

void main() {
  vec4 here = texture(fields, spot);
  vec4 curve = texture(shape, spot);
  vec4 lit = texture(light, spot);
  vec3 normal = normalize(vec3(-curve.x * exaggeration, 1.0, -curve.y * exaggeration));
  float sunward = dot(normal, sunDirection);

  vec3 p = vec3((spot.x - 0.5) * extent.x, height, (spot.y - 0.5) * extent.y) / grainScale;
  vec3 weight = planes(normal);
  vec4 macro = texture(noise, p.xz * 1.05);
  Grain meso = grainOnSlope(p * 5.3, weight);
  Grain fine = grainOnSlope(p * 31.0, weight);
  if (closeGrain > 0.0) {
    Grain close = grainOnSlope(p * 173.0, weight);
    fine.value += closeGrain * 0.45 * (close.value - 0.5);
    fine.tilt += closeGrain * 0.45 * close.tilt;
  }
  Site site = Site(height / relief, length(curve.xy) / steepReference, clamp(1.6 * curve.z + 0.05 * curve.w, -1.0, 1.0), clamp(0.7 * curve.w, -2.0, 2.0), clamp(0.5 - sunward, 0.0, 1.0), vec4(0.0));
  if (historyKnown > 0.0) site.past = vec4(texture(history, spot).rgb, texture(history, spot, 2.6).b);
  Ground ground = groundAt(site, here.g, here.b, historyKnown, macro, meso, fine);
  ground.albedo = mix(ground.albedo, vec3(0.36, 0.335, 0.31), clay);

  vec3 bumped = normalize(normal + detail * ground.bump * (0.8 * meso.tilt + 1.35 * fine.tilt));
  float facing = max(dot(bumped, sunDirection), 0.0) * smoothstep(-0.04, 0.14, sunward) * lit.r;
  float open = mix(lit.g, 1.0, 0.15) * clamp(1.0 - 0.60 * curve.z - 0.030 * curve.w, 0.60, 1.2);
  vec3 sun = sunColour() * facing;
  vec3 sky = skyLight(bumped) * open * mix(1.0, sqrt(open), 0.5) * 1.45;
  // Sunlit ground opposite lights what the sky does not reach.
  vec3 bounce = sunColour() * vec3(0.230, 0.188, 0.140) * (0.3 + 0.7 * max(sunDirection.y, 0.0)) * sqrt(open) * (1.15 - lit.g);
  vec3 received = sun + sky + bounce;

  colour = vec4(overlayOpacity > 0.0 ? withMap(ground.albedo, received, here.a, facing, open) : ground.albedo * received, 1.0);
  if (contourInterval > 0.0) colour.rgb *= contours();
  colour.rgb = withFog(colour.rgb, world, eye);
  colour.rgb = withBrush(colour.rgb, spot * extent, metresPerPixel(world, eye));
}
