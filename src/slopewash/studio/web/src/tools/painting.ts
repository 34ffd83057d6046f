// The pointer on the terrain: the ring under it, brush strokes, and placing water sources and emitters with a click.

import type { Store } from "../page/store";
import type { Place } from "../view/picking";
import type { Stage } from "../view/stage";
import type { Connection } from "../wire/connection";
import type { ToolDeclaration } from "../wire/protocol";
import type { Markers } from "./markers";
import { FIRST_SECONDS, MOST_SECONDS, type Toolbar } from "./toolbar";

/** Milliseconds between two messages of a stroke. */
const TICK = 60;
/** Longest time that one message makes up for, in seconds: a page that was busy must not dig a hole at once. */
const LONGEST = 0.25;
/** Distance between two dabs of a stroke, as a fraction of the radius. */
const SPACING = 0.3;

/** Radius of the ring that shows the same place in all panes, as a share of the longer side. */
const POINTED = 0.012;

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
  /** The pane where it began, and stays. */
  pane: number | null;
  last: Place;
  /** Dabs on the way since the last message. */
  waiting: [number, number][];
  timer: number;
  /** Moment of the last message. */
  sent: number;
  /** Seconds of strength that each place of the stroke was given, by squares of half a radius. */
  given: Map<string, number>;
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
    private readonly report: { pointed(place: Place | null): void; missed(): void },
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
    if (!place) {
      this.report.missed();
      return;
    }
    if (tool.kind === "brush") this.stage.canvas.setPointerCapture(event.pointerId);
    this.begin(place, event.shiftKey, this.stage.viewports.at(event.clientX, event.clientY));
  }

  /** Use the tool once without a mouse: under it, or else in the middle of the view. */
  private useByKey(event: KeyboardEvent): void {
    if (event.key !== "Enter" || this.toolbar.tool.kind === "look") return;
    const place = this.hovering ? this.stage.placeAt(this.hovering.x, this.hovering.y) : this.stage.placeInMiddle;
    if (!place) return;
    event.preventDefault();
    this.showRing(place);
    this.begin(place, event.shiftKey, this.stage.chosen);
    this.up();
  }

  private begin(place: Place, inverted: boolean, pane: number | null): void {
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
      pane,
      last: place,
      waiting: [[place.x, place.y]],
      timer: window.setInterval(() => this.tick(), TICK),
      sent: performance.now(),
      given: new Map(),
    };
    this.send(FIRST_SECONDS);
  }

  private move(event: PointerEvent): void {
    this.hovering = { x: event.clientX, y: event.clientY };
    const place = this.stage.placeAt(event.clientX, event.clientY);
    this.report.pointed(place);
    this.showRing(place);
    const { stroke } = this;
    if (!stroke || !place || this.stage.viewports.at(event.clientX, event.clientY) !== stroke.pane) return;
    const apart = Math.hypot(place.x - stroke.last.x, place.y - stroke.last.y);
    const dabs = Math.floor(apart / (SPACING * this.toolbar.radius));
    for (let i = 1; i <= dabs; i++) {
      const share = i / dabs;
      stroke.waiting.push([
        stroke.last.x + share * (place.x - stroke.last.x),
        stroke.last.y + share * (place.y - stroke.last.y),
      ]);
    }
    if (dabs) stroke.last = place;
  }

  private leave(): void {
    this.hovering = null;
    this.report.pointed(null);
    if (!this.stroke) this.stage.setRing(null);
  }

  private up(): void {
    if (!this.stroke) return;
    if (this.stroke.waiting.length) this.tick();
    window.clearInterval(this.stroke.timer);
    this.stroke = null;
  }

  /** Give the dabs since the last message their share of the time; a brush at rest goes on where it is. */
  private tick(): void {
    const { stroke } = this;
    if (!stroke) return;
    const now = performance.now();
    const seconds = Math.min((now - stroke.sent) / 1000, LONGEST);
    stroke.sent = now;
    if (!stroke.waiting.length) stroke.waiting.push([stroke.last.x, stroke.last.y]);
    this.send(seconds);
  }

  /** Send the dabs, which share so many seconds of strength, without those where the stroke has given the most. */
  private send(seconds: number): void {
    const { stroke, toolbar } = this;
    if (!stroke) return;
    const each = seconds / stroke.waiting.length;
    const points = stroke.waiting.filter(([x, y]) => {
      const square = 0.5 * toolbar.radius;
      const key = `${Math.floor(x / square)} ${Math.floor(y / square)}`;
      const given = (stroke.given.get(key) ?? 0) + each;
      if (given > MOST_SECONDS) return false;
      stroke.given.set(key, given);
      return true;
    });
    stroke.waiting = [];
    if (!points.length) return;
    void this.connection().send({
      type: "paint",
      tool: stroke.brush.name,
      points,
      radius: toolbar.radius,
      strength: stroke.sign * toolbar.strengthOf(stroke.brush) * (each / FIRST_SECONDS),
      falloff: toolbar.falloff,
      stroke: stroke.number,
    });
  }

  private showRing(place: Place | null): void {
    const { tool } = this.toolbar;
    if (place && tool.kind === "look" && this.stage.isSideBySide)
      this.stage.setRing({ x: place.x, y: place.y, radius: POINTED * this.store.side, falloff: 1, colour: "#ffffff" });
    else if (!place || tool.kind === "look" || !this.store.state) this.stage.setRing(null);
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
