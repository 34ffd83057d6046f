// The 3D view: takes frames and view settings, keeps the GPU's copies up to date, and draws only after a change.

import type { OrthographicCamera, PerspectiveCamera } from "three";
import {
  Color,
  HalfFloatType,
  LinearFilter,
  NoToneMapping,
  RGBAFormat,
  Vector2,
  Vector3,
  WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import finishShader from "../shaders/finish.frag?raw";
import type { Field, Frame } from "../wire/frames";
import type { Colour, Palette } from "../wire/protocol";
import { Block } from "./block";
import { Cameras } from "./camera";
import { setColours } from "./colours";
import { Eye, type View } from "./eye";
import { Gestures } from "./gestures";
import { Landscape, surfaceLayers } from "./landscape";
import { defaultLook, type Look, sunDirection } from "./look";
import type { Measured } from "./pace";
import { usePalette } from "./palette";
import { Pass } from "./pass";
import { type Ground, heightAt, outline, type Place, pick, toWorld } from "./picking";
import { QUALITIES, type Quality, rendererName, type Tier } from "./quality";
import type { Scale } from "./scale";
import { stonesTexture } from "./stones";
import { Stopwatch } from "./stopwatch";
import { SHALLOWEST, Surface } from "./surface";
import { finishUniforms, type StageUniforms, stageUniforms } from "./uniforms";
import { type Box, Viewports } from "./viewports";

/** Brings sunlit snow to just below white on the filmic curve. */
const BASE_EXPOSURE = 0.74;

/** How much darker the corners of an image are. */
const VIGNETTING = 0.28;

/** Of the resolution, while a tier is on trial. */
const TRIAL = 0.25;

/** Images of a tier on trial: the first one compiles shaders. */
const TRIALS = 2;

/** Share of the trees in the first of them. */
const FEW_TREES = 0.02;

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
  /** Small images that are still to be timed: a tier that would freeze the page must not begin with a full one. */
  private trials = 0;
  /** Resolution of the image that is being drawn, as a share of the full one. */
  private drawnScale = 1;
  /** Share of the trees in it: the first trial has few, pictures that are saved have all. */
  private drawnTrees = 1;
  private readonly stopwatch: Stopwatch;
  private measured: (by: Measured) => void = () => {};
  quality: Quality;
  /** Position of the slider between before (left) and after, 0 … 1; null while it is hidden. */
  split: number | null = null;
  before: Field | null = null;
  ring: Ring | null = null;
  /** How many answers with rivers are on their way. */
  riversAwaited = 0;
  drawn = 0;
  drawMilliseconds = 0;

  /** Pixels of the window's right side and bottom that panels hide. */
  covered = { right: 0, bottom: 0 };

  /** Pixels of the window that the bars leave free for several terrains. */
  free: Box = { left: 0, top: 0, width: 1, height: 1 };
  readonly viewports = new Viewports();
  /** Number of the terrain that tools and readings are for. */
  chosen = 0;
  /** One, or several side by side. */
  readonly landscapes: Landscape[];
  private readonly start: Surface;
  private readonly startLayers = surfaceLayers();
  private readonly block: Block;
  private readonly eye: Eye;
  private readonly uniforms: StageUniforms;
  private readonly finish: Pass<ReturnType<typeof finishUniforms>>;
  private target: WebGLRenderTarget;
  private startChanged = false;
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
    this.start = new Surface(this.renderer);
    this.uniforms = stageUniforms();
    this.block = new Block(this.uniforms);
    this.eye = new Eye(this.uniforms, this.block, this.look);
    this.landscapes = [this.newLandscape()];
    this.finish = new Pass(finishShader, finishUniforms());
    this.target = sceneTarget(this.quality.samples);
    this.cameras = new Cameras(() => this.invalidate());
    this.gestures = new Gestures(canvas, this.cameras, (x, y) => this.inView(x, y));
    this.setTier(this.tier);
  }

  // ---- content

  private newLandscape(): Landscape {
    const landscape = new Landscape(this.renderer, this.block.scene, this.uniforms, this.look);
    landscape.surface.anisotropy = this.quality.anisotropy;
    return landscape;
  }

  /** The terrain that tools and readings are for. */
  private get landscape(): Landscape {
    return this.landscapes[this.chosen] ?? this.landscapes[0]!;
  }

  get frame(): Frame | null {
    return this.landscape.frame;
  }

  /** The GPU's copy of it. */
  get now(): Surface {
    return this.landscape.surface;
  }

  /** Forget the run: a restarted server numbers its runs from one again. */
  forgetRun(): void {
    for (const landscape of this.landscapes) landscape.run = -1;
  }

  /** Take a new frame, of one among several terrains if it says so. Picking uses its heights too. */
  show(frame: Frame): void {
    const { pane = 0, panes = 1 } = frame.header;
    if (this.landscapes.length !== panes) this.setCount(panes);
    const shown = this.landscapes[pane]!;
    const { fresh, resized } = shown.take(frame);
    if (fresh && panes === 1) this.before = null;
    if (frame.before) this.setBefore(frame.before);
    if (shown !== this.landscape) {
      this.invalidate();
      return;
    }
    if (resized || fresh) this.place();
    this.cullDryWater();
    shown.use(this.uniforms);
    this.cameras.setGround(this.ground!);
    this.invalidate();
  }

  /** Show so many terrains. */
  private setCount(count: number): void {
    for (const landscape of this.landscapes.splice(count)) landscape.dispose();
    while (this.landscapes.length < count) this.landscapes.push(this.newLandscape());
    this.chosen = Math.min(this.chosen, count - 1);
    this.before = null;
    this.resize();
  }

  /** Choose the terrain that tools and readings are for. */
  choose(number: number): void {
    const chosen = Math.min(number, this.landscapes.length - 1);
    if (chosen === this.chosen) return;
    this.chosen = chosen;
    if (!this.frame) return;
    this.place();
    this.cameras.setGround(this.ground!);
    this.invalidate();
  }

  get isSideBySide(): boolean {
    return this.landscapes.length > 1;
  }

  /** Show these instead of the simulation's water, until the next frame. */
  setRivers(water: Field | null): void {
    this.landscape.setRivers(water);
    this.cullDryWater();
    this.cameras.setGround(this.ground!);
    this.invalidate();
  }

  /** Several terrains share the mesh of the water, and change it whenever they are drawn. */
  private cullDryWater(of = this.landscape): void {
    const { water } = of;
    if (this.quality.cullDryWater && water) this.block.cullDryWater(water, SHALLOWEST * of.cellSize);
  }

  setOverlay(overlay: { colours: Colour[]; scale: Scale } | null): void {
    const u = this.uniforms;
    u.overlayOpacity.value = overlay ? this.look.overlayOpacity : 0;
    if (overlay) {
      const { log } = overlay.scale;
      const placed = (value: number): number => (log ? Math.log(value) : value);
      const [low, middle, high] = [placed(overlay.scale.low), placed(overlay.scale.middle), placed(overlay.scale.high)];
      u.overlayLog.value = log;
      // A layer of one value has the middle colour, which stands for zero on a diverging scale.
      if (high > low) u.overlayScale.value.set(low, middle, high);
      else u.overlayScale.value.set(low - 0.5, low, low + 0.5);
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
    for (const landscape of this.landscapes) {
      landscape.lookChanged();
      if (light) landscape.lightChanged = true;
    }
    this.cullDryWater();
    if (this.frame) this.cameras.setGround(this.ground!);
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
    this.trials = trial && tier !== "low" ? TRIALS : 0;
    this.quality = QUALITIES[tier];
    this.target.dispose();
    this.target = sceneTarget(this.quality.samples);
    const noise = this.uniforms.noise.value;
    noise.anisotropy = this.start.anisotropy = this.quality.anisotropy;
    noise.needsUpdate = true;
    this.block.setCloseGrain(this.quality.closeGrain);
    if (this.quality.closeGrain) {
      this.uniforms.stones.value ??= stonesTexture();
      const stones = this.uniforms.stones.value;
      stones.anisotropy = this.quality.anisotropy;
      stones.needsUpdate = true;
    }
    for (const landscape of this.landscapes) {
      landscape.surface.anisotropy = this.quality.anisotropy;
      landscape.lightChanged = true;
      landscape.lightDrawnAt = -Infinity;
      landscape.takeWater();
    }
    this.place();
    this.cullDryWater();
    this.resize();
  }

  frameWholeBlock(): void {
    const { ground } = this;
    if (ground) this.cameras.frame(outline(ground, this.uniforms.floorLevel.value));
  }

  // ---- coordinates

  /** Metres per cell of the fields sent, which may be coarser than the simulation's. */
  get cellSize(): number {
    return this.landscape.cellSize;
  }

  get ground(): Ground | null {
    return this.landscape.ground(this.quality);
  }

  /** A point of the window as the camera counts, −1 … 1, in the pane where it lies. */
  private inView(clientX: number, clientY: number): { x: number; y: number } {
    return this.viewports.inView(this.viewports.at(clientX, clientY) ?? this.chosen, clientX, clientY);
  }

  /** The place on the terrain under a point of the window; side by side, on that of the pane there. */
  placeAt(clientX: number, clientY: number): Place | null {
    const pane = this.viewports.at(clientX, clientY);
    const ground = pane === null ? null : this.landscapes[pane]?.ground(this.quality);
    if (pane === null || !ground) return null;
    const { x, y } = this.viewports.inView(pane, clientX, clientY);
    return this.seenFrom(ground, (camera) => {
      const near = new Vector3(x, y, -1).unproject(camera);
      const far = new Vector3(x, y, 1).unproject(camera);
      return pick(ground, near, far.sub(near).normalize());
    });
  }

  /** Look with the camera as it stands on one terrain: the same place may be higher there. */
  private seenFrom<Seen>(ground: Ground, look: (camera: PerspectiveCamera | OrthographicCamera) => Seen): Seen {
    const camera = this.cameras.current;
    const { y } = camera.position;
    if (this.isSideBySide && !this.cameras.planShown) camera.position.y = this.cameras.rig.heightOver(ground);
    camera.updateMatrixWorld();
    try {
      return look(camera);
    } finally {
      camera.position.y = y;
      camera.updateMatrixWorld();
    }
  }

  /** The place on the terrain in the middle of what the panels leave free. */
  get placeInMiddle(): Place | null {
    const box = this.viewports.boxes[this.chosen] ?? this.viewports.boxes[0]!;
    const { right, bottom } = this.isSideBySide ? { right: 0, bottom: 0 } : this.covered;
    return this.placeAt(box.left + 0.5 * (box.width - right), box.top + 0.5 * (box.height - bottom));
  }

  /** Where a place on the terrain appears in the window, or null behind the camera. */
  screenPlace(x: number, y: number): { left: number; top: number } | null {
    const ground = this.ground;
    if (!ground) return null;
    const at = new Vector3(...toWorld(ground, x, y, heightAt(ground, x, y))).project(this.cameras.current);
    if (at.z > 1) return null;
    const box = this.viewports.boxes[this.chosen] ?? this.viewports.boxes[0]!;
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
      this.trials === 0 &&
      this.riversAwaited === 0 &&
      this.landscapes.every(({ lightChanged }) => !lightChanged) &&
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
    const [width, height] = [this.canvas.clientWidth || 1, this.canvas.clientHeight || 1];
    const { left, top } = this.canvas.getBoundingClientRect();
    this.renderer.setSize(width, height, false);
    this.viewports.layOut(this.landscapes.length, { left, top, width, height }, this.free);
    const box = this.viewports.boxes[0]!;
    if (this.isSideBySide) this.cameras.resize(box.width, box.height, { right: 0, bottom: 0 });
    else this.cameras.resize(width, height, this.covered);
    this.invalidate();
  }

  private draw(now: number): void {
    this.requested = 0;
    if (!this.frame) return;
    const began = performance.now();
    const flying = this.cameras.fly(now);
    this.prepare(now);
    const size = this.renderer.getDrawingBufferSize(new Vector2());
    const trial = this.trials > 0;
    const scale = trial ? TRIAL : this.atRest ? 1 : this.quality.movingScale;
    this.drawnScale = scale;
    this.drawnTrees = this.trials === TRIALS ? FEW_TREES : 1;
    this.drawPicture(Math.ceil(size.x * scale), Math.ceil(size.y * scale), true);
    this.drawnScale = this.drawnTrees = 1;
    if (scale < 1 && !trial) this.drawWhenAtRest();
    const { target } = this;
    this.stopwatch.time(began, (milliseconds) => {
      // An image of the tier before says nothing of this one, whose first was drawn meanwhile and not timed.
      if (target !== this.target) return this.invalidate();
      if (trial) {
        this.trials--;
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
    const comparing = this.split !== null && this.before !== null;
    if (comparing && this.startChanged) this.start.update(this.startLayers, this.landscape.datum, this.cellSize);
    for (const landscape of this.landscapes) {
      landscape.update();
      this.prepareLight(landscape, now, comparing);
    }
    this.applyLook();
    if (this.quality.reflectionSteps > 0)
      for (const landscape of this.landscapes)
        if (landscape.coloursChanged && landscape.water) this.drawGroundColours(landscape);
  }

  private prepareLight(of: Landscape, now: number, comparing: boolean): void {
    if (!of.frame) return;
    const wait = of.lightDrawnAt + this.quality.lightInterval - now;
    if ((of.lightChanged || (comparing && this.startChanged)) && wait <= 0) {
      of.relight(this.quality, now);
      if (comparing) {
        const { exaggeration } = this.look;
        const by = { sun: sunDirection(this.look), exaggeration, steep: of.own.steepReference.value };
        this.start.relight({ ...by, highest: this.before!.high - of.datum }, of.cellSize, this.quality);
        this.startChanged = false;
      }
    } else if (of.lightChanged && !this.lightTimer) {
      this.lightTimer = window.setTimeout(() => {
        this.lightTimer = 0;
        this.invalidate();
      }, wait);
    }
  }

  /** The ground from above, as water mirrors it. */
  private drawGroundColours(of: Landscape): void {
    const u = this.uniforms;
    of.use(u);
    u.groundColours.value = null;
    u.fogDensity.value = 0;
    const radius = u.brush.value.z;
    u.brush.value.z = 0;
    this.block.plan.run(this.renderer, of.groundColours);
    u.brush.value.z = radius;
    of.coloursChanged = false;
  }

  /** Draw the view, or one tile of a larger image, onto the canvas. */
  drawPicture(
    width: number,
    height: number,
    opaque: boolean,
    tile?: { x: number; y: number; width: number; height: number },
  ): void {
    if (this.target.width !== width || this.target.height !== height) this.target.setSize(width, height);
    if (this.isSideBySide) this.drawPanes(width, height, opaque);
    else {
      const whole = { left: 0, top: 0, width, height };
      this.cameras.current.updateMatrixWorld();
      const view = this.viewFrom(this.cameras.current, opaque);
      this.eye.open(this.landscape, view, whole);
      if (this.split !== null && this.before !== null) {
        const edge = Math.round(this.splitInTile(width, tile));
        this.drawPart(this.landscape, view, { ...whole, width: edge }, whole, this.start);
        this.drawPart(this.landscape, view, { ...whole, left: edge, width: width - edge }, whole);
      } else this.drawPart(this.landscape, view, whole, whole);
    }
    const f = this.finish.uniforms;
    f.scene.value = this.target.texture;
    f.exposure.value = BASE_EXPOSURE * this.look.exposure;
    this.renderer.getDrawingBufferSize(f.targetSize.value);
    f.tileOffset.value.set(tile?.x ?? 0, tile?.y ?? 0);
    f.pictureSize.value = tile
      ? new Vector2(tile.width, tile.height)
      : this.renderer.getDrawingBufferSize(new Vector2());
    f.vignetting.value = this.isSideBySide ? 0 : VIGNETTING; // panes are to be compared
    f.smoothEdges.value = this.quality.samples === 0;
    this.finish.run(this.renderer, null);
  }

  private splitInTile(width: number, tile?: { x: number; width: number }): number {
    const at = this.split! * (tile?.width ?? width) - (tile?.x ?? 0);
    return Math.min(Math.max(at, 0), width);
  }

  private viewFrom(camera: PerspectiveCamera | OrthographicCamera, opaque: boolean): View {
    const { quality, drawnScale: scale } = this;
    const trees = (this.drawnTrees * quality.trees) / this.landscapes.length;
    return { camera, plan: this.cameras.planShown, opaque, quality, scale, trees };
  }

  /** Every terrain in its own part of the image, seen from the same place. */
  private drawPanes(width: number, height: number, opaque: boolean): void {
    const window = this.canvas.getBoundingClientRect();
    const [across, up] = [width / window.width, height / window.height];
    this.target.scissorTest = false;
    this.renderer.setRenderTarget(this.target);
    this.renderer.clear();
    for (const [i, landscape] of this.landscapes.entries()) {
      const ground = landscape.ground(this.quality);
      const box = this.viewports.boxes[i];
      if (!ground || !box) continue;
      const [left, right] = [box.left - window.left, box.left - window.left + box.width].map((x) =>
        Math.round(x * across),
      );
      const bottom = box.top - window.top + box.height;
      const [low, high] = [window.height - bottom, window.height - bottom + box.height].map((y) => Math.round(y * up));
      // Counted from the bottom, as the GPU does.
      const part = { left: left!, top: low!, width: right! - left!, height: high! - low! };
      this.cullDryWater(landscape);
      this.seenFrom(ground, (camera) => {
        const view = this.viewFrom(camera, opaque);
        this.eye.open(landscape, view, part);
        this.drawPart(landscape, view, part, part);
      });
    }
    this.target.viewport.set(0, 0, width, height);
  }

  /** Draw a terrain, or what it is compared with, into a part of the image; all of it would fill `whole`. */
  private drawPart(of: Landscape, view: View, part: Box, whole: Box, compared?: Surface): void {
    if (part.width <= 0 || part.height <= 0) return;
    const u = this.uniforms;
    this.useSurface(of, compared);
    const overlay = u.overlayOpacity.value;
    // What is compared has no overlay, and not every model the same layers.
    if (compared || !of.frame?.overlay) u.overlayOpacity.value = 0;
    this.eye.placeTrees(of, view, part, whole);
    const bare = u.overlayOpacity.value === 0 && this.look.clay < 0.5;
    // Water would hide the overlay, often where it is most interesting.
    this.block.showWater(this.look.water && !compared && of.water !== null && bare);
    this.block.showSurroundings(u.surroundings.value, this.block.waterBack.visible);
    for (const landscape of this.landscapes) landscape.showOwn(landscape === of);
    this.target.scissorTest = true;
    this.target.scissor.set(part.left, part.top, part.width, part.height);
    this.target.viewport.set(whole.left, whole.top, whole.width, whole.height);
    this.renderer.setRenderTarget(this.target);
    this.renderer.render(this.block.scene, this.cameras.current);
    this.renderer.setRenderTarget(null);
    u.overlayOpacity.value = overlay;
  }

  private useSurface(of: Landscape, compared?: Surface): void {
    const u = this.uniforms;
    of.use(u);
    if (!compared) return;
    u.fields.value = compared.fields;
    u.shape.value = compared.shape;
    u.light.value = compared.light;
    u.gullies.value = compared.gullies;
    u.waterline.value = compared.waterline;
    u.historyKnown.value = 0; // the start has none
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
    u.reflectionSteps.value = this.quality.reflectionSteps;
    u.flowSamples.value = this.quality.flowSamples;
    u.sedimentTint.value = look.sedimentTint;
    u.clarity.value = look.clarity;
    u.wooded.value = look.trees ? 1 : 0;
    u.contourInterval.value = look.contours ? niceInterval(u.relief.value / 20) : 0;
    u.ripple.value = this.stillness.matches ? 0 : (performance.now() / 1000) % 1000;
    if (u.overlayOpacity.value > 0) u.overlayOpacity.value = Math.max(look.overlayOpacity, 0.01);
  }

  private place(): void {
    if (!this.frame) return;
    const { rows, columns } = this.frame.elevation;
    const most = this.quality.mesh;
    const scale = Math.min(1, most / Math.max(rows, columns));
    const finer = Math.max(rows, columns) < most;
    for (const { own } of this.landscapes) own.finerThanField.value = finer || this.quality.nearLevels > 0;
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
}

/** Where the scene is drawn, in linear light; shadows of trees use its stencil. */
function sceneTarget(samples: number): WebGLRenderTarget {
  return new WebGLRenderTarget(1, 1, {
    type: HalfFloatType,
    format: RGBAFormat,
    minFilter: LinearFilter,
    magFilter: LinearFilter,
    stencilBuffer: true,
    samples,
  });
}

/** 1, 2 or 5 times a power of ten. */
function niceInterval(about: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(about, 1e-9)));
  const rest = about / power;
  return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}
