// At the far end of the depth range and drawn after the solid things, so that only what they leave open is shaded.
void main() {
  gl_Position = vec4(position.xy, 1.0, 1.0);
}
