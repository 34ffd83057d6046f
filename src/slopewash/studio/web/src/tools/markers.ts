// Water sources and emitters as marks on the picture: placed with a click, dragged, moved by arrow keys, changed in a
// panel of their own, removed by Delete.

import { capital, make, short } from "../page/dom";
import { icon } from "../page/icons";
import type { Store } from "../page/store";
import type { Place } from "../view/picking";
import type { Stage } from "../view/stage";
import type { Connection } from "../wire/connection";
import type { Emitter } from "../wire/messages";
import { MARK_NAMES, markPanel, outflowLines, type MarkKind, type Outflow } from "./mark-settings";
import { LARGEST_SHARE } from "./toolbar";

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const SEND_EVERY = 80;

/** A spring is kept as an emitter at rest. */
interface Mark extends Emitter {
  kind: MarkKind;
}

export class Markers {
  readonly element = make("div", { class: "markers", role: "group", "aria-label": "Water sources and emitters" });
  readonly settings = make("div", { class: "glass settings", role: "group", "aria-label": "Settings of the chosen mark", hidden: true });
  private marks: Mark[] = [];
  private chosen: number | null = null;
  private dragged: Mark | null = null;
  private sendTimer = 0;
  /** Number of the drag, or of what the panel and the arrow keys do to one mark: one edit; far from those of the brushes. */
  private drag = 1e6 + Math.floor(Math.random() * 1e6);

  constructor(
    private readonly stage: Stage,
    private readonly store: Store,
    private readonly connection: () => Connection,
  ) {
    store.onState((state) => {
      if (this.dragged || this.sendTimer) return;
      const marks: Mark[] = [...state.sources.map((s) => ({ kind: "source" as const, speed: 0, direction: 0, ...s })), ...state.emitters.map((e) => ({ kind: "emitter" as const, ...e }))];
      if (JSON.stringify(marks.map(values)) === JSON.stringify(this.marks.map(values))) return;
      this.marks = marks;
      this.build();
    });
    stage.onDraw(() => this.follow());
    stage.canvas.addEventListener("pointerdown", () => this.choose(null));
  }

  place(kind: MarkKind, at: Place, outflow: Outflow): void {
    this.marks.push({ kind, x: at.x, y: at.y, ...outflow });
    this.marks.sort((a, b) => b.kind.localeCompare(a.kind)); // sources first, as the server tells them
    this.build();
    this.send(kind);
  }

  private build(): void {
    this.element.replaceChildren(...this.marks.map((mark, i) => this.markElement(mark, i)));
    this.choose(this.chosen !== null && this.chosen < this.marks.length ? this.chosen : null);
    this.follow();
  }

  /** Show the panel of one mark, or of none. */
  private choose(index: number | null): void {
    if (index !== this.chosen) this.drag++;
    this.chosen = index;
    [...this.element.children].forEach((child, i) => child.setAttribute("aria-pressed", String(i === index)));
    const mark = index === null ? undefined : this.marks[index];
    this.settings.hidden = !mark;
    if (!mark) return;
    const reach = { cell: this.store.state?.cell_size ?? 1, radius: LARGEST_SHARE * this.store.side };
    const lines = outflowLines(mark.kind, mark, reach, () => {
      this.label(mark);
      this.sendSoon(mark.kind);
    });
    this.settings.replaceChildren(...markPanel(mark.kind, this.numberOf(mark), lines, () => this.remove(mark), () => this.choose(null)));
  }

  private numberOf(mark: Mark): number {
    return this.marks.filter((m) => m.kind === mark.kind).indexOf(mark) + 1;
  }

  private label(mark: Mark): void {
    const child = this.element.children[this.marks.indexOf(mark)] as HTMLElement | undefined;
    const label = `${capital(MARK_NAMES[mark.kind])} ${this.numberOf(mark)}: ${short(mark.rate)} per time over ${short(mark.radius)} m. Click to change it, drag or use the arrows to move, Delete to remove.`;
    child?.setAttribute("aria-label", label);
    if (child) child.title = label;
    this.follow();
  }

  private markElement(mark: Mark, index: number): HTMLElement {
    const element = make("button", { type: "button", class: `mark ${mark.kind}`, "aria-pressed": "false", "data-mark": `${mark.kind}-${this.numberOf(mark) - 1}` }, icon(mark.kind), make("span", { class: "arrow" }));
    queueMicrotask(() => this.label(mark));
    element.addEventListener("focus", () => this.choose(index));
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      this.choose(index);
      this.dragged = mark;
      this.drag++;
    });
    element.addEventListener("pointermove", (event) => {
      if (this.dragged !== mark) return;
      const place = this.stage.placeAt(event.clientX, event.clientY);
      if (place) this.moveTo(mark, place.x, place.y);
    });
    for (const end of ["pointerup", "pointercancel"] as const) element.addEventListener(end, () => (this.dragged = null));
    element.addEventListener("dblclick", () => this.remove(mark));
    element.addEventListener("keydown", (event) => {
      const step = ARROWS[event.key];
      const cell = this.store.state?.cell_size ?? 1;
      if (step) this.moveTo(mark, mark.x + step[0] * cell, mark.y + step[1] * cell);
      else if (event.key === "Delete" || event.key === "Backspace") this.remove(mark);
      else if (event.key === "Escape") this.choose(null);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    return element;
  }

  private moveTo(mark: Mark, x: number, y: number): void {
    const state = this.store.state;
    if (!state) return;
    const within = (value: number, cells: number): number => Math.min(Math.max(value, 0), (cells - 1e-3) * state.cell_size);
    mark.x = within(x, state.columns);
    mark.y = within(y, state.rows);
    this.follow();
    this.sendSoon(mark.kind);
  }

  private remove(mark: Mark): void {
    this.dragged = null;
    this.marks = this.marks.filter((m) => m !== mark);
    this.chosen = null;
    this.build();
    this.send(mark.kind);
  }

  private sendSoon(kind: MarkKind): void {
    if (!this.sendTimer) this.sendTimer = window.setTimeout(() => this.send(kind, this.drag), SEND_EVERY);
  }

  private send(kind: MarkKind, stroke?: number): void {
    window.clearTimeout(this.sendTimer);
    this.sendTimer = 0;
    const of = this.marks.filter((mark) => mark.kind === kind);
    if (kind === "source") void this.connection().tell({ type: "sources", sources: of.map(({ x, y, radius, rate }) => ({ x, y, radius, rate })), stroke });
    else void this.connection().tell({ type: "emitters", emitters: of.map(values), stroke });
  }

  /** Keep each mark over its place on the ground, and its arrow where its particles go. */
  private follow(): void {
    [...this.element.children].forEach((child, i) => {
      const mark = this.marks[i];
      const at = mark ? this.stage.screenPlace(mark.x, mark.y) : null;
      const element = child as HTMLElement;
      element.hidden = !at;
      if (!at || !mark) return;
      element.style.transform = `translate(${at.left}px, ${at.top}px) translate(-50%, -100%)`;
      const turn = (mark.direction * Math.PI) / 180;
      const reach = 0.02 * this.store.side;
      const ahead = mark.speed > 0 ? this.stage.screenPlace(mark.x + reach * Math.sin(turn), mark.y - reach * Math.cos(turn)) : null;
      const arrow = element.lastElementChild as HTMLElement;
      arrow.hidden = !ahead;
      if (ahead) arrow.style.transform = `rotate(${Math.atan2(ahead.top - at.top, ahead.left - at.left)}rad)`;
    });
  }
}

function values({ x, y, radius, rate, speed, direction }: Mark): Emitter {
  return { x, y, radius, rate, speed, direction };
}
