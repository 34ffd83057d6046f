// Finds where a ray meets the terrain, by marching over the page's copy of the height field.

import { Vector3 } from "three";
import { type Field, sampleField } from "../wire/frames";
import { type Detail, detailAt } from "./detail";

/** Cells per side of the coarse grid that represents the surface. */
const NET = 16;

/** Height of the block below its datum, as a fraction of its longer side. */
export const PLINTH = 0.02;

export interface Place {
  x: number; // metres east of the north-west corner
  y: number; // metres south of it
  height: number; // metres
}

export interface Ground {
  elevation: Field;
  water: Field | null;
  cellSize: number; // metres per cell of this field
  datum: number;
  exaggeration: number;
  worldScale: number;
  /** Relief finer than the cells, where it is drawn. */
  detail?: Detail;
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

/** Half the sides of the block, east and south, in world units. */
export function halfSides({ elevation: e, cellSize, worldScale }: Ground): [number, number] {
  return [0.5 * e.columns * cellSize * worldScale, 0.5 * e.rows * cellSize * worldScale];
}

/** World height of the surface, water included, at a place in world units; beside the block that of its nearest edge. */
export function surfaceAt(ground: Ground, x: number, z: number): number {
  const { elevation: e, water, cellSize, worldScale } = ground;
  const column = x / (cellSize * worldScale) + 0.5 * e.columns;
  const row = z / (cellSize * worldScale) + 0.5 * e.rows;
  let height = sampleField(e, column, row) + (water ? Math.max(sampleField(water, column, row), 0) : 0);
  if (ground.detail) height += detailAt(ground.detail, e, water, cellSize, column, row);
  return (height - ground.datum) * ground.exaggeration * worldScale;
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

/** What a ray meets first: the surface, a wall of the block, or neither. */
export type Hit = { on: "surface"; at: Vector3 } | { on: "wall" } | null;

/** First point on the surface along the ray, or null if it misses. */
export function pick(ground: Ground, origin: Vector3, direction: Vector3): Place | null {
  const hit = cast(ground, origin, direction);
  if (hit?.on !== "surface") return null;
  const [halfWidth, halfDepth] = halfSides(ground);
  const x = (hit.at.x + halfWidth) / ground.worldScale;
  const y = (hit.at.z + halfDepth) / ground.worldScale;
  return { x, y, height: heightAt(ground, x, y) };
}

/** Follow a ray in strides of `cells` to what it meets. */
export function cast(ground: Ground, origin: Vector3, direction: Vector3, cells = 0.5): Hit {
  const { elevation: e, cellSize, worldScale } = ground;
  const width = e.columns * cellSize * worldScale;
  const depth = e.rows * cellSize * worldScale;
  const scale = ground.exaggeration * worldScale;
  const low = (e.low - ground.datum) * scale - 1e-3;
  const high = (e.high - ground.datum) * scale + 1e-3;
  const span = clip(origin, direction, [-width / 2, low, -depth / 2], [width / 2, high, depth / 2]);
  if (!span) return meetsPlinth(origin, direction, width, depth, low) ? { on: "wall" } : null;
  const above = (t: number): number => {
    const x = (origin.x + direction.x * t + width / 2) / worldScale;
    const y = (origin.z + direction.z * t + depth / 2) / worldScale;
    return origin.y + direction.y * t - (heightAt(ground, x, y) - ground.datum) * scale;
  };
  const stride = cells * cellSize * worldScale;
  let [before, t] = [span[0], span[0]];
  if (above(t) < 0) return { on: "wall" }; // enters through a side of the block
  while (t < span[1]) {
    t = Math.min(t + stride, span[1]);
    if (above(t) <= 0) {
      for (let i = 0; i < 12; i++) {
        const middle = 0.5 * (before + t);
        if (above(middle) > 0) before = middle;
        else t = middle;
      }
      return { on: "surface", at: origin.clone().addScaledVector(direction, t) };
    }
    before = t;
  }
  return null;
}

/** Whether a ray meets the walls below the lowest point of the surface. */
function meetsPlinth(origin: Vector3, direction: Vector3, width: number, depth: number, top: number): boolean {
  const bottom = top - PLINTH * Math.max(width, depth);
  return clip(origin, direction, [-width / 2, bottom, -depth / 2], [width / 2, top, depth / 2]) !== null;
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
