// From linear light to the screen: exposure, a filmic curve that never reaches white, a hint of vignette, dithering.
uniform sampler2D scene;
uniform float exposure;
uniform vec2 targetSize;
uniform vec2 tileOffset;  // of this tile in the whole picture
uniform vec2 pictureSize;
uniform float vignetting;
uniform bool smoothEdges;
out vec4 colour;

vec3 filmic(vec3 x) {
  return clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0) * 0.985;
}

vec3 toScreen(vec3 linear) {
  return mix(12.92 * linear, 1.055 * pow(max(linear, vec3(1e-6)), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, linear));
}

float seen(vec4 c) {
  float bright = dot(c.rgb, vec3(0.299, 0.587, 0.114));
  return bright / (0.5 + bright);
}

void main() {
  vec2 at = gl_FragCoord.xy / targetSize;
  vec4 here = texture(scene, at);
  if (smoothEdges) {
    // Blend along the contrast: cheap edge smoothing where there is no multisampling.
    vec2 pixel = 1.0 / vec2(textureSize(scene, 0));
    vec4 n = texture(scene, at + vec2(0.0, pixel.y)), s = texture(scene, at - vec2(0.0, pixel.y));
    vec4 e = texture(scene, at + vec2(pixel.x, 0.0)), w = texture(scene, at - vec2(pixel.x, 0.0));
    float a = seen(n), b = seen(s), c = seen(e), d = seen(w);
    float contrast = max(max(a, b), max(c, d)) - min(min(a, b), min(c, d));
    here = mix(here, 0.25 * (n + s + e + w), 0.55 * smoothstep(0.12, 0.5, contrast));
  }
  vec3 light = here.rgb / max(here.a, 1e-3) * exposure;
  light = max(mix(vec3(dot(light, vec3(0.2126, 0.7152, 0.0722))), light, 1.12), 0.0); // the curve takes colour away; give some back
  vec3 screen = toScreen(filmic(light)) * min(here.a, 1.0);
  vec2 from = (gl_FragCoord.xy + tileOffset) / pictureSize - 0.5;
  float vignette = 1.0 - vignetting * dot(from, from);
  float grain = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
  vec3 shown = screen * mix(1.0, vignette, here.a) + here.a * grain / 255.0;
  colour = vec4(clamp(shown, 0.0, 1.0), here.a);
}
