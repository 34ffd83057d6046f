// Mouse, wheel and fingers on the canvas, as moves of the camera. Each drag turns about the ground where it began.

import { Vector3 } from "three";
import type { Cameras } from "./camera";

type Move = "orbit" | "pan" | null;

/** Zoom of one notch of a wheel, which browsers report as 100 pixels. */
const NOTCH = 0.88;
const LINE = 33;
/** Pinches on a touchpad arrive as small turns of the wheel with Ctrl. */
const PINCH = 8;

export class Gestures {
  /** The sun is being dragged, or something else takes the pointer. */
  held = false;
  painting = false;
  private readonly fingers = new Map<number, { x: number; y: number }>();
  /** Where the mouse is over the canvas, in pixels of the window. */
  pointer: { x: number; y: number } | null = null;
  private move: Move = null;
  private about = new Vector3();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly cameras: Cameras,
    private readonly inView: (clientX: number, clientY: number) => { x: number; y: number },
  ) {
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"] as const)
      canvas.addEventListener(end, (event) => {
        this.fingers.delete(event.pointerId);
        if (!this.fingers.size) this.move = null;
      });
    canvas.addEventListener("pointerleave", () => (this.pointer = null));
    canvas.addEventListener("wheel", (event) => this.turnWheel(event), { passive: false });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /** Stand on the ground under the pointer, or else in the middle of the view; or return to the view before. */
  toggleWalk(): void {
    const at = this.pointer && this.inView(this.pointer.x, this.pointer.y);
    this.cameras.toggleWalk(at ? this.cameras.ray(at.x, at.y) : undefined);
  }

  /** While a brush is active, the left button and one finger paint; the others still move the camera. */
  private moveOf(event: PointerEvent): Move {
    if (event.pointerType === "touch") return this.painting ? null : this.flat("orbit");
    if (event.button === 0) return this.painting ? null : this.flat(event.shiftKey ? "pan" : "orbit");
    if (event.button === 2) return this.flat(this.painting ? "orbit" : "pan");
    return event.button === 1 ? "pan" : null;
  }

  /** A plan cannot be turned. */
  private flat(move: Move): Move {
    return this.cameras.planShown ? "pan" : move;
  }

  private down(event: PointerEvent): void {
    if (this.held || event.altKey) return;
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.canvas.setPointerCapture(event.pointerId);
    if (this.fingers.size > 1) {
      this.move = "pan";
      const [x, y] = this.middle();
      this.about = this.ground(x, y);
      return;
    }
    this.move = this.moveOf(event);
    if (this.move) this.about = this.ground(event.clientX, event.clientY);
  }

  private drag(event: PointerEvent): void {
    this.pointer = { x: event.clientX, y: event.clientY };
    const finger = this.fingers.get(event.pointerId);
    if (!finger || this.held) return;
    const [x, y] = [event.clientX - finger.x, event.clientY - finger.y];
    const before = this.spread();
    finger.x = event.clientX;
    finger.y = event.clientY;
    const fingers = this.fingers.size;
    if (this.move === "orbit") this.cameras.orbit(this.about, x, y);
    else if (this.move === "pan") this.cameras.pan(this.about, x / fingers, y / fingers);
    if (fingers > 1 && before > 0)
      this.cameras.zoom(this.about, before / Math.max(this.spread(), 1), this.middleInView());
  }

  private turnWheel(event: WheelEvent): void {
    event.preventDefault();
    if (this.held) return;
    const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1);
    const notches = Math.min(Math.max((pixels * (event.ctrlKey ? PINCH : 1)) / 100, -5), 5);
    this.cameras.zoom(
      this.ground(event.clientX, event.clientY),
      NOTCH ** -notches,
      this.inView(event.clientX, event.clientY),
    );
  }

  private ground(clientX: number, clientY: number): Vector3 {
    const { x, y } = this.inView(clientX, clientY);
    return this.cameras.rig.pivot(this.cameras.ray(x, y));
  }

  private middle(): [number, number] {
    const places = [...this.fingers.values()];
    const mean = (of: (place: { x: number; y: number }) => number): number =>
      places.reduce((sum, place) => sum + of(place), 0) / places.length;
    return [mean(({ x }) => x), mean(({ y }) => y)];
  }

  private middleInView(): { x: number; y: number } {
    return this.inView(...this.middle());
  }

  /** Distance between the first two fingers. */
  private spread(): number {
    const [a, b] = [...this.fingers.values()];
    return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  }
}
