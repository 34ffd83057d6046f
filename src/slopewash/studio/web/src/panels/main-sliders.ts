// The five sliders above all parameters: what they move is declared beside the model's parameters, and worked out by the server.

import { capital, make, short, words } from "../page/dom";
import { resetButton } from "../page/slider";
import type { Store } from "../page/store";
import { Waiting } from "../page/waiting";
import type { Connection } from "../wire/connection";
import type { ModelDeclaration, ParameterValue, SliderDeclaration, State } from "../wire/protocol";
import { symbol } from "./symbol";

/** Positions from the middle to either end. */
const STEPS = 100;
const SEND_EVERY = 60;

export class MainSliders {
  readonly element = make("div", { class: "main-sliders", role: "group", "aria-label": "Main sliders" });
  private rows: MainSlider[] = [];

  constructor(
    private readonly store: Store,
    private readonly connection: () => Connection,
  ) {}

  build(model: ModelDeclaration): void {
    this.rows = model.sliders.map((declared) => new MainSlider(declared, model, this.store, this.connection));
    this.element.replaceChildren(...this.rows.map((row) => row.element));
  }

  receive(state: State): void {
    for (const row of this.rows) row.receive(state);
  }
}

class MainSlider {
  readonly element: HTMLElement;
  private readonly range: HTMLInputElement;
  private readonly effect = make("p", { class: "quiet effect" });
  private readonly ends: HTMLElement;
  private readonly waiting = new Waiting(() => this.send(), SEND_EVERY);
  private dragging = false;

  constructor(
    private readonly declared: SliderDeclaration,
    private readonly model: ModelDeclaration,
    private readonly store: Store,
    private readonly connection: () => Connection,
  ) {
    const title = capital(words(declared.name));
    this.range = make("input", {
      type: "range",
      min: -STEPS,
      max: STEPS,
      step: 1,
      "aria-label": title,
      "data-role": "main-slider",
    });
    this.range.addEventListener("input", () => this.moved());
    this.range.addEventListener("pointerdown", () => (this.dragging = true));
    for (const end of ["pointerup", "pointercancel", "change"])
      this.range.addEventListener(end, () => (this.dragging = false));
    const reset = resetButton(`Reset ${words(declared.name)} to the preset`, () => {
      this.range.value = "0";
      this.moved();
    });
    this.ends = make(
      "span",
      { class: "ends" },
      make("small", {}, declared.low),
      this.range,
      make("small", {}, declared.high),
    );
    this.element = make(
      "div",
      { class: "main-slider", title: declared.doc, "data-slider": declared.name },
      make("span", { class: "name" }, title),
      this.effect,
      reset,
      this.ends,
    );
  }

  receive(state: State): void {
    const position = state.sliders[this.declared.name];
    const fixed = typeof position !== "number";
    this.range.disabled = fixed;
    this.ends.hidden = fixed;
    this.element.classList.toggle("changed", !fixed && position !== 0);
    this.effect.replaceChildren(...(fixed ? [`Not here: ${position ?? "unknown"}.`] : this.effects(state)));
    if (fixed || this.dragging || this.waiting.isHeld) return;
    this.range.value = String(Math.round(STEPS * position));
    this.range.setAttribute("aria-valuetext", this.text(position));
  }

  /** What the slider has done to the symbols below. */
  private effects(state: State): (Node | string)[] {
    if (this.declared.name === "age") return [`pauses at step ${state.usual_steps ?? "–"}`];
    const parts: (Node | string)[] = [];
    for (const name of Object.keys(this.declared.moves)) {
      const parameter = this.model.parameters.find((p) => p.name === name);
      const [usual, now] = [this.store.usual(name), state.parameters[name]];
      if (!parameter || usual === undefined || now === undefined || Number(usual) === 0) continue;
      const values = usual === now ? number(now) : `${number(usual)} → ${number(now)}`;
      parts.push(parts.length ? ", " : "", make("i", {}, symbol(parameter.symbol || words(name))), ` ${values}`);
    }
    return parts;
  }

  private text(position: number): string {
    if (position === 0) return "as in the preset";
    const { low, high } = this.declared;
    return `${Math.round(100 * Math.abs(position))} % towards ${position < 0 ? low : high}`;
  }

  private moved(): void {
    this.range.setAttribute("aria-valuetext", this.text(Number(this.range.value) / STEPS));
    this.waiting.begin();
  }

  private send(): void {
    const position = Number(this.range.value) / STEPS;
    void this.connection().send({ type: "slide", name: this.declared.name, position });
  }
}

function number(value: ParameterValue): string {
  return typeof value === "number" ? short(value) : String(value);
}
