// Play, pause, step, run to, speed, reset, settle: the bar at the bottom.

import { button, make, select, short } from "../page/dom";
import { icon } from "../page/icons";
import { quoted, refuse } from "../page/refusing";
import type { Store } from "../page/store";
import type { Connection } from "../wire/connection";
import type { State } from "../wire/protocol";
import { SettleMenu } from "./settle";

const SPEEDS = [1, 5, 20, 60, 200];

export class Transport {
  readonly element: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly step = make("output", { class: "step", "data-role": "step", "aria-label": "Step" }, "0");
  private readonly detail = make("output", { class: "quiet", "aria-label": "Time and speed" });
  private readonly stage = make("output", { class: "quiet", "data-role": "stage", "aria-label": "Stage" });
  private readonly count: HTMLInputElement;
  private readonly target: HTMLInputElement;
  private readonly speed: HTMLSelectElement;
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;
  private usualSteps: number | null = null;

  constructor(
    private readonly store: Store,
    private readonly connection: () => Connection,
  ) {
    this.play = button("Play (space)", icon("play"), () => this.toggle(), { class: "primary", "data-role": "play" });
    const takeSteps = (): void => withWhole(this.count, (count) => this.send({ type: "step", count }));
    const runTo = (): void => withWhole(this.target, (step) => this.send({ type: "run_to", step }));
    this.count = whole("Number of steps", 100, takeSteps);
    this.target = whole("Target step", 1000, runTo);
    this.speed = select(
      "Speed in steps per second",
      [{ value: "", text: "maximum speed" }, ...SPEEDS.map((n) => ({ value: String(n), text: `${n} steps/s` }))],
      "",
      (value) => this.send({ type: "speed", steps_per_second: value ? Number(value) : null }),
    );
    this.undo = button("Undo the last edit (Ctrl+Z)", icon("undo"), () => this.send({ type: "undo" }), {
      "data-role": "undo",
    });
    this.redo = button("Redo (Ctrl+Shift+Z)", icon("redo"), () => this.send({ type: "redo" }), { "data-role": "redo" });
    this.element = make(
      "div",
      { class: "glass transport", role: "toolbar", "aria-label": "Simulation" },
      this.play,
      button("One step (.)", icon("step"), () => this.send({ type: "step", count: 1 }), { "data-role": "step-one" }),
      make(
        "span",
        { class: "pair" },
        this.count,
        button("Run this many steps", "steps", takeSteps, { "data-role": "step-many" }),
      ),
      make(
        "span",
        { class: "pair" },
        button("Run to this step", "run to", runTo, { "data-role": "run-to" }),
        this.target,
      ),
      this.speed,
      make("span", { class: "counter" }, this.step, this.detail, this.stage),
      new SettleMenu(store, (message) => this.send(message)).element,
      button("Reset to the start (R)", icon("reset"), () => this.send({ type: "reset" }), { "data-role": "reset" }),
      make("span", { class: "twins" }, this.undo, this.redo),
    );
    store.onState((state) => this.receive(state));
  }

  toggle(): void {
    const { state } = this.store;
    this.send({ type: state && isRunning(state) ? "pause" : "play" });
  }

  private send(message: Parameters<Connection["send"]>[0]): void {
    void this.connection().send(message);
  }

  private receive(state: State): void {
    if (state.usual_steps !== this.usualSteps) {
      this.usualSteps = state.usual_steps;
      this.target.value = String(state.usual_steps ?? 1000);
    }
    this.step.textContent = String(state.step);
    this.element.dataset.playing = String(state.playing);
    const label = state.settling ? "Cancel settling (space)" : state.playing ? "Pause (space)" : "Play (space)";
    if (this.play.title !== label) {
      this.play.title = label;
      this.play.setAttribute("aria-label", label);
      this.play.replaceChildren(icon(isRunning(state) ? "pause" : "play"));
    }
    const speed = state.playing ? ` · ${speedOf(state.steps_per_second)} steps/s` : "";
    this.detail.textContent =
      state.busy ?? `t ${short(state.time)}${speed}${state.target !== null ? ` → ${state.target}` : ""}`;
    this.stage.textContent = state.stage ?? "";
    this.stage.hidden = state.stage === null;
    this.undo.disabled = !state.can_undo;
    this.redo.disabled = !state.can_redo;
    if (document.activeElement !== this.speed) this.speed.value = state.speed === null ? "" : String(state.speed);
  }
}

function isRunning(state: State): boolean {
  return state.playing || state.settling;
}

function whole(label: string, start: number, entered: () => void): HTMLInputElement {
  const field = make("input", {
    type: "text",
    inputmode: "numeric",
    "aria-label": label,
    value: start,
    class: "count",
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    entered();
    field.blur();
  });
  return field;
}

/** Pass a whole number on, or mark the field as invalid. */
function withWhole(field: HTMLInputElement, go: (value: number) => void): void {
  if (/^\s*\d+\s*$/.test(field.value)) {
    field.removeAttribute("aria-invalid");
    go(Number(field.value));
    return;
  }
  refuse(field, `${field.ariaLabel} takes a whole number, not ${quoted(field.value)}.`);
  field.focus();
}

function speedOf(stepsPerSecond: number): string {
  return stepsPerSecond >= 10 ? String(Math.round(stepsPerSecond)) : stepsPerSecond.toPrecision(2);
}
