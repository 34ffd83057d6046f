// The uint16 layers as they came, unpacked to metres: elevation above the datum, water, suspended, overlay.
uniform highp usampler2D elevation;
uniform highp usampler2D water;
uniform highp usampler2D suspended;
uniform highp usampler2D overlay;
uniform vec2 elevationRange;
uniform vec2 waterRange;
uniform vec2 suspendedRange;
uniform vec2 overlayRange;
uniform float datum;
out vec4 fields;

float decode(highp usampler2D layer, vec2 range, ivec2 cell) {
  ivec2 last = textureSize(layer, 0) - 1;
  return range.x + float(texelFetch(layer, min(cell, last), 0).r) * (range.y - range.x) / 65535.0;
}

void main() {
  ivec2 cell = ivec2(gl_FragCoord.xy);
  fields = vec4(
    decode(elevation, elevationRange, cell) - datum,
    decode(water, waterRange, cell),
    decode(suspended, suspendedRange, cell),
    decode(overlay, overlayRange, cell));
}
