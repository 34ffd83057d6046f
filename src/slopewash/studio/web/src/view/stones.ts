// One small tiling texture of stones of all sizes for the ground near the eye: height in red, the stone's own number in green, and the
// slope of the height in blue and alpha.

import {
  DataTexture,
  LinearFilter,
  LinearMipmapLinearFilter,
  RepeatWrapping,
  RGBAFormat,
  UnsignedByteType,
} from "three";
import { hash } from "./hash";

const SIDE = 512;
/** Radius in texels and number of the stones of each size, the small ones first. */
const SIZES = [
  { radius: 2.6, count: 4200 },
  { radius: 5.5, count: 1100 },
  { radius: 11, count: 240 },
  { radius: 24, count: 34 },
];

export function stonesTexture(): DataTexture {
  const heights = new Float32Array(SIDE * SIDE);
  const numbers = new Float32Array(SIDE * SIDE).fill(1);
  let drawn = 0;
  const random = (): number => hash(drawn++, 29);
  for (const { radius, count } of SIZES)
    for (let i = 0; i < count; i++) placeStone(heights, numbers, radius * (0.7 + 0.6 * random()), random);
  const bytes = new Uint8Array(SIDE * SIDE * 4);
  const at = (x: number, y: number): number => heights[((y + SIDE) % SIDE) * SIDE + ((x + SIDE) % SIDE)]!;
  const slope = (rise: number): number => 255 * Math.min(Math.max(0.5 + 0.5 * rise, 0), 1);
  for (let y = 0, i = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++, i++) {
      bytes[4 * i] = (255 * heights[i]!) / 16;
      bytes[4 * i + 1] = 255 * numbers[i]!;
      bytes[4 * i + 2] = slope(0.5 * (at(x - 1, y) - at(x + 1, y)));
      bytes[4 * i + 3] = slope(0.5 * (at(x, y - 1) - at(x, y + 1)));
    }
  }
  const texture = new DataTexture(bytes, SIDE, SIDE, RGBAFormat, UnsignedByteType);
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.magFilter = LinearFilter;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.needsUpdate = true;
  return texture;
}

/** A dome cut by a few planes, so that it has faces and edges. */
function placeStone(heights: Float32Array, numbers: Float32Array, radius: number, random: () => number): void {
  const [x, y, number, turn] = [SIDE * random(), SIDE * random(), random(), Math.PI * random()];
  const long = 0.65 + 0.35 * random();
  const faces = Array.from({ length: 5 }, (_, i) => {
    const angle = ((i + random()) / 5) * 2 * Math.PI;
    return { x: Math.cos(angle), y: Math.sin(angle), far: 0.55 + 0.35 * random(), rise: 0.5 + 1.2 * random() };
  });
  const reach = Math.ceil(radius);
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const u = (dx * Math.cos(turn) + dy * Math.sin(turn)) / radius;
      const v = (dy * Math.cos(turn) - dx * Math.sin(turn)) / (radius * long);
      let height = 0.55 * Math.sqrt(Math.max(1 - u * u - v * v, 0));
      for (const face of faces) height = Math.min(height, (face.far - u * face.x - v * face.y) * face.rise);
      if (height <= 0.03) continue;
      const [column, row] = [Math.round(x + dx), Math.round(y + dy)].map((n) => ((n % SIDE) + SIDE) % SIDE);
      const i = row! * SIDE + column!;
      if (height * radius <= heights[i]!) continue;
      heights[i] = height * radius;
      numbers[i] = number;
    }
  }
}
