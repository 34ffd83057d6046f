// Drawn twice: once multiplying the background by the transmitted light, once adding the light that the water reflects and scatters.
uniform sampler2D waterline;
uniform sampler2D light;
uniform bool finerThanField;
uniform float cellSize;
uniform float shallowest;
uniform float riversDrawn;     // 1 where the water is that of rivers along the drainage, not the simulation's own
uniform float sedimentTint;
uniform float clarity;         // depth in cells at which the bed is hardly visible
uniform float ripple;
uniform int flowSamples;       // along the current, for ripples and foam drawn out by it
uniform float grainScale;      // metres
uniform vec3 eye;
uniform bool letsThrough;
#ifdef SURROUNDINGS
in vec2 wide;
vec2 spot;
#else
in vec2 spot;
#endif
in vec3 world;
out vec4 colour;

const float RIVER_DEPTH = 0.34; // cells that a river seems deep
const float BANK_WINDING = 0.8; // cells
const float COURSE_WINDING = 1.1; // cells, over many of them
const float RIVER_FILLS = 0.06; // cells of water over which it becomes so deep
const float STREAM_REACH = 1.5; // cells around, to find the middle of a stream
const float NARROWED = 0.035;   // cells of depth at its sides that a stream is drawn without: little ones become narrow

// The depth over the ground as it is drawn, which is smoother than its cells where the mesh is finer.
float depthHere(vec4 line, float bed) {
  return line.r + shallowest + (finerThanField ? bed - smoothBed(spot) : 0.0);
}

// Rivers are drawn wider than they are and hardly deeper than a pixel's worth of a cell: they get the depth that such a width has.
float opticalDepth(float depth, float current) {
  return depth + RIVER_DEPTH * current * (1.0 - exp(-depth / RIVER_FILLS));
}

// How deep the water is, without the corners of cells, how deep it is around, and to either side of its line; in metres.
vec3 streamHere(vec2 uv) {
  vec2 size = vec2(textureSize(fields, 0)), p = uv * size - 0.5, f = fract(p), rest = 1.0 - f;
  vec2 before = rest * rest * rest / 6.0, after = f * f * f / 6.0;
  vec2 west = before + (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0, east = 1.0 - west; // of a cubic B-spline, two cells at a time
  vec4 at = vec4(p - f + 0.5 - before / west, p - f + 1.5 + after / east) / size.xyxy;
  float middle = west.y * (west.x * textureLod(fields, at.xy, 0.0).g + east.x * textureLod(fields, at.zy, 0.0).g)
    + east.y * (west.x * textureLod(fields, at.xw, 0.0).g + east.x * textureLod(fields, at.zw, 0.0).g);
  float around = 0.0, beside = 1e9;
  for (int i = 0; i < 4; i++) {
    float angle = 0.7853982 * float(i);
    vec2 offset = STREAM_REACH * vec2(cos(angle), sin(angle)) / size;
    float pair = 0.5 * (textureLod(fields, uv + offset, 0.0).g + textureLod(fields, uv - offset, 0.0).g);
    around += 0.25 * pair;
    beside = min(beside, pair);
  }
  return vec3(middle, around, beside);
}

// Rivers are drawn wide enough to be visible from far. From near, only the middle of that is water, the rest is gravel.
float narrowed(vec2 uv, float less) {
  vec3 stream = streamHere(uv);
  vec2 more = stream.x / max(stream.yz, vec2(0.02 * stream.x + 1e-4 * cellSize));
  float least = mix(1.42, 1.20, smoothstep(0.02, 0.35, stream.y / cellSize)) + 0.10 * less; // little ones become narrow
  float brook = (log(more.y) - 1.7) / 0.6 - 3.0 * (1.0 - smoothstep(0.03, 0.06, stream.x / cellSize)); // beside the river that it joins
  float inside = max((more.x - least) / 0.3, brook);
  return stream.x * clamp(inside, -1.0, 1.5) + 0.85 * shallowest; // films and traces are none
}

// Noise smeared along the current: its ridges lie along the flow, whichever way that turns.
vec4 drawnOut(vec2 p, vec2 along) {
  vec4 sum = texture(noise, p);
  for (int i = 1; i < flowSamples; i++) {
    vec2 offset = along * float(i) / float(flowSamples - 1);
    sum += texture(noise, p + offset) + texture(noise, p - offset);
  }
  return sum / float(2 * max(flowSamples, 1) - 1);
}

// The same, finer: what breaks a crest into foam, visible only from near.
float foamlets(vec2 p, vec2 downstream, vec2 carried) {
  vec2 fine = p * 257.0 - 6.0 * carried, along = 0.05 * downstream;
  return (texture(noise, fine).g + texture(noise, fine + along).g + texture(noise, fine - along).g) / 3.0;
}

// How steeply the surface falls over some cells up and down the stream: white water calms down gradually.
float steepAlong(vec2 downstream, float steep) {
  float sum = steep;
  for (int i = -2; i <= 2; i++) {
    if (i == 0) continue;
    vec4 line = texture(waterline, spot + 2.0 * float(i) * downstream * cellSize / extent);
    sum += length(line.yz) * exaggeration;
  }
  return sum / 5.0;
}

void main() {
#ifdef SURROUNDINGS
  spot = foldedPlace(wide);
#endif
  vec4 here = texture(fields, spot);
  vec4 line = texture(waterline, spot);
  vec2 p = (spot - 0.5) * extent / grainScale;
  // The banks of a stream wind between the cells; the shore of still water is where its level meets the ground.
  // Where a cell is a few pixels, such banks would be saws: only the course winds.
  float seen = smoothstep(3.0, 7.0, cellSize / metresPerPixel(world, eye));
  vec2 bends = texture(noise, p * 5.0).rg;
  vec2 winding = BANK_WINDING * seen * (2.0 * bends - 1.0);
  winding += COURSE_WINDING * (1.0 - 0.8 * seen) * (2.0 * texture(noise, p * 11.0).rg - 1.0);
  line.r = mix(line.r, texture(waterline, spot + winding * cellSize / extent).r, smoothstep(0.01, 0.05, length(line.yz)));
  float metres = depthHere(line, here.r);
  // A stream a cell wide is a thread where it falls steeply, and only as wide as its water: rills on cliffs are none to look at.
  float thread = smoothstep(0.20, 0.60, length(line.yz)) * (1.0 - smoothstep(0.45, 0.75, line.w));
  float around = max(textureLod(waterline, spot, 1.0).r, 0.0);
  metres -= thread * (0.8 * around + 0.012 * cellSize);
  float running = smoothstep(0.004, mix(0.03, 0.012, seen), length(line.yz)) * (1.0 - smoothstep(0.75, 0.95, line.w));
  metres -= running * (1.0 - thread) * (1.0 - 0.7 * seen) * min(NARROWED * cellSize, 0.6 * around);
  float near = riversDrawn * running * seen;
  if (near > 0.0) metres = mix(metres, narrowed(spot + winding * cellSize / extent, 1.5 * (thread + bends.g - 0.5)), near);
  // A pixel at the shore is wet in part: by how the depth changes across it.
  float shore = clamp((metres - shallowest) / max(fwidth(metres), 0.25 * shallowest) + 0.5, 0.0, 1.0);
  vec2 slope = line.yz * exaggeration;
#ifdef SURROUNDINGS
  slope *= foldedSense(wide);
#endif
  float steep = length(slope);
  float current = smoothstep(0.004, 0.06, steep);
  vec2 downstream = steep > 1e-5 ? -slope / steep : vec2(0.0);
  vec2 along = downstream * 0.09 * current;
  // Carried along by the current, and begun anew before it is drawn out of shape: two patterns take turns.
  float turn = fract(0.12 * ripple), other = fract(0.12 * ripple + 0.5);
  vec2 carried = downstream * 0.12 * (0.3 + current);
  vec4 streaks = mix(drawnOut(p * 43.0 - carried * turn, along), drawnOut(p * 43.0 + 0.5 - carried * other, along), abs(2.0 * turn - 1.0));
  if (shore <= 0.0) discard;

  float depth = max(metres - shallowest, 0.0) / cellSize;
  vec4 swell = texture(noise, p.yx * 23.0 - ripple * vec2(0.004, 0.009));
  vec4 chop = texture(noise, p * 131.0 + ripple * vec2(0.031, 0.017));
  vec2 calmWaves = 0.014 * (swell.ba - 0.5) + 0.022 * (chop.ba - 0.5);
  vec2 runningWaves = (0.16 + 0.25 * smoothstep(0.05, 0.4, steep)) * (streaks.ba - 0.5) + 0.03 * (chop.ba - 0.5);
  vec2 waves = mix(calmWaves, runningWaves, current);
  vec3 level = normalize(vec3(-slope.x, 1.0, -slope.y));
  vec3 normal = normalize(level + vec3(waves.x, 0.0, waves.y));
  vec3 toEye = normalize(eye - world);
  float cosine = clamp(dot(normal, toEye), 0.0, 1.0);
  float away = 1.0 - cosine;
  // A rough surface mirrors less at a low angle, because its waves hide each other.
  float fresnel = 0.02 + mix(0.93, 0.45, current) * away * away * away * away * away;

  // White water where the surface falls steeply, in threads along the current; on the way there, crests of single waves.
  float broken = smoothstep(0.30, 0.85, steepAlong(downstream, steep) + 0.20 * (streaks.r - 0.5));
  float crests = 0.30 * streaks.g + 0.30 * chop.r + 0.40 * foamlets(p, downstream, carried * turn);
  float threads = smoothstep(0.45, 0.60, crests + 0.16 * broken);
  float riffle = 0.35 * smoothstep(0.14, 0.45, steep) * smoothstep(0.60, 0.70, crests);
  float foam = max(broken * mix(threads, 1.0, 0.55 * broken), riffle) * smoothstep(0.0, 0.07, depth);
  foam *= (1.0 - 0.65 * thread) * mix(0.85, 1.0, seen);
  fresnel *= 1.0 - foam;

  // Water absorbs red first: shallows are green, depths blue. Sediment absorbs blue instead.
  float path = opticalDepth(depth, current) * (1.0 + 0.6 * away) / clarity;
  float muddiness = here.b / (here.b + here.g + 1e-6);
  float mud = min(1.2 * sedimentTint, 1.0) * smoothstep(0.30, 1.0, muddiness);
  vec3 clear = mix(vec3(3.2, 1.25, 1.05), vec3(6.0, 3.9, 4.0), current); // rivers carry a little silt
  vec3 absorption = mix(clear, vec3(1.5, 2.1, 3.3), mud) * (1.0 + 1.5 * mud);
  vec3 through = exp(-absorption * path);
  through = mix(vec3(1.0), through * (1.0 - 0.9 * foam) * (1.0 - fresnel), shore);

  if (letsThrough) {
    colour = vec4(through, 1.0);
    return;
  }

  vec4 lit = texture(light, spot);
  vec3 silt = mix(vec3(0.046, 0.064, 0.032), vec3(0.190, 0.112, 0.044), sedimentTint); // from green to red
  vec3 body = mix(mix(vec3(0.0030, 0.0150, 0.0215), vec3(0.0070, 0.0185, 0.0190), current), silt, mud);
  vec3 received = sunColour() * (0.20 + 0.80 * lit.r) * max(sunDirection.y, 0.05) + skyLight(level) * lit.g;
  vec3 bounced = reflect(-toEye, normal);
  bounced = normalize(vec3(bounced.x, abs(bounced.y) + 0.004, bounced.z));
  vec3 image = mirrored(world, bounced, lit.g, eye);
  float glint = pow(max(dot(bounced, sunDirection), 0.0), mix(700.0, 160.0, current)) * lit.r;
  vec3 inside = body * received * (1.0 - exp(-absorption * path));
  vec3 white = vec3(0.62, 0.66, 0.68) * (0.75 + 0.4 * streaks.r) * received;
  vec3 added = shore * (mix(inside, white, 0.9 * foam) + fresnel * (image + 1.6 * glint * sunColour()));

  // Fog and the ring replace what is behind, so that only the water's own share of them is added here.
  float share = 1.0 - dot(through, vec3(0.3333));
  vec3 unit = added / max(share, 1e-3);
#ifdef SURROUNDINGS
  unit = lostInHaze(withFog(unit, world, eye), world, eye, wide);
#else
  unit = withBrush(withFog(unit, world, eye), spot * extent, metresPerPixel(world, eye));
#endif
  colour = vec4(unit * share, 0.0);
}
