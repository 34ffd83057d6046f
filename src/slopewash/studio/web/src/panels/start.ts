// What the simulation starts from: generator, size and seed or a file, the model with its preset, edges and backend.

import { button, labelled, make, select, words } from "../page/dom";
import { icon } from "../page/icons";
import type { Store } from "../page/store";
import type { Connection } from "../wire/connection";
import type { StartChoices, State, Welcome } from "../wire/messages";

const SIZES = [128, 256, 512, 1024, 2048];

export class StartPanel {
  readonly element = make("div", { class: "start" });
  private kind!: HTMLSelectElement;
  private size!: HTMLSelectElement;
  private cellSize!: HTMLInputElement;
  private relief!: HTMLInputElement;
  private seed!: HTMLInputElement;
  private model!: HTMLSelectElement;
  private preset!: HTMLSelectElement;
  private edges!: HTMLSelectElement;
  private backend!: HTMLSelectElement;
  private readonly summary = make("p", { class: "quiet" });

  constructor(
    private readonly store: Store,
    private readonly connection: () => Connection,
    private readonly openFile: () => void,
  ) {
    store.onWelcome((welcome) => this.build(welcome));
    store.onState((state) => this.receive(state));
  }

  /** Start anew with the next, the previous or any seed. */
  changeSeed(by: 1 | -1 | "random"): void {
    const now = this.store.state?.generator?.seed ?? 0;
    const seed = by === "random" ? Math.floor(Math.random() * 100000) : Math.max(0, now + by);
    this.begin({ generator: { seed } });
  }

  private build(welcome: Welcome): void {
    const start = (choices: StartChoices): void => this.begin(choices);
    this.kind = select("Generator", welcome.generators.map((g) => ({ value: g.name, text: words(g.name), help: g.doc })), "", (kind) => start({ generator: { kind, options: {} } }));
    this.size = select("Cells per side", SIZES.filter((n) => n <= welcome.limits.size[1]).map((n) => ({ value: String(n), text: `${n} × ${n}` })), "512", (size) => start({ generator: { size: Number(size) } }));
    this.cellSize = numberField("Cell size in metres", (value) => start({ generator: { cell_size: value } }));
    this.relief = numberField("Relief in metres", (value) => start({ generator: { relief: value } }));
    this.seed = numberField("Seed", (value) => start({ generator: { seed: Math.max(0, Math.round(value)) } }));
    const seeds = make("span", { class: "seeds" }, button("Previous seed", "‹", () => this.changeSeed(-1)), this.seed, button("Next seed", "›", () => this.changeSeed(1)), button("Random seed", icon("dice"), () => this.changeSeed("random")));
    this.model = select("Model", welcome.models.map((m) => ({ value: m.name, text: words(m.name), help: m.summary })), "", (model) => start({ model }));
    this.preset = select("Preset", [{ value: "", text: "(none)" }, ...welcome.presets.map((p) => ({ value: p.name, text: `${p.name} · ${words(p.model)}`, help: p.doc }))], "", (preset) => preset && start({ preset }));
    this.edges = select("Edges", [], "", (edges) => start({ edges }));
    this.backend = select("Backend", [], "", (backend) => start({ backend }));
    this.element.replaceChildren(
      this.summary,
      make("h3", {}, "Terrain"),
      labelled("Generator", this.kind),
      labelled("Cells", this.size),
      labelled("Cell size, m", this.cellSize),
      labelled("Relief, m", this.relief),
      make("div", { class: "line" }, make("span", {}, "Seed"), seeds),
      button("Open a height field (PNG16, TIFF, EXR, NPY, R16)", "Open a file…", this.openFile, { class: "wide" }),
      make("h3", {}, "Model"),
      labelled("Preset", this.preset),
      labelled("Model", this.model),
      labelled("Edges", this.edges),
      labelled("Backend", this.backend),
    );
  }

  private begin(choices: StartChoices): void {
    void this.connection()
      .tell({ type: "start", ...choices })
      .then((begun) => {
        if (!begun && this.store.state) this.receive(this.store.state); // what was refused does not stay in the field
      });
  }

  private receive(state: State): void {
    const welcome = this.store.welcome;
    const model = this.store.model;
    if (!welcome || !model) return;
    this.summary.textContent = `${state.name}: ${state.columns} × ${state.rows} cells of ${state.cell_size} m`;
    const g = state.generator;
    setUnlessFocused(this.kind, g?.kind ?? "");
    setUnlessFocused(this.size, String(g?.size ?? ""));
    setUnlessFocused(this.cellSize, String(state.cell_size));
    setUnlessFocused(this.relief, g?.relief == null ? "" : String(g.relief));
    setUnlessFocused(this.seed, g ? String(g.seed) : "");
    setUnlessFocused(this.model, state.model);
    setUnlessFocused(this.preset, state.preset ?? "");
    refill(this.edges, model.edges);
    setUnlessFocused(this.edges, state.edges);
    refill(this.backend, model.backends, new Map(welcome.backends.map((b) => [b.name, b])));
    setUnlessFocused(this.backend, state.backend);
  }
}

function numberField(label: string, changed: (value: number) => void): HTMLInputElement {
  const field = make("input", { type: "text", inputmode: "decimal", "aria-label": label, class: "number" });
  field.addEventListener("change", () => {
    const value = Number(field.value.replace(",", "."));
    if (field.value.trim() !== "" && Number.isFinite(value)) changed(value);
  });
  field.addEventListener("keydown", (event) => event.key === "Enter" && field.blur());
  return field;
}

function setUnlessFocused(control: HTMLSelectElement | HTMLInputElement, value: string): void {
  if (control instanceof HTMLInputElement && document.activeElement === control) return;
  control.value = value;
}

function refill(list: HTMLSelectElement, names: string[], known?: Map<string, { works: boolean; doc: string }>): void {
  if ([...list.options].map((o) => o.value).join() === names.join()) return;
  list.replaceChildren(...names.map((name) => make("option", { value: name, title: known?.get(name)?.doc ?? "", disabled: known?.get(name)?.works === false }, name)));
}

