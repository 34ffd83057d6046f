out vec4 colour;

void main() {
  colour = vec4(0.02, 0.05, 0.09, 0.45);
}
