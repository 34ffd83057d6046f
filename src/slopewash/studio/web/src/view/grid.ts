// A flat grid of triangles over 0 … 1.

import { BufferGeometry, Float32BufferAttribute, Uint32BufferAttribute } from "three";

export function gridGeometry(columns: number, rows: number): BufferGeometry {
  const places = new Float32Array(columns * rows * 3);
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i += 3) {
      places[i] = column / (columns - 1);
      places[i + 1] = row / (rows - 1);
    }
  }
  const corners = new Uint32Array((columns - 1) * (rows - 1) * 6);
  for (let row = 0, i = 0; row < rows - 1; row++) {
    for (let column = 0; column < columns - 1; column++, i += 6) {
      const a = row * columns + column;
      corners.set([a, a + columns, a + 1, a + 1, a + columns, a + columns + 1], i);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(places, 3));
  geometry.setIndex(new Uint32BufferAttribute(corners, 1));
  return geometry;
}
