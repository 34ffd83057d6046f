// Water sources and emitters as marks on the picture: placed with a click, dragged, moved by arrow keys, removed by Delete.

import { make, short } from "../page/dom";
import { icon } from "../page/icons";
import type { Store } from "../page/store";
import type { Place } from "../view/picking";
import type { Stage } from "../view/stage";
import type { Connection } from "../wire/connection";
import type { Emitter, WaterSource } from "../wire/messages";

type Kind = "source" | "emitter";

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const SEND_EVERY = 80;

export class Markers {
  readonly element = make("div", { class: "markers", role: "group", "aria-label": "Water sources and emitters" });
  private sources: WaterSource[] = [];
  private emitters: Emitter[] = [];
  private dragged: WaterSource | null = null;
  private sendTimer = 0;
  /** Number of the drag, or of the arrow keys on one mark, which are one edit; far from those of the brushes. */
  private drag = 1e6 + Math.floor(Math.random() * 1e6);

  constructor(
    private readonly stage: Stage,
    private readonly store: Store,
    private readonly connection: () => Connection,
  ) {
    store.onState((state) => {
      if (this.dragged || this.sendTimer) return;
      if (JSON.stringify([this.sources, this.emitters]) === JSON.stringify([state.sources, state.emitters])) return;
      this.sources = state.sources.map((s) => ({ ...s }));
      this.emitters = state.emitters.map((e) => ({ ...e }));
      this.build();
    });
    stage.onDraw(() => this.follow());
  }

  place(kind: Kind, at: Place, radius: number, rate: number): void {
    if (kind === "source") this.sources.push({ x: at.x, y: at.y, radius, rate });
    else this.emitters.push({ x: at.x, y: at.y, radius, rate, speed: 0, direction: 0 });
    this.build();
    this.send(kind);
  }

  private build(): void {
    this.element.replaceChildren(...this.sources.map((s, i) => this.mark("source", s, i)), ...this.emitters.map((e, i) => this.mark("emitter", e, i)));
    this.follow();
  }

  private mark(kind: Kind, spring: WaterSource, index: number): HTMLElement {
    const name = kind === "source" ? "Water source" : "Emitter";
    const label = `${name} ${index + 1}: ${short(spring.rate)} per time over ${short(spring.radius)} m. Drag or use the arrows to move, Delete to remove.`;
    const element = make("button", { type: "button", class: `mark ${kind}`, "aria-label": label, title: label, "data-mark": `${kind}-${index}` }, icon(kind));
    element.addEventListener("focus", () => this.drag++);
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      this.dragged = spring;
      this.drag++;
    });
    element.addEventListener("pointermove", (event) => {
      if (this.dragged !== spring) return;
      const place = this.stage.placeAt(event.clientX, event.clientY);
      if (place) this.moveTo(kind, spring, place.x, place.y);
    });
    for (const end of ["pointerup", "pointercancel"] as const) element.addEventListener(end, () => (this.dragged = null));
    element.addEventListener("dblclick", () => this.remove(kind, spring));
    element.addEventListener("keydown", (event) => {
      const step = ARROWS[event.key];
      const cell = this.store.state?.cell_size ?? 1;
      if (step) this.moveTo(kind, spring, spring.x + step[0] * cell, spring.y + step[1] * cell);
      else if (event.key === "Delete" || event.key === "Backspace") this.remove(kind, spring);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    return element;
  }

  private moveTo(kind: Kind, spring: WaterSource, x: number, y: number): void {
    const state = this.store.state;
    if (!state) return;
    spring.x = Math.min(Math.max(x, 0), state.columns * state.cell_size);
    spring.y = Math.min(Math.max(y, 0), state.rows * state.cell_size);
    this.follow();
    if (!this.sendTimer) this.sendTimer = window.setTimeout(() => this.send(kind, this.drag), SEND_EVERY);
  }

  private remove(kind: Kind, spring: WaterSource): void {
    this.dragged = null;
    this.sources = this.sources.filter((s) => s !== spring);
    this.emitters = this.emitters.filter((e) => e !== spring);
    this.build();
    this.send(kind);
  }

  private send(kind: Kind, stroke?: number): void {
    window.clearTimeout(this.sendTimer);
    this.sendTimer = 0;
    if (kind === "source") void this.connection().tell({ type: "sources", sources: this.sources, stroke });
    else void this.connection().tell({ type: "emitters", emitters: this.emitters });
  }

  /** Keep each mark over its place on the ground. */
  private follow(): void {
    const springs = [...this.sources, ...this.emitters];
    [...this.element.children].forEach((child, i) => {
      const spring = springs[i];
      const at = spring ? this.stage.screenPlace(spring.x, spring.y) : null;
      const element = child as HTMLElement;
      element.hidden = !at;
      if (at) element.style.transform = `translate(${at.left}px, ${at.top}px) translate(-50%, -100%)`;
    });
  }
}
