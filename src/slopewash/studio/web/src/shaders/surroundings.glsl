// The ground goes on beyond the block: mirrored at its sides, lower with the distance, and lost in the haze.
uniform float surroundings;      // 0 … 1: how far the ground around has risen from the floor
uniform float surroundingsLevel; // metres above the datum that it tends to

const float REACH = 2.0; // sides of the block

// The place inside the block that a place beside it mirrors.
vec2 foldedPlace(vec2 wide) {
  return 1.0 - abs(mod(wide, 2.0) - 1.0);
}

// -1 along an axis that is mirrored there.
vec2 foldedSense(vec2 wide) {
  return 1.0 - 2.0 * step(1.0, mod(wide, 2.0));
}

// How far beside the block, in sides of it.
float beside(vec2 wide) {
  return length(max(abs(wide - 0.5) - 0.5, 0.0));
}

float loweredHeight(float height, vec2 wide) {
  float away = smoothstep(0.25, 0.95 * REACH, beside(wide));
  return mix(height, surroundingsLevel, 0.85 * away);
}
