// The meshes of the terrain block: its surface, its water, its walls and the sky behind, sharing one set of uniforms.

import type { ShaderMaterialParameters } from "three";
import {
  AddEquation,
  BufferGeometry,
  CustomBlending,
  DoubleSide,
  DynamicDrawUsage,
  Float32BufferAttribute,
  GLSL3,
  Mesh,
  OneFactor,
  Scene,
  ShaderMaterial,
  SrcColorFactor,
  Uint32BufferAttribute,
  ZeroFactor,
} from "three";
import grid from "../shaders/grid.glsl?raw";
import ground from "../shaders/ground.glsl?raw";
import skyShader from "../shaders/sky.frag?raw";
import sky from "../shaders/sky.glsl?raw";
import behindEverything from "../shaders/sky.vert?raw";
import surface from "../shaders/surface.glsl?raw";
import terrainFragment from "../shaders/terrain.frag?raw";
import terrainVertex from "../shaders/terrain.vert?raw";
import wallsFragment from "../shaders/walls.frag?raw";
import wallsVertex from "../shaders/walls.vert?raw";
import waterFragment from "../shaders/water.frag?raw";
import waterVertex from "../shaders/water.vert?raw";
import type { Field } from "../wire/frames";
import { coveringTriangle, type Uniforms } from "./pass";
import { wetQuads } from "./wet-quads";

export class Block {
  readonly scene = new Scene();
  readonly terrain: Mesh;
  readonly waterThrough: Mesh;
  readonly waterBack: Mesh;
  readonly walls: Mesh;
  readonly background: Mesh;
  private columns = 2;
  private rows = 2;

  constructor(uniforms: Uniforms) {
    const shader = (parameters: ShaderMaterialParameters): ShaderMaterial =>
      new ShaderMaterial({ glslVersion: GLSL3, uniforms, ...parameters });
    const drawn = [grid, sky, surface].join("\n");
    this.background = add(
      this.scene,
      coveringTriangle(),
      shader({ vertexShader: behindEverything, fragmentShader: `${sky}\n${skyShader}`, depthWrite: false }),
      0.5,
    );
    this.terrain = add(
      this.scene,
      new BufferGeometry(),
      shader({
        vertexShader: `${grid}\n${terrainVertex}`,
        fragmentShader: `${drawn}\n${ground}\n${terrainFragment}`,
        side: DoubleSide,
      }),
      0,
    );
    this.walls = add(
      this.scene,
      wallGeometry(2),
      shader({
        vertexShader: `${grid}\n${wallsVertex}`,
        fragmentShader: `${drawn}\n${wallsFragment}`,
        side: DoubleSide,
      }),
      0,
    );
    const water = {
      vertexShader: `${grid}\n${waterVertex}`,
      transparent: true,
      depthWrite: false,
      blending: CustomBlending,
      blendEquation: AddEquation,
      blendSrcAlpha: ZeroFactor,
      blendDstAlpha: OneFactor,
    } as const;
    const pass = (letsThrough: boolean): string =>
      `${drawn}\n${waterFragment.replace("uniform bool letsThrough;", `const bool letsThrough = ${letsThrough};`)}`;
    this.waterThrough = add(
      this.scene,
      new BufferGeometry(),
      shader({ ...water, fragmentShader: pass(true), blendSrc: ZeroFactor, blendDst: SrcColorFactor }),
      1,
    );
    this.waterBack = add(
      this.scene,
      new BufferGeometry(),
      shader({ ...water, fragmentShader: pass(false), blendSrc: OneFactor, blendDst: OneFactor }),
      2,
    );
  }

  setMesh(columns: number, rows: number): void {
    for (const mesh of [this.terrain, this.walls, this.waterBack]) mesh.geometry.dispose();
    this.columns = columns;
    this.rows = rows;
    this.terrain.geometry = gridGeometry(columns, rows);
    this.walls.geometry = wallGeometry(Math.max(columns, rows));
    this.newWater();
  }

  /** Draw water only over the parts of the mesh where the field is deeper than `depth` metres. */
  cullDryWater(water: Field, depth: number): void {
    const { geometry } = this.waterBack;
    const index = geometry.index!;
    const count = wetQuads(water, depth, this.columns, this.rows, index.array as Uint32Array);
    index.clearUpdateRanges();
    index.addUpdateRange(0, count);
    index.needsUpdate = true;
    geometry.setDrawRange(0, count);
  }

  /** Water everywhere the shader finds some. */
  private newWater(): void {
    const index = new Uint32BufferAttribute((this.terrain.geometry.index!.array as Uint32Array).slice(), 1);
    index.setUsage(DynamicDrawUsage);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", this.terrain.geometry.getAttribute("position"));
    geometry.setIndex(index);
    this.waterThrough.geometry = this.waterBack.geometry = geometry;
  }

  showWater(shown: boolean): void {
    this.waterThrough.visible = this.waterBack.visible = shown;
  }
}

function add(scene: Scene, geometry: BufferGeometry, material: ShaderMaterial, order: number): Mesh {
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = order;
  scene.add(mesh);
  return mesh;
}

function gridGeometry(columns: number, rows: number): BufferGeometry {
  const places = new Float32Array(columns * rows * 3);
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i += 3) {
      places[i] = column / (columns - 1);
      places[i + 1] = row / (rows - 1);
    }
  }
  const corners = new Uint32Array((columns - 1) * (rows - 1) * 6);
  for (let row = 0, i = 0; row < rows - 1; row++) {
    for (let column = 0; column < columns - 1; column++, i += 6) {
      const a = row * columns + column;
      corners.set([a, a + columns, a + 1, a + 1, a + columns, a + columns + 1], i);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(places, 3));
  geometry.setIndex(new Uint32BufferAttribute(corners, 1));
  return geometry;
}

/** Four walls of `points` columns each; there is no floor, because it is never visible. */
function wallGeometry(points: number): BufferGeometry {
  const places: number[] = [];
  const corners: number[] = [];
  for (let wall = 0; wall < 4; wall++) {
    const first = places.length / 3;
    for (let i = 0; i < points; i++) places.push(i / (points - 1), 0, wall, i / (points - 1), 1, wall);
    for (let i = 0; i < points - 1; i++) {
      const a = first + 2 * i;
      corners.push(a, a + 2, a + 1, a + 1, a + 2, a + 3);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(places, 3));
  geometry.setIndex(corners);
  return geometry;
}
