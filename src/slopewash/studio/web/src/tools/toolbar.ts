// The tools on the left: looking around, the brushes the server declares, sources and emitters; and their settings.

import { button, capital, make, words } from "../page/dom";
import { icon } from "../page/icons";
import { sliderLine, type Slider } from "../page/slider";
import type { Store } from "../page/store";
import type { ToolDeclaration, Welcome } from "../wire/messages";

export type Tool = { kind: "look" } | { kind: "brush"; brush: ToolDeclaration } | { kind: "source" } | { kind: "emitter" };

const LARGEST_SHARE = 0.25;

export class Toolbar {
  readonly element = make("div", { class: "glass tools", role: "toolbar", "aria-label": "Tools", "aria-orientation": "vertical" });
  readonly settings = make("div", { class: "glass settings", role: "group", "aria-label": "Brush settings", hidden: true });
  tool: Tool = { kind: "look" };
  radius = 100;
  falloff = 0.6;
  rates = { source: 1, emitter: 20 };
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

  strengthOf(brush: ToolDeclaration): number {
    return this.strengths.get(brush.name) ?? brush.strength;
  }

  /** The tool that undoes what this one does, for painting with Shift. */
  opposite(brush: ToolDeclaration): ToolDeclaration {
    const pairs: Record<string, string> = { raise: "lower", lower: "raise", add_water: "remove_water", remove_water: "add_water", harden: "soften", soften: "harden" };
    return this.store.welcome?.tools.find((tool) => tool.name === pairs[brush.name]) ?? brush;
  }

  chooseNumber(number: number): void {
    [...this.buttons.values()].filter((b) => !b.hidden)[number]?.click();
  }

  scaleRadius(factor: number): void {
    const cell = this.store.state?.cell_size ?? 1;
    this.radius = Math.min(Math.max(this.radius * factor, cell), LARGEST_SHARE * this.store.side);
    this.radiusSlider?.show(this.radius);
  }

  private build(welcome: Welcome): void {
    this.element.replaceChildren();
    this.buttons.clear();
    this.add("look", "Look around", { kind: "look" });
    for (const brush of welcome.tools) this.add(brush.name, `${words(brush.name)}: ${brush.doc}`, { kind: "brush", brush });
    this.add("source", "Water source: click to place, drag to move, Delete to remove", { kind: "source" });
    this.add("emitter", "Emitter of particles: click to place, drag to move, Delete to remove", { kind: "emitter" });
    this.choose("look", { kind: "look" });
  }

  private add(name: string, label: string, tool: Tool): void {
    const made = button(label, icon(name), () => this.choose(name, tool), { "data-tool": name, "aria-pressed": "false" });
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
    const cell = this.store.state?.cell_size ?? 1;
    const radius = sliderLine("Radius, m", this.radius, cell, LARGEST_SHARE * this.store.side, (value) => (this.radius = Math.max(value, 1e-3)), { log: true });
    this.radiusSlider = radius.slider;
    const lines: HTMLElement[] = [radius.element];
    if (tool.kind === "brush") {
      const { brush } = tool;
      const high = brush.most ?? brush.strength * 20;
      const unit = brush.unit ? `, ${brush.unit}` : "";
      lines.push(sliderLine(`Strength${unit}`, this.strengthOf(brush), Math.min(brush.strength / 20, high / 2), high, (value) => this.strengths.set(brush.name, value), { log: true }).element);
      lines.push(sliderLine("Falloff", this.falloff, 0, 1, (value) => (this.falloff = Math.min(Math.max(value, 0), 1))).element);
    } else {
      const { kind } = tool;
      const label = tool.kind === "source" ? "Rate, m per time" : "Particles per time";
      lines.push(sliderLine(label, this.rates[kind], 0.05, 500, (value) => (this.rates[kind] = Math.max(value, 0)), { log: true }).element);
    }
    const title = tool.kind === "brush" ? words(tool.brush.name) : tool.kind === "source" ? "water source" : "emitter";
    this.settings.replaceChildren(make("strong", {}, capital(title)), ...lines);
  }

  /** Brushes follow the size of the terrain, and tools the model cannot use are put away. */
  private fit(): void {
    const { side } = this.store;
    if (side !== this.side) {
      this.radius = this.side ? this.radius * (side / this.side) : 0.04 * side;
      this.rates.source = 0.5 * (this.store.state?.cell_size ?? 1);
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
