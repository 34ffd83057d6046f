// The relief finer than the cells at a place near the eye, as detail.glsl computes it: the camera stands on what is drawn.

import { type Field, sampleField } from "../wire/frames";
import { noiseAt } from "./noise";

const TILES = [13, 5.1, 1.9] as const;
const SHARES = [0.6, 0.26, 0.14] as const;

export interface Detail {
  /** In cells. */
  height: number;
  /** The slope that counts as steep. */
  steep: number;
  /** Metres of water over which it ends. */
  dry: number;
}

/** Metres to add to the bed at a place given in cells. */
export function detailAt(
  { height, steep, dry }: Detail,
  elevation: Field,
  water: Field | null,
  cellSize: number,
  column: number,
  row: number,
): number {
  if (height <= 0) return 0;
  const rise = (x: number, y: number): number =>
    (sampleField(elevation, column + x, row + y) - sampleField(elevation, column - x, row - y)) / (2 * cellSize);
  const rough = smoothstep(0.45, 1.25, Math.hypot(rise(1, 0), rise(0, 1)) / steep);
  const depth = water ? sampleField(water, column, row) : 0;
  const amplitude = height * cellSize * (0.14 + 0.86 * rough) * (1 - smoothstep(0, dry, depth));
  const [x, y] = [0.8 * column - 0.6 * row, 0.6 * column + 0.8 * row];
  const first = noiseAt(x / TILES[0], y / TILES[0]) - 0.5;
  const second = folded(noiseAt(column / TILES[1], row / TILES[1]));
  const third = folded(noiseAt(x / TILES[2], y / TILES[2]));
  return amplitude * (SHARES[0] * first + SHARES[1] * second + SHARES[2] * third);
}

function folded(noise: number): number {
  return 0.5 - Math.abs(2 * noise - 1);
}

function smoothstep(low: number, high: number, value: number): number {
  const t = Math.min(Math.max((value - low) / (high - low), 0), 1);
  return t * t * (3 - 2 * t);
}
