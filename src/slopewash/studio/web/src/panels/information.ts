// Speed, time and the mass budget of water and solids, with small plots over the steps.

import { make, short, volume } from "../page/dom";
import type { Store } from "../page/store";
import type { State } from "../wire/protocol";
import { Plot } from "./plot";

const WATER = {
  current: "water_now",
  initial: "water_start",
  rain: "water_rain",
  "water sources": "water_sources",
  evaporated: "water_evaporated",
  outflow: "water_exported",
  "to the sea": "water_sea",
  edited: "water_edited",
};
const SOLIDS = {
  current: "solids_now",
  initial: "solids_start",
  moved: "solids_moved",
  outflow: "solids_exported",
  edited: "solids_edited",
};

export class Information {
  readonly element = make("div", { class: "information" });
  private readonly water = new Plot("Water on the terrain", "#58b7f0");
  private readonly solids = new Plot("Solids moved", "#e0a15c");
  private readonly figures = new Map<string, HTMLElement>();
  private readonly speed = make("dd", { "data-role": "speed" });
  private readonly time = make("dd");
  private run = -1;

  constructor(store: Store) {
    this.element.append(
      make("dl", {}, make("dt", {}, "Speed"), this.speed, make("dt", {}, "Model time"), this.time),
      make("h3", {}, "Water"),
      this.water.element,
      this.budget(WATER, "water_drift"),
      make("h3", {}, "Solids"),
      this.solids.element,
      this.budget(SOLIDS, "solids_drift"),
    );
    store.onState((state) => this.receive(state));
  }

  private budget(entries: Record<string, string>, drift: string): HTMLElement {
    const list = make("dl", { class: "budget" });
    for (const [label, key] of [...Object.entries(entries), ["mass-balance error", drift] as const]) {
      const figure = make("dd", { "data-budget": key });
      this.figures.set(key, figure);
      list.append(make("dt", {}, label), figure);
    }
    return list;
  }

  private receive(state: State): void {
    if (state.run !== this.run) {
      this.run = state.run;
      this.water.clear();
      this.solids.clear();
    }
    this.speed.textContent = state.playing ? `${short(state.steps_per_second)} steps/s` : "paused";
    this.time.textContent = `${short(state.time)} (step ${state.step})`;
    const { budget } = state;
    for (const [key, figure] of this.figures)
      figure.textContent = key.endsWith("drift") ? (budget[key] ?? 0).toExponential(1) : volume(budget[key] ?? 0);
    this.water.add(state.step, budget.water_now ?? 0);
    this.solids.add(state.step, budget.solids_moved ?? 0);
  }
}
