// One terrain as the page shows it: its newest frame, the GPU's copies of its fields, and the uniforms that are its own.

import type { WebGLRenderer } from "three";
import {
  DataTexture,
  FloatType,
  HalfFloatType,
  LinearFilter,
  LinearMipmapLinearFilter,
  NearestFilter,
  RedFormat,
  RGBAFormat,
  type Scene,
  WebGLRenderTarget,
} from "three";
import type { Field, Frame } from "../wire/frames";
import { useBeds } from "./beds";
import type { Detail } from "./detail";
import { History } from "./history";
import { LayerTexture } from "./layers";
import { type Look, sunDirection } from "./look";
import { Particles, Wireframe } from "./particles";
import { type Ground, PLINTH } from "./picking";
import type { Quality } from "./quality";
import { steepReference } from "./steepness";
import { SHALLOWEST, Surface, type SurfaceLayers } from "./surface";
import { borderLevel } from "./surroundings";
import { ownUniforms, type StageUniforms } from "./uniforms";

/** The longer side of the block in world units. */
const SIDE = 10;

/** Metres of the coarsest noise on the ground. */
const GRAIN = 5120;

/** Share of the relief of the start below which the snow line does not follow the summit. */
const LOWEST_SUMMIT = 0.2;
/** Height of the relief that is finer than cells, in cells. */
const DETAIL = 0.5;

/** Texels per side of the ground as seen from above. */
const COLOURS = 512;

export class Landscape {
  frame: Frame | null = null;
  run = -1;
  readonly surface: Surface;
  readonly particles: Particles;
  readonly wireframe: Wireframe;
  /** Values of the shared uniforms while this terrain is drawn. */
  readonly own = ownUniforms();
  fieldsChanged = false;
  lightChanged = false;
  lightDrawnAt = -Infinity;
  coloursChanged = true;
  private rivers: Field | null = null;
  private readonly layers = surfaceLayers();
  private readonly history = new History();
  private colours: WebGLRenderTarget | null = null;

  constructor(
    renderer: WebGLRenderer,
    private readonly scene: Scene,
    uniforms: StageUniforms,
    private readonly look: Look,
  ) {
    this.surface = new Surface(renderer);
    this.particles = new Particles(uniforms);
    this.wireframe = new Wireframe(uniforms);
    scene.add(this.particles.points, this.wireframe.lines);
  }

  /** Take a new frame; returns whether it is of another run, or of another size. */
  take(frame: Frame): { fresh: boolean; resized: boolean } {
    const { header } = frame;
    const { own: u } = this;
    const fresh = header.run !== this.run;
    const resized =
      this.frame?.elevation.columns !== frame.elevation.columns || this.frame.elevation.rows !== frame.elevation.rows;
    this.frame = frame;
    if (fresh) {
      this.run = header.run;
      u.datum.value = header.start_low; // not the lowest now: all pages show the same, whenever they connect
      u.relief.value = Math.max(
        header.start_high - header.start_low,
        1e-3 * this.cellSize * frame.elevation.columns,
        1e-6,
      );
      u.strataLayers.value = 0;
      u.bedDepth.value = 0;
      this.wireframe.forget();
      this.lightDrawnAt = -Infinity;
    }
    // A range that is eroded still has its snow; one that somebody raises does not lose it.
    u.summit.value = Math.min(Math.max((frame.elevation.high - u.datum.value) / u.relief.value, LOWEST_SUMMIT), 1);
    this.rivers = null;
    for (const name of ["elevation", "overlay"] as const) this.layers[name].set(frame[name]);
    this.setStrata(frame);
    useBeds(u, frame, this.datum);
    this.history.set(frame, u.relief.value);
    if (fresh || resized) this.place();
    this.takeWater();
    this.showMoving();
    this.wireframe.set(this.look.wireframe ? frame.vertices : null, frame.triangles);
    const steep = steepReference(frame.elevation, this.cellSize);
    const previous = u.steepReference.value;
    u.steepReference.value = fresh ? steep : previous + 0.1 * (steep - previous);
    return { fresh, resized };
  }

  /** Show these instead of the simulation's water, until the next frame. */
  setRivers(water: Field | null): void {
    this.rivers = water;
    this.takeWater();
  }

  /** The water to draw. */
  get water(): Field | null {
    return (this.look.rivers ? this.rivers : null) ?? this.frame?.water ?? null;
  }

  takeWater(): void {
    const { water, frame } = this;
    if (!frame) return;
    // Hidden water wets no ground either.
    this.layers.water.set(this.look.water ? water : null);
    this.layers.suspended.set(this.look.water && water === frame.water ? frame.suspended : null);
    this.own.surroundingsLevel.value = borderLevel({ elevation: frame.elevation, water }) - this.datum;
    this.fieldsChanged = this.lightChanged = true;
  }

  /** Follow the choice of what is shown. */
  lookChanged(): void {
    this.coloursChanged = true;
    if (!this.frame) return;
    this.takeWater();
    this.showMoving();
  }

  private showMoving(): void {
    this.particles.set(this.look.particles ? this.frame!.particles : null);
  }

  /** Let particles and the wireframe be drawn, or not: other terrains share the scene. */
  showOwn(shown: boolean): void {
    const { particles, vertices } = this.frame ?? { particles: null, vertices: null };
    this.particles.points.visible = shown && this.look.particles && Boolean(particles?.length);
    this.wireframe.lines.visible = shown && this.look.wireframe && vertices !== null && this.wireframe.isKnown;
  }

  // ---- coordinates

  get datum(): number {
    return this.own.datum.value;
  }

  /** Metres per cell of the fields sent, which may be coarser than the simulation's. */
  get cellSize(): number {
    if (!this.frame) return 1;
    return (this.frame.header.cell_size * this.frame.header.columns) / this.frame.elevation.columns;
  }

  get worldScale(): number {
    if (!this.frame) return 1;
    return SIDE / (Math.max(this.frame.elevation.rows, this.frame.elevation.columns) * this.cellSize);
  }

  ground(quality: Quality): Ground | null {
    if (!this.frame) return null;
    return {
      elevation: this.frame.elevation,
      water: this.look.water ? this.water : null,
      cellSize: this.cellSize,
      datum: this.datum,
      exaggeration: this.look.exaggeration,
      worldScale: this.worldScale,
      detail: this.detail(quality),
    };
  }

  /** Relief finer than the cells; the start of a run that is compared has the same. */
  detail(quality: Quality): Detail {
    const height = quality.nearLevels > 0 ? DETAIL * Math.min(this.look.detail, 2) : 0;
    return { height, steep: this.own.steepReference.value, dry: SHALLOWEST * this.cellSize };
  }

  private place(): void {
    const { rows, columns } = this.frame!.elevation;
    const { own: u, cellSize: cell } = this;
    u.extent.value.set(columns * cell, rows * cell);
    u.cellSize.value = cell;
    u.shallowest.value = SHALLOWEST * cell;
    u.worldScale.value = this.worldScale;
    u.size.value = this.frame!.header.cell_size;
    const side = Math.max(rows, columns) * cell;
    u.grainScale.value = grainScale(side);
    u.floorLevel.value = -PLINTH * side;
  }

  // ---- drawing

  /** Unpack new fields. */
  update(): void {
    if (!this.fieldsChanged) return;
    this.surface.update(this.layers, this.datum, this.cellSize);
    this.fieldsChanged = false;
  }

  /** Draw the light again; the slower pass. */
  relight(quality: Quality, now: number): void {
    const { exaggeration } = this.look;
    const highest = this.frame!.elevation.high - this.datum;
    const steep = this.own.steepReference.value;
    this.surface.relight({ sun: sunDirection(this.look), exaggeration, highest, steep }, this.cellSize, quality);
    this.lightChanged = false;
    this.lightDrawnAt = now;
    this.coloursChanged = true;
  }

  /** Where its ground is drawn from above, as water mirrors it; made when it is needed first. */
  get groundColours(): WebGLRenderTarget {
    this.colours ??= colourTarget();
    return this.colours;
  }

  /** Set the shared uniforms to this terrain. */
  use(uniforms: StageUniforms): void {
    const { own, surface } = this;
    own.fields.value = surface.fields;
    own.shape.value = surface.shape;
    own.light.value = surface.light;
    own.gullies.value = surface.gullies;
    own.waterline.value = surface.waterline;
    own.riversDrawn.value = this.look.rivers && this.rivers ? 1 : 0;
    own.history.value = this.history.texture;
    own.historyKnown.value = this.history.isKnown ? 1 : 0;
    own.groundColours.value = this.colours?.texture ?? null;
    for (const [name, { value }] of Object.entries(own)) uniforms[name as keyof typeof own].value = value as never;
  }

  /** Free the GPU's memory. */
  dispose(): void {
    this.scene.remove(this.particles.points, this.wireframe.lines);
    this.particles.dispose();
    this.wireframe.dispose();
    this.surface.dispose();
    this.history.texture.dispose();
    this.colours?.dispose();
    for (const { texture } of Object.values(this.layers)) texture.dispose();
    for (const name of ["strataTops", "bedTops", "bedTable"] as const) this.own[name].value.dispose();
  }

  private setStrata(frame: Frame): void {
    const { own: u } = this;
    if (!frame.strata) return; // sent once per run
    u.strataLayers.value = frame.strata.layers;
    const { layers, points, tops } = frame.strata;
    const relative = tops.map((top) => top - this.datum);
    u.strataTops.value.dispose();
    const texture = new DataTexture(relative, points, layers * 4, RedFormat, FloatType);
    texture.minFilter = texture.magFilter = NearestFilter;
    texture.needsUpdate = true;
    u.strataTops.value = texture;
  }
}

export function surfaceLayers(): SurfaceLayers {
  return {
    elevation: new LayerTexture(),
    water: new LayerTexture(),
    suspended: new LayerTexture(),
    overlay: new LayerTexture(),
  };
}

/** The ground from above: reflections are broken by waves, and need not be finer. */
function colourTarget(): WebGLRenderTarget {
  return new WebGLRenderTarget(COLOURS, COLOURS, {
    type: HalfFloatType,
    format: RGBAFormat,
    minFilter: LinearMipmapLinearFilter,
    magFilter: LinearFilter,
    depthBuffer: false,
    generateMipmaps: true,
  });
}

/** Metres that the noise of the ground repeats after: the same stones on hills and mountain ranges, except on extreme scales. */
function grainScale(side: number): number {
  return Math.min(Math.max(GRAIN, side / 8), side * 8);
}
