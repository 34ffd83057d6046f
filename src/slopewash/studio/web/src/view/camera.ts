// Two cameras: one that orbits, walks and flies over the ground, and one that looks straight down.

import { Matrix4, OrthographicCamera, PerspectiveCamera, Vector3 } from "three";
import { frameAll } from "./framing";
import type { Ground } from "./picking";
import { type Pose, Rig } from "./rig";

const FIELD_OF_VIEW = { free: 38, walking: 58 };
const FLIGHT_KEYS: Record<string, [number, number, number]> = {
  KeyW: [0, 1, 0],
  KeyS: [0, -1, 0],
  KeyA: [-1, 0, 0],
  KeyD: [1, 0, 0],
  KeyE: [0, 0, 1],
  KeyQ: [0, 0, -1],
};
/** To the right and up. */
const TURN_KEYS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};
const SHIFT_KEYS = ["ShiftLeft", "ShiftRight"];
/** Degrees per second while an arrow key is held down. */
const TURN_SPEED = 50;
/** Degrees that a drag over the whole height of the window turns. */
const DEGREES_PER_WINDOW = 250;
const FASTER = 4;
const PLAN_ZOOM = { start: 0.84, least: 0.3, most: 60 };

/** Pixels of the window that bars cover at its sides. */
export interface Bars {
  left: number;
  top: number;
  bottom: number;
  right: number;
}

/** What is remembered of a view. */
export interface SavedView {
  pose: Pose;
  plan: boolean;
  plan_view: [number, number, number];
}

export class Cameras {
  readonly perspective = new PerspectiveCamera(FIELD_OF_VIEW.free, 1, 0.02, 200);
  readonly plan = new OrthographicCamera(-5, 5, 5, -5, 0.1, 100);
  readonly rig = new Rig();
  planShown = false;
  /** Whether the view is still the one that `frame` chose: it then follows the window and the terrain. */
  isFramed = true;
  bars: Bars = { left: 70, top: 64, bottom: 70, right: 8 };
  private readonly pressed = new Set<string>();
  private lastFlight = 0;
  private beforeWalk: Pose | null = null;
  private shift = { width: 1, height: 1, right: 0, bottom: 0 };

  constructor(private readonly changed: () => void) {
    this.plan.position.set(0, 50, 0);
    this.plan.up.set(0, 0, -1);
    this.plan.lookAt(0, 0, 0);
    this.frame([new Vector3(-5, 0, -5), new Vector3(5, 0, -5), new Vector3(-5, 0, 5), new Vector3(5, 0, 5)]);
  }

  get current(): PerspectiveCamera | OrthographicCamera {
    return this.planShown ? this.plan : this.perspective;
  }

  get isWalking(): boolean {
    return this.rig.walking !== null;
  }

  // ---- where to look from

  /** Look at the whole block, given points of its outline. */
  frame(points: Vector3[]): void {
    const { width, height, right, bottom } = this.shift;
    const [wide, tall] = [0.5 * Math.max(width - right, 1), 0.5 * Math.max(height - bottom, 1)];
    // A window too small for its bars keeps some space in the middle.
    const beside = (half: number, bar: number): number => Math.max(half - bar, 0.5 * half);
    const room = {
      left: beside(wide, this.bars.left),
      right: beside(wide, this.bars.right),
      top: beside(tall, this.bars.top),
      bottom: beside(tall, this.bars.bottom),
    };
    const pixels = (0.5 * height) / Math.tan((FIELD_OF_VIEW.free * Math.PI) / 360);
    const { position, target } = frameAll(points, room, pixels);
    this.rig.lookFrom(position, target);
    this.plan.position.set(0, 50, 0);
    this.plan.zoom = PLAN_ZOOM.start;
    this.isFramed = true;
    this.apply();
  }

  /** Follow the ground as it changes; returns false where nothing of it would be visible from here. */
  setGround(ground: Ground): boolean {
    const visible = this.rig.setGround(ground);
    this.apply();
    return visible;
  }

  /** Stand on the ground at a point of the view, or return to the view before. */
  toggleWalk(ray?: Vector3): void {
    if (this.isWalking) {
      if (this.beforeWalk) this.rig.pose = this.beforeWalk;
      else this.rig.walking = null;
    } else {
      this.beforeWalk = this.rig.pose;
      this.rig.standAt(this.rig.pivot(ray));
    }
    this.moved();
  }

  get saved(): SavedView {
    const { x, z } = this.plan.position;
    return { pose: this.rig.pose, plan: this.planShown, plan_view: [x, z, this.plan.zoom] };
  }

  restore(view: SavedView): void {
    this.rig.pose = view.pose;
    const [x, z, zoom] = view.plan_view;
    this.plan.position.set(x, 50, z);
    this.plan.zoom = zoom;
    this.planShown = view.plan;
    this.moved();
  }

  showPlan(shown: boolean): void {
    this.planShown = shown;
    this.changed();
  }

  // ---- moves, by pixels of the window

  /** World units that a pixel covers at a distance. */
  private unitsPerPixel(distance: number): number {
    const fov = (this.perspective.fov * Math.PI) / 360;
    return (2 * distance * Math.tan(fov)) / this.shift.height;
  }

  orbit(about: Vector3, x: number, y: number): void {
    const degrees = DEGREES_PER_WINDOW / Math.max(this.shift.height, 1);
    // On foot, the view is dragged along; otherwise the block is turned by hand.
    if (this.isWalking) this.rig.turn(-0.3 * degrees * x, 0.3 * degrees * y);
    else this.rig.orbit(about, degrees * x, -degrees * y);
    this.moved();
  }

  pan(about: Vector3, x: number, y: number): void {
    if (this.planShown) {
      const units = (this.plan.top - this.plan.bottom) / this.plan.zoom / this.shift.height;
      this.plan.position.add(new Vector3(-x * units, 0, -y * units));
    } else {
      const units = this.unitsPerPixel(this.rig.eye.distanceTo(about));
      // The ground under the cursor follows it, but not without limit near the horizon.
      const foreshortened = Math.max(Math.sin((-this.rig.pitch * Math.PI) / 180), 0.35);
      this.rig.pan(-x * units, (y * units) / foreshortened);
    }
    this.moved();
  }

  zoom(about: Vector3, factor: number, at: { x: number; y: number }): void {
    if (this.planShown) {
      const before = new Vector3(at.x, at.y, 0).unproject(this.plan);
      this.plan.zoom = Math.min(Math.max(this.plan.zoom / factor, PLAN_ZOOM.least), PLAN_ZOOM.most);
      this.plan.updateProjectionMatrix();
      const after = new Vector3(at.x, at.y, 0).unproject(this.plan);
      this.plan.position.add(before.sub(after).setY(0));
    } else this.rig.zoom(about, factor);
    this.moved();
  }

  /** Come nearer to what is in the middle of the view, or move away from it. */
  zoomInMiddle(factor: number): void {
    this.zoom(this.rig.pivot(), factor, { x: 0, y: 0 });
  }

  /** The direction from the eye through a point of the window, −1 … 1 to the right and up. */
  ray(x: number, y: number): Vector3 {
    this.perspective.updateMatrixWorld();
    return new Vector3(x, y, 0.5).unproject(this.perspective).sub(this.perspective.position).normalize();
  }

  private moved(): void {
    this.isFramed = false;
    this.apply();
  }

  /** Set the cameras as the rig stands. */
  private apply(): void {
    const { eye, axes } = this.rig;
    const { perspective: camera } = this;
    camera.position.copy(eye);
    camera.quaternion.setFromRotationMatrix(new Matrix4().makeBasis(axes.right, axes.up, axes.forward.negate()));
    camera.near = this.rig.near;
    camera.fov = this.isWalking ? FIELD_OF_VIEW.walking : FIELD_OF_VIEW.free;
    this.applyShift();
    this.changed();
  }

  // ---- the window

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
    const unit = (2 * Math.tan((this.perspective.fov * Math.PI) / 360)) / height;
    this.rig.opening = {
      x: 0.5 * Math.max(width - right, 1) * unit,
      y: 0.5 * Math.max(height - bottom, 1) * unit,
    };
  }

  // ---- keys

  keyChanged(code: string, down: boolean): boolean {
    const known = code in FLIGHT_KEYS || code in TURN_KEYS;
    if (!known && !SHIFT_KEYS.includes(code)) return false;
    if (down) this.pressed.add(code);
    else this.pressed.delete(code);
    if (down && known) this.changed();
    return known;
  }

  releaseKeys(): void {
    this.pressed.clear();
  }

  /** Move by the keys held down; returns true while flying, so that the next image is drawn at once. */
  fly(now: number): boolean {
    const seconds = Math.min((now - this.lastFlight) / 1000, 0.1);
    this.lastFlight = now;
    const move = [0, 0, 0];
    const turn = [0, 0];
    for (const code of this.pressed) {
      FLIGHT_KEYS[code]?.forEach((by, axis) => {
        move[axis]! += by;
      });
      TURN_KEYS[code]?.forEach((by, axis) => {
        turn[axis]! += by;
      });
    }
    if (![...move, ...turn].some(Boolean)) return false;
    const [right, forwards, up] = move as [number, number, number];
    const way = seconds * this.rig.speed * (SHIFT_KEYS.some((code) => this.pressed.has(code)) ? FASTER : 1);
    if (this.planShown) this.plan.position.add(new Vector3(right * way, 0, -forwards * way));
    else {
      const degrees = TURN_SPEED * seconds;
      const [aside, tilt] = turn as [number, number];
      // On foot, the head is raised; otherwise the camera.
      const sign = this.isWalking ? 1 : -1;
      if (aside || tilt) this.rig.orbit(this.rig.pivot(), degrees * aside, sign * degrees * tilt);
      if (right || forwards || up) this.rig.fly(right * way, forwards * way, up * way);
    }
    this.moved();
    return true;
  }
}
