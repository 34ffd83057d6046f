// One small tiling texture of noise: two fields in red and green, the gradient of the first in blue and alpha.

import {
  DataTexture,
  LinearFilter,
  LinearMipmapLinearFilter,
  RepeatWrapping,
  RGBAFormat,
  UnsignedByteType,
} from "three";
import { hash } from "./hash";

const SIDE = 256;
const OCTAVES = 5;
/** Points of the coarsest lattice: many, so that the repetition of the tile is not visible. */
const COARSEST = 8;

let heights: Uint8Array | null = null;

/** The first noise as the shaders read it, at a place given in tiles. */
export function noiseAt(x: number, y: number): number {
  const bytes = heights!;
  const [u, v] = [x * SIDE - 0.5, y * SIDE - 0.5];
  const [i, j] = [Math.floor(u), Math.floor(v)];
  const at = (column: number, row: number): number =>
    bytes[4 * (((row % SIDE) + SIDE) % SIDE) * SIDE + 4 * (((column % SIDE) + SIDE) % SIDE)]! / 255;
  const north = at(i, j) + (at(i + 1, j) - at(i, j)) * (u - i);
  const south = at(i, j + 1) + (at(i + 1, j + 1) - at(i, j + 1)) * (u - i);
  return north + (south - north) * (v - j);
}

export function noiseTexture(): DataTexture {
  const first = fractalNoise(11);
  const second = fractalNoise(57);
  const bytes = new Uint8Array(SIDE * SIDE * 4);
  const at = (x: number, y: number): number => first[((y + SIDE) % SIDE) * SIDE + ((x + SIDE) % SIDE)]!;
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      const i = y * SIDE + x;
      bytes[4 * i] = 255 * first[i]!;
      bytes[4 * i + 1] = 255 * second[i]!;
      bytes[4 * i + 2] = 255 * Math.min(Math.max(0.5 + 4 * (at(x - 1, y) - at(x + 1, y)), 0), 1);
      bytes[4 * i + 3] = 255 * Math.min(Math.max(0.5 + 4 * (at(x, y - 1) - at(x, y + 1)), 0), 1);
    }
  }
  heights = bytes;
  const texture = new DataTexture(bytes, SIDE, SIDE, RGBAFormat, UnsignedByteType);
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.magFilter = LinearFilter;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.anisotropy = 4;
  texture.needsUpdate = true;
  return texture;
}

/** Sum of smoothly interpolated lattices that wrap around, spread over 0 … 1. */
function fractalNoise(seed: number): Float32Array {
  const sum = new Float32Array(SIDE * SIDE);
  let amplitude = 1;
  for (let octave = 0; octave < OCTAVES; octave++) {
    addLattice(sum, COARSEST << octave, amplitude, seed + octave);
    amplitude *= 0.6;
  }
  let low = Infinity;
  let high = -Infinity;
  for (const value of sum) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return sum.map((value) => (value - low) / (high - low));
}

function addLattice(sum: Float32Array, knots: number, amplitude: number, seed: number): void {
  const values = Float32Array.from({ length: knots * knots }, (_, i) => hash(i, seed));
  const ease = (t: number): number => t * t * t * (t * (6 * t - 15) + 10);
  for (let y = 0; y < SIDE; y++) {
    const fy = (y * knots) / SIDE;
    const y0 = Math.floor(fy);
    const ty = ease(fy - y0);
    for (let x = 0; x < SIDE; x++) {
      const fx = (x * knots) / SIDE;
      const x0 = Math.floor(fx);
      const tx = ease(fx - x0);
      const at = (i: number, j: number): number => values[(j % knots) * knots + (i % knots)]!;
      const north = at(x0, y0) + (at(x0 + 1, y0) - at(x0, y0)) * tx;
      const south = at(x0, y0 + 1) + (at(x0 + 1, y0 + 1) - at(x0, y0 + 1)) * tx;
      sum[y * SIDE + x]! += amplitude * (north + (south - north) * ty);
    }
  }
}
