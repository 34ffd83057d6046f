// The pointer on the terrain: the ring under it, brush strokes, and placing water sources and emitters with a click.

import type { Store } from "../page/store";
import type { Place } from "../view/picking";
import type { Stage } from "../view/stage";
import type { Connection } from "../wire/connection";
import type { ToolDeclaration } from "../wire/protocol";
import type { Markers } from "./markers";
import type { Toolbar } from "./toolbar";

const SEND_EVERY = 60;
/** Distance between two dabs of a stroke, as a fraction of the radius. */
const SPACING = 0.3;
/** Milliseconds between two dabs while the brush is held still. */
const HOLD = 350;

const RING_COLOURS: Record<string, string> = {
  elevation: "#ffd23f",
  water: "#4fc3ff",
  rainfall: "#9ad0ff",
  erodibility: "#ff9d5c",
};

interface Stroke {
  number: number;
  brush: ToolDeclaration;
  sign: 1 | -1;
  last: Place;
  waiting: [number, number][];
  timer: number;
  held: number;
}

export class Painting {
  private stroke: Stroke | null = null;
  private strokes = Math.floor(Math.random() * 1e6);
  private hovering: { x: number; y: number } | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly toolbar: Toolbar,
    private readonly markers: Markers,
    private readonly store: Store,
    private readonly connection: () => Connection,
    private readonly pointed: (place: Place | null) => void,
  ) {
    const { canvas } = stage;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("keydown", (event) => this.useByKey(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerleave", () => this.leave());
    for (const end of ["pointerup", "pointercancel"] as const) canvas.addEventListener(end, () => this.up());
  }

  /** Adapt the ring and the mouse buttons to a new tool. */
  toolChanged(): void {
    this.stage.gestures.painting = this.toolbar.tool.kind !== "look";
    this.stage.canvas.style.cursor = this.toolbar.tool.kind === "look" ? "grab" : "crosshair";
    this.up();
    this.refreshRing();
  }

  /** Draw the ring again after the brush or the ground has changed. */
  refreshRing(): void {
    if (this.hovering) this.showRing(this.stage.placeAt(this.hovering.x, this.hovering.y));
    else this.stage.setRing(null);
  }

  private down(event: PointerEvent): void {
    const { tool } = this.toolbar;
    if (event.button !== 0 || event.altKey || tool.kind === "look" || !event.isPrimary) return;
    const place = this.stage.placeAt(event.clientX, event.clientY);
    if (!place) return;
    if (tool.kind === "brush") this.stage.canvas.setPointerCapture(event.pointerId);
    this.begin(place, event.shiftKey);
  }

  /** Use the tool once without a mouse: under it, or else in the middle of the view. */
  private useByKey(event: KeyboardEvent): void {
    if (event.key !== "Enter" || this.toolbar.tool.kind === "look") return;
    const place = this.hovering ? this.stage.placeAt(this.hovering.x, this.hovering.y) : this.stage.placeInMiddle;
    if (!place) return;
    event.preventDefault();
    this.showRing(place);
    this.begin(place, event.shiftKey);
    this.up();
  }

  private begin(place: Place, inverted: boolean): void {
    const { tool } = this.toolbar;
    if (tool.kind === "look") return;
    if (tool.kind !== "brush") {
      this.markers.place(tool.kind, place, { ...this.toolbar.outflows[tool.kind] });
      return;
    }
    const brush = inverted ? this.toolbar.opposite(tool.brush) : tool.brush;
    const sign = inverted && brush.signed ? -1 : 1; // such a brush is its own opposite
    this.stroke = {
      number: ++this.strokes,
      brush,
      sign,
      last: place,
      waiting: [[place.x, place.y]],
      timer: 0,
      held: 0,
    };
    this.send();
    this.holdOn();
  }

  private move(event: PointerEvent): void {
    this.hovering = { x: event.clientX, y: event.clientY };
    const place = this.stage.placeAt(event.clientX, event.clientY);
    this.pointed(place);
    this.showRing(place);
    const { stroke } = this;
    if (!stroke || !place) return;
    const apart = Math.hypot(place.x - stroke.last.x, place.y - stroke.last.y);
    const dabs = Math.floor(apart / (SPACING * this.toolbar.radius));
    for (let i = 1; i <= dabs; i++) {
      const share = i / dabs;
      stroke.waiting.push([
        stroke.last.x + share * (place.x - stroke.last.x),
        stroke.last.y + share * (place.y - stroke.last.y),
      ]);
    }
    if (!dabs) return;
    stroke.last = place;
    this.holdOn();
    if (!stroke.timer) stroke.timer = window.setTimeout(() => this.send(), SEND_EVERY);
  }

  private leave(): void {
    this.hovering = null;
    this.pointed(null);
    if (!this.stroke) this.stage.setRing(null);
  }

  private up(): void {
    if (!this.stroke) return;
    this.send();
    window.clearTimeout(this.stroke.timer);
    window.clearInterval(this.stroke.held);
    this.stroke = null;
  }

  private holdOn(): void {
    const { stroke } = this;
    if (!stroke) return;
    window.clearInterval(stroke.held);
    stroke.held = window.setInterval(() => {
      stroke.waiting.push([stroke.last.x, stroke.last.y]);
      this.send();
    }, HOLD);
  }

  private send(): void {
    const { stroke, toolbar } = this;
    if (!stroke) return;
    stroke.timer = 0;
    if (!stroke.waiting.length) return;
    void this.connection().send({
      type: "paint",
      tool: stroke.brush.name,
      points: stroke.waiting,
      radius: toolbar.radius,
      strength: stroke.sign * toolbar.strengthOf(stroke.brush),
      falloff: toolbar.falloff,
      stroke: stroke.number,
    });
    stroke.waiting = [];
  }

  private showRing(place: Place | null): void {
    const { tool } = this.toolbar;
    if (!place || tool.kind === "look" || !this.store.state) this.stage.setRing(null);
    else if (tool.kind === "brush")
      this.stage.setRing({
        x: place.x,
        y: place.y,
        radius: this.toolbar.radius,
        falloff: this.toolbar.falloff,
        colour: RING_COLOURS[tool.brush.layer] ?? "#ffffff",
      });
    else
      this.stage.setRing({
        x: place.x,
        y: place.y,
        radius: this.toolbar.outflows[tool.kind].radius,
        falloff: 0,
        colour: "#4fc3ff",
      });
  }
}
