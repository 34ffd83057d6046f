// Two cameras: one that orbits, pans, zooms and flies, and one that looks straight down.

import { MOUSE, OrthographicCamera, PerspectiveCamera, TOUCH, Vector3 } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { frameAll } from "./framing";

const FIELD_OF_VIEW = 38;
/** Pixels that the bars at the left, top and bottom cover, and a margin at the right. */
const BARS = { left: 70, top: 64, bottom: 70, right: 8 };
const FLIGHT_KEYS: Record<string, [number, number, number]> = {
  KeyW: [0, 0, -1],
  KeyS: [0, 0, 1],
  KeyA: [-1, 0, 0],
  KeyD: [1, 0, 0],
  KeyE: [0, 1, 0],
  KeyQ: [0, -1, 0],
};

export class Cameras {
  readonly perspective = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.02, 200);
  readonly plan = new OrthographicCamera(-5, 5, 5, -5, 0.1, 100);
  private readonly orbit: OrbitControls;
  private readonly planControls: OrbitControls;
  private readonly pressed = new Set<string>();
  private lastFlight = 0;
  planShown = false;
  private shift = { width: 1, height: 1, right: 0, bottom: 0 };

  constructor(
    element: HTMLElement,
    private readonly changed: () => void,
  ) {
    this.orbit = new OrbitControls(this.perspective, element);
    this.orbit.maxPolarAngle = 0.495 * Math.PI;
    this.orbit.minDistance = 0.3;
    this.orbit.maxDistance = 60;
    this.orbit.zoomToCursor = true;
    this.planControls = new OrbitControls(this.plan, element);
    this.planControls.enableRotate = false;
    this.planControls.screenSpacePanning = true;
    this.planControls.zoomToCursor = true;
    this.planControls.mouseButtons = { LEFT: MOUSE.PAN, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.PAN };
    this.planControls.touches = { ONE: TOUCH.PAN, TWO: TOUCH.DOLLY_PAN };
    for (const controls of [this.orbit, this.planControls]) controls.addEventListener("change", () => changed());
    this.frame([new Vector3(-5, 0, -5), new Vector3(5, 0, -5), new Vector3(-5, 0, 5), new Vector3(5, 0, 5)]);
    this.showPlan(false);
  }

  get current(): PerspectiveCamera | OrthographicCamera {
    return this.planShown ? this.plan : this.perspective;
  }

  /** Look at the whole block, given points of its outline. */
  frame(points: Vector3[]): void {
    const { width, height, right, bottom } = this.shift;
    const [wide, tall] = [0.5 * Math.max(width - right, 1), 0.5 * Math.max(height - bottom, 1)];
    // A window too small for its bars keeps some space in the middle.
    const beside = (half: number, bar: number): number => Math.max(half - bar, 0.5 * half);
    const room = {
      left: beside(wide, BARS.left),
      right: beside(wide, BARS.right),
      top: beside(tall, BARS.top),
      bottom: beside(tall, BARS.bottom),
    };
    const { position, target } = frameAll(points, room, (0.5 * height) / Math.tan((FIELD_OF_VIEW * Math.PI) / 360));
    this.perspective.position.copy(position);
    this.orbit.target.copy(target);
    this.orbit.update();
    this.plan.position.set(0, 50, 0);
    this.plan.up.set(0, 0, -1);
    this.plan.zoom = 0.84;
    this.planControls.target.set(0, 0, 0);
    this.planControls.update();
    this.plan.updateProjectionMatrix();
    this.changed();
  }

  /** Fit the window; `covered` is how much of its right side and bottom the panels cover. The block stays in the rest. */
  resize(width: number, height: number, covered: { right: number; bottom: number }): void {
    this.perspective.aspect = width / height;
    this.shift = { width, height, ...covered };
    const half =
      5 * Math.max(1, (height - covered.bottom) / (width - covered.right)) * (height / (height - covered.bottom));
    this.plan.left = (-half * width) / height;
    this.plan.right = (half * width) / height;
    this.plan.top = half;
    this.plan.bottom = -half;
    this.applyShift();
  }

  /** Show one tile of an image of the given size, regardless of the panels. */
  showTile(width: number, height: number, x: number, y: number, tileWidth: number, tileHeight: number): void {
    this.current.setViewOffset(width, height, x, y, tileWidth, tileHeight);
  }

  /** Return to the view of the window. */
  applyShift(): void {
    const { width, height, right, bottom } = this.shift;
    for (const camera of [this.perspective, this.plan])
      camera.setViewOffset(width, height, right / 2, bottom / 2, width, height);
  }

  showPlan(shown: boolean): void {
    this.planShown = shown;
    this.orbit.enabled = !shown;
    this.planControls.enabled = shown;
    this.changed();
  }

  /** While a brush is active, the left button and one finger paint; the others still move the camera. */
  paintWithLeft(painting: boolean): void {
    this.orbit.mouseButtons = {
      LEFT: painting ? null : MOUSE.ROTATE,
      MIDDLE: MOUSE.PAN,
      RIGHT: painting ? MOUSE.ROTATE : MOUSE.PAN,
    };
    this.orbit.touches = { ONE: painting ? null : TOUCH.ROTATE, TWO: TOUCH.DOLLY_PAN };
    this.planControls.mouseButtons = { LEFT: painting ? null : MOUSE.PAN, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.PAN };
    this.planControls.touches = { ONE: painting ? null : TOUCH.PAN, TWO: TOUCH.DOLLY_PAN };
  }

  holdStill(still: boolean): void {
    this.orbit.enabled = !still && !this.planShown;
    this.planControls.enabled = !still && this.planShown;
  }

  keyChanged(code: string, down: boolean): boolean {
    if (!(code in FLIGHT_KEYS)) return false;
    if (down) this.pressed.add(code);
    else this.pressed.delete(code);
    if (down) this.changed();
    return true;
  }

  releaseKeys(): void {
    this.pressed.clear();
  }

  /** Move by the keys held down; returns true while flying, so that the next image is drawn at once. */
  fly(now: number): boolean {
    const seconds = Math.min((now - this.lastFlight) / 1000, 0.1);
    this.lastFlight = now;
    if (!this.pressed.size) return false;
    const speed = Math.max(0.6, 0.6 * this.perspective.position.distanceTo(this.orbit.target));
    const move = new Vector3();
    for (const code of this.pressed) move.add(new Vector3(...FLIGHT_KEYS[code]!));
    const lift = move.y;
    move.setY(0).applyQuaternion(this.perspective.quaternion);
    move.y += lift;
    move.multiplyScalar(speed * seconds);
    if (this.planShown) {
      this.plan.position.add(new Vector3(move.x, 0, move.z));
      this.planControls.target.add(new Vector3(move.x, 0, move.z));
    } else {
      this.perspective.position.add(move);
      this.orbit.target.add(move);
    }
    return true;
  }
}
