// Drawn twice: once multiplying what lies behind by what the water lets through, once adding what it sends back itself.
uniform sampler2D shape;
uniform sampler2D light;
uniform float cellSize;
uniform float sedimentTint;
uniform float clarity;         // depth in cells at which the bed has nearly gone
uniform float ripple;
uniform vec3 eye;
uniform bool letsThrough;
in vec2 spot;
in vec3 world;
out vec4 colour;

float level(vec2 at) { vec4 f = texture(fields, at); return f.r + f.g; }

void main() {
  vec4 here = texture(fields, spot);
  float depth = here.g / cellSize;
  float shore = smoothstep(0.035, 0.16, depth);
  if (shore <= 0.0) discard;

  vec2 texel = 1.0 / vec2(textureSize(fields, 0));
  vec2 slope = vec2(level(spot + vec2(texel.x, 0.0)) - level(spot - vec2(texel.x, 0.0)), level(spot + vec2(0.0, texel.y)) - level(spot - vec2(0.0, texel.y))) / (2.0 * cellSize);
  slope = clamp(slope * exaggeration, -1.2, 1.2);
  float side = max(extent.x, extent.y);
  vec2 p = (spot - 0.5) * extent / side;
  vec2 waves = (texture(noise, p * 61.0 + ripple * vec2(0.031, 0.017)).ba - 0.5) + (texture(noise, p.yx * 37.0 - ripple * vec2(0.013, 0.029)).ba - 0.5);
  vec3 normal = normalize(vec3(-slope.x, 1.0, -slope.y) + vec3(waves.x, 0.0, waves.y) * 0.05);

  vec3 toEye = normalize(eye - world);
  float cosine = max(dot(normal, toEye), 0.0);
  float fresnel = 0.02 + 0.98 * pow(1.0 - cosine, 5.0);
  fresnel = min(fresnel, 0.75) * shore;

  float path = depth * (1.0 + 0.6 * (1.0 - cosine)) / clarity;
  float load = clamp(here.b / (here.b + here.g + 1e-6), 0.0, 1.0);
  float mud = sedimentTint * smoothstep(0.05, 0.95, load);
  vec3 absorption = mix(vec3(3.6, 1.55, 1.05), vec3(1.9, 2.7, 3.6), mud) * (1.0 + 1.2 * mud);
  vec3 through = exp(-absorption * path);
  through = mix(vec3(1.0), through, shore);

  if (letsThrough) {
    colour = vec4(through * (1.0 - fresnel), 1.0);
    return;
  }

  vec4 lit = texture(light, spot);
  vec3 body = mix(vec3(0.008, 0.046, 0.078), vec3(0.225, 0.128, 0.066), mud);
  vec3 received = sunColour() * (0.25 + 0.75 * lit.r) * max(sunDirection.y, 0.05) + skyLight(normal) * lit.g;
  vec3 mirrored = reflect(-toEye, normal);
  mirrored.y = abs(mirrored.y) + 0.02;
  mirrored = normalize(mirrored);
  vec3 sky = skyColour(mirrored) * mix(0.45, 1.0, lit.g);
  float glint = pow(max(dot(mirrored, sunDirection), 0.0), 420.0) * lit.r;
  vec3 added = body * received * (1.0 - through) + fresnel * sky + shore * fresnel * glint * sunColour() * 2.0;

  // Fog and the ring replace what is behind, so that only the water's own share of them is added here.
  float share = 1.0 - dot(through * (1.0 - fresnel), vec3(0.3333));
  vec3 unit = added / max(share, 1e-3);
  unit = withBrush(withFog(unit, world, eye), spot * extent);
  colour = vec4(unit * share, 0.0);
}
