uniform sampler2D shape;
uniform sampler2D light;
uniform sampler2D colourMap;
uniform vec2 overlayRange;
uniform float overlayOpacity;
uniform float overlayShading;
uniform float cellSize;
uniform float relief;          // metres between the lowest and the highest point of the start
uniform float steepReference;  // the slope that counts as steep on this terrain
uniform float snowLine;        // 0 … 1 of the relief; above 1 for none
uniform float contourInterval; // metres; 0 for none
uniform float detail;          // 0 … 1: strength of the fine structure
uniform vec3 eye;
in vec2 spot;
in vec3 world;
in float height;
out vec4 colour;

vec4 noiseAt(vec2 p) { return texture(noise, p); }

// The noise on three planes, blended by how the surface faces them, so that cliffs are not smeared.
vec4 noiseOnSlope(vec3 p, vec3 n) {
  vec3 weight = pow(abs(n), vec3(4.0));
  weight /= weight.x + weight.y + weight.z;
  vec4 sum = vec4(0.0);
  if (weight.y > 0.02) sum += weight.y * noiseAt(p.xz);
  if (weight.x > 0.02) sum += weight.x * noiseAt(p.zy * vec2(1.0, 0.6));
  if (weight.z > 0.02) sum += weight.z * noiseAt(p.xy * vec2(1.0, 0.6));
  return sum;
}

struct Ground { vec3 albedo; float rough; float snow; };

Ground groundColour(vec3 normal, float slope, vec4 curve, vec4 here, vec4 macro, vec4 meso, vec4 fine) {
  float level = height / relief;
  float steep = slope / steepReference;
  float wander = (macro.r - 0.5) * 0.5 + (meso.r - 0.5) * 0.35;
  float ridge = clamp(-curve.z * 1.5 - curve.w * 0.05, -1.0, 1.0);

  // Rock: beds of slightly different grey that follow the height, darker in cracks.
  float bed = height / relief * 26.0 + macro.g * 3.0 + meso.r * 1.4;
  float band = texture(noise, vec2(bed * 0.021, 0.37)).g;
  vec3 rock = mix(vec3(0.072, 0.066, 0.062), vec3(0.228, 0.206, 0.180), clamp(0.12 + 0.6 * band + 0.8 * (fine.r - 0.45) + 0.3 * ridge, 0.0, 1.0));
  rock = mix(rock, vec3(0.250, 0.175, 0.120), 0.26 * smoothstep(0.52, 0.78, macro.g) + 0.10 * meso.g);
  rock *= 0.55 + 0.85 * fine.g;

  // Loose ground below the cliffs.
  vec3 scree = mix(vec3(0.150, 0.124, 0.094), vec3(0.245, 0.212, 0.172), fine.r) * (0.75 + 0.45 * meso.g);

  // Grass from lush hollows to dry shoulders, woods where it is low and sheltered.
  float moist = clamp(0.5 + 0.10 * curve.w + 0.9 * (macro.r - 0.5) - 0.35 * level, 0.0, 1.0);
  vec3 grass = mix(vec3(0.150, 0.134, 0.050), vec3(0.048, 0.094, 0.019), smoothstep(0.1, 0.75, moist));
  grass = mix(grass, vec3(0.105, 0.120, 0.032), 0.55 * meso.g) * (0.50 + 0.85 * fine.r);
  float woods = smoothstep(0.52, 0.66, moist + 0.42 * (meso.r - 0.5)) * (1.0 - smoothstep(0.45, 0.62, level + 0.25 * wander)) * (1.0 - smoothstep(0.8, 1.15, steep));
  grass = mix(grass, vec3(0.026, 0.047, 0.018) * (0.45 + 1.1 * fine.g), woods * 0.88);
  vec3 alpine = mix(vec3(0.150, 0.125, 0.075), vec3(0.225, 0.195, 0.145), fine.r);
  grass = mix(grass, alpine, smoothstep(0.58, 0.86, level + 0.35 * wander));

  float rocky = smoothstep(0.78, 1.18, steep + wander * 0.9 + 0.16 * ridge);
  float loose = smoothstep(0.50, 0.85, steep + wander * 0.8) * (1.0 - rocky);
  vec3 albedo = mix(grass, scree, 0.72 * loose);
  albedo = mix(albedo, rock, rocky);

  // Wet ground is darker; banks and drying beds show the load they were left with.
  float film = clamp(here.g / (0.12 * cellSize), 0.0, 1.0);
  float load = here.b / (here.b + here.g + 0.004 * cellSize);
  float bank = smoothstep(0.02, 0.12, (here.g + here.b) / cellSize) * (1.0 - smoothstep(0.5, 1.1, steep));
  albedo = mix(albedo, mix(vec3(0.255, 0.195, 0.125), vec3(0.285, 0.170, 0.105), load) * (0.8 + 0.4 * fine.r), 0.75 * bank);
  albedo *= 1.0 - 0.38 * smoothstep(0.05, 0.9, film);

  float snow = smoothstep(0.0, 0.10, level - snowLine + 0.16 * wander + 0.010 * curve.w) * (1.0 - smoothstep(0.95, 1.45, steep + 0.5 * (meso.g - 0.5) + 0.25 * ridge));
  albedo = mix(albedo, vec3(0.56, 0.59, 0.64), snow);
  return Ground(albedo, mix(1.0, 0.25, snow), snow);
}

void main() {
  vec4 here = texture(fields, spot);
  vec4 curve = texture(shape, spot);
  vec4 lit = texture(light, spot);
  vec2 gradient = curve.xy;
  float slope = length(gradient);
  vec3 normal = normalize(vec3(-gradient.x * exaggeration, 1.0, -gradient.y * exaggeration));

  vec3 metres = vec3((spot.x - 0.5) * extent.x, height, (spot.y - 0.5) * extent.y);
  float side = max(extent.x, extent.y);
  vec3 p = metres / side;
  vec4 macro = noiseAt(p.xz * 1.05);
  vec4 meso = noiseOnSlope(p * 5.3, normal);
  vec4 fine = noiseOnSlope(p * 31.0, normal);
  Ground ground = groundColour(normal, slope, curve, here, macro, meso, fine);

  // Fine structure tilts the normal: blocky on rock, soft on grass, hardly any on snow.
  float bump = detail * ground.rough * mix(0.20, 0.80, smoothstep(0.55, 1.15, slope / steepReference));
  vec2 tilt = (meso.ba - 0.5) * 1.0 + (fine.ba - 0.5) * 1.7;
  vec3 tangent = normalize(vec3(normal.y, -normal.x, 0.0));
  vec3 bitangent = cross(normal, tangent);
  vec3 bumped = normalize(normal + bump * (tangent * tilt.x + bitangent * tilt.y));

  float facing = max(dot(bumped, sunDirection), 0.0) * smoothstep(-0.05, 0.12, dot(normal, sunDirection));
  float open = lit.g * clamp(1.0 - 0.55 * curve.z - 0.022 * curve.w, 0.45, 1.2);
  vec3 sun = sunColour() * facing * lit.r;
  vec3 sky = skyLight(bumped) * open * open * 0.95;
  vec3 bounce = vec3(0.20, 0.17, 0.13) * (1.0 - lit.g) * (0.35 + 0.65 * max(sunDirection.y, 0.0));
  vec3 albedo = ground.albedo;

  if (overlayOpacity > 0.0) {
    float t = clamp((here.a - overlayRange.x) / (overlayRange.y - overlayRange.x), 0.0, 1.0);
    vec3 map = texture(colourMap, vec2((t * 255.0 + 0.5) / 256.0, 0.5)).rgb;
    albedo = mix(albedo, map, overlayOpacity);
    vec3 shaded = albedo * (sun + sky + bounce);
    // A map is read by its colours: shading is held back, so that the legend stays true.
    colour = vec4(mix(shaded, albedo * mix(0.55, 1.25, clamp(0.35 * facing * lit.r + 0.65 * open, 0.0, 1.0)), overlayOpacity * (1.0 - overlayShading)), 1.0);
  } else {
    colour = vec4(albedo * (sun + sky + bounce), 1.0);
  }

  if (contourInterval > 0.0) {
    float lines = height / contourInterval;
    float away = abs(fract(lines - 0.5) - 0.5) / fwidth(lines);
    colour.rgb *= 1.0 - 0.45 * (1.0 - smoothstep(0.3, 1.3, away));
  }
  colour.rgb = withFog(colour.rgb, world, eye);
  colour.rgb = withBrush(colour.rgb, spot * extent);
}
