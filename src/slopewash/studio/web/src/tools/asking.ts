// While the tab is open, a click on the terrain without a tool asks its cell; the path of water through it is drawn over the view.

import type { InspectPanel } from "../panels/inspect";
import type { Place } from "../view/picking";
import type { Stage } from "../view/stage";
import type { Toolbar } from "./toolbar";

/** Pixels that the pointer may move in a click. */
const STILL = 4;
const SVG = "http://www.w3.org/2000/svg";

export class Asking {
  readonly element = document.createElementNS(SVG, "svg");
  private readonly line = document.createElementNS(SVG, "polyline");
  private readonly dot = document.createElementNS(SVG, "circle");

  constructor(
    private readonly stage: Stage,
    toolbar: Toolbar,
    private readonly panel: InspectPanel,
  ) {
    this.element.classList.add("water-path");
    this.element.setAttribute("aria-hidden", "true");
    this.dot.setAttribute("r", "5");
    this.element.append(this.line, this.dot);
    let begun: PointerEvent | null = null;
    stage.canvas.addEventListener("pointerdown", (event) => {
      begun = event.button === 0 && event.isPrimary && !event.altKey && toolbar.tool.kind === "look" ? event : null;
    });
    stage.canvas.addEventListener("pointerup", (event) => {
      if (begun && Math.hypot(event.clientX - begun.clientX, event.clientY - begun.clientY) < STILL)
        this.ask(stage.placeAt(event.clientX, event.clientY));
      begun = null;
    });
    stage.canvas.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && toolbar.tool.kind === "look") this.ask(stage.placeInMiddle);
    });
    stage.onDraw(() => this.follow());
  }

  private ask(place: Place | null): void {
    if (place && this.panel.isOpen) void this.panel.ask(place.x, place.y);
  }

  /** Draw the path where the camera sees it; ground in front of it does not hide it. */
  follow(): void {
    const { cell } = this.panel;
    this.element.toggleAttribute("hidden", !cell);
    if (!cell) return;
    const points = cell.path.map(([x, y]) => this.stage.screenPlace(x, y)).filter((at) => at !== null);
    this.line.setAttribute("points", points.map(({ left, top }) => `${left.toFixed(1)},${top.toFixed(1)}`).join(" "));
    const at = this.stage.screenPlace(cell.x, cell.y);
    this.dot.toggleAttribute("hidden", !at);
    if (!at) return;
    this.dot.setAttribute("cx", String(at.left));
    this.dot.setAttribute("cy", String(at.top));
  }
}
