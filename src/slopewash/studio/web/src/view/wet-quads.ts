// Which quads of a mesh lie under water, so that software renderers need not shade a whole terrain of dry pixels.

import type { Field } from "../wire/frames";

/** Cells that water is drawn around a wet one: a neighbour at the shore, what is between it and the next, and banks that wind. */
const SPREAD = 2.5;

/** Write the two triangles of each quad that has a cell deeper than `depth` metres in it or near it; returns how many indices. */
export function wetQuads(water: Field, depth: number, columns: number, rows: number, corners: Uint32Array): number {
  const threshold = ((depth - water.low) / Math.max(water.high - water.low, 1e-12)) * 65535;
  const wide = columns - 1;
  const wet = new Uint8Array(wide * (rows - 1));
  const toQuad = (cell: number, cells: number, quads: number): number => ((cell + 0.5) / cells) * quads;
  const clamp = (quad: number, last: number): number => Math.min(Math.max(quad, 0), last);
  for (let row = 0, i = 0; row < water.rows; row++) {
    const y = toQuad(row, water.rows, rows - 1);
    const north = clamp(Math.floor(y - reach(water.rows, rows - 1)), rows - 2);
    const south = clamp(Math.floor(y + reach(water.rows, rows - 1)), rows - 2);
    for (let column = 0; column < water.columns; column++, i++) {
      if (water.values[i]! <= threshold) continue;
      const x = toQuad(column, water.columns, wide);
      const west = clamp(Math.floor(x - reach(water.columns, wide)), wide - 1);
      const east = clamp(Math.floor(x + reach(water.columns, wide)), wide - 1);
      for (let r = north; r <= south; r++) {
        for (let c = west; c <= east; c++) wet[r * wide + c] = 1;
      }
    }
  }
  let i = 0;
  for (let quad = 0; quad < wet.length; quad++) {
    if (!wet[quad]) continue;
    const a = Math.floor(quad / wide) * columns + (quad % wide);
    corners[i++] = a;
    corners[i++] = a + columns;
    corners[i++] = a + 1;
    corners[i++] = a + 1;
    corners[i++] = a + columns;
    corners[i++] = a + columns + 1;
  }
  return i;
}

/** How far, in quads, the water of one cell reaches. */
function reach(cells: number, quads: number): number {
  return (SPREAD * quads) / cells;
}
