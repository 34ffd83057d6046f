uniform mat4 viewToWorld;
uniform vec2 viewExtent;   // tangents of half the field of view; zero for a plan
uniform vec2 viewCentre;
uniform vec2 targetSize;
uniform float opaque;
out vec4 colour;

void main() {
  vec2 at = (gl_FragCoord.xy / targetSize) * 2.0 - 1.0;
  vec3 direction = normalize(mat3(viewToWorld) * vec3(viewCentre + at * viewExtent, -1.0));
  vec3 sky = viewExtent.x > 0.0 ? skyColour(direction) : vec3(0.055, 0.065, 0.08);
  colour = vec4(sky, 1.0) * opaque;
}
