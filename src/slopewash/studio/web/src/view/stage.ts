// The 3D view: takes frames and view settings, keeps the GPU's copies up to date, and draws only after a change.

import type { OrthographicCamera, PerspectiveCamera } from "three";
import {
  Color,
  DataTexture,
  FloatType,
  HalfFloatType,
  LinearFilter,
  LinearMipmapLinearFilter,
  NearestFilter,
  NoToneMapping,
  RedFormat,
  RGBAFormat,
  Vector2,
  Vector3,
  WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import finishShader from "../shaders/finish.frag?raw";
import type { Field, Frame } from "../wire/frames";
import type { Colour, Palette } from "../wire/protocol";
import { useBeds } from "./beds";
import { Block } from "./block";
import { Cameras } from "./camera";
import { fromHex, setColours } from "./colours";
import type { Detail } from "./detail";
import { Gestures } from "./gestures";
import { History } from "./history";
import { LayerTexture } from "./layers";
import { defaultLook, type Look, sunDirection } from "./look";
import { NEAR_QUADS } from "./near";
import type { Measured } from "./pace";
import { usePalette } from "./palette";
import { Particles, Wireframe } from "./particles";
import { Pass } from "./pass";
import { type Ground, halfSides, heightAt, outline, PLINTH, type Place, pick, surfaceAt, toWorld } from "./picking";
import { QUALITIES, type Quality, rendererName, type Tier } from "./quality";
import type { Scale } from "./scale";
import { steepReference } from "./steepness";
import { Stopwatch } from "./stopwatch";
import { SHALLOWEST, Surface } from "./surface";
import { borderLevel, risen } from "./surroundings";
import { finishUniforms, type StageUniforms, stageUniforms } from "./uniforms";

/** The longer side of the block in world units. */
const SIDE = 10;

/** Brings sunlit snow to just below white on the filmic curve. */
const BASE_EXPOSURE = 0.74;

/** Of the resolution, while a tier is on trial. */
const TRIAL = 0.25;

/** Metres of the coarsest noise on the ground. */
const GRAIN = 5120;

/** Height of the relief that is finer than cells, in cells. */
const DETAIL = 0.42;

/** Texels per side of the ground as seen from above. */
const COLOURS = 512;

/** Milliseconds without a change after which the view is drawn in full resolution. */
const REST = 250;

export interface Ring {
  x: number;
  y: number;
  radius: number;
  falloff: number;
  colour: string;
}

export class Stage {
  readonly renderer: WebGLRenderer;
  readonly cameras: Cameras;
  readonly gestures: Gestures;
  readonly rendererName: string;
  readonly look: Look = defaultLook();
  tier: Tier = "low";
  /** Draws small images until one is timed: a tier that would freeze the page must not begin with a full one. */
  private trial = false;
  private readonly stopwatch: Stopwatch;
  private measured: (by: Measured) => void = () => {};
  quality: Quality;
  /** Position of the slider between before (left) and after, 0 … 1; null while it is hidden. */
  split: number | null = null;
  frame: Frame | null = null;
  before: Field | null = null;
  ring: Ring | null = null;
  /** How many answers with rivers are on their way. */
  riversAwaited = 0;
  private rivers: Field | null = null;
  drawn = 0;
  drawMilliseconds = 0;

  /** Pixels of the window's right side and bottom that panels hide. */
  covered = { right: 0, bottom: 0 };

  private readonly now: Surface;
  private readonly start: Surface;
  private readonly layers = {
    elevation: new LayerTexture(),
    water: new LayerTexture(),
    suspended: new LayerTexture(),
    overlay: new LayerTexture(),
  };
  private readonly startLayers = {
    elevation: new LayerTexture(),
    water: new LayerTexture(),
    suspended: new LayerTexture(),
    overlay: new LayerTexture(),
  };
  private readonly history = new History();
  private readonly block: Block;
  private readonly particles: Particles;
  private readonly wireframe: Wireframe;
  private readonly uniforms: StageUniforms;
  private readonly groundColours = colourTarget();
  private readonly finish: Pass<ReturnType<typeof finishUniforms>>;
  private target: WebGLRenderTarget;
  private run = -1;
  private datum = 0;
  private fieldsChanged = false;
  private startChanged = false;
  private lightChanged = false;
  private lightDrawnAt = -Infinity;
  private coloursChanged = true;
  private requested = 0;
  private lightTimer = 0;
  private restTimer = 0;
  private atRest = false;
  private readonly stillness = window.matchMedia("(prefers-reduced-motion: reduce)");
  private readonly afterDraw: (() => void)[] = [];

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly frameDrawn: (frame: number) => void,
  ) {
    const context = canvas.getContext("webgl2", {
      alpha: true,
      antialias: false,
      depth: false,
      premultipliedAlpha: true,
      powerPreference: "high-performance",
    });
    if (!context) throw new Error("could not create a WebGL2 context");
    this.renderer = new WebGLRenderer({ canvas, context });
    this.renderer.toneMapping = NoToneMapping;
    this.renderer.autoClear = true;
    this.renderer.setClearColor(new Color(0, 0, 0), 0);
    this.rendererName = rendererName(context);
    this.stopwatch = new Stopwatch(context);
    this.quality = QUALITIES[this.tier];
    this.now = new Surface(this.renderer);
    this.start = new Surface(this.renderer);
    this.uniforms = stageUniforms();
    this.block = new Block(this.uniforms);
    this.particles = new Particles(this.uniforms);
    this.wireframe = new Wireframe(this.uniforms);
    this.block.scene.add(this.particles.points, this.wireframe.lines);
    this.finish = new Pass(finishShader, finishUniforms());
    this.target = new WebGLRenderTarget(1, 1, {
      type: HalfFloatType,
      format: RGBAFormat,
      minFilter: LinearFilter,
      magFilter: LinearFilter,
      samples: this.quality.samples,
    });
    this.cameras = new Cameras(() => this.invalidate());
    this.gestures = new Gestures(canvas, this.cameras);
    this.setTier(this.tier);
  }

  // ---- content

  /** Forget the run: a restarted server numbers its runs from one again. */
  forgetRun(): void {
    this.run = -1;
  }

  /** Take a new frame. Picking uses its heights too. */
  show(frame: Frame): void {
    const { header } = frame;
    const fresh = header.run !== this.run;
    const resized =
      this.frame?.elevation.columns !== frame.elevation.columns || this.frame.elevation.rows !== frame.elevation.rows;
    this.frame = frame;
    if (fresh) {
      this.run = header.run;
      this.datum = header.start_low; // not the lowest now: all pages show the same, whenever they connect
      this.uniforms.relief.value = Math.max(
        header.start_high - header.start_low,
        1e-3 * this.cellSize * frame.elevation.columns,
        1e-6,
      );
      this.before = null;
      this.uniforms.strataLayers.value = 0;
      this.uniforms.bedDepth.value = 0;
      this.wireframe.forget();
      this.lightDrawnAt = -Infinity;
    }
    this.rivers = null;
    if (frame.before) this.setBefore(frame.before);
    for (const name of ["elevation", "overlay"] as const) this.layers[name].set(frame[name]);
    this.setStrata(frame);
    useBeds(this.uniforms, frame, this.datum);
    this.history.set(frame, this.uniforms.relief.value);
    if (resized || fresh) this.place();
    this.takeWater();
    this.particles.set(this.look.particles ? frame.particles : null);
    this.wireframe.set(this.look.wireframe ? frame.vertices : null, frame.triangles);
    const steep = steepReference(frame.elevation, this.cellSize);
    const previous = this.uniforms.steepReference.value;
    this.uniforms.steepReference.value = fresh ? steep : previous + 0.1 * (steep - previous);
    this.cameras.setGround(this.ground!);
    this.invalidate();
  }

  /** Show these instead of the simulation's water, until the next frame. */
  setRivers(water: Field | null): void {
    this.rivers = water;
    this.takeWater();
    this.cameras.setGround(this.ground!);
    this.invalidate();
  }

  /** The water to draw. */
  private get water(): Field | null {
    return (this.look.rivers ? this.rivers : null) ?? this.frame?.water ?? null;
  }

  private takeWater(): void {
    const { water } = this;
    // Hidden water wets no ground either.
    this.layers.water.set(this.look.water ? water : null);
    this.layers.suspended.set(this.look.water && water === this.frame!.water ? this.frame!.suspended : null);
    if (this.quality.cullDryWater && water) this.block.cullDryWater(water, SHALLOWEST * this.cellSize);
    this.uniforms.surroundingsLevel.value = borderLevel({ elevation: this.frame!.elevation, water }) - this.datum;
    this.fieldsChanged = this.lightChanged = true;
  }

  setOverlay(overlay: { colours: Colour[]; scale: Scale } | null): void {
    const u = this.uniforms;
    u.overlayOpacity.value = overlay ? this.look.overlayOpacity : 0;
    if (overlay) {
      const { log } = overlay.scale;
      const [low, high] = [overlay.scale.low, overlay.scale.high].map((end) => (log ? Math.log(end) : end)) as [
        number,
        number,
      ];
      u.overlayLog.value = log;
      // A layer of one value has the middle colour, which stands for zero on a diverging scale.
      u.overlayRange.value.set(high > low ? low : low - 0.5, high > low ? high : low + 0.5);
      setColours(u.colourMap.value, overlay.colours);
    }
    this.invalidate();
  }

  setRing(ring: Ring | null): void {
    this.ring = ring;
    const value = this.uniforms.brush.value;
    if (ring) {
      value.set(ring.x, ring.y, ring.radius);
      this.uniforms.brushFalloff.value = ring.falloff;
      this.uniforms.brushColour.value.set(ring.colour);
    } else if (value.z === 0) return;
    else value.setZ(0);
    this.invalidate();
  }

  lookChanged(light = false): void {
    if (light) this.lightChanged = true;
    this.coloursChanged = true;
    if (this.frame) {
      this.takeWater();
      this.cameras.setGround(this.ground!);
      this.particles.set(this.look.particles ? this.frame.particles : null);
      this.wireframe.lines.visible = this.look.wireframe && this.frame.vertices !== null;
    }
    this.invalidate();
  }

  /** Colour the ground as in one kind of country. */
  setCountry(name: string, palette: Palette): void {
    this.look.country = name;
    usePalette(this.uniforms, palette);
    this.lookChanged();
  }

  /** Listen to how long images take. */
  onMeasured(listener: (by: Measured) => void): void {
    this.measured = listener;
  }

  /** Change the quality; on trial, the first images are small. */
  setTier(tier: Tier, trial = false): void {
    this.tier = tier;
    this.trial = trial && tier !== "low";
    this.quality = QUALITIES[tier];
    this.target.dispose();
    this.target = new WebGLRenderTarget(1, 1, {
      type: HalfFloatType,
      format: RGBAFormat,
      minFilter: LinearFilter,
      magFilter: LinearFilter,
      samples: this.quality.samples,
    });
    const noise = this.uniforms.noise.value;
    noise.anisotropy = this.now.anisotropy = this.start.anisotropy = this.quality.anisotropy;
    noise.needsUpdate = true;
    this.lightChanged = true;
    this.lightDrawnAt = -Infinity;
    this.place();
    if (this.frame) this.takeWater();
    this.resize();
  }

  frameWholeBlock(): void {
    const { ground } = this;
    if (ground) this.cameras.frame(outline(ground, this.uniforms.floorLevel.value));
  }

  // ---- coordinates

  /** Metres per cell of the fields sent, which may be coarser than the simulation's. */
  get cellSize(): number {
    if (!this.frame) return 1;
    return (this.frame.header.cell_size * this.frame.header.columns) / this.frame.elevation.columns;
  }

  get ground(): Ground | null {
    if (!this.frame) return null;
    return {
      elevation: this.frame.elevation,
      water: this.look.water ? this.water : null,
      cellSize: this.cellSize,
      datum: this.datum,
      exaggeration: this.look.exaggeration,
      worldScale: this.worldScale,
      detail: this.detail,
    };
  }

  /** Relief finer than the cells; the start of a run that is compared has the same. */
  private get detail(): Detail {
    const height = this.quality.nearLevels > 0 ? DETAIL * Math.min(this.look.detail, 2) : 0;
    return { height, steep: this.uniforms.steepReference.value, dry: SHALLOWEST * this.cellSize };
  }

  /** The place on the terrain under a point of the window. */
  placeAt(clientX: number, clientY: number): Place | null {
    const ground = this.ground;
    if (!ground) return null;
    const box = this.canvas.getBoundingClientRect();
    const x = ((clientX - box.left) / box.width) * 2 - 1;
    const y = 1 - ((clientY - box.top) / box.height) * 2;
    const camera = this.cameras.current;
    camera.updateMatrixWorld();
    const near = new Vector3(x, y, -1).unproject(camera);
    const far = new Vector3(x, y, 1).unproject(camera);
    return pick(ground, near, far.sub(near).normalize());
  }

  /** The place on the terrain in the middle of what the panels leave free. */
  get placeInMiddle(): Place | null {
    const box = this.canvas.getBoundingClientRect();
    const { right, bottom } = this.covered;
    return this.placeAt(box.left + 0.5 * (box.width - right), box.top + 0.5 * (box.height - bottom));
  }

  /** Where a place on the terrain appears in the window, or null behind the camera. */
  screenPlace(x: number, y: number): { left: number; top: number } | null {
    const ground = this.ground;
    if (!ground) return null;
    const at = new Vector3(...toWorld(ground, x, y, heightAt(ground, x, y))).project(this.cameras.current);
    if (at.z > 1) return null;
    const box = this.canvas.getBoundingClientRect();
    return { left: box.left + (0.5 + 0.5 * at.x) * box.width, top: box.top + (0.5 - 0.5 * at.y) * box.height };
  }

  get strataLayers(): number {
    return this.uniforms.strataLayers.value;
  }

  // ---- drawing

  onDraw(listener: () => void): void {
    this.afterDraw.push(listener);
  }

  /** Whether the newest frame is drawn in full resolution, with its light. */
  get isAtRest(): boolean {
    return (
      this.frame !== null &&
      !this.requested &&
      !this.trial &&
      this.riversAwaited === 0 &&
      !this.lightChanged &&
      (this.atRest || this.quality.movingScale === 1)
    );
  }

  invalidate(): void {
    this.atRest = false;
    this.request();
  }

  private request(): void {
    if (!this.requested) this.requested = requestAnimationFrame((now) => this.draw(now));
  }

  resize(): void {
    const ratio = Math.min(window.devicePixelRatio, this.quality.pixelRatio);
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(this.canvas.clientWidth || 1, this.canvas.clientHeight || 1, false);
    this.cameras.resize(this.canvas.clientWidth || 1, this.canvas.clientHeight || 1, this.covered);
    this.invalidate();
  }

  private draw(now: number): void {
    this.requested = 0;
    if (!this.frame) return;
    const began = performance.now();
    const flying = this.cameras.fly(now);
    this.prepare(now);
    const size = this.renderer.getDrawingBufferSize(new Vector2());
    const { trial } = this;
    const scale = trial ? TRIAL : this.atRest ? 1 : this.quality.movingScale;
    this.drawPicture(Math.ceil(size.x * scale), Math.ceil(size.y * scale), true);
    if (scale < 1 && !trial) this.drawWhenAtRest();
    this.stopwatch.time(began, (milliseconds) => {
      if (trial && this.trial) {
        this.trial = false;
        this.invalidate();
      }
      this.measured({ milliseconds, trial });
    });
    this.drawMilliseconds = performance.now() - began;
    this.drawn++;
    this.frameDrawn(this.frame.header.frame);
    for (const listener of this.afterDraw) listener();
    if (flying) this.invalidate();
  }

  private drawWhenAtRest(): void {
    window.clearTimeout(this.restTimer);
    this.restTimer = window.setTimeout(() => {
      this.atRest = true;
      this.request();
    }, REST);
  }

  /** Update the GPU's copies; the light only as often as the quality allows. */
  private prepare(now: number): void {
    const cell = this.cellSize;
    if (this.fieldsChanged) {
      this.now.update(this.layers, this.datum, cell);
      this.fieldsChanged = false;
    }
    const comparing = this.split !== null && this.before !== null;
    if (comparing && this.startChanged) this.start.update(this.startLayers, this.datum, cell);
    const wait = this.lightDrawnAt + this.quality.lightInterval - now;
    if ((this.lightChanged || (comparing && this.startChanged)) && wait <= 0) {
      const by = {
        sun: sunDirection(this.look),
        exaggeration: this.look.exaggeration,
        highest: this.frame!.elevation.high - this.datum,
      };
      this.now.relight(by, cell, this.quality);
      if (comparing) {
        this.start.relight({ ...by, highest: this.before!.high - this.datum }, cell, this.quality);
        this.startChanged = false;
      }
      this.lightChanged = false;
      this.lightDrawnAt = now;
      this.coloursChanged = true;
    } else if (this.lightChanged && !this.lightTimer) {
      this.lightTimer = window.setTimeout(() => {
        this.lightTimer = 0;
        this.invalidate();
      }, wait);
    }
    this.applyLook();
    if (this.coloursChanged && this.quality.reflectionSteps > 0 && this.water) this.drawGroundColours();
  }

  /** The ground from above, as water mirrors it. */
  private drawGroundColours(): void {
    const u = this.uniforms;
    this.useSurface(this.now, true);
    u.fogDensity.value = 0;
    const radius = u.brush.value.z;
    u.brush.value.z = 0;
    this.block.plan.run(this.renderer, this.groundColours);
    u.brush.value.z = radius;
    u.groundColours.value = this.groundColours.texture;
    this.coloursChanged = false;
  }

  /** Draw the view, or one tile of a larger image, onto the canvas. */
  drawPicture(
    width: number,
    height: number,
    opaque: boolean,
    tile?: { x: number; y: number; width: number; height: number },
  ): void {
    const camera = this.cameras.current;
    if (this.target.width !== width || this.target.height !== height) this.target.setSize(width, height);
    camera.updateMatrixWorld();
    this.setEye(camera, width, height, opaque);
    const comparing = this.split !== null && this.before !== null;
    if (comparing) {
      const edge = Math.round(this.splitInTile(width, tile));
      this.drawHalf(this.start, 0, edge, height, false);
      this.drawHalf(this.now, edge, width - edge, height, true);
    } else this.drawHalf(this.now, 0, width, height, true);
    const f = this.finish.uniforms;
    f.scene.value = this.target.texture;
    f.exposure.value = BASE_EXPOSURE * this.look.exposure;
    this.renderer.getDrawingBufferSize(f.targetSize.value);
    f.tileOffset.value.set(tile?.x ?? 0, tile?.y ?? 0);
    f.pictureSize.value = tile
      ? new Vector2(tile.width, tile.height)
      : this.renderer.getDrawingBufferSize(new Vector2());
    f.smoothEdges.value = this.quality.samples === 0;
    this.finish.run(this.renderer, null);
  }

  private splitInTile(width: number, tile?: { x: number; width: number }): number {
    const at = this.split! * (tile?.width ?? width) - (tile?.x ?? 0);
    return Math.min(Math.max(at, 0), width);
  }

  private drawHalf(surface: Surface, x: number, width: number, height: number, isNow: boolean): void {
    if (width <= 0) return;
    const u = this.uniforms;
    this.useSurface(surface, isNow);
    const overlay = u.overlayOpacity.value;
    // Water would hide the overlay, often where it is most interesting.
    this.block.showWater(this.look.water && isNow && this.water !== null && overlay === 0 && this.look.clay < 0.5);
    this.block.showSurroundings(u.surroundings.value, this.block.waterBack.visible);
    if (!isNow) u.overlayOpacity.value = 0;
    this.target.scissorTest = true;
    this.target.scissor.set(x, 0, width, height);
    this.renderer.setRenderTarget(this.target);
    this.renderer.render(this.block.scene, this.cameras.current);
    this.renderer.setRenderTarget(null);
    u.overlayOpacity.value = overlay;
  }

  private useSurface(surface: Surface, isNow: boolean): void {
    const u = this.uniforms;
    u.fields.value = surface.fields;
    u.shape.value = surface.shape;
    u.light.value = surface.light;
    u.waterline.value = surface.waterline;
    u.history.value = this.history.texture;
    u.historyKnown.value = isNow && this.history.isKnown ? 1 : 0; // the start has none
  }

  private setEye(camera: PerspectiveCamera | OrthographicCamera, width: number, height: number, opaque: boolean): void {
    const u = this.uniforms;
    const plan = this.cameras.planShown;
    u.eye.value.copy(camera.position);
    u.viewToWorld.value.copy(camera.matrixWorld);
    const p = camera.projectionMatrix.elements;
    u.viewExtent.value.set(plan ? 0 : 1 / p[0], plan ? 0 : 1 / p[5]);
    u.viewCentre.value.set(plan ? 0 : p[8] / p[0], plan ? 0 : p[9] / p[5]);
    u.targetSize.value.set(width, height);
    u.pixelsPerUnit.value = 0.5 * height * p[5];
    u.opaque.value = opaque ? 1 : 0;
    this.placeNear(plan ? null : camera.position);
    this.setAir(camera.position, plan || !opaque);
  }

  /** Move the finer meshes under the eye, if it is near the ground. */
  private placeNear(eye: Vector3 | null): void {
    const { uniforms: u, block } = this;
    const sides = [u.extent.value.x, u.extent.value.y].map((side) => side * u.worldScale.value) as [number, number];
    const reach = Math.min(...sides.map((side, axis) => (0.23 * NEAR_QUADS * side) / block.quads[axis]!));
    const { detail } = this;
    const on = eye !== null && this.quality.nearLevels > 0 && nearness(this.ground!, eye) < reach;
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
    u.fogDensity.value = none ? 0 : (0.03 + 0.32 / (1 + away * away)) * this.look.fog;
  }

  private applyLook(): void {
    const { uniforms: u, look } = this;
    u.sunDirection.value.set(...sunDirection(look));
    u.exaggeration.value = look.exaggeration;
    // Snow would be mistaken for a colour of the map.
    u.snowLine.value = look.snow && u.overlayOpacity.value === 0 ? look.snowLine : 9;
    u.sunStrength.value = look.sunStrength;
    u.skyFill.value = look.skyFill;
    u.overcast.value = look.overcast;
    u.clay.value = look.clay;
    u.clouds.value = this.quality.clouds ? look.clouds : 0;
    u.detail.value = look.detail;
    u.closeGrain.value = this.quality.closeGrain;
    u.reflectionSteps.value = this.quality.reflectionSteps;
    u.flowSamples.value = this.quality.flowSamples;
    u.chuteSamples.value = this.quality.chuteSamples;
    u.sedimentTint.value = look.sedimentTint;
    u.clarity.value = look.clarity;
    u.contourInterval.value = look.contours ? niceInterval(u.relief.value / 20) : 0;
    u.ripple.value = this.stillness.matches ? 0 : (performance.now() / 1000) % 1000;
    if (u.overlayOpacity.value > 0) u.overlayOpacity.value = Math.max(look.overlayOpacity, 0.01);
  }

  private place(): void {
    if (!this.frame) return;
    const { rows, columns } = this.frame.elevation;
    const u = this.uniforms;
    const cell = this.cellSize;
    u.extent.value.set(columns * cell, rows * cell);
    u.cellSize.value = cell;
    u.shallowest.value = SHALLOWEST * cell;
    u.worldScale.value = this.worldScale;
    u.datum.value = this.datum;
    u.size.value = this.frame.header.cell_size;
    const side = Math.max(rows, columns) * cell;
    u.grainScale.value = grainScale(side);
    u.floorLevel.value = -PLINTH * side;
    const most = this.quality.mesh;
    const scale = Math.min(1, most / Math.max(rows, columns));
    const finer = Math.max(rows, columns) < most;
    u.finerThanField.value = finer || this.quality.nearLevels > 0;
    const vertices = (cells: number): number =>
      finer ? Math.round((most * cells) / Math.max(rows, columns)) : Math.max(2, Math.round(cells * scale));
    this.block.setMesh(Math.max(2, vertices(columns)), Math.max(2, vertices(rows)));
    this.block.setSurroundings(this.quality.surroundings);
    this.block.near.setLevels(this.quality.nearLevels);
  }

  private setBefore(before: Field): void {
    this.before = before;
    this.startLayers.elevation.set(before);
    this.startChanged = true;
  }

  private setStrata(frame: Frame): void {
    const u = this.uniforms;
    if (!frame.strata) return; // sent once per run
    u.strataLayers.value = frame.strata.layers;
    const { layers, points, tops, colours } = frame.strata;
    const relative = tops.map((top) => top - this.datum);
    u.strataTops.value.dispose();
    const texture = new DataTexture(relative, points, layers * 4, RedFormat, FloatType);
    texture.minFilter = texture.magFilter = NearestFilter;
    texture.needsUpdate = true;
    u.strataTops.value = texture;
    setColours(u.strataColours.value, colours.map(fromHex));
  }

  private get worldScale(): number {
    if (!this.frame) return 1;
    return SIDE / (Math.max(this.frame.elevation.rows, this.frame.elevation.columns) * this.cellSize);
  }
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

/** World units between the eye and the ground below it, or the block beside it. */
function nearness(ground: Ground, eye: Vector3): number {
  const [wide, deep] = halfSides(ground);
  const beside = Math.hypot(Math.max(Math.abs(eye.x) - wide, 0), Math.max(Math.abs(eye.z) - deep, 0));
  return Math.hypot(beside, eye.y - surfaceAt(ground, eye.x, eye.z));
}

/** 1, 2 or 5 times a power of ten. */
function niceInterval(about: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(about, 1e-9)));
  const rest = about / power;
  return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}
