// What a ray from the water meets: the ground, found by marching over the height field and coloured as seen from above, or the sky.
uniform sampler2D groundColours; // lit, without fog
uniform int reflectionSteps;     // 0 where only the sky is mirrored

vec3 mirroredSky(vec3 direction, float open) {
  return skyColour(direction) * mix(0.35, 1.0, open * open);
}

const int HALVINGS = 4;

// Of a point above the ground or the water, in world units; below zero under it.
float clearance(vec3 p) {
  vec4 f = texture(fields, foldedPlace(p.xz / (extent * worldScale) + 0.5));
  return p.y - (f.r + max(f.g, 0.0)) * exaggeration * worldScale;
}

vec3 mirrored(vec3 from, vec3 direction, float open, vec3 eye) {
  if (reflectionSteps == 0) return mirroredSky(direction, open);
  float cell = extent.x * worldScale / float(textureSize(fields, 0).x);
  float near = 0.0, far = 1.5 * cell;
  for (int i = 0; i < reflectionSteps; i++) {
    vec3 p = from + direction * far;
    vec2 uv = p.xz / (extent * worldScale) + 0.5;
    if (beside(uv) > mix(0.0, REACH, step(0.5, surroundings))) break;
    float gap = clearance(p);
    if (gap < 0.0) {
      for (int halving = 0; halving < HALVINGS; halving++) {
        float middle = 0.5 * (near + far);
        if (clearance(from + direction * middle) < 0.0) far = middle;
        else near = middle;
      }
      vec3 at = from + direction * far;
      vec3 colour = textureLod(groundColours, foldedPlace(at.xz / (extent * worldScale) + 0.5), 1.5).rgb;
      // A ray that only grazes a crest, and one near the end of the march, sees the sky in part: the image ends softly.
      float within = -clearance(at + direction * 3.0 * cell) / cell;
      float solid = smoothstep(0.0, 0.8, within) * (1.0 - smoothstep(0.75, 1.0, float(i) / float(reflectionSteps)));
      return mix(skyColour(direction), withFog(colour, at, eye), solid);
    }
    near = far;
    far += max(cell * (0.7 + 0.15 * float(i)), 0.45 * gap);
  }
  return skyColour(direction);
}
