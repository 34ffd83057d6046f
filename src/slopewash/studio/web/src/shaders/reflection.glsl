// What a ray from the water meets: the ground, found by marching over the height field and coloured as seen from above, or the sky.
uniform sampler2D groundColours; // lit, without fog
uniform int reflectionSteps;     // 0 where only the sky is mirrored

vec3 mirroredSky(vec3 direction, float open) {
  return skyColour(direction) * mix(0.35, 1.0, open * open);
}

vec3 mirrored(vec3 from, vec3 direction, float open, vec3 eye) {
  if (reflectionSteps == 0) return mirroredSky(direction, open);
  float cell = extent.x * worldScale / float(textureSize(fields, 0).x);
  float upscale = exaggeration * worldScale;
  float near = 0.0, far = 1.5 * cell, gapBefore = 0.0;
  for (int i = 0; i < reflectionSteps; i++) {
    vec3 p = from + direction * far;
    vec2 uv = p.xz / (extent * worldScale) + 0.5;
    if (beside(uv) > mix(0.0, REACH, step(0.5, surroundings))) break;
    uv = foldedPlace(uv);
    vec4 f = texture(fields, uv);
    float gap = p.y - (f.r + max(f.g, 0.0)) * upscale;
    if (gap < 0.0) {
      float t = mix(near, far, gapBefore / max(gapBefore - gap, 1e-6));
      vec3 at = from + direction * t;
      vec3 colour = textureLod(groundColours, foldedPlace(at.xz / (extent * worldScale) + 0.5), 1.0).rgb;
      return withFog(colour, at, eye);
    }
    near = far;
    gapBefore = gap;
    far += max(cell * (0.7 + 0.15 * float(i)), 0.45 * gap);
  }
  return skyColour(direction);
}
