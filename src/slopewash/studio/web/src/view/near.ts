// Finer meshes around the eye, each twice as fine as the one around it, so that small relief changes outlines.
// They are moved by whole quads of the next coarser mesh: their vertices stay where they are on the ground.

import { type BufferGeometry, Mesh, type Scene, type ShaderMaterial, Vector4 } from "three";
import { gridGeometry } from "./grid";
import type { Uniforms } from "./pass";

/** Quads per side of each mesh; terrain.vert has the same number. */
export const NEAR_QUADS = 128;

export class NearMeshes {
  private readonly meshes: Mesh[] = [];
  private readonly places: Vector4[] = [];
  private readonly holes: Vector4[] = [];
  private readonly geometry: BufferGeometry = gridGeometry(NEAR_QUADS + 1, NEAR_QUADS + 1);

  constructor(
    private readonly scene: Scene,
    private readonly uniforms: Uniforms,
    private readonly material: (own: Uniforms) => ShaderMaterial,
  ) {}

  setLevels(levels: number): void {
    for (const mesh of this.meshes.splice(0)) {
      this.scene.remove(mesh);
      (mesh.material as ShaderMaterial).dispose();
    }
    this.places.length = this.holes.length = 0;
    for (let level = 0; level < levels; level++) {
      const [place, hole] = [new Vector4(), new Vector4()];
      const material = this.material({ ...this.uniforms, nearPlace: { value: place }, hole: { value: hole } });
      const mesh = new Mesh(this.geometry, material);
      mesh.frustumCulled = false;
      mesh.visible = false;
      this.scene.add(mesh);
      this.meshes.push(mesh);
      this.places.push(place);
      this.holes.push(hole);
    }
  }

  /** Centre them on a place, given in shares of the sides, over a terrain of that many quads; returns what they cover of it. */
  moveTo(at: [number, number] | null, quads: [number, number]): Vector4 {
    const outer = new Vector4();
    this.meshes.forEach((mesh, level) => {
      mesh.visible = at !== null;
      if (!at) return;
      const rectangle = at.map((share, axis) => {
        const parent = 1 / (quads[axis]! * 2 ** level);
        const size = 0.5 * NEAR_QUADS * parent;
        return { first: Math.round((share - 0.5 * size) / parent) * parent, size };
      });
      const [x, y] = rectangle as [{ first: number; size: number }, { first: number; size: number }];
      this.places[level]!.set(x.first, y.first, x.size, y.size);
      const hole = level === 0 ? outer : this.holes[level - 1]!;
      // The coarser mesh goes on a little below the finer one, or rounding would leave gaps.
      const [inX, inY] = [0.006 * x.size, 0.006 * y.size];
      hole.set(x.first + inX, y.first + inY, x.first + x.size - inX, y.first + y.size - inY);
    });
    return outer;
  }
}
