// What a spring or an emitter gives: its lines of sliders, for one to be placed and for one that stands already.

import { button, capital, make } from "../page/dom";
import { sliderLine } from "../page/slider";
import type { Emitter } from "../wire/messages";

export type MarkKind = "source" | "emitter";

/** Everything of a mark but its place; springs leave speed and direction unused. */
export type Outflow = Omit<Emitter, "x" | "y">;

export const MARK_NAMES: Record<MarkKind, string> = { source: "water source", emitter: "emitter" };

export function outflowLines(kind: MarkKind, of: Outflow, reach: { cell: number; radius: number }, changed: () => void): HTMLElement[] {
  const line = (label: string, key: keyof Outflow, low: number, high: number, log: boolean): HTMLElement =>
    sliderLine(label, of[key], low, high, (value) => {
      of[key] = key === "direction" ? value : Math.max(value, key === "radius" ? 1e-3 : 0);
      changed();
    }, { log }).element;
  const lines = [line("Radius, m", "radius", reach.cell, reach.radius, true)];
  if (kind === "source") return [...lines, line("Rate, m per time", "rate", 0.05, 500, true)];
  return [...lines, line("Particles per second", "rate", 0.05, 500, true), line("Speed, m/s", "speed", 0, 20, false), line("Direction, ° from north", "direction", 0, 360, false)];
}

/** The panel of a mark that is chosen on the picture. */
export function markPanel(kind: MarkKind, number: number, lines: HTMLElement[], remove: () => void, close: () => void): HTMLElement[] {
  const title = make("strong", {}, `${capital(MARK_NAMES[kind])} ${number}`);
  return [
    make("div", { class: "heading" }, title, button("Close these settings", "✕", close, { class: "quiet" })),
    ...lines,
    button(`Remove this ${MARK_NAMES[kind]}`, "Remove", remove, { class: "wide", "data-role": "remove-mark" }),
  ];
}
