// The slower pass: how much of the sun reaches a cell (soft), and how much of the sky it sees.
uniform sampler2D fields;
uniform float cellSize;
uniform float exaggeration;
uniform vec3 sunDirection; // x east, y up, z south
uniform float highest;     // of the whole field, metres above the datum
uniform int shadowSteps;
uniform int skyDirections;
uniform vec2 lightTexel;   // one over the size of the target
out vec4 light;

vec2 texel;
vec2 place;

float heightInCells(vec2 offset) {
  vec4 f = texture(fields, place + offset * texel);
  return (f.r + max(f.g, 0.0)) * exaggeration / cellSize;
}

float sunlight(float here, float jitter) {
  vec2 along = normalize(sunDirection.xz + vec2(1e-6, 0.0));
  float rise = max(sunDirection.y, 0.02) / max(length(sunDirection.xz), 1e-4);
  float reach = min((highest * exaggeration / cellSize - here) / rise, 1.5 * float(textureSize(fields, 0).x));
  float clear = 1.0;
  for (int i = 0; i < shadowSteps; i++) {
    float part = (float(i) + jitter) / float(shadowSteps);
    float distance = 0.8 + reach * part * sqrt(part);
    vec2 at = place + along * distance * texel;
    if (reach <= 0.0 || any(lessThan(at, vec2(0.0))) || any(greaterThan(at, vec2(1.0)))) break;
    float gap = here + 0.6 + distance * rise - heightInCells(along * distance);
    clear = min(clear, 0.5 + gap / (1.0 + 0.07 * distance));
  }
  return smoothstep(0.0, 1.0, clear);
}

float skyVisible(float here, float turn) {
  float visible = 0.0;
  for (int d = 0; d < skyDirections; d++) {
    float angle = 6.2831853 * (float(d) + turn) / float(skyDirections);
    vec2 along = vec2(cos(angle), sin(angle));
    float steepest = 0.0;
    float distance = 1.3;
    for (int i = 0; i < 8; i++) {
      steepest = max(steepest, (heightInCells(along * distance) - here) / distance);
      distance *= 1.75;
    }
    visible += 1.0 - steepest * inversesqrt(1.0 + steepest * steepest);
  }
  return visible / float(skyDirections);
}

void main() {
  vec2 size = vec2(textureSize(fields, 0));
  vec2 target = gl_FragCoord.xy;
  texel = 1.0 / size;
  place = target * lightTexel;
  float here = heightInCells(vec2(0.0));
  float pattern = fract(dot(floor(target), vec2(0.7548777, 0.5698403)));
  light = vec4(sunlight(here, 0.5 + 0.5 * pattern), skyVisible(here, 0.5 * pattern), 0.0, 1.0);
}
