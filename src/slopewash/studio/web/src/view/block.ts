// The meshes of the terrain block: its surface, its water, its walls and the sky behind, sharing one set of uniforms.

import type { ShaderMaterialParameters } from "three";
import {
  AddEquation,
  BufferGeometry,
  CustomBlending,
  DoubleSide,
  DynamicDrawUsage,
  EqualStencilFunc,
  Float32BufferAttribute,
  GLSL3,
  IncrementStencilOp,
  Mesh,
  OneFactor,
  Scene,
  ShaderMaterial,
  SrcColorFactor,
  Uint32BufferAttribute,
  ZeroFactor,
} from "three";
import beds from "../shaders/beds.glsl?raw";
import detail from "../shaders/detail.glsl?raw";
import grid from "../shaders/grid.glsl?raw";
import groundMaterials from "../shaders/ground.glsl?raw";
import planVertex from "../shaders/plan.vert?raw";
import reflection from "../shaders/reflection.glsl?raw";
import site from "../shaders/site.glsl?raw";
import skyShader from "../shaders/sky.frag?raw";
import sky from "../shaders/sky.glsl?raw";
import behindEverything from "../shaders/sky.vert?raw";
import surface from "../shaders/surface.glsl?raw";
import surroundings from "../shaders/surroundings.glsl?raw";
import surroundingsVertex from "../shaders/surroundings.vert?raw";
import surroundingsWater from "../shaders/surroundings-water.vert?raw";
import terrainFragment from "../shaders/terrain.frag?raw";
import terrainVertex from "../shaders/terrain.vert?raw";
import treesFragment from "../shaders/trees.frag?raw";
import treesVertex from "../shaders/trees.vert?raw";
import wallsFragment from "../shaders/walls.frag?raw";
import wallsVertex from "../shaders/walls.vert?raw";
import waterFragment from "../shaders/water.frag?raw";
import waterVertex from "../shaders/water.vert?raw";
import sidesFragment from "../shaders/water-sides.frag?raw";
import sidesVertex from "../shaders/water-sides.vert?raw";
import type { Field } from "../wire/frames";
import { gridGeometry } from "./grid";
import { NEAR_QUADS, NearMeshes } from "./near";
import { coveringTriangle, Pass, type Uniforms } from "./pass";
import { Trees } from "./trees";
import { wetQuads } from "./wet-quads";

/** Light that something takes away from what is behind it. */
const multiplied = {
  blending: CustomBlending,
  blendEquation: AddEquation,
  blendSrc: ZeroFactor,
  blendDst: SrcColorFactor,
  blendSrcAlpha: ZeroFactor,
  blendDstAlpha: OneFactor,
} as const;

/** Only where nothing drawn so has been before: shadows that overlap are no darker. */
const once = {
  stencilWrite: true,
  stencilRef: 0,
  stencilFunc: EqualStencilFunc,
  stencilZPass: IncrementStencilOp,
} as const;

export class Block {
  readonly scene = new Scene();
  readonly terrain: Mesh;
  readonly waterThrough: Mesh;
  readonly waterBack: Mesh;
  readonly waterSides: Mesh;
  readonly walls: Mesh;
  readonly near: NearMeshes;
  readonly trees: Trees;
  readonly background: Mesh;
  /** Ground and water beside the block. */
  private readonly around: Mesh[];
  /** The lit ground as seen from above, for reflections. */
  readonly plan: Pass<Uniforms>;
  private columns = 2;
  private rows = 2;

  constructor(uniforms: Uniforms) {
    const shader = (parameters: ShaderMaterialParameters): ShaderMaterial =>
      new ShaderMaterial({ glslVersion: GLSL3, uniforms, ...parameters });
    // Detail reads the noise that the sky declares.
    const relief = `${sky}\n${detail}`;
    const ground = `${site}\n${beds}\n${groundMaterials}`;
    const drawn = [grid, relief, surroundings, surface].join("\n");
    const land = {
      vertexShader: `#define NEAR_QUADS ${NEAR_QUADS}.0\n${grid}\n${relief}\n${terrainVertex}`,
      fragmentShader: `${drawn}\n${ground}\n${terrainFragment}`,
      side: DoubleSide,
    };
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
        ...land,
        fragmentShader: `#define WITH_HOLE\n${land.fragmentShader}`,
      }),
      0,
    );
    this.near = new NearMeshes(this.scene, uniforms, (own) =>
      shader({
        ...land,
        fragmentShader: `#define WITH_HOLE\n${land.fragmentShader}`,
        defines: { CLOSE_GRAIN: "" },
        uniforms: own,
      }),
    );
    this.trees = new Trees(this.scene, uniforms, (own, shadow) => {
      const kind = shadow ? "#define SHADOW\n" : "";
      return shader({
        vertexShader: `${kind}${grid}\n${relief}\n${surroundings}\n${site}\n${treesVertex}`,
        fragmentShader: `${kind}${drawn}\n${treesFragment}`,
        uniforms: own,
        side: DoubleSide,
        ...(shadow ? { ...multiplied, ...once, transparent: true, depthWrite: false } : {}),
      });
    });
    this.walls = add(
      this.scene,
      wallGeometry(2),
      shader({
        vertexShader: `${grid}\n${wallsVertex}`,
        fragmentShader: `${drawn}\n${beds}\n${wallsFragment}`,
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
    const beside = `#define SURROUNDINGS\n`;
    const pass = (letsThrough: boolean): string =>
      `${drawn}\n${reflection}\n${waterFragment.replace("uniform bool letsThrough;", `const bool letsThrough = ${letsThrough};`)}`;
    this.plan = new Pass(`${drawn}\n${ground}\n${terrainFragment}`, uniforms, `${grid}\n${planVertex}`);
    this.waterSides = add(
      this.scene,
      wallGeometry(2),
      shader({
        vertexShader: `${grid}\n${sidesVertex}`,
        fragmentShader: `${drawn}\n${sidesFragment}`,
        side: DoubleSide,
        transparent: true,
        depthWrite: false,
        blending: CustomBlending,
        blendSrcAlpha: ZeroFactor,
        blendDstAlpha: OneFactor,
      }),
      3,
    );
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
    const flat = new BufferGeometry();
    const landBeside = shader({
      vertexShader: `${grid}\n${surroundings}\n${surroundingsVertex}`,
      fragmentShader: `${beside}${drawn}\n${ground}\n${terrainFragment}`,
      side: DoubleSide,
    });
    const wetBeside = { ...water, vertexShader: `${grid}\n${surroundings}\n${surroundingsWater}` };
    this.around = [
      add(this.scene, flat, landBeside, 0.2),
      add(
        this.scene,
        flat,
        shader({ ...wetBeside, fragmentShader: beside + pass(true), blendSrc: ZeroFactor, blendDst: SrcColorFactor }),
        1,
      ),
      add(
        this.scene,
        flat,
        shader({ ...wetBeside, fragmentShader: beside + pass(false), blendSrc: OneFactor, blendDst: OneFactor }),
        2,
      ),
    ];
  }

  /** Compile what is visible only from near into the shaders, or leave it out: software renderers skip no branch. */
  setCloseGrain(shown: boolean): void {
    const define = (material: unknown, name: string): void => {
      const { defines } = material as ShaderMaterial;
      if (name in defines === shown) return;
      (material as ShaderMaterial).defines = shown ? { [name]: "" } : {};
      (material as ShaderMaterial).needsUpdate = true;
    };
    for (const { material } of [this.terrain, this.around[0]!, this.plan]) define(material, "CLOSE_GRAIN");
    for (const { material } of [this.waterThrough, this.waterBack]) define(material, "FINE_BED");
  }

  setSurroundings(vertices: number): void {
    this.around[0]!.geometry.dispose();
    const geometry = surroundingsGeometry(vertices);
    for (const mesh of this.around) mesh.geometry = geometry;
  }

  /** The ground around, the higher it has risen the more of it. Walls stay: they close the gaps between two meshes. */
  showSurroundings(risen: number, water: boolean): void {
    const [land, ...wet] = this.around;
    land!.visible = risen > 0;
    for (const mesh of wet) mesh.visible = risen > 0 && water;
    if (risen > 0) this.waterSides.visible = false;
  }

  /** Quads of the terrain's mesh along its sides. */
  get quads(): [number, number] {
    return [this.columns - 1, this.rows - 1];
  }

  setMesh(columns: number, rows: number): void {
    for (const mesh of [this.terrain, this.walls, this.waterBack]) mesh.geometry.dispose();
    this.columns = columns;
    this.rows = rows;
    this.terrain.geometry = gridGeometry(columns, rows);
    this.walls.geometry = this.waterSides.geometry = wallGeometry(Math.max(columns, rows));
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
    this.waterThrough.visible = this.waterBack.visible = this.waterSides.visible = shown;
  }
}

function add(scene: Scene, geometry: BufferGeometry, material: ShaderMaterial, order: number): Mesh {
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = order;
  scene.add(mesh);
  return mesh;
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

/** Sides of the block to which the ground around reaches, as in surroundings.glsl. */
const REACH = 2;

/** A grid over the block's surroundings without the block itself, coarser away from it; the folds of the mirror are on its lines. */
function surroundingsGeometry(vertices: number): BufferGeometry {
  const ticks: number[] = [];
  const quads = vertices - 1;
  for (let side = -REACH; side <= REACH; side++) {
    const share = side === 0 ? 1 : 1 / Math.abs(side);
    const steps = Math.max(4, Math.round(quads * share));
    for (let i = 0; i < steps; i++) ticks.push(side + i / steps);
  }
  ticks.push(REACH + 1);
  const places: number[] = [];
  for (const y of ticks) for (const x of ticks) places.push(x, y, 0);
  const corners: number[] = [];
  const inside = (x: number, y: number): boolean => x >= 0 && x < 1 && y >= 0 && y < 1;
  for (let row = 0; row < ticks.length - 1; row++) {
    for (let column = 0; column < ticks.length - 1; column++) {
      if (inside(ticks[column]!, ticks[row]!)) continue;
      const a = row * ticks.length + column;
      const b = a + ticks.length;
      corners.push(a, b, a + 1, a + 1, b, b + 1);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(places, 3));
  geometry.setIndex(new Uint32BufferAttribute(corners, 1));
  return geometry;
}
