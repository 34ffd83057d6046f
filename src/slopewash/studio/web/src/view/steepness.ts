// The slope that counts as steep on a terrain, so that gentle hills and spires alike show both rock and meadow.

import type { Field } from "../wire/frames";

const SAMPLES = 64;
const SHARE_BELOW = 0.62;

export function steepReference(field: Field, cellSize: number): number {
  const unit = (field.high - field.low) / 65535 / (2 * cellSize);
  const slopes: number[] = [];
  const at = (c: number, r: number): number => field.values[r * field.columns + c]!;
  for (let j = 0; j < SAMPLES; j++) {
    const r = 1 + Math.floor(((j + 0.5) / SAMPLES) * (field.rows - 2));
    for (let i = 0; i < SAMPLES; i++) {
      const c = 1 + Math.floor(((i + 0.5) / SAMPLES) * (field.columns - 2));
      slopes.push(Math.hypot(at(c + 1, r) - at(c - 1, r), at(c, r + 1) - at(c, r - 1)) * unit);
    }
  }
  slopes.sort((a, b) => a - b);
  return Math.min(Math.max(slopes[Math.floor(SHARE_BELOW * slopes.length)] ?? 1, 0.45), 2.2);
}
