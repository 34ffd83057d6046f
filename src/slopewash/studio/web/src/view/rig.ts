// Where the eye is and where it looks. Every move is checked against the ground: the eye stays above it, and outside the block
// it always sees more of the surface than of the cut walls.

import { MathUtils, Vector3 } from "three";
import { cast, type Ground, halfSides, surfaceAt } from "./picking";

export interface Pose {
  eye: [number, number, number];
  /** Degrees clockwise from north. */
  heading: number;
  /** Degrees above the horizon. */
  pitch: number;
  /** Height above the ground while walking, in world units; null while the camera is free. */
  walking: number | null;
}

/** Half of what is visible beside the panels, as tangents to the right and up. */
export interface Opening {
  x: number;
  y: number;
}

const UP = new Vector3(0, 1, 0);
const STEEPEST = -89;
/** A free camera looks up only a little: it is there to see the ground. */
const HIGHEST = { free: 25, walking: 80 };
/** Farthest from the middle of the block, in world units. */
const FARTHEST = 80;
/** Outside the block, the eye rises with the distance from it by this much, and so sees over the edge. */
const RISE_OUTSIDE = 0.2;
/** Cells between a free camera and the ground, and around it that are kept clear: the mesh may be coarser than the field. */
const CLEARANCE = 1.5;
/** A walker's eyes: metres above the ground, but never so low that single cells fill the view. */
const EYE_HEIGHT = { metres: 1.7, cells: 0.6 };
/** Rays per side of the grid with which to find what is visible. */
const RAYS = 9;
/** Degrees by which the view is raised at a time until it is clear of a wall, and how often. */
const RAISE = { step: 4, times: 18 };

export class Rig {
  readonly eye = new Vector3(0, 8, 18);
  heading = 0;
  pitch = -25;
  walking: number | null = null;
  opening: Opening = { x: 0.5, y: 0.3 };
  private ground: Ground | null = null;

  // ---- state

  get pose(): Pose {
    return { eye: this.eye.toArray(), heading: this.heading, pitch: this.pitch, walking: this.walking };
  }

  set pose(pose: Pose) {
    this.eye.fromArray(pose.eye);
    this.heading = pose.heading;
    this.pitch = pose.pitch;
    this.walking = pose.walking;
  }

  /** Unit vectors of the view: where it looks, to the right, and up. */
  get axes(): { forward: Vector3; right: Vector3; up: Vector3 } {
    const [heading, pitch] = [MathUtils.degToRad(this.heading), MathUtils.degToRad(this.pitch)];
    const forward = new Vector3(
      Math.sin(heading) * Math.cos(pitch),
      Math.sin(pitch),
      -Math.cos(heading) * Math.cos(pitch),
    );
    const right = new Vector3(Math.cos(heading), 0, Math.sin(heading));
    return { forward, right, up: right.clone().cross(forward) };
  }

  lookFrom(eye: Vector3, at: Vector3): void {
    const to = at.clone().sub(eye).normalize();
    this.walking = null;
    this.eye.copy(eye);
    this.heading = MathUtils.radToDeg(Math.atan2(to.x, -to.z));
    this.pitch = MathUtils.radToDeg(Math.asin(to.y));
  }

  // ---- the ground

  /** Take new ground, and stay above it; returns false where no view from here would show it. */
  setGround(ground: Ground | null): boolean {
    this.ground = ground;
    this.stayAbove();
    return this.seesEnough() || this.raise(this.pivot());
  }

  /** Lowest height of the eye at a place, in world units. */
  lowest(x: number, z: number): number {
    if (!this.ground) return -Infinity;
    const [halfWidth, halfDepth] = halfSides(this.ground);
    const reach = this.cell * CLEARANCE;
    let ground = -Infinity;
    for (const [dx, dz] of [
      [0, 0],
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1],
    ] as const)
      ground = Math.max(ground, surfaceAt(this.ground, x + reach * dx, z + reach * dz));
    if (this.walking !== null) return surfaceAt(this.ground, x, z) + 0.5 * this.eyeHeight;
    const outside = Math.hypot(Math.max(Math.abs(x) - halfWidth, 0), Math.max(Math.abs(z) - halfDepth, 0));
    return ground + reach + RISE_OUTSIDE * outside;
  }

  /** Height of the eye over another ground at the same place: as high on foot, else at least above it. */
  heightOver(ground: Ground): number {
    const { x, y, z } = this.eye;
    const surface = surfaceAt(ground, x, z);
    return this.walking !== null ? surface + this.walking : Math.max(y, surface + this.cell * CLEARANCE);
  }

  get isOutside(): boolean {
    if (!this.ground) return true;
    const [halfWidth, halfDepth] = halfSides(this.ground);
    return Math.abs(this.eye.x) > halfWidth || Math.abs(this.eye.z) > halfDepth;
  }

  /** The point on the ground that a move turns about: along a ray of the view, or else in the middle of it or of the block. */
  pivot(ray?: Vector3): Vector3 {
    const { ground } = this;
    if (!ground) return new Vector3();
    for (const direction of [ray, this.axes.forward]) {
      const hit = direction && cast(ground, this.eye, direction);
      if (hit?.on === "surface") return hit.at;
    }
    const [halfWidth, halfDepth] = halfSides(ground);
    // Over the rim or past the horizon: the nearest ground ahead.
    const ahead = this.eye.clone().addScaledVector(this.axes.forward.setY(0).normalize(), this.isOutside ? 0 : 2);
    const x = this.isOutside ? 0 : MathUtils.clamp(ahead.x, -halfWidth, halfWidth);
    const z = this.isOutside ? 0 : MathUtils.clamp(ahead.z, -halfDepth, halfDepth);
    return new Vector3(x, surfaceAt(ground, x, z), z);
  }

  // ---- moves

  /** Turn the view about a point by degrees, as if the block were turned by hand. */
  orbit(about: Vector3, heading: number, pitch: number): void {
    if (this.walking !== null) this.turn(heading, pitch);
    else
      this.attempt(about, () => {
        const tilt = MathUtils.clamp(this.pitch + pitch, STEEPEST, HIGHEST.free) - this.pitch;
        this.swing(about, heading, tilt);
      });
  }

  /** Turn the head. */
  turn(heading: number, pitch: number): void {
    const highest = this.walking === null ? HIGHEST.free : HIGHEST.walking;
    this.attempt(null, () => {
      this.heading = (this.heading + heading + 720) % 360;
      this.pitch = MathUtils.clamp(this.pitch + pitch, STEEPEST, highest);
    });
  }

  /** Come nearer to a point (a factor below one) or move away from it. */
  zoom(about: Vector3, factor: number): void {
    if (this.walking !== null) this.fly(0, Math.log(1 / factor) * 4 * this.walking, 0);
    else this.attempt(about, () => this.eye.sub(about).multiplyScalar(factor).add(about));
  }

  /** Shift the view to the right and forwards along the ground, in world units. */
  pan(right: number, forwards: number): void {
    this.attempt(null, () => {
      const heading = MathUtils.degToRad(this.heading);
      this.eye.x += right * Math.cos(heading) + forwards * Math.sin(heading);
      this.eye.z += right * Math.sin(heading) - forwards * Math.cos(heading);
    });
  }

  /** Fly to the right, forwards where the view looks, and up; on foot, along the ground. */
  fly(right: number, forwards: number, up: number): void {
    if (this.walking !== null) {
      const heading = MathUtils.degToRad(this.heading);
      this.walking = MathUtils.clamp(this.walking + up, this.eyeHeight, 3);
      this.eye.x += right * Math.cos(heading) + forwards * Math.sin(heading);
      this.eye.z += right * Math.sin(heading) - forwards * Math.cos(heading);
      this.stayAbove();
      return;
    }
    this.attempt(null, () => {
      const axes = this.axes;
      this.eye.addScaledVector(axes.right, right).addScaledVector(axes.forward, forwards).addScaledVector(UP, up);
    });
  }

  /** Stand on the ground at a point, at eye height. */
  standAt(at: Vector3): void {
    this.walking = this.eyeHeight;
    this.eye.set(at.x, 0, at.z);
    this.pitch = 0;
    this.stayAbove();
  }

  /** How fast to fly, in world units per second: the closer the ground, the slower. */
  get speed(): number {
    if (this.walking !== null) return MathUtils.clamp(10 * this.walking, 0.15, 4);
    const above = this.eye.y - (this.ground ? surfaceAt(this.ground, this.eye.x, this.eye.z) : 0);
    return MathUtils.clamp(0.8 * above, 0.25, 10);
  }

  /** Near plane that cuts nothing off, in world units. */
  get near(): number {
    if (!this.ground) return 0.02;
    const above = this.eye.y - surfaceAt(this.ground, this.eye.x, this.eye.z);
    return MathUtils.clamp(0.3 * above, 0.0008, 0.05);
  }

  // ---- checks

  private get cell(): number {
    return this.ground ? this.ground.cellSize * this.ground.worldScale : 0.02;
  }

  private get eyeHeight(): number {
    const metre = this.ground ? this.ground.worldScale * this.ground.exaggeration : 0.002;
    return Math.max(EYE_HEIGHT.metres * metre, EYE_HEIGHT.cells * this.cell);
  }

  /** Make a move; where it ends before a wall, the view is raised over it, and where that does not help, nothing moves. */
  private attempt(about: Vector3 | null, move: () => void): void {
    const before = this.pose;
    move();
    this.stayAbove();
    if (this.seesEnough() || this.raise(about ?? this.pivot())) return;
    this.pose = before;
  }

  private swing(about: Vector3, heading: number, pitch: number): void {
    this.eye.sub(about).applyAxisAngle(UP, -MathUtils.degToRad(heading));
    this.heading = (this.heading + heading + 720) % 360;
    this.eye.applyAxisAngle(this.axes.right, MathUtils.degToRad(pitch)).add(about);
    this.pitch += pitch;
  }

  private stayAbove(): void {
    const { ground, eye } = this;
    if (!ground) return;
    if (this.walking !== null) {
      const [halfWidth, halfDepth] = halfSides(ground);
      eye.x = MathUtils.clamp(eye.x, this.cell - halfWidth, halfWidth - this.cell);
      eye.z = MathUtils.clamp(eye.z, this.cell - halfDepth, halfDepth - this.cell);
      this.walking = Math.max(this.walking, this.eyeHeight);
      eye.y = surfaceAt(ground, eye.x, eye.z) + this.walking;
      return;
    }
    const far = Math.hypot(eye.x, eye.z);
    if (far > FARTHEST) eye.setX((eye.x * FARTHEST) / far).setZ((eye.z * FARTHEST) / far);
    eye.y = Math.min(Math.max(eye.y, this.lowest(eye.x, eye.z)), FARTHEST);
  }

  /** Whether the surface takes up more of the view than walls do; above the block there are no walls to see. */
  seesEnough(): boolean {
    const { ground } = this;
    if (!ground || !this.isOutside) return true;
    const { surface, wall } = this.visible(RAYS);
    if (surface > 0) return surface >= 1.2 * wall;
    return wall === 0 && this.sees(this.pivot());
  }

  /** How many rays of a grid over the view meet the surface, and how many a wall. */
  visible(rays: number): { surface: number; wall: number; all: number } {
    const { forward, right, up } = this.axes;
    const seen = { surface: 0, wall: 0, all: rays * rays };
    for (let j = 0; j < rays; j++) {
      for (let i = 0; i < rays; i++) {
        const [x, y] = [(i + 0.5) / rays, (j + 0.5) / rays].map((share) => 2 * share - 1) as [number, number];
        const direction = forward
          .clone()
          .addScaledVector(right, x * this.opening.x)
          .addScaledVector(up, y * this.opening.y);
        const hit = this.ground && cast(this.ground, this.eye, direction.normalize(), 2);
        if (hit) seen[hit.on]++;
      }
    }
    return seen;
  }

  private sees(point: Vector3): boolean {
    const { forward, right, up } = this.axes;
    const to = point.clone().sub(this.eye);
    const depth = to.dot(forward);
    return (
      depth > 0 && Math.abs(to.dot(right)) < depth * this.opening.x && Math.abs(to.dot(up)) < depth * this.opening.y
    );
  }

  private raise(about: Vector3): boolean {
    const before = this.pose;
    for (let i = 0; i < RAISE.times && this.pitch - RAISE.step > STEEPEST; i++) {
      this.swing(about, 0, -RAISE.step);
      this.stayAbove();
      if (this.seesEnough()) return true;
    }
    this.pose = before;
    return false;
  }
}
