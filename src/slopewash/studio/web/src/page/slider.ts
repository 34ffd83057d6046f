// A number with a slider for its typical range and a field that takes any value.

import { button, capital, make, short } from "./dom";
import { icon } from "./icons";
import { quoted, refuse } from "./refusing";
import { Waiting } from "./waiting";

export interface SliderOptions {
  label: string;
  low: number;
  high: number;
  log?: boolean;
  whole?: boolean;
  /** Called after typing, and while dragging at most every `SEND_EVERY` milliseconds. */
  changed(value: number): void;
}

const STEPS = 1000;
const SEND_EVERY = 60;

export class Slider {
  readonly element: HTMLElement;
  readonly range: HTMLInputElement;
  readonly field: HTMLInputElement;
  value = 0;
  private readonly waiting = new Waiting(() => this.options.changed(this.value), SEND_EVERY);
  private dragging = false;
  private readonly steps: number;

  constructor(private readonly options: SliderOptions) {
    // A step smaller than one would be rounded back to the value before.
    this.steps = options.whole && !options.log ? Math.min(STEPS, options.high - options.low) : STEPS;
    this.range = make("input", {
      type: "range",
      min: 0,
      max: this.steps,
      step: 1,
      "aria-label": options.label,
      "data-role": "slider",
    });
    this.field = make("input", {
      type: "text",
      inputmode: "decimal",
      "aria-label": `${options.label}, typed`,
      "data-role": "value",
      spellcheck: "false",
      autocomplete: "off",
    });
    this.element = make("span", { class: "slider" }, this.range, this.field);
    this.range.addEventListener("input", () => this.change(this.fromPosition(Number(this.range.value))));
    this.range.addEventListener("pointerdown", () => (this.dragging = true));
    for (const end of ["pointerup", "pointercancel", "change"])
      this.range.addEventListener(end, () => (this.dragging = false));
    this.field.addEventListener("change", () => this.typed());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.field.blur();
      if (event.key === "Escape") this.show(this.value);
    });
  }

  /** Show a value from the server, unless the user is changing it. */
  receive(value: number): void {
    if (this.dragging || document.activeElement === this.field || this.waiting.isHeld) return;
    this.show(value);
  }

  show(value: number): void {
    this.value = value;
    this.field.value = short(value);
    this.range.value = String(this.toPosition(value));
    this.range.setAttribute("aria-valuetext", short(value));
  }

  change(value: number): void {
    this.show(value);
    this.waiting.begin();
  }

  private typed(): void {
    const text = this.field.value.trim().replace(",", ".");
    const endless = /^(inf|infinity|∞)$/i.test(text) ? Infinity : /^(none|-inf|–)$/i.test(text) ? -Infinity : null;
    const value = endless ?? Number(text);
    if (text === "") this.show(this.value);
    else if (Number.isNaN(value)) {
      refuse(this.field, `${capital(this.options.label)} takes a number, not ${quoted(this.field.value)}.`);
      this.show(this.value);
    } else {
      this.change(this.options.whole ? Math.round(value) : value);
      this.waiting.end(); // typed values are final: no need to wait for more
    }
  }

  private get isLog(): boolean {
    return Boolean(this.options.log) && this.options.low > 0;
  }

  private toPosition(value: number): number {
    const { low, high } = this.options;
    const share = this.isLog
      ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
      : (value - low) / (high - low);
    return Math.round(this.steps * Math.min(Math.max(share, 0), 1));
  }

  private fromPosition(position: number): number {
    const { low, high } = this.options;
    const share = position / this.steps;
    const value = this.isLog ? low * (high / low) ** share : low + share * (high - low);
    return this.options.whole ? Math.round(value) : Number(value.toPrecision(4));
  }
}

/** A labelled slider for a setting of the page itself. */
export function sliderLine(
  label: string,
  value: number,
  low: number,
  high: number,
  changed: (value: number) => void,
  more: Partial<SliderOptions> = {},
): { element: HTMLElement; slider: Slider } {
  const slider = new Slider({ label, low, high, changed, ...more });
  slider.show(value);
  return { slider, element: make("div", { class: "line" }, make("span", {}, label), slider.element) };
}

export function resetButton(label: string, action: () => void): HTMLButtonElement {
  return button(label, icon("reset"), action, { class: "reset" });
}
