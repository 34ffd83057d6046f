// What terrain, walls and water share when they are coloured: fog, the brush ring, the sun's and the sky's share.
uniform sampler2D noise;     // two noises in r and g, the gradient of the first in b and a
uniform float fogDensity;
uniform vec3 brush;          // x and y in metres, radius in metres; no ring where the radius is 0
uniform float brushFalloff;
uniform vec3 brushColour;

vec3 withFog(vec3 colour, vec3 world, vec3 eye) {
  if (fogDensity <= 0.0) return colour;
  vec3 ray = world - eye;
  float distance = length(ray);
  float thick = fogDensity * distance * exp(-0.22 * max(world.y, 0.0));
  vec3 direction = ray / distance;
  vec3 haze = skyColour(normalize(vec3(direction.x, max(direction.y, 0.0) + 0.06, direction.z)));
  return mix(haze, colour, exp(-thick));
}

vec3 withBrush(vec3 colour, vec2 metres) {
  if (brush.z <= 0.0) return colour;
  float distance = length(metres - brush.xy);
  float width = max(1.5 * fwidth(distance), 0.012 * brush.z);
  float ring = 1.0 - smoothstep(0.5 * width, 1.5 * width, abs(distance - brush.z));
  float core = brush.z * (1.0 - brushFalloff);
  float inner = (1.0 - smoothstep(0.3 * width, width, abs(distance - core))) * 0.4 * step(0.02, brushFalloff);
  float fill = 0.10 * (1.0 - smoothstep(core, brush.z, distance));
  return mix(colour, brushColour, clamp(max(ring, inner) + fill, 0.0, 1.0));
}
