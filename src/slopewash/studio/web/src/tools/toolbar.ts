// The tools on the left: view, the brushes that the server declares, water sources and emitters; and their settings.

import { button, capital, make, words } from "../page/dom";
import { icon } from "../page/icons";
import { type Slider, sliderLine } from "../page/slider";
import type { Store } from "../page/store";
import type { ToolDeclaration, Welcome } from "../wire/protocol";
import { MARK_NAMES, type MarkKind, type Outflow, outflowLines } from "./mark-settings";

export type Tool =
  | { kind: "look" }
  | { kind: "brush"; brush: ToolDeclaration }
  | { kind: "source" }
  | { kind: "emitter" };

/** A click counts as so many seconds: the strength that the server declares is that of one dab. */
export const FIRST_SECONDS = 0.25;

/** Seconds of strength that a stroke gives to one place at most. */
export const MOST_SECONDS = 2;

/** Largest radius of a brush or a water source, as a fraction of the terrain's side. */
export const LARGEST_SHARE = 0.25;

export class Toolbar {
  readonly element = make("div", {
    class: "glass tools",
    role: "toolbar",
    "aria-label": "Tools",
    "aria-orientation": "vertical",
  });
  readonly settings = make("div", {
    class: "glass settings",
    role: "group",
    "aria-label": "Tool settings",
    hidden: true,
  });
  tool: Tool = { kind: "look" };
  radius = 100;
  falloff = 0.6;
  /** Settings of the next marker. */
  readonly outflows: Record<MarkKind, Outflow> = {
    source: { radius: 100, rate: 1, speed: 0, direction: 0 },
    emitter: { radius: 100, rate: 20, speed: 0, direction: 0 },
  };
  /** As multiples of the default, so that they suit the next terrain too. */
  private readonly strengths = new Map<string, number>();
  private buttons = new Map<string, HTMLButtonElement>();
  private radiusSlider: Slider | null = null;
  private side = 0;

  constructor(
    private readonly store: Store,
    private readonly chosen: (tool: Tool) => void,
  ) {
    store.onWelcome((welcome) => this.build(welcome));
    store.onState(() => this.fit());
  }

  /** Strength of one click. */
  strengthOf(brush: ToolDeclaration): number {
    return (this.strengths.get(brush.name) ?? 1) * this.usual(brush);
  }

  /** Strengths in metres scale with the relief: what is visible on a dune is nothing on a mountain range. */
  private usual(brush: ToolDeclaration): number {
    const { state } = this.store;
    return brush.unit === "m" && state ? brush.strength * (state.relief || state.cell_size) : brush.strength;
  }

  /** The brush with the opposite effect, for painting with Shift. */
  opposite(brush: ToolDeclaration): ToolDeclaration {
    const pairs: Record<string, string> = {
      raise: "lower",
      lower: "raise",
      add_water: "remove_water",
      remove_water: "add_water",
      harden: "soften",
      soften: "harden",
    };
    return this.store.welcome?.tools.find((tool) => tool.name === pairs[brush.name]) ?? brush;
  }

  chooseNumber(number: number): void {
    [...this.buttons.values()].filter((b) => !b.hidden)[number]?.click();
  }

  scaleRadius(factor: number): void {
    const cell = this.store.state?.cell_size ?? 1;
    const scaled = (radius: number): number =>
      Math.min(Math.max(radius * factor, cell), LARGEST_SHARE * this.store.side);
    if (this.tool.kind === "source" || this.tool.kind === "emitter") {
      this.outflows[this.tool.kind].radius = scaled(this.outflows[this.tool.kind].radius);
      this.buildSettings();
      return;
    }
    this.radius = scaled(this.radius);
    this.radiusSlider?.show(this.radius);
  }

  private build(welcome: Welcome): void {
    this.element.replaceChildren();
    this.buttons.clear();
    this.add("look", "View: orbit, pan and zoom", { kind: "look" });
    for (const brush of welcome.tools)
      this.add(brush.name, `${words(brush.name)}: ${brush.doc}`, { kind: "brush", brush });
    this.add("source", "Water source: click to place, drag to move, Delete to remove", { kind: "source" });
    this.add("emitter", "Particle emitter: click to place, drag to move, Delete to remove", { kind: "emitter" });
    this.choose("look", { kind: "look" });
  }

  private add(name: string, label: string, tool: Tool): void {
    const made = button(label, icon(name), () => this.choose(name, tool), {
      "data-tool": name,
      "aria-pressed": "false",
    });
    this.buttons.set(name, made);
    this.element.append(made);
  }

  private choose(name: string, tool: Tool): void {
    this.tool = tool;
    for (const [key, element] of this.buttons) element.setAttribute("aria-pressed", String(key === name));
    this.buildSettings();
    this.chosen(tool);
  }

  private buildSettings(): void {
    const { tool } = this;
    this.settings.hidden = tool.kind === "look";
    if (tool.kind === "look") return;
    const reach = { cell: this.store.state?.cell_size ?? 1, radius: LARGEST_SHARE * this.store.side };
    const lines =
      tool.kind === "brush"
        ? this.brushLines(tool.brush, reach)
        : outflowLines(tool.kind, this.outflows[tool.kind], reach, () => this.chosen(tool)).elements;
    const title = tool.kind === "brush" ? words(tool.brush.name) : `new ${MARK_NAMES[tool.kind]}`;
    this.settings.replaceChildren(make("strong", {}, capital(title)), ...lines);
  }

  private brushLines(brush: ToolDeclaration, reach: { cell: number; radius: number }): HTMLElement[] {
    const radius = sliderLine(
      "Radius, m",
      this.radius,
      reach.cell,
      reach.radius,
      (value) => (this.radius = Math.max(value, 1e-3)),
      { log: true },
    );
    this.radiusSlider = radius.slider;
    // Shown per second, as it is given while the button is held.
    const usual = this.usual(brush) / FIRST_SECONDS;
    const high = brush.most === null ? usual * 20 : brush.most / FIRST_SECONDS;
    const strength = sliderLine(
      brush.unit ? `Strength, ${brush.unit}/s` : "Strength per s",
      this.strengthOf(brush) / FIRST_SECONDS,
      Math.min(usual / 20, high / 2),
      high,
      (value) => this.strengths.set(brush.name, value / usual),
      { log: true },
    );
    strength.element.title = `While the button is held; a stroke gives one place at most ${MOST_SECONDS} s of it`;
    const falloff = sliderLine(
      "Falloff",
      this.falloff,
      0,
      1,
      (value) => (this.falloff = Math.min(Math.max(value, 0), 1)),
    );
    return [radius.element, strength.element, falloff.element];
  }

  /** Scale brushes with the size of the terrain, and hide tools that the model cannot use. */
  private fit(): void {
    const { side } = this.store;
    if (side !== this.side) {
      const scale = side / this.side;
      this.radius = this.side ? this.radius * scale : 0.04 * side;
      for (const outflow of Object.values(this.outflows))
        outflow.radius = this.side ? outflow.radius * scale : 0.04 * side;
      this.outflows.source.rate = 0.5 * (this.store.state?.cell_size ?? 1);
      this.side = side;
      this.buildSettings();
    }
    const model = this.store.model;
    if (!model) return;
    for (const brush of this.store.welcome?.tools ?? []) this.show(brush.name, model.editable.includes(brush.layer));
    this.show("source", model.sources);
    this.show("emitter", model.emitters);
  }

  private show(name: string, shown: boolean): void {
    const element = this.buttons.get(name);
    if (!element || element.hidden === !shown) return;
    element.hidden = !shown;
    if (!shown && element.getAttribute("aria-pressed") === "true") this.choose("look", { kind: "look" });
  }
}
