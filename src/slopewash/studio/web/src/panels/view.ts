// How the terrain is shown: overlay, light, exaggeration, water, quality.

import { checkbox, labelled, make, section, select, words } from "../page/dom";
import { type Slider, sliderLine } from "../page/slider";
import type { Store } from "../page/store";
import type { Look } from "../view/look";
import { LIGHTS } from "../view/presets";
import type { Tier } from "../view/quality";
import type { Stage } from "../view/stage";

/** Layers that show what a run did, the first to be looked at; maps of parameters come after them. */
const FIRST = ["elevation", "water", "flow", "wear", "deposit", "difference", "slope", "suspended", "velocity"];

/** Layers in the order in which they are offered. */
export function inOrder(layers: string[]): string[] {
  return [...FIRST.filter((name) => layers.includes(name)), ...layers.filter((name) => !FIRST.includes(name))];
}

export class ViewPanel {
  readonly element = make("div", { class: "view" });
  private readonly overlay: HTMLSelectElement;
  private readonly sunAzimuth: Slider;
  private readonly sunElevation: Slider;
  private readonly quality: HTMLSelectElement;
  private readonly country: HTMLSelectElement;
  private readonly snow: HTMLInputElement;
  private readonly surroundings: HTMLSelectElement;
  private readonly sliders = new Map<NumberKey, Slider>();
  private layers = "";

  constructor(
    private readonly store: Store,
    private readonly stage: Stage,
    private readonly overlayChosen: (layer: string | null) => void,
    tierChosen: (tier: Tier) => void,
  ) {
    this.overlay = select("Overlay", [{ value: "", text: "none" }], "", (layer) => overlayChosen(layer || null));
    const azimuth = this.line("Sun direction, °", "sunAzimuth", 0, 360, true);
    const elevation = this.line("Sun elevation, °", "sunElevation", 3, 85, true);
    this.sunAzimuth = azimuth.slider;
    this.sunElevation = elevation.slider;
    const light = select(
      "Light",
      Object.keys(LIGHTS).map((name) => ({ value: name })),
      "afternoon",
      (name) => this.useLight(name),
    );
    this.country = select("Country", [{ value: stage.look.country }], stage.look.country, (name) =>
      this.chooseCountry(name),
    );
    this.snow = this.box("Snow", "snow");
    this.surroundings = select(
      "Surroundings",
      [
        { value: "auto", text: "from inside" },
        { value: "block", text: "block" },
        { value: "horizon", text: "horizon" },
      ],
      stage.look.surroundings,
      (choice) => {
        stage.look.surroundings = choice as Look["surroundings"];
        stage.lookChanged();
      },
    );
    this.quality = select(
      "Quality",
      (["low", "medium", "high"] as const).map((tier) => ({ value: tier })),
      stage.tier,
      (tier) => tierChosen(tier as Tier),
    );
    this.element.append(
      section(
        "Overlay",
        true,
        labelled("Overlay", this.overlay),
        this.line("Opacity", "overlayOpacity", 0.05, 1).element,
      ),
      section(
        "Light",
        true,
        labelled("Light", light),
        azimuth.element,
        elevation.element,
        this.line("Exposure", "exposure", 0.3, 2.5).element,
        this.line("Fog", "fog", 0, 2).element,
        this.line("Clouds", "clouds", 0, 1).element,
      ),
      section(
        "Ground",
        true,
        this.line("Exaggeration", "exaggeration", 0.25, 4, true).element,
        labelled("Country", this.country),
        labelled("Surroundings", this.surroundings),
        this.flag("Trees", "trees"),
        labelled("Snow", this.snow),
        this.line("Snow line", "snowLine", 0, 1).element,
        this.line("Fine detail", "detail", 0, 2).element,
        this.flag("Contour lines", "contours"),
      ),
      section(
        "Water",
        true,
        this.flag("Water", "water"),
        this.flag("Rivers at the end", "rivers"),
        this.line("Clarity", "clarity", 0.1, 6).element,
        this.line("Sediment tint", "sedimentTint", 0, 1).element,
        this.flag("Particles", "particles"),
        this.flag("Mesh", "wireframe"),
      ),
      section(
        "Quality",
        true,
        labelled("Quality", this.quality, stage.rendererName),
        make("p", { class: "quiet" }, `Renderer: ${stage.rendererName}`),
      ),
    );
    store.onState((state) => this.setLayers(state.layers));
    store.onWelcome(() => this.setCountries());
  }

  /** Show the position of the sun after it was dragged. */
  refresh(): void {
    this.sunAzimuth.show(this.stage.look.sunAzimuth);
    this.sunElevation.show(this.stage.look.sunElevation);
  }

  private setCountries(): void {
    const palettes = this.store.welcome!.palettes;
    this.country.replaceChildren(
      ...Object.entries(palettes).map(([name, { doc }]) => make("option", { value: name, title: doc }, words(name))),
    );
    this.country.value = this.stage.look.country;
    this.useCountry(this.country.value);
  }

  /** Show the ground as in a country, with as much snow as lies there. */
  chooseCountry(name: string): void {
    const { look } = this.stage;
    const snowLine = this.store.welcome?.palettes[name]?.snow_line ?? null;
    look.snow = snowLine !== null;
    look.snowLine = snowLine ?? look.snowLine;
    this.snow.checked = look.snow;
    this.sliders.get("snowLine")?.show(look.snowLine);
    this.country.value = name;
    this.useCountry(name);
  }

  private useCountry(name: string): void {
    const palette = this.store.welcome?.palettes[name];
    if (palette) this.stage.setCountry(name, palette);
  }

  private useLight(name: string): void {
    Object.assign(this.stage.look, LIGHTS[name]);
    for (const [key, slider] of this.sliders) slider.show(this.stage.look[key]);
    this.stage.lookChanged(true);
  }

  showTier(tier: Tier): void {
    this.quality.value = tier;
  }

  showOverlay(layer: string | null): void {
    this.overlay.value = layer ?? "";
  }

  private setLayers(layers: string[]): void {
    if (layers.join() === this.layers) return;
    this.layers = layers.join();
    const chosen = this.overlay.value;
    this.overlay.replaceChildren(
      make("option", { value: "" }, "none"),
      ...inOrder(layers).map((name) => make("option", { value: name }, words(name))),
    );
    if (!chosen || layers.includes(chosen)) this.overlay.value = chosen;
    else this.overlayChosen(null);
  }

  private line(
    label: string,
    key: NumberKey,
    low: number,
    high: number,
    light = false,
  ): { element: HTMLElement; slider: Slider } {
    const line = sliderLine(label, this.stage.look[key], low, high, (value) => {
      if (!Number.isFinite(value)) return;
      this.stage.look[key] = value;
      this.stage.lookChanged(light);
    });
    this.sliders.set(key, line.slider);
    return line;
  }

  private flag(label: string, key: FlagKey): HTMLElement {
    return labelled(label, this.box(label, key));
  }

  private box(label: string, key: FlagKey): HTMLInputElement {
    return checkbox(label, this.stage.look[key], (value) => {
      this.stage.look[key] = value;
      this.stage.lookChanged();
    });
  }
}

type NumberKey = { [K in keyof Look]: Look[K] extends number ? K : never }[keyof Look];
type FlagKey = { [K in keyof Look]: Look[K] extends boolean ? K : never }[keyof Look];
