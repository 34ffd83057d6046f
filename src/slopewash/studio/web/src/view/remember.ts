// The view that a reload returns to, kept by the browser for each shape of terrain.

import type { FrameHeader } from "../wire/protocol";
import type { SavedView } from "./camera";

const KEY = "slopewash.view";

/** The same ground at another resolution has the same shape. */
export function shapeOf({ columns, rows, cell_size, start_high, start_low }: FrameHeader): string {
  const [wide, tall] = [columns * cell_size, rows * cell_size];
  return [wide, tall, start_high - start_low].map((metres) => metres.toPrecision(2)).join(" × ");
}

/** Keep a view, or forget the one that is kept. */
export function rememberView(view: SavedView | null, shape: string): void {
  try {
    if (!view) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify({ shape, view }));
  } catch {
    // Browsers that store nothing for this page forget the view.
  }
}

export function rememberedView(shape: string): SavedView | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as { shape: string; view: SavedView } | null;
    return kept?.shape === shape && isView(kept.view) ? kept.view : null;
  } catch {
    return null;
  }
}

function isView(view: SavedView): boolean {
  const { eye, heading, pitch } = view.pose;
  return [...eye, heading, pitch, ...view.plan_view].every(Number.isFinite) && eye.length === 3;
}
