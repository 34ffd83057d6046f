// Places the camera so that the whole block is visible beside the bars and panels.

import { Matrix4, Vector3 } from "three";

export interface View {
  position: Vector3;
  target: Vector3;
}

/** Pixels from the centre of the window that the block may fill: to the left, right, top and bottom. */
export interface Room {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** From the south-south-west and a little above, like looking at a model on a table. */
const TOWARDS_EYE = new Vector3(-0.45, 0.6, 0.88).normalize();
const ROUNDS = 24;

/** The closest view from the default direction that shows all points; `pixels` is the size of one unit at distance one. */
export function frameAll(points: Vector3[], room: Room, pixels: number): View {
  const target = points.reduce((sum, p) => sum.add(p), new Vector3()).divideScalar(points.length);
  const axes = new Matrix4().lookAt(TOWARDS_EYE, new Vector3(), new Vector3(0, 1, 0));
  const right = new Vector3().setFromMatrixColumn(axes, 0);
  const up = new Vector3().setFromMatrixColumn(axes, 1);
  let distance = 20;
  // Perspective changes with the distance, so distance and centre are improved in turns.
  for (let round = 0; round < ROUNDS; round++) {
    const seen = points.map((point) => {
      const from = point.clone().sub(target);
      const scale = pixels / Math.max(distance - from.dot(TOWARDS_EYE), 0.1);
      return [from.dot(right) * scale, from.dot(up) * scale] as const;
    });
    const [x, y] = [0, 1].map((axis) => seen.map((place) => place[axis]!));
    const [west, east, low, high] = [Math.min(...x!), Math.max(...x!), Math.min(...y!), Math.max(...y!)];
    const unit = distance / pixels;
    target.addScaledVector(right, 0.5 * (west + east - room.right + room.left) * unit);
    target.addScaledVector(up, 0.5 * (low + high - room.top + room.bottom) * unit);
    distance *= Math.max((east - west) / (room.left + room.right), (high - low) / (room.top + room.bottom)) ** 0.8;
  }
  return { position: target.clone().addScaledVector(TOWARDS_EYE, distance), target };
}
