// What the simulation starts from: generator, size and seed or a file, the model with its preset, edges and backend.

import { button, checkbox, labelled, make, select, short, words } from "../page/dom";
import { numberField, setUnlessFocused } from "../page/fields";
import { icon } from "../page/icons";
import type { Store } from "../page/store";
import type { Connection } from "../wire/connection";
import type { Edges, PresetDeclaration, Start, State, Welcome } from "../wire/protocol";
import { Gallery } from "./gallery";
import { GeneratorOptions } from "./generator-options";

type StartChoices = Omit<Start, "type" | "id">;

const SIZES = [128, 256, 512, 1024, 2048];

export class StartPanel {
  readonly element = make("div", { class: "start" });
  private kind!: HTMLSelectElement;
  private looks!: Gallery;
  /** Landscape that was chosen last in this page. */
  private look: string | null = null;
  private kinds!: Gallery;
  private presets!: Gallery;
  private size!: HTMLSelectElement;
  private sizes: number[] = [];
  private extent!: HTMLInputElement;
  private readonly cellSize = make("span", { class: "quiet", "data-role": "cell-size" });
  private relief!: HTMLInputElement;
  private seed!: HTMLInputElement;
  private seeds: HTMLButtonElement[] = [];
  private model!: HTMLSelectElement;
  private preset!: HTMLSelectElement;
  private edges!: HTMLSelectElement;
  private backend!: HTMLSelectElement;
  private readonly options = new GeneratorOptions((options) => this.begin({ generator: { options } }));
  private readonly ownStart = button(
    "Use the terrain that this preset is made for",
    "Use its own terrain",
    () => this.beginAsPreset(),
    { class: "wide", "data-role": "own-start", hidden: true },
  );
  private readonly summary = make("p", { class: "quiet" });
  private readonly levels = checkbox("Coarse to fine", false, (levels) => this.begin({ levels }));
  private readonly levelsLine = labelled(
    "Coarse to fine",
    this.levels,
    "Erode a coarse grid first, then ever finer ones, to the end of the preset",
  );
  private readonly restore = button(
    "Restore the previous run (K)",
    "Restore it",
    () => void this.connection().send({ type: "bring_back" }),
    { class: "wide", "data-role": "bring-back", hidden: true },
  );

  constructor(
    private readonly store: Store,
    private readonly connection: () => Connection,
    private readonly openFile: () => void,
    private readonly useCountry: (name: string) => void,
  ) {
    store.onWelcome((welcome) => this.build(welcome));
    store.onState((state) => this.receive(state));
  }

  /** Start a new run with the next, the previous or a random seed. */
  changeSeed(by: 1 | -1 | "random"): void {
    if (!this.store.state?.generator) return;
    const now = this.store.state?.generator?.seed ?? 0;
    const seed = by === "random" ? Math.floor(Math.random() * 100000) : Math.max(0, now + by);
    this.begin({ generator: { seed } });
  }

  private build(welcome: Welcome): void {
    const start = (choices: StartChoices): void => this.begin(choices);
    this.kind = select(
      "Generator",
      welcome.generators.map((g) => ({ value: g.name, text: words(g.name), help: g.doc })),
      "",
      (kind) => start({ generator: { kind, options: {} } }),
    );
    this.sizes = SIZES.filter((cells) => cells <= welcome.limits.size[1]);
    this.size = select("Cells per side", [], "", (size) => start({ size: Number(size) }));
    this.extent = numberField("Extent, km", (value) => start({ generator: { extent: 1000 * value } }));
    this.relief = numberField(
      "Relief, m",
      (value) => start({ generator: { relief: value } }),
      () => start({ generator: { relief: null } }),
    );
    this.seed = numberField("Seed", (value) => start({ generator: { seed: Math.max(0, Math.round(value)) } }));
    this.seeds = [
      button("Previous seed", icon("previous"), () => this.changeSeed(-1)),
      button("Next seed", icon("next"), () => this.changeSeed(1)),
      button("New random seed", icon("dice"), () => this.changeSeed("random")),
    ];
    const seeds = make("span", { class: "seeds" }, this.seeds[0]!, this.seed, ...this.seeds.slice(1));
    this.model = select(
      "Model",
      welcome.models.map((m) => ({ value: m.name, text: words(m.name), help: m.summary })),
      "",
      (model) => start({ model }),
    );
    this.preset = select(
      "Preset",
      [
        { value: "", text: "(none)" },
        ...welcome.presets.map((p) => ({ value: p.name, text: p.name, help: `${words(p.model)}: ${p.doc}` })),
      ],
      "",
      (preset) => preset && start({ preset }),
    );
    this.looks = new Gallery("Landscapes", "look", welcome.looks, (look) => void this.beginLook(look));
    this.kinds = new Gallery("Generators", "generator", welcome.generators, (kind) =>
      start({ generator: { kind, options: {} } }),
    );
    this.presets = new Gallery("Presets", "preset", welcome.presets, (preset) => start({ preset }));
    this.edges = select("Edges", [], "", (edges) => start({ edges: edges as Edges }));
    this.backend = select("Backend", [], "", (backend) => start({ backend }));
    this.element.replaceChildren(
      this.summary,
      this.restore,
      make("h3", {}, "Landscape"),
      this.looks.element,
      make("h3", {}, "Terrain"),
      labelled("Generator", this.kind),
      this.kinds.element,
      labelled("Extent, km", this.extent),
      labelled("Cells", this.size, "More cells are the same ground, finer"),
      make("div", { class: "line" }, make("span", {}, "Cell size"), this.cellSize),
      labelled("Relief, m", this.relief),
      this.options.element,
      make("div", { class: "line" }, make("span", {}, "Seed"), seeds),
      button("Open a height field (PNG16, TIFF, EXR, NPY, R16) or a project: Open file…", "Open file…", this.openFile, {
        class: "wide",
      }),
      make("h3", {}, "Model"),
      labelled("Preset", this.preset),
      this.presets.element,
      this.levelsLine,
      this.ownStart,
      labelled("Model", this.model),
      labelled("Edges", this.edges),
      labelled("Backend", this.backend),
    );
  }

  /** Selecting a preset keeps the current terrain; this offers the one that the preset is made for. */
  private offerOwnStart(state: State): void {
    const own = this.presetOf(state)?.generator;
    const now = state.generator;
    const same =
      own &&
      now &&
      now.kind === own.kind &&
      (own.size ?? now.size) === now.size &&
      own.extent === now.extent &&
      (own.relief ?? null) === (now.relief ?? null) &&
      JSON.stringify(own.options ?? {}) === JSON.stringify(now.options ?? {});
    this.ownStart.hidden = !own || Boolean(same);
    if (own)
      this.ownStart.textContent = `Use its own ${words(own.kind)}${own.size ? `, ${own.size} × ${own.size}` : ""}`;
  }

  private beginAsPreset(): void {
    const preset = this.store.state && this.presetOf(this.store.state);
    if (preset) this.begin({ preset: preset.name, generator: { relief: null, options: {}, ...preset.generator } });
  }

  private presetOf(state: State): PresetDeclaration | undefined {
    return this.store.welcome?.presets.find((preset) => preset.name === state.preset);
  }

  private begin(choices: StartChoices): void {
    void this.connection()
      .send({ type: "start", ...choices })
      .then((begun) => {
        if (!begun && this.store.state) this.receive(this.store.state); // remove the refused value from the field
      });
  }

  private async beginLook(name: string): Promise<void> {
    const look = this.store.welcome?.looks.find((one) => one.name === name);
    if (!look || !(await this.connection().send({ type: "start", look: name }))) return;
    this.look = name;
    this.looks.show(name);
    this.useCountry(look.country);
  }

  /** Whether the run may still be of the landscape that was chosen: it has its terrain and preset. */
  private shownLook({ generator, preset }: State, { looks }: Welcome): string | null {
    return looks.find((l) => l.name === this.look && l.kind === generator?.kind && l.preset === preset)?.name ?? null;
  }

  /** The sizes to choose from, for the aspect ratio of this terrain; the size of a file is added to them. */
  private showSize({ rows, columns, cells: whole }: State): void {
    const longest = Math.max(rows, columns);
    const sizes = [...new Set([...this.sizes, whole])].sort((a, b) => a - b);
    const along = (side: number, cells: number): number => Math.ceil((side * cells) / longest - 1e-9);
    const texts = sizes.map((cells) => `${along(columns, cells)} × ${along(rows, cells)}`);
    if ([...this.size.options].map((option) => option.text).join() !== texts.join())
      this.size.replaceChildren(...sizes.map((cells, i) => make("option", { value: String(cells) }, texts[i]!)));
    if (this.size.value !== String(whole)) this.size.value = String(whole);
  }

  private receive(state: State): void {
    const welcome = this.store.welcome;
    const model = this.store.model;
    if (!welcome || !model) return;
    const finer = state.cells / Math.max(state.rows, state.columns); // a coarse level is not the whole
    const cell = `${short(state.cell_size / finer)} m`;
    const cells = `${Math.round(state.columns * finer)} × ${Math.round(state.rows * finer)} cells of ${cell}`;
    this.summary.textContent = `${words(state.name)}: ${cells}, ${short(this.store.side / 1000)} km`;
    const g = state.generator;
    setUnlessFocused(this.kind, g?.kind ?? "");
    this.kinds.show(g?.kind ?? null);
    this.presets.show(state.preset);
    this.looks.show(this.shownLook(state, welcome));
    this.showSize(state);
    this.cellSize.textContent = cell;
    setUnlessFocused(this.extent, String(Number((this.store.side / 1000).toPrecision(6))));
    setUnlessFocused(this.relief, g?.relief == null ? "" : String(g.relief));
    this.relief.placeholder = short(state.relief);
    this.options.receive(g, welcome.generators);
    for (const field of [this.extent, this.relief, this.seed]) field.disabled = !g; // a file has no such settings
    for (const element of this.seeds) element.disabled = !g;
    this.offerOwnStart(state);
    this.restore.hidden = !state.left;
    if (state.left) this.restore.textContent = `Restore ${words(state.left.name)} at step ${state.left.step}`;
    setUnlessFocused(this.seed, g ? String(g.seed) : "");
    setUnlessFocused(this.model, state.model);
    setUnlessFocused(this.preset, state.preset ?? "");
    this.levels.checked = state.levels;
    this.levelsLine.hidden = !this.presetOf(state)?.levels;
    const edges = typeof state.edges === "string" ? state.edges : "mixed"; // sides differ in a notebook's own run
    refill(this.edges, edges === "mixed" ? [...model.edges, edges] : model.edges);
    setUnlessFocused(this.edges, edges);
    refill(this.backend, model.backends, new Map(welcome.backends.map((b) => [b.name, b])));
    setUnlessFocused(this.backend, state.backend);
  }
}

function refill(list: HTMLSelectElement, names: string[], known?: Map<string, { works: boolean; doc: string }>): void {
  if ([...list.options].map((o) => o.value).join() === names.join()) return;
  list.replaceChildren(
    ...names.map((name) =>
      make(
        "option",
        { value: name, title: known?.get(name)?.doc ?? "", disabled: known?.get(name)?.works === false },
        name,
      ),
    ),
  );
}
