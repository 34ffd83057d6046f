// Drawn twice: once multiplying the background by the transmitted light, once adding the light that the water reflects and scatters.
uniform sampler2D light;
uniform float cellSize;
uniform float sedimentTint;
uniform float clarity;         // depth in cells at which the bed is hardly visible
uniform float ripple;
uniform float grainScale;      // metres
uniform vec3 eye;
uniform bool letsThrough;
in vec2 spot;
in vec3 world;
out vec4 colour;

struct Water { float depth; float sediment; vec2 slope; };  // metres; slope of the water surface

// The neighbours give the slope, and where a pixel covers many cells also the mean: single wet cells would glitter.
Water waterHere() {
  vec2 cells = vec2(textureSize(fields, 0));
  vec2 footprint = fwidth(spot) * cells;
  vec2 stride = max(vec2(1.0), 0.5 * footprint) / cells;
  vec4 here = texture(fields, spot);
  vec4 e = texture(fields, spot + vec2(stride.x, 0.0)), w = texture(fields, spot - vec2(stride.x, 0.0));
  vec4 s = texture(fields, spot + vec2(0.0, stride.y)), n = texture(fields, spot - vec2(0.0, stride.y));
  vec2 rise = vec2(e.r + e.g - w.r - w.g, s.r + s.g - n.r - n.g) / (2.0 * stride * extent);
  float far = smoothstep(0.6, 1.8, max(footprint.x, footprint.y));
  vec2 mean = mix(here.gb, 0.2 * (here.gb + e.gb + w.gb + s.gb + n.gb), far);
  return Water(mean.x, mean.y, clamp(rise * exaggeration, -1.2, 1.2));
}

vec3 surfaceNormal(vec2 slope) {
  vec2 p = (spot - 0.5) * extent / grainScale;
  vec2 waves = (texture(noise, p * 61.0 + ripple * vec2(0.031, 0.017)).ba - 0.5) + (texture(noise, p.yx * 37.0 - ripple * vec2(0.013, 0.029)).ba - 0.5);
  return normalize(vec3(-slope.x, 1.0, -slope.y) + vec3(waves.x, 0.0, waves.y) * 0.05);
}

void main() {
  Water here = waterHere();
  float depth = here.depth / cellSize;
  float shore = smoothstep(0.035, 0.15, depth);
  if (shore <= 0.0) discard;

  vec3 normal = surfaceNormal(here.slope);
  vec3 toEye = normalize(eye - world);
  float cosine = clamp(dot(normal, toEye), 0.0, 1.0);
  float grazing = (1.0 - cosine) * (1.0 - cosine);
  // Water that runs down steeply is broken and mirrors nothing.
  float calm = 1.0 - smoothstep(0.25, 0.85, length(here.slope));
  float fresnel = min(0.02 + 0.98 * grazing * grazing * (1.0 - cosine), 0.75) * shore * calm;

  // Water absorbs red first: shallows are green, depths blue. Sediment absorbs blue instead.
  float path = depth * (1.0 + 0.6 * (1.0 - cosine)) / clarity;
  float muddiness = here.sediment / (here.sediment + here.depth + 1e-6);
  float mud = min(1.2 * sedimentTint, 1.0) * smoothstep(0.30, 1.0, muddiness);
  vec3 absorption = mix(vec3(3.4, 0.95, 0.72), vec3(1.5, 2.1, 3.3), mud) * (1.0 + 1.5 * mud);
  vec3 through = mix(vec3(1.0), exp(-absorption * path), shore);

  if (letsThrough) {
    colour = vec4(through * (1.0 - fresnel), 1.0);
    return;
  }

  vec4 lit = texture(light, spot);
  vec3 silt = mix(vec3(0.046, 0.064, 0.032), vec3(0.190, 0.112, 0.044), sedimentTint); // from green to red
  vec3 body = mix(vec3(0.0035, 0.0300, 0.0400), silt, mud);
  vec3 received = sunColour() * (0.20 + 0.80 * lit.r) * max(sunDirection.y, 0.05) + skyLight(normal) * lit.g;
  vec3 mirrored = reflect(-toEye, normal);
  mirrored = normalize(vec3(mirrored.x, abs(mirrored.y) + 0.02, mirrored.z));
  vec3 sky = skyColour(mirrored) * mix(0.30, 1.0, lit.g * lit.g);
  float glint = pow(max(dot(mirrored, sunDirection), 0.0), 420.0) * lit.r;
  vec3 added = body * received * (1.0 - through) + fresnel * (sky + 2.0 * glint * sunColour());

  // Fog and the ring replace what is behind, so that only the water's own share of them is added here.
  float share = 1.0 - dot(through * (1.0 - fresnel), vec3(0.3333));
  vec3 unit = added / max(share, 1e-3);
  unit = withBrush(withFog(unit, world, eye), spot * extent, metresPerPixel(world, eye));
  colour = vec4(unit * share, 0.0);
}
