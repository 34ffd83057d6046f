// Settings of water sources and emitters: sliders for the next one to be placed, and for one that is selected.

import { button, capital, make } from "../page/dom";
import { icon } from "../page/icons";
import { type Slider, sliderLine } from "../page/slider";
import type { Emitter } from "../wire/protocol";

export type MarkKind = "source" | "emitter";

/** Everything of a marker except its position; water sources do not use speed and direction. */
export type Outflow = Omit<Emitter, "x" | "y">;

export const MARK_NAMES: Record<MarkKind, string> = { source: "water source", emitter: "emitter" };

export interface OutflowLines {
  elements: HTMLElement[];
  /** Show values from the server; of sliders that the user moves only with `all`. */
  refresh(all?: boolean): void;
}

export function outflowLines(
  kind: MarkKind,
  of: Outflow,
  reach: { cell: number; radius: number },
  changed: () => void,
): OutflowLines {
  const sliders = new Map<keyof Outflow, Slider>();
  const line = (label: string, key: keyof Outflow, low: number, high: number, log: boolean): HTMLElement => {
    const change = (value: number): void => {
      of[key] = key === "direction" ? value : Math.max(value, key === "radius" ? 1e-3 : 0);
      changed();
    };
    const { slider, element } = sliderLine(label, of[key], low, high, change, { log });
    sliders.set(key, slider);
    return element;
  };
  const elements = [line("Radius, m", "radius", reach.cell, reach.radius, true)];
  if (kind === "source") elements.push(line("Rate, m per model time", "rate", 0.05, 500, true));
  else
    elements.push(
      line("Particles per second", "rate", 0.05, 500, true),
      line("Speed, m/s", "speed", 0, 20, false),
      line("Direction, ° from north", "direction", 0, 360, false),
    );
  return {
    elements,
    refresh: (all = false) => {
      for (const [key, slider] of sliders) all ? slider.show(of[key]) : slider.receive(of[key]);
    },
  };
}

/** The settings of a marker that is selected in the view. */
export function markPanel(
  kind: MarkKind,
  number: number,
  lines: HTMLElement[],
  remove: () => void,
  close: () => void,
): HTMLElement[] {
  const title = make("strong", {}, `${capital(MARK_NAMES[kind])} ${number}`);
  return [
    make("div", { class: "heading" }, title, button("Close these settings", icon("close"), close, { class: "quiet" })),
    ...lines,
    button(`Remove this ${MARK_NAMES[kind]}`, "Remove", remove, { class: "wide", "data-role": "remove-mark" }),
  ];
}
