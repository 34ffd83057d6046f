// What a ray from the water meets: the ground, found by marching over the height field and coloured as seen from above, or the sky.
uniform sampler2D groundColours; // lit, without fog
uniform int reflectionSteps;     // 0 where only the sky is mirrored

vec3 mirroredSky(vec3 direction, float open) {
  return skyColour(direction) * mix(0.35, 1.0, open * open);
}

const int HALVINGS = 4;
const float ROUGHNESS = 0.05; // by which waves turn a ray to either side: the images of far crests are soft

// Of a point above the ground or the water, in world units; below zero under it. The second is 1 over water, which hides nothing.
vec2 clearance(vec3 p) {
  vec4 f = texture(fields, foldedPlace(p.xz / (extent * worldScale) + 0.5));
  return vec2(p.y - (f.r + max(f.g, 0.0)) * exaggeration * worldScale, step(1e-3, f.g));
}

vec3 mirrored(vec3 from, vec3 direction, float open, vec3 eye) {
  if (reflectionSteps == 0) return mirroredSky(direction, open);
  float cell = extent.x * worldScale / float(textureSize(fields, 0).x);
  float near = 0.0, far = 1.5 * cell, met = 0.0;
  float above = 1.0; // of the ray over what it passes lowest over, in widths of what waves turn it by; beyond -1, all of it is hidden
  bool hit = false;
  for (int i = 0; i < reflectionSteps; i++) {
    vec3 p = from + direction * far;
    vec2 uv = p.xz / (extent * worldScale) + 0.5;
    if (beside(uv) > mix(0.0, REACH, step(0.5, surroundings))) break;
    vec2 gap = clearance(p);
    // Near the end of the march, what is hidden counts less, so that the image has no edge there.
    float passed = gap.x / (ROUGHNESS * far + 0.3 * cell) + 2.0 * smoothstep(0.7, 1.0, float(i) / float(reflectionSteps));
    if (passed < above && gap.y < 0.5) {
      above = passed;
      if (!hit) met = far;
    }
    if (gap.x < 0.0 && !hit) {
      hit = true;
      float outside = near;
      met = far;
      for (int halving = 0; halving < HALVINGS; halving++) {
        float middle = 0.5 * (outside + met);
        if (clearance(from + direction * middle).x < 0.0) met = middle;
        else outside = middle;
      }
    }
    if (above <= -1.0) break;
    near = far;
    far += max(cell * (0.7 + 0.15 * float(i)), 0.45 * abs(gap.x));
  }
  vec3 sky = skyColour(direction);
  if (above >= 1.0) return sky;
  vec3 at = from + direction * met;
  // Waves blur far slopes more than near ones.
  float blur = 1.5 + log2(1.0 + ROUGHNESS * met / cell);
  vec3 colour = textureLod(groundColours, foldedPlace(at.xz / (extent * worldScale) + 0.5), blur).rgb;
  return mix(sky, withFog(colour, at, eye), 1.0 - smoothstep(-1.0, 1.0, above));
}
