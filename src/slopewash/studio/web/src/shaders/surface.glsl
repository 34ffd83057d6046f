// What terrain, walls and water share when they are coloured: fog and the brush ring.
uniform float fogDensity;
uniform vec3 brush;          // x and y in metres, radius in metres; no ring where the radius is 0
uniform float brushFalloff;
uniform vec3 brushColour;
uniform float pixelsPerUnit; // that a world unit takes at distance one, or anywhere in a plan
uniform vec2 viewExtent;     // zero for a plan

uniform float clearAir;      // world units from the eye up to which the air is clear

// Distance takes red away last: far slopes turn blue before they turn pale.
const vec3 SCATTERING = vec3(0.72, 0.96, 1.32);

vec3 withFog(vec3 colour, vec3 world, vec3 eye) {
  if (fogDensity <= 0.0) return colour;
  vec3 ray = world - eye;
  float distance = length(ray);
  float thick = fogDensity * max(distance - clearAir, 0.0) * exp(-0.30 * max(world.y, 0.0));
  return mix(hazeColour(ray / distance), colour, exp(-thick * SCATTERING));
}

// Far beside the block, the ground takes the colour of the sky at the horizon.
vec3 lostInHaze(vec3 colour, vec3 world, vec3 eye, vec2 wide) {
  vec3 ray = normalize(world - eye);
  float lost = smoothstep(0.10, 0.92 * REACH, beside(wide));
  return mix(colour, skyColour(normalize(vec3(ray.x, max(ray.y, 0.0), ray.z))), lost * surroundings);
}

float metresPerPixel(vec3 world, vec3 eye) {
  return (viewExtent.x > 0.0 ? distance(world, eye) : 1.0) / (pixelsPerUnit * worldScale);
}

// How much of a pixel a line covers whose middle is `away` metres off: `pixels` wide on level ground, never much thinner where that is
// seen at an angle. Both come from the place's own rate of change, so that the line stays smooth over rough ground.
float lineCover(float away, float rate, float metresPerPixel, float pixels) {
  float halfWidth = 0.5 * max(pixels * metresPerPixel, 0.7 * pixels * rate);
  return 1.0 - smoothstep(halfWidth - 0.5 * rate, halfWidth + 0.5 * rate, abs(away));
}

vec3 withBrush(vec3 colour, vec2 metres, float metresPerPixel) {
  if (brush.z <= 0.0) return colour;
  float distance = length(metres - brush.xy);
  float rate = max(length(vec2(dFdx(distance), dFdy(distance))), 1e-6);
  if (distance > brush.z + 8.0 * (rate + metresPerPixel)) return colour;
  float core = brush.z * (1.0 - brushFalloff);
  float ring = lineCover(distance - brush.z, rate, metresPerPixel, 2.6);
  float edge = lineCover(distance - brush.z, rate, metresPerPixel, 5.5);
  float inner = 0.45 * lineCover(distance - core, rate, metresPerPixel, 1.2) * step(0.02, brushFalloff);
  float fill = 0.12 * (1.0 - smoothstep(core, brush.z, distance));
  colour *= 1.0 - 0.45 * edge; // a dark rim, so that the ring is seen on snow as well
  return mix(colour, brushColour, clamp(max(ring, inner) + fill, 0.0, 1.0));
}
