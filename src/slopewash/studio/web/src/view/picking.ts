// Finds where a ray meets the terrain, by marching over the page's copy of the height field.

import { Vector3 } from "three";
import { type Field, sampleField } from "../wire/frames";

/** Cells per side of the coarse grid that represents the surface. */
const NET = 16;

export interface Place {
  x: number; // metres east of the north-west corner
  y: number; // metres south of it
  height: number; // metres
}

export interface Ground {
  elevation: Field;
  cellSize: number; // metres per cell of this field
  datum: number;
  exaggeration: number;
  worldScale: number;
}

export function heightAt(ground: Ground, x: number, y: number): number {
  return sampleField(ground.elevation, x / ground.cellSize, y / ground.cellSize);
}

export function toWorld(ground: Ground, x: number, y: number, height: number): [number, number, number] {
  const { elevation: e, cellSize, worldScale } = ground;
  return [
    (x - 0.5 * e.columns * cellSize) * worldScale,
    (height - ground.datum) * ground.exaggeration * worldScale,
    (y - 0.5 * e.rows * cellSize) * worldScale,
  ];
}

/** World points that outline the block: a coarse grid on its surface, and the corners of its floor. */
export function outline(ground: Ground, floorLevel: number): Vector3[] {
  const { elevation: e, cellSize } = ground;
  const points: Vector3[] = [];
  for (let j = 0; j <= NET; j++) {
    for (let i = 0; i <= NET; i++) {
      const [x, y] = [(i / NET) * e.columns * cellSize, (j / NET) * e.rows * cellSize];
      points.push(new Vector3(...toWorld(ground, x, y, heightAt(ground, x, y))));
      if (i % NET === 0 && j % NET === 0) points.push(new Vector3(...toWorld(ground, x, y, ground.datum + floorLevel)));
    }
  }
  return points;
}

/** First point on the surface along the ray, or null if it misses. */
export function pick(ground: Ground, origin: Vector3, direction: Vector3): Place | null {
  const { elevation: e, cellSize, worldScale } = ground;
  const width = e.columns * cellSize * worldScale;
  const depth = e.rows * cellSize * worldScale;
  const low = (e.low - ground.datum) * ground.exaggeration * worldScale - 1e-3;
  const high = (e.high - ground.datum) * ground.exaggeration * worldScale + 1e-3;
  const span = clip(origin, direction, [-width / 2, low, -depth / 2], [width / 2, high, depth / 2]);
  if (!span) return null;
  const above = (t: number): number => {
    const [x, y] = metres(t);
    return origin.y + direction.y * t - (heightAt(ground, x, y) - ground.datum) * ground.exaggeration * worldScale;
  };
  const metres = (t: number): [number, number] => [
    (origin.x + direction.x * t + width / 2) / worldScale,
    (origin.z + direction.z * t + depth / 2) / worldScale,
  ];
  const stride = 0.5 * cellSize * worldScale;
  let [before, t] = [span[0], span[0]];
  if (above(t) < 0) return null; // enters through a side of the block
  while (t < span[1]) {
    t = Math.min(t + stride, span[1]);
    if (above(t) <= 0) {
      for (let i = 0; i < 12; i++) {
        const middle = 0.5 * (before + t);
        if (above(middle) > 0) before = middle;
        else t = middle;
      }
      const [x, y] = metres(t);
      return { x, y, height: heightAt(ground, x, y) };
    }
    before = t;
  }
  return null;
}

function clip(
  origin: Vector3,
  direction: Vector3,
  low: [number, number, number],
  high: [number, number, number],
): [number, number] | null {
  let enter = 0;
  let leave = Infinity;
  const o = origin.toArray();
  const d = direction.toArray();
  for (let axis = 0; axis < 3; axis++) {
    const inverse = 1 / (d[axis]! || 1e-12);
    const a = (low[axis]! - o[axis]!) * inverse;
    const b = (high[axis]! - o[axis]!) * inverse;
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  }
  return leave > enter ? [enter, leave] : null;
}
