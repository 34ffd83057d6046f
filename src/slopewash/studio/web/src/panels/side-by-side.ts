// Two or four models side by side: a bar to choose how many, and a caption on each pane with what it is and what it did.

import { button, make, select, short, volume, words } from "../page/dom";
import type { Store } from "../page/store";
import { sendWaiting } from "../page/waiting";
import type { Place } from "../view/picking";
import type { Stage } from "../view/stage";
import type { Connection } from "../wire/connection";
import { sampleField } from "../wire/frames";
import type { PaneState, ParameterValue, SideBySideState, State, Welcome } from "../wire/protocol";

/** Parameters named in a caption; of more, only how many. */
const MOST_NAMED = 2;
/** In the list of presets: the settings of the first pane. */
const AS_FIRST = "as-pane-1";

export class SideBySide {
  /** Above the panes. */
  readonly bar: HTMLElement;
  /** Over the panes. */
  readonly element = make("div", { class: "panes", hidden: true });
  private readonly two = this.countButton(2, "Two");
  private readonly four = this.countButton(4, "Four");
  private readonly size = make("span", { class: "quiet", "data-role": "pane-size" });
  private captions: Caption[] = [];
  /** Choices that the server has not answered: until then its states may be older. */
  private choosing = 0;

  constructor(
    private readonly store: Store,
    private readonly stage: Stage,
    private readonly connection: () => Connection,
    private readonly changed: () => void,
  ) {
    this.bar = make(
      "div",
      { class: "glass pane-bar", role: "toolbar", "aria-label": "Side by side", hidden: true },
      make("strong", {}, "Side by side"),
      this.two,
      this.four,
      this.size,
      button("Leave side by side (M): the run before returns", "Leave", () => this.leave(), {
        "data-role": "leave-panes",
      }),
    );
    store.onState((state, before) => this.receive(state, before));
    // Before the tools hear of it: they act on the pane under the pointer.
    stage.canvas.addEventListener("pointerdown", (event) => this.chooseAt(event), { capture: true });
    stage.onDraw(() => this.follow());
  }

  get shown(): boolean {
    return this.now !== null;
  }

  toggle(): void {
    if (this.shown) this.leave();
    else this.show(2);
  }

  /** Show the values of the same place in all panes. */
  read(place: Place | null): void {
    for (const [i, caption] of this.captions.entries()) caption.read(place && this.valuesAt(i, place));
  }

  private get now(): SideBySideState | null {
    return this.store.state?.side_by_side ?? null;
  }

  private countButton(panes: 2 | 4, text: string): HTMLButtonElement {
    return button(`${text} panes`, text, () => this.show(panes), { "data-role": `panes-${panes}` });
  }

  private show(panes: 2 | 4): void {
    void this.connection().send({ type: "side_by_side", panes });
  }

  private leave(): void {
    sendWaiting();
    void this.connection().send({ type: "leave_side_by_side" });
  }

  private chooseAt({ clientX, clientY, isPrimary }: PointerEvent): void {
    if (!isPrimary) return; // a second finger must not send the rest of a stroke to another pane
    const pane = this.stage.isSideBySide ? this.stage.viewports.at(clientX, clientY) : null;
    if (pane !== null && (pane !== this.stage.chosen || pane !== this.now?.chosen)) void this.choose(pane);
  }

  private async choose(pane: number): Promise<boolean> {
    sendWaiting(); // to the pane for which it was typed
    this.stage.choose(pane);
    this.choosing++;
    const done = await this.connection().send({ type: "choose_pane", pane });
    this.choosing--;
    if (!done && this.now) this.stage.choose(this.now.chosen);
    return done;
  }

  private async keep(pane: number): Promise<void> {
    if (await this.choose(pane)) await this.connection().send({ type: "leave_side_by_side", keep: true });
  }

  private async usePreset(pane: number, preset: string): Promise<void> {
    if (!(await this.choose(pane))) return;
    if (preset === AS_FIRST) await this.connection().send({ type: "copy_pane", pane: 0 });
    else await this.connection().send({ type: "start", preset, levels: false });
  }

  private receive(state: State, before: State | null): void {
    const { side_by_side: now } = state;
    const { welcome } = this.store;
    this.bar.hidden = this.element.hidden = !now;
    if ((now?.panes.length ?? 0) !== (before?.side_by_side?.panes.length ?? 0)) this.changed();
    if (!now || !welcome) return;
    if (!this.choosing) this.stage.choose(now.chosen);
    if (this.captions.length !== now.panes.length) this.build(now.panes.length, welcome);
    this.two.setAttribute("aria-pressed", String(now.panes.length === 2));
    this.four.setAttribute("aria-pressed", String(now.panes.length === 4));
    const fewer = now.cells < now.cells_before;
    this.size.textContent = `${now.cells} cells${fewer ? ` instead of ${now.cells_before}: resampled for speed` : ""}`;
    for (const [i, caption] of this.captions.entries())
      caption.receive(now.panes[i]!, now.panes[0]!, i === now.chosen, this.store);
  }

  private build(count: number, welcome: Welcome): void {
    this.captions = Array.from(
      { length: count },
      (_, i) =>
        new Caption(i, welcome, {
          choose: () => void this.choose(i),
          keep: () => void this.keep(i),
          preset: (name) => void this.usePreset(i, name),
        }),
    );
    this.element.replaceChildren(...this.captions.map(({ element }) => element));
  }

  /** Put the captions where the panes are. */
  private follow(): void {
    if (!this.stage.isSideBySide) return;
    for (const [i, { element }] of this.captions.entries()) {
      const box = this.stage.viewports.boxes[i];
      if (!box) continue;
      for (const [side, pixels] of Object.entries(box)) {
        const value = `${pixels}px`;
        if (element.style.getPropertyValue(side) !== value) element.style.setProperty(side, value);
      }
    }
  }

  private valuesAt(pane: number, { x, y }: Place): string {
    const landscape = this.stage.landscapes[pane];
    const frame = landscape?.frame;
    if (!landscape || !frame) return "";
    const at = [x / landscape.cellSize, y / landscape.cellSize] as const;
    const water = frame.water ? ` · water ${short(sampleField(frame.water, ...at))} m` : "";
    const overlay = frame.overlay ? ` · ${short(sampleField(frame.overlay, ...at))} ${frame.overlay.unit}` : "";
    return `here ${short(sampleField(frame.elevation, ...at))} m${water}${overlay}`;
  }
}

interface Actions {
  choose(): void;
  keep(): void;
  preset(name: string): void;
}

class Caption {
  readonly element: HTMLElement;
  private readonly name: HTMLButtonElement;
  private readonly preset: HTMLSelectElement;
  private readonly differs = make("p", { "data-role": "differs" });
  private readonly did = make("p", { "data-role": "did" });
  private readonly here = make("output", { "data-role": "here", "aria-label": "Under the cursor" });

  constructor(
    private readonly number: number,
    welcome: Welcome,
    actions: Actions,
  ) {
    const label = `Pane ${number + 1}`;
    this.name = button(`${label}: show its parameters`, label, actions.choose, { "data-role": "choose-pane" });
    this.preset = select(
      `Preset of pane ${number + 1}`,
      [
        { value: "", text: "(own settings)", disabled: true },
        ...(number > 0 ? [{ value: AS_FIRST, text: "as pane 1" }] : []),
        ...welcome.presets.map((p) => ({ value: p.name, text: `${words(p.model)}: ${p.name}`, help: p.doc })),
      ],
      "",
      actions.preset,
    );
    const keep = button(`Keep this one: ${label.toLowerCase()} becomes the run`, "Keep this one", actions.keep, {
      "data-role": "keep-pane",
    });
    this.element = make(
      "section",
      { class: "pane", "aria-label": label },
      make(
        "div",
        { class: "glass caption" },
        make("div", { class: "pane-head" }, this.name, this.preset, keep),
        this.differs,
      ),
      make("div", { class: "glass caption below" }, this.did, this.here),
    );
  }

  receive(pane: PaneState, first: PaneState, chosen: boolean, store: Store): void {
    this.element.dataset.chosen = String(chosen);
    this.name.setAttribute("aria-pressed", String(chosen));
    if (document.activeElement !== this.preset) this.preset.value = pane.preset ?? "";
    this.preset.title = words(pane.model);
    const steps = pane.usual_steps ? `${pane.step} of ${pane.usual_steps}` : String(pane.step);
    const time = pane.milliseconds === null ? "" : ` · ${short(Number(pane.milliseconds.toPrecision(2)))} ms each`;
    const level = pane.stage ? ` · ${pane.stage}` : "";
    this.differs.textContent = `step ${steps}${time}${level}${this.difference(pane, store)}`;
    // Converted to the model's units and back, the start itself differs by rounding.
    if (pane.step === 0) this.did.textContent = "nothing eroded yet";
    else
      this.did.textContent =
        `eroded ${volume(rounded(pane.eroded))}${this.times(pane, first)}, mean ${short(rounded(pane.mean_erosion))} m` +
        ` · deposit ≤ ${short(rounded(pane.highest_deposit))} m`;
  }

  /** Values under the cursor, or none. */
  read(text: string | null): void {
    this.here.textContent = text ?? "";
    this.here.hidden = !text;
  }

  /** How much more or less than in the first pane. */
  private times(pane: PaneState, first: PaneState): string {
    if (this.number === 0 || !(first.eroded > 0) || !(pane.eroded > 0)) return "";
    return ` (${short(Number((pane.eroded / first.eroded).toPrecision(2)))} × pane 1)`;
  }

  /** Parameters that are not those of the first pane, or of its own preset. */
  private difference(pane: PaneState, { welcome }: Store): string {
    const names = Object.keys(pane.differs);
    if (!names.length) return "";
    if (names.length > MOST_NAMED) return ` · ${names.length} parameters differ`;
    const declared = welcome?.models.find(({ name }) => name === pane.model)?.parameters ?? [];
    const shown = (value: ParameterValue): string => (typeof value === "number" ? short(value) : words(String(value)));
    return names
      .map((name) => {
        const unit = declared.find((parameter) => parameter.name === name)?.units ?? "";
        return ` · ${words(name)} ${shown(pane.differs[name]!)}${unit ? ` ${unit}` : ""}`;
      })
      .join("");
  }
}

/** Three digits: captions are narrow. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
