// The range of a layer without its few outliers: a map stretched over those would show one colour everywhere else.

import type { Field } from "../wire/frames";

const BINS = 1024;
/** Share of the cells left out at either end. */
const OUTLIERS = 0.005;

export interface Spread {
  low: number;
  high: number;
  clippedLow: boolean;
  clippedHigh: boolean;
}

export function spreadOf(field: Field): Spread {
  const counts = new Uint32Array(BINS);
  const stride = Math.max(1, Math.floor(field.values.length / 65536));
  let total = 0;
  for (let i = 0; i < field.values.length; i += stride, total++) counts[field.values[i]! >> 6]!++;
  const edge = (bins: Uint32Array): number => {
    let seen = 0;
    return bins.findIndex((count) => {
      seen += count;
      return seen > OUTLIERS * total;
    });
  };
  const first = edge(counts);
  const last = BINS - 1 - edge(counts.slice().reverse());
  const value = (share: number): number => field.low + share * (field.high - field.low);
  return {
    low: value(first / BINS),
    high: value((last + 1) / BINS),
    clippedLow: first > 0,
    clippedHigh: last < BINS - 1,
  };
}
