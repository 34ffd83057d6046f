// The scale of an overlay: which values the ends of its colour map stand for, and where a value is placed between them.

import type { Field } from "../wire/frames";
import type { LayerDeclaration } from "../wire/protocol";

const LEVELS = 65536;
/** Fraction of the cells left out at either end: a map stretched over a few outliers shows one colour everywhere else. */
const OUTLIERS = 0.005;
/** A log scale begins at most this far below its top: values near zero would take up most of it. */
const LOG_RANGE = 1e5;

/** How many times as far the longer side of a diverging scale reaches, at most. */
const MOST_STRETCHED = 20;

export interface Scale {
  low: number;
  high: number;
  /** The value in the middle of the colour map. */
  middle: number;
  log: boolean;
}

export function scaleOf(field: Field, kind: LayerDeclaration["scale"]): Scale {
  const log = kind === "log" && field.high > 0;
  const range = rangeOf(field, log);
  if (log) {
    const low = Math.max(range.low, range.high / LOG_RANGE);
    return { low, high: range.high, middle: Math.sqrt(low * range.high), log };
  }
  if (kind === "diverging") {
    // Each side by its own reach: a thin fan is seen beside a deep gorge. The smaller is not stretched over what is next to nothing.
    const least = Math.max(Math.abs(range.low), Math.abs(range.high)) / MOST_STRETCHED;
    return { low: Math.min(range.low, -least), high: Math.max(range.high, least), middle: 0, log };
  }
  return { ...range, middle: 0.5 * (range.low + range.high), log };
}

/** Lowest and highest value without the outliers, of all cells or only of those above zero. */
function rangeOf(field: Field, positive: boolean): { low: number; high: number } {
  const value = (level: number): number => field.low + (level / (LEVELS - 1)) * (field.high - field.low);
  const counts = new Uint32Array(LEVELS);
  const stride = Math.max(1, Math.floor(field.values.length / 65536));
  let total = 0;
  for (let i = 0; i < field.values.length; i += stride) {
    const level = field.values[i]!;
    if (positive && value(level) <= 0) continue;
    counts[level]!++;
    total++;
  }
  const end = (levels: Uint32Array): number => {
    let seen = 0;
    return levels.findIndex((count) => {
      seen += count;
      return seen > OUTLIERS * total;
    });
  };
  const [first, last] = [end(counts), LEVELS - 1 - end(counts.reverse())];
  // Nearly all cells may be alike, such as those of dry ground around a few lakes.
  return first < last ? { low: value(first), high: value(last) } : { low: field.low, high: field.high };
}
