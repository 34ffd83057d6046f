// The overlay's colours with their values, and what lies under the cursor.

import { capital, make, short, words } from "../page/dom";
import type { Store } from "../page/store";
import type { Place } from "../view/picking";
import { scaleOf } from "../view/scale";
import type { Stage } from "../view/stage";
import { type Frame, sampleField } from "../wire/frames";
import type { Colour } from "../wire/protocol";

export class Legend {
  readonly element = make("div", { class: "glass legend", role: "group", "aria-label": "Legend", hidden: true });
  private readonly title = make("strong");
  private readonly bar = make("canvas", { width: 256, height: 1, role: "img" });
  private readonly low = make("span");
  private readonly middle = make("span");
  private readonly high = make("span");
  private readonly reading = make("output", { class: "reading", "data-role": "reading" });
  private painted = "";
  private place: Place | null = null;

  constructor(
    private readonly store: Store,
    private readonly stage: Stage,
  ) {
    this.element.append(
      this.title,
      this.bar,
      make("div", { class: "ticks" }, this.low, this.middle, this.high),
      this.reading,
    );
  }

  /** Follow a frame: colour map and scale are those that the server declares for the layer. */
  update(frame: Frame, wanted: string | null): void {
    const overlay = wanted !== null && frame.overlay?.layer === wanted ? frame.overlay : null;
    const layer = overlay && this.store.model?.layers[overlay.layer];
    const colours = layer && this.store.welcome?.maps[layer.map];
    this.element.hidden = !colours;
    if (!overlay || !layer || !colours) {
      this.stage.setOverlay(null);
      return;
    }
    const scale = scaleOf(overlay, layer.scale);
    const { low, middle, high } = scale;
    this.stage.setOverlay({ colours, scale });
    this.title.textContent = capital(words(overlay.layer)) + (layer.unit ? `, ${layer.unit}` : "");
    this.title.title = layer.doc;
    const flat = high === low;
    this.low.textContent = flat ? "" : `${overlay.low < low ? "≤ " : ""}${short(low)}`;
    this.middle.textContent = flat ? `${short(low)} everywhere` : short(middle);
    this.high.textContent = flat ? "" : `${overlay.high > high ? "≥ " : ""}${short(high)}`;
    this.read(this.place); // what lies under a cursor at rest changes too
    this.element.dataset.scale = layer.scale;
    this.paint(colours, layer.map);
  }

  /** Show the values at a place: the layer's where there is an overlay, else height and depth. */
  read(place: Place | null): string {
    this.place = place;
    const frame = this.stage.frame;
    if (!place || !frame) {
      this.reading.textContent = "";
      return "";
    }
    const cell = this.stage.cellSize;
    const at = [place.x / cell, place.y / cell] as const;
    if (frame.overlay) this.reading.textContent = `${short(sampleField(frame.overlay, ...at))} ${frame.overlay.unit}`;
    const water = frame.water ? ` · water ${short(sampleField(frame.water, ...at))} m` : "";
    return `x ${short(place.x)} m, y ${short(place.y)} m · ${short(place.height)} m${water}`;
  }

  private paint(colours: Colour[], name: string): void {
    if (this.painted === name) return;
    this.painted = name;
    const context = this.bar.getContext("2d")!;
    const image = context.createImageData(256, 1);
    for (const [i, colour] of colours.entries()) image.data.set([...colour, 255], 4 * i);
    context.putImageData(image, 0, 0);
  }
}
