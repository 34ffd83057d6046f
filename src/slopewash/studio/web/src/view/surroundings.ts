// The ground around the block: when it is shown, and which height it tends to.

import type { Field, Frame } from "../wire/frames";
import type { Look } from "./look";

/** World units beside the block, and above its highest point, over which the ground around sinks back to the floor. */
const BESIDE = 0.4;
const ABOVE = { begins: 0.8, ends: 2.4 };

/** How far the ground around has risen, 0 … 1, for an eye so far beside the block and above its top. */
export function risen(choice: Look["surroundings"], beside: number, above: number): number {
  if (choice !== "auto") return choice === "horizon" ? 1 : 0;
  const fade = (value: number): number => Math.min(Math.max(value, 0), 1);
  const aside = fade(1 - beside / BESIDE);
  const low = fade((ABOVE.ends - above) / (ABOVE.ends - ABOVE.begins));
  return aside * low * low * (3 - 2 * low);
}

/** Mean height of the border in metres, water included: what lies beyond tends to it. */
export function borderLevel({ elevation, water }: Pick<Frame, "elevation" | "water">): number {
  let sum = 0;
  let count = 0;
  const { rows, columns } = elevation;
  const at = (field: Field, i: number): number => field.low + (field.values[i]! / 65535) * (field.high - field.low);
  const take = (i: number): void => {
    sum += at(elevation, i) + (water ? Math.max(at(water, i), 0) : 0);
    count++;
  };
  for (let column = 0; column < columns; column++) {
    take(column);
    take((rows - 1) * columns + column);
  }
  for (let row = 0; row < rows; row++) {
    take(row * columns);
    take(row * columns + columns - 1);
  }
  return sum / count;
}
