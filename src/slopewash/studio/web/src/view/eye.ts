// What follows from where the eye is: the uniforms of the view, air, fine meshes under the eye, and which trees are drawn.

import { type OrthographicCamera, type PerspectiveCamera, Vector3 } from "three";
import type { Block } from "./block";
import type { Landscape } from "./landscape";
import type { Look } from "./look";
import { NEAR_QUADS } from "./near";
import { type Ground, halfSides, surfaceAt } from "./picking";
import type { Quality } from "./quality";
import { risen } from "./surroundings";
import type { StageUniforms } from "./uniforms";
import type { Box } from "./viewports";

/** How terrains are looked at in one image. */
export interface View {
  camera: PerspectiveCamera | OrthographicCamera;
  plan: boolean;
  opaque: boolean;
  quality: Quality;
  /** Resolution as a share of the full one. */
  scale: number;
  /** Places for trees at most, in an image of a whole terrain. */
  trees: number;
}

export class Eye {
  constructor(
    private readonly uniforms: StageUniforms,
    private readonly block: Block,
    private readonly look: Look,
  ) {}

  /** Look at a terrain that fills this part of the image. */
  open(of: Landscape, { camera, plan, opaque, quality }: View, { left, top, width, height }: Box): void {
    const u = this.uniforms;
    of.use(u);
    u.eye.value.copy(camera.position);
    u.viewToWorld.value.copy(camera.matrixWorld);
    const p = camera.projectionMatrix.elements;
    u.viewExtent.value.set(plan ? 0 : 1 / p[0], plan ? 0 : 1 / p[5]);
    u.viewCentre.value.set(plan ? 0 : p[8] / p[0], plan ? 0 : p[9] / p[5]);
    u.targetOrigin.value.set(left, top);
    u.targetSize.value.set(width, height);
    u.pixelsPerUnit.value = 0.5 * height * p[5];
    u.opaque.value = opaque ? 1 : 0;
    this.placeNear(plan ? null : camera.position, of, quality);
    this.setAir(camera.position, plan || !opaque);
  }

  /** Let trees stand where a part of the image shows them; under an overlay they would hide it. */
  placeTrees(of: Landscape, { camera, plan, quality, scale, trees }: View, part: Box, whole: Box): void {
    const { uniforms: u, look } = this;
    const shown = quality.trees > 0 && look.trees && !look.paintedWoods && look.clay < 0.5 && !plan;
    u.treesDrawn.value = shown && u.overlayOpacity.value === 0 ? 1 : 0;
    if (u.treesDrawn.value === 0) {
      this.block.trees.hide();
      return;
    }
    const { viewCentre: centre, viewExtent: extent } = u;
    const across = (x: number): number => centre.value.x + extent.value.x * ((2 * (x - whole.left)) / whole.width - 1);
    const sight = {
      eye: camera.position,
      forward: camera.getWorldDirection(new Vector3()),
      opening: {
        left: across(part.left),
        right: across(part.left + part.width),
        up: Math.abs(centre.value.y) + extent.value.y,
      },
      halfSides: halfSides(of.ground(quality)!),
      beyond: u.surroundings.value >= 1 ? 1 : 0,
      worldScale: u.worldScale.value,
      pixelsPerUnit: u.pixelsPerUnit.value / scale,
    };
    this.block.trees.show(sight, (trees * part.width) / whole.width);
  }

  /** Move the finer meshes under the eye, if it is near the ground. */
  private placeNear(eye: Vector3 | null, of: Landscape, quality: Quality): void {
    const { uniforms: u, block } = this;
    const sides = [u.extent.value.x, u.extent.value.y].map((side) => side * u.worldScale.value) as [number, number];
    const reach = Math.min(...sides.map((side, axis) => (0.23 * NEAR_QUADS * side) / block.quads[axis]!));
    const detail = of.detail(quality);
    const on = eye !== null && quality.nearLevels > 0 && nearness(of.ground(quality)!, eye) < reach;
    const at: [number, number] | null = on ? [eye.x / sides[0] + 0.5, eye.z / sides[1] + 0.5] : null;
    u.hole.value.copy(block.near.moveTo(at, block.quads));
    u.detailHeight.value = on ? detail.height : 0;
    u.detailReach.value = reach;
    u.detailSteep.value = detail.steep;
    u.detailDry.value = detail.dry;
  }

  /** The air is clear up to the block and a little into it; inside, distance turns blue within its own length. */
  private setAir(eye: Vector3, none: boolean): void {
    const u = this.uniforms;
    const [wide, deep] = [u.extent.value.x, u.extent.value.y].map((side) => 0.5 * side * u.worldScale.value);
    const beside = Math.hypot(Math.max(Math.abs(eye.x) - wide!, 0), Math.max(Math.abs(eye.z) - deep!, 0));
    const top = u.relief.value * u.worldScale.value * this.look.exaggeration;
    const away = Math.hypot(beside, Math.max(eye.y - top, 0));
    u.clearAir.value = Math.max(away, 0.15);
    u.surroundings.value = none ? 0 : risen(this.look.surroundings, beside, eye.y - top);
    u.fogDensity.value = none ? 0 : (0.05 + 0.32 / (1 + away * away)) * this.look.fog;
  }
}

/** World units between the eye and the ground below it, or the block beside it. */
function nearness(ground: Ground, eye: Vector3): number {
  const [wide, deep] = halfSides(ground);
  const beside = Math.hypot(Math.max(Math.abs(eye.x) - wide, 0), Math.max(Math.abs(eye.z) - deep, 0));
  return Math.hypot(beside, eye.y - surfaceAt(ground, eye.x, eye.z));
}
