// Settling: over how many steps, dry or not; while it goes on, a button to break it off.

import { button, checkbox, labelled, make } from "../page/dom";
import type { Store } from "../page/store";
import type { ClientMessage, State } from "../wire/messages";

const WITHOUT_PRESET = 200;

export class SettleMenu {
  readonly element: HTMLElement;
  private readonly menu: HTMLDetailsElement;
  private readonly steps = make("input", { type: "text", inputmode: "numeric", "aria-label": "Steps of settling", class: "count" });
  private readonly dry = checkbox("Leave no water", false, () => {});
  private readonly stop: HTMLButtonElement;
  private preset: string | null | undefined;

  constructor(
    private readonly store: Store,
    private readonly tell: (message: ClientMessage) => void,
  ) {
    const go = button("Settle", "Settle", () => this.begin(), { class: "wide primary", "data-role": "settle" });
    const about = make("p", { class: "quiet" }, "Ends a run: it still rains while the water loses its power, then what it carries is laid down.");
    this.menu = make("details", { class: "menu" }, make("summary", { role: "button", "data-role": "settle-menu" }, "settle…"), make("div", { class: "glass popover" }, about, labelled("Steps", this.steps), labelled("Leave no water", this.dry), go));
    this.stop = button("Break the settling off", "stop settling", () => tell({ type: "pause" }), { "data-role": "stop-settling", hidden: true });
    this.element = make("span", { class: "settle" }, this.menu, this.stop);
    window.addEventListener("pointerdown", (event) => {
      if (!this.menu.contains(event.target as Node)) this.menu.open = false;
    });
    store.onState((state) => this.receive(state));
  }

  private begin(): void {
    this.menu.open = false;
    const steps = Math.round(Number(this.steps.value));
    this.tell({ type: "settle", steps: Number.isFinite(steps) ? steps : 0, dry: this.dry.checked });
  }

  private receive(state: State): void {
    this.menu.hidden = state.settling;
    this.stop.hidden = !state.settling;
    if (state.preset === this.preset) return;
    this.preset = state.preset;
    this.steps.value = String(this.store.welcome?.presets.find((p) => p.name === state.preset)?.settle || WITHOUT_PRESET);
  }
}
