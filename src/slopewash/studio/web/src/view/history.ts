// What the simulation did to the ground, as one small texture: wear in red, deposits in green, flow in blue, loose soil in alpha, each 0 … 1.

import {
  ClampToEdgeWrapping,
  DataTexture,
  LinearFilter,
  LinearMipmapLinearFilter,
  RGBAFormat,
  UnsignedByteType,
} from "three";
import type { Field, Frame } from "../wire/frames";

/** Share of the cells with any wear or deposit that have less than what counts as much. */
const MUCH = 0.9;
/** Least wear and deposit that count as much, as fractions of the relief: the first steps must not colour everything. */
const LEAST = { wear: 0.012, deposit: 0.004, soil: 0.002 };
/** Shares of the wet cells between whose flows a stream grows. */
const FLOW = { rill: 0.5, river: 0.998 };
const SAMPLES = 8192;

export class History {
  texture = emptyTexture(1, 1);
  /** Whether the model keeps any of it. */
  isKnown = false;
  /** What it was made of. */
  private made: unknown[] = [];

  set({ wear, deposit, flow, soil }: Pick<Frame, "wear" | "deposit" | "flow" | "soil">, relief: number): void {
    const from = [wear, deposit, flow, soil, relief];
    if (from.every((part, i) => part === this.made[i])) return; // as in the frame before
    this.made = from;
    const first = wear ?? deposit ?? flow ?? soil;
    this.isKnown = first !== null;
    if (!first) return;
    const { columns, rows } = first;
    const image = this.texture.image as { data: Uint8Array; width: number; height: number };
    if (image.width !== columns || image.height !== rows) {
      this.texture.dispose();
      this.texture = emptyTexture(columns, rows);
    }
    const bytes = this.texture.image.data as Uint8Array;
    fill(bytes, 0, wear, linear(wear, LEAST.wear * relief));
    fill(bytes, 1, deposit, linear(deposit, LEAST.deposit * relief));
    fill(bytes, 2, flow, logarithmic(flow));
    fill(bytes, 3, soil, linear(soil, LEAST.soil * relief));
    this.texture.needsUpdate = true;
  }
}

/** Values from a table: a field has at most 65536 different ones. */
function fill(bytes: Uint8Array, channel: number, field: Field | null, share: (value: number) => number): void {
  if (!field) {
    for (let i = channel; i < bytes.length; i += 4) bytes[i] = 0;
    return;
  }
  const { values, low, high } = field;
  const table = new Uint8Array(4096);
  for (let level = 0; level < 4096; level++)
    table[level] = 255 * Math.min(Math.max(share(low + ((level + 0.5) / 4096) * (high - low)), 0), 1);
  for (let i = 0; i < values.length; i++) bytes[4 * i + channel] = table[values[i]! >> 4]!;
}

function linear(field: Field | null, least: number): (value: number) => number {
  const much = field ? Math.max(quantile(field, MUCH), least, 1e-9) : 1;
  return (value) => value / much;
}

function logarithmic(field: Field | null): (value: number) => number {
  if (!field) return () => 0;
  const low = Math.max(quantile(field, FLOW.rill), 1e-5 * field.high, 1e-30);
  const high = Math.max(quantile(field, FLOW.river), 10 * low);
  return (value) => (value > low ? Math.log(value / low) / Math.log(high / low) : 0);
}

/** The value below which a share of the cells above zero lies. */
function quantile({ values, low, high }: Field, share: number): number {
  const stride = Math.max(1, Math.floor(values.length / SAMPLES));
  const levels: number[] = [];
  const zero = high > low ? (65535 * -low) / (high - low) : 0;
  for (let i = 0; i < values.length; i += stride) if (values[i]! > Math.max(zero, 0)) levels.push(values[i]!);
  levels.sort((a, b) => a - b);
  const level = levels[Math.floor(share * levels.length)];
  return level === undefined ? 0 : low + (level / 65535) * (high - low);
}

function emptyTexture(columns: number, rows: number): DataTexture {
  const texture = new DataTexture(new Uint8Array(4 * columns * rows), columns, rows, RGBAFormat, UnsignedByteType);
  texture.wrapS = texture.wrapT = ClampToEdgeWrapping;
  texture.magFilter = LinearFilter;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.needsUpdate = true;
  return texture;
}
