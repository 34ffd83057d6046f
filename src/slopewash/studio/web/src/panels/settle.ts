// Settling: over how many steps, with or without water at the end; and a button to cancel it.

import { button, checkbox, labelled, make } from "../page/dom";
import { quoted, refuse } from "../page/refusing";
import type { Store } from "../page/store";
import type { ClientMessage, State } from "../wire/protocol";

const WITHOUT_PRESET = 200;

export class SettleMenu {
  readonly element: HTMLElement;
  private readonly menu: HTMLDetailsElement;
  private readonly steps = make("input", {
    type: "text",
    inputmode: "numeric",
    "aria-label": "Settling steps",
    class: "count",
    value: WITHOUT_PRESET,
  });
  private readonly dry = checkbox("Remove water", false, () => {});
  private readonly stop: HTMLButtonElement;
  private usual = WITHOUT_PRESET;

  constructor(
    store: Store,
    private readonly send: (message: ClientMessage) => void,
  ) {
    const go = button("Settle", "Settle", () => this.begin(), { class: "wide primary", "data-role": "settle" });
    const about = make(
      "p",
      { class: "quiet" },
      "Ends a run: it keeps raining while the water gradually stops eroding, then the water deposits its sediment.",
    );
    this.menu = make(
      "details",
      { class: "menu" },
      make("summary", { role: "button", "data-role": "settle-menu" }, "settle…"),
      make(
        "div",
        { class: "glass popover" },
        about,
        labelled("Steps", this.steps),
        labelled("Remove water", this.dry),
        go,
      ),
    );
    this.stop = button("Cancel settling", "cancel settling", () => send({ type: "pause" }), {
      "data-role": "stop-settling",
      hidden: true,
    });
    this.element = make("span", { class: "settle" }, this.menu, this.stop);
    window.addEventListener("pointerdown", (event) => {
      if (!this.menu.contains(event.target as Node)) this.menu.open = false;
    });
    store.onState((state) => this.receive(state));
  }

  private begin(): void {
    if (!/^\d+$/.test(this.steps.value.trim())) {
      refuse(this.steps, `Settling takes a whole number of steps, not ${quoted(this.steps.value)}.`);
      this.steps.value = String(this.usual); // a typing error must not end a run at once
      this.steps.focus();
      return;
    }
    this.menu.open = false;
    this.send({ type: "settle", steps: Number(this.steps.value), dry: this.dry.checked });
  }

  /** Stages of a recipe settle by themselves, and panes do not. */
  private receive(state: State): void {
    this.menu.hidden = state.settling || state.stage !== null || state.side_by_side !== null;
    this.stop.hidden = !state.settling;
    const usual = state.usual_settling || WITHOUT_PRESET;
    if (Number(this.steps.value) === this.usual && document.activeElement !== this.steps)
      this.steps.value = String(usual);
    this.usual = usual;
  }
}
