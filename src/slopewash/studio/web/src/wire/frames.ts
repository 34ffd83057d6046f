// Binary frames: "SWF1", the header's length, the header as JSON, then blocks aligned to 8 bytes.

import type { BlockHeader, FrameHeader } from "./protocol";

/** A layer as it is sent: v stands for low + v·(high − low)/65535. */
export interface Field {
  rows: number;
  columns: number;
  values: Uint16Array<ArrayBuffer>;
  low: number;
  high: number;
  unit: string;
  layer: string;
}

export interface Frame {
  header: FrameHeader;
  elevation: Field;
  water: Field | null;
  suspended: Field | null;
  overlay: Field | null;
  wear: Field | null;
  deposit: Field | null;
  flow: Field | null;
  soil: Field | null;
  before: Field | null;
  strata: {
    layers: number;
    points: number;
    tops: Float32Array<ArrayBuffer>;
    depths: number[];
    hardness: number[];
  } | null;
  strataTop: Field | null;
  particles: Float32Array<ArrayBuffer> | null;
  vertices: Float32Array<ArrayBuffer> | null;
  triangles: Uint32Array<ArrayBuffer> | null;
}

const MAGIC = 0x31465753; // "SWF1" read as a little-endian number

export function decodeFrame(bytes: ArrayBuffer): Frame {
  const view = new DataView(bytes);
  if (bytes.byteLength < 8 || view.getUint32(0, true) !== MAGIC)
    throw new Error("received a frame of an unknown version; reload the page");
  const text = new TextDecoder().decode(new Uint8Array(bytes, 8, view.getUint32(4, true)));
  const header = JSON.parse(text) as FrameHeader;
  const blocks = new Map(header.blocks.map((block) => [block.name, block]));
  const elevation = field(bytes, blocks.get("elevation"));
  if (!elevation) throw new Error("received a frame without elevation");
  const strata = blocks.get("strata");
  return {
    header,
    elevation,
    water: field(bytes, blocks.get("water")),
    suspended: field(bytes, blocks.get("suspended")),
    overlay: field(bytes, blocks.get("overlay")),
    wear: field(bytes, blocks.get("wear")),
    deposit: field(bytes, blocks.get("deposit")),
    flow: field(bytes, blocks.get("flow")),
    soil: field(bytes, blocks.get("soil")),
    before: field(bytes, blocks.get("before")),
    strata: strata
      ? {
          layers: strata.shape[0] ?? 0,
          points: strata.shape[2] ?? 0,
          tops: floats(bytes, strata),
          depths: strata.depths ?? [],
          hardness: strata.hardness ?? [],
        }
      : null,
    strataTop: field(bytes, blocks.get("strata_top")),
    particles: blocks.has("particles") ? floats(bytes, blocks.get("particles")!) : null,
    vertices: blocks.has("vertices") ? floats(bytes, blocks.get("vertices")!) : null,
    triangles: blocks.has("triangles") ? words(bytes, blocks.get("triangles")!) : null,
  };
}

/** Reads the frames of one connection: what a frame leaves out is as in the one before it. */
export class FrameReader {
  /** The last frame of each pane. */
  private readonly last = new Map<number, Frame>();

  read(bytes: ArrayBuffer): Frame {
    const frame = decodeFrame(bytes);
    const { ground, pane = 0, run } = frame.header;
    const before = this.last.get(pane);
    if (ground && before?.header.run === run) {
      const { wear, deposit, flow, soil } = before;
      Object.assign(frame, { wear, deposit, flow, soil });
    }
    for (const shown of this.last.keys()) if (shown >= (frame.header.panes ?? 1)) this.last.delete(shown); // it was left
    this.last.set(pane, frame);
    return frame;
  }
}

function field(bytes: ArrayBuffer, block: BlockHeader | undefined): Field | null {
  if (!block) return null;
  const [rows = 0, columns = 0] = block.shape;
  const values = new Uint16Array(bytes, block.offset, rows * columns);
  return {
    rows,
    columns,
    values,
    low: block.low ?? 0,
    high: block.high ?? 1,
    unit: block.unit ?? "",
    layer: block.layer ?? block.name,
  };
}

function floats(bytes: ArrayBuffer, block: BlockHeader): Float32Array<ArrayBuffer> {
  return new Float32Array(bytes, block.offset, block.length / 4);
}

function words(bytes: ArrayBuffer, block: BlockHeader): Uint32Array<ArrayBuffer> {
  return new Uint32Array(bytes, block.offset, block.length / 4);
}

/** Value at a place given in cells (0, 0 is the outer corner of the first cell), between cells bilinearly. */
export function sampleField(of: Field, column: number, row: number): number {
  const x = Math.min(Math.max(column - 0.5, 0), of.columns - 1);
  const y = Math.min(Math.max(row - 0.5, 0), of.rows - 1);
  const x0 = Math.floor(x);
  const y0 = Math.floor(y);
  const x1 = Math.min(x0 + 1, of.columns - 1);
  const y1 = Math.min(y0 + 1, of.rows - 1);
  const at = (c: number, r: number): number => of.values[r * of.columns + c] ?? 0;
  const top = at(x0, y0) + (at(x1, y0) - at(x0, y0)) * (x - x0);
  const bottom = at(x0, y1) + (at(x1, y1) - at(x0, y1)) * (x - x0);
  return of.low + ((top + (bottom - top) * (y - y0)) * (of.high - of.low)) / 65535;
}
