// Water sources and emitters as markers in the view: click to place, drag or use the arrow keys to move, edit in a panel,
// press Delete to remove.

import { capital, make, short } from "../page/dom";
import { icon } from "../page/icons";
import type { Store } from "../page/store";
import { HOLD, Waiting } from "../page/waiting";
import type { Place } from "../view/picking";
import type { Stage } from "../view/stage";
import type { Connection } from "../wire/connection";
import type { Emitter, State } from "../wire/protocol";
import { MARK_NAMES, type MarkKind, markPanel, type Outflow, type OutflowLines, outflowLines } from "./mark-settings";
import { LARGEST_SHARE } from "./toolbar";

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
const SEND_EVERY = 80;

/** Water sources have the speed and direction of an emitter too, and do not use them. */
interface Mark extends Emitter {
  kind: MarkKind;
}

export class Markers {
  readonly element = make("div", { class: "markers", role: "group", "aria-label": "Water sources and emitters" });
  readonly settings = make("div", {
    class: "glass settings",
    role: "group",
    "aria-label": "Settings of the selected marker",
    hidden: true,
  });
  private marks: Mark[] = [];
  /** Number of the run that these belong to. */
  private run = -1;
  private chosen: number | null = null;
  private dragged: Mark | null = null;
  private lines: OutflowLines | null = null;
  /** Kinds with changes that are not sent yet, and the edit that these belong to. */
  private readonly unsent = new Map<MarkKind, number>();
  private readonly waiting = new Waiting(() => this.sendUnsent(), SEND_EVERY);
  /** Number of messages without an answer. */
  private asked = 0;
  private touched = -Infinity;
  private refreshTimer = 0;
  /** Number of the edit: a drag, or all changes to one marker by panel and keys. Far from the numbers of brush strokes. */
  private drag = 1e6 + Math.floor(Math.random() * 1e6);

  constructor(
    private readonly stage: Stage,
    private readonly store: Store,
    private readonly connection: () => Connection,
  ) {
    store.onState(() => this.refreshSoon());
    stage.onDraw(() => this.follow());
    stage.canvas.addEventListener("pointerdown", () => this.choose(null));
    this.settings.addEventListener("change", () => this.waiting.end());
  }

  /** Show the last state, once no older one can arrive that lacks a change made here. */
  private refreshSoon(): void {
    window.clearTimeout(this.refreshTimer);
    const another = this.store.state?.run !== this.run;
    if (another) this.forgetEdits();
    const busy = this.dragged || this.unsent.size || this.asked || performance.now() - this.touched < HOLD;
    if (busy && !another) this.refreshTimer = window.setTimeout(() => this.refreshSoon(), HOLD);
    else if (this.store.state) this.receive(this.store.state);
  }

  /** Another run has markers of its own, and must not get those of the run before. */
  private forgetEdits(): void {
    this.dragged = null;
    this.unsent.clear();
    this.touched = -Infinity; // else its first states would wait, and a marker placed meanwhile would undo them
  }

  private receive(state: State): void {
    this.run = state.run;
    const marks: Mark[] = [
      ...state.sources.map((s) => ({ kind: "source" as const, speed: 0, direction: 0, ...s })),
      ...state.emitters.map((e) => ({ kind: "emitter" as const, ...e })),
    ];
    if (marks.map((mark) => mark.kind).join() !== this.marks.map((mark) => mark.kind).join()) {
      this.marks = marks;
      this.chosen = null; // the same number may now be another marker
      this.build();
      return;
    }
    for (const [i, mark] of marks.entries()) Object.assign(this.marks[i]!, mark); // keeps the panel and the focus
    for (const mark of this.marks) this.label(mark);
    this.lines?.refresh();
  }

  /** Add a marker; a click that just chose another pane, whose markers are not known yet, only does that. */
  place(kind: MarkKind, at: Place, outflow: Outflow): void {
    const panes = this.store.state?.side_by_side;
    if (panes && panes.chosen !== this.stage.chosen) return;
    this.marks.push({ kind, x: at.x, y: at.y, ...outflow });
    this.marks.sort((a, b) => b.kind.localeCompare(a.kind)); // water sources first, as in the state
    this.build();
    void this.send(kind);
  }

  private build(): void {
    this.element.replaceChildren(...this.marks.map((mark, i) => this.markElement(mark, i)));
    this.choose(this.chosen !== null && this.chosen < this.marks.length ? this.chosen : null);
    this.follow();
  }

  /** Select one marker and show its panel, or none. */
  private choose(index: number | null): void {
    if (index !== this.chosen) this.drag++;
    this.chosen = index;
    for (const [i, child] of [...this.element.children].entries())
      child.setAttribute("aria-pressed", String(i === index));
    const mark = index === null ? undefined : this.marks[index];
    this.settings.hidden = !mark;
    if (!mark) return;
    const reach = { cell: this.store.state?.cell_size ?? 1, radius: LARGEST_SHARE * this.store.side };
    this.lines = outflowLines(mark.kind, mark, reach, () => {
      this.label(mark);
      this.sendSoon(mark.kind);
    });
    this.settings.replaceChildren(
      ...markPanel(
        mark.kind,
        this.numberOf(mark),
        this.lines.elements,
        () => this.remove(mark),
        () => this.choose(null),
      ),
    );
  }

  private numberOf(mark: Mark): number {
    return this.marks.filter((m) => m.kind === mark.kind).indexOf(mark) + 1;
  }

  private label(mark: Mark): void {
    const child = this.element.children[this.marks.indexOf(mark)] as HTMLElement | undefined;
    const label = `${capital(MARK_NAMES[mark.kind])} ${this.numberOf(mark)}: rate ${short(mark.rate)}, radius ${short(mark.radius)} m. Click or press Enter to edit, drag or use the arrow keys to move, Delete to remove.`;
    child?.setAttribute("aria-label", label);
    if (child) child.title = label;
    this.follow();
  }

  private markElement(mark: Mark, index: number): HTMLElement {
    const element = make(
      "button",
      {
        type: "button",
        class: `mark ${mark.kind}`,
        "aria-pressed": "false",
        "data-mark": `${mark.kind}-${this.numberOf(mark) - 1}`,
      },
      icon(mark.kind),
      make("span", { class: "arrow" }),
    );
    queueMicrotask(() => this.label(mark));
    element.addEventListener("focus", () => this.drag++);
    element.addEventListener("click", (event) => {
      this.choose(index);
      if (event.detail === 0) this.settings.querySelector("input")?.focus(); // pressed by key: continue in the panel
    });
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      this.dragged = mark;
      this.drag++;
    });
    element.addEventListener("pointermove", (event) => {
      if (this.dragged !== mark) return;
      const { chosen, viewports } = this.stage;
      if (viewports.at(event.clientX, event.clientY) !== chosen) return; // it stays in its own pane
      const place = this.stage.placeAt(event.clientX, event.clientY);
      if (place) this.moveTo(mark, place.x, place.y);
    });
    for (const end of ["pointerup", "pointercancel"] as const)
      element.addEventListener(end, () => {
        this.dragged = null;
        this.waiting.end(); // at once, or an undo right after it would be overtaken
      });
    element.addEventListener("keyup", () => this.waiting.end());
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
    const within = (value: number, cells: number): number =>
      Math.min(Math.max(value, 0), (cells - 1e-3) * state.cell_size);
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
    void this.send(mark.kind);
  }

  removeChosen(): void {
    const mark = this.chosen === null ? undefined : this.marks[this.chosen];
    if (mark) this.remove(mark);
  }

  private sendSoon(kind: MarkKind): void {
    this.unsent.set(kind, this.drag);
    this.waiting.begin();
  }

  private sendUnsent(): void {
    for (const [kind, stroke] of [...this.unsent]) void this.send(kind, stroke);
  }

  private async send(kind: MarkKind, stroke: number | null = null): Promise<void> {
    this.unsent.delete(kind);
    this.touched = performance.now();
    const of = this.marks.filter((mark) => mark.kind === kind);
    const message =
      kind === "source"
        ? ({ type: "sources", sources: of.map(({ x, y, radius, rate }) => ({ x, y, radius, rate })), stroke } as const)
        : ({ type: "emitters", emitters: of.map(values), stroke } as const);
    this.asked++;
    const done = await this.connection().send(message);
    this.asked--;
    if (done || !this.store.state) return;
    this.receive(this.store.state); // remove a refused value
    this.lines?.refresh(true);
  }

  /** Keep each marker above its place on the ground, and turn its arrow to where its particles go. */
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
      const ahead =
        mark.speed > 0
          ? this.stage.screenPlace(mark.x + reach * Math.sin(turn), mark.y - reach * Math.cos(turn))
          : null;
      const arrow = element.lastElementChild as HTMLElement;
      arrow.hidden = !ahead;
      if (ahead) arrow.style.transform = `rotate(${Math.atan2(ahead.top - at.top, ahead.left - at.left)}rad)`;
    });
  }
}

function values({ x, y, radius, rate, speed, direction }: Mark): Emitter {
  return { x, y, radius, rate, speed, direction };
}
