// One state of the terrain on the GPU: its fields unpacked to floats, their shape, and the light that falls on them.

import type { IUniform, Texture, WebGLRenderer } from "three";
import {
  ClampToEdgeWrapping,
  FloatType,
  HalfFloatType,
  LinearFilter,
  LinearMipmapLinearFilter,
  NearestFilter,
  RGBAFormat,
  Vector2,
  Vector3,
  WebGLRenderTarget,
} from "three";
import gulliesShader from "../shaders/gullies.frag?raw";
import lightShader from "../shaders/light.frag?raw";
import shapeShader from "../shaders/shape.frag?raw";
import softenShader from "../shaders/soften.frag?raw";
import unpackShader from "../shaders/unpack.frag?raw";
import waterlineShader from "../shaders/waterline.frag?raw";
import type { LayerTexture } from "./layers";
import { Pass } from "./pass";
import type { Quality } from "./quality";

/** Depth in cells below which no water is drawn. */
export const SHALLOWEST = 0.035;

/** Of the map of gullies, at most: finer ones are left to the noise of the ground. */
const TEXELS_PER_CELL = 5;

export interface SurfaceLayers {
  elevation: LayerTexture;
  water: LayerTexture;
  suspended: LayerTexture;
  overlay: LayerTexture;
}

export interface Lighting {
  sun: [number, number, number];
  exaggeration: number;
  highest: number;
  /** The slope that counts as steep. */
  steep: number;
}

export class Surface {
  private fieldsTarget: WebGLRenderTarget;
  private shapeTarget: WebGLRenderTarget;
  private waterlineTarget: WebGLRenderTarget;
  private roughLight: WebGLRenderTarget;
  private lightTarget: WebGLRenderTarget;
  private gulliesTarget: WebGLRenderTarget;
  /** What the shape follows from, and what the gullies were drawn for. */
  private ground: unknown[] = [];
  private carvedFor: unknown[] = [];
  anisotropy = 1;
  private readonly unpack = new Pass(
    unpackShader,
    uniforms(
      "elevation",
      "water",
      "suspended",
      "overlay",
      "elevationRange",
      "waterRange",
      "suspendedRange",
      "overlayRange",
      "datum",
    ),
  );
  private readonly waterlining = new Pass(waterlineShader, uniforms("fields", "cellSize", "shallowest"));
  private readonly shaping = new Pass(shapeShader, uniforms("fields", "cellSize"));
  private readonly lighting = new Pass(
    lightShader,
    uniforms(
      "fields",
      "cellSize",
      "exaggeration",
      "sunDirection",
      "highest",
      "shadowSteps",
      "skyDirections",
      "lightTexel",
    ),
  );
  private readonly carving = new Pass(
    gulliesShader,
    uniforms("fields", "shape", "steepReference", "gullyOctaves", "gullyTexel"),
  );
  private readonly softening = new Pass(softenShader, uniforms("light", "fields", "cellSize"));

  constructor(private readonly renderer: WebGLRenderer) {
    this.fieldsTarget = this.newFields(1, 1);
    this.shapeTarget = smoothTarget(1, 1, true);
    this.waterlineTarget = smoothTarget(1, 1, true);
    this.roughLight = smoothTarget(1, 1, false);
    this.lightTarget = smoothTarget(1, 1, false);
    this.gulliesTarget = smoothTarget(1, 1, true);
  }

  get fields(): Texture {
    return this.fieldsTarget.texture;
  }
  get shape(): Texture {
    return this.shapeTarget.texture;
  }
  get waterline(): Texture {
    return this.waterlineTarget.texture;
  }
  get light(): Texture {
    return this.lightTarget.texture;
  }
  get gullies(): Texture {
    return this.gulliesTarget.texture;
  }
  get columns(): number {
    return this.fieldsTarget.width;
  }

  /** Unpack new layers and compute their slopes; the light is unchanged until `relight`. */
  update(layers: SurfaceLayers, datum: number, cellSize: number): void {
    const { texture } = layers.elevation;
    const { width, height } = texture.image as { width: number; height: number };
    this.ground = [texture, texture.version, datum, cellSize];
    if (this.fieldsTarget.width !== width || this.fieldsTarget.height !== height) {
      this.fieldsTarget.dispose();
      this.shapeTarget.dispose();
      this.waterlineTarget.dispose();
      this.fieldsTarget = this.newFields(width, height);
      this.shapeTarget = smoothTarget(width, height, true);
      this.waterlineTarget = smoothTarget(width, height, true);
    }
    this.shapeTarget.texture.anisotropy = this.anisotropy;
    const u = this.unpack.uniforms;
    for (const name of ["elevation", "water", "suspended", "overlay"] as const) {
      const layer = layers[name];
      u[name].value = layer.texture;
      u[`${name}Range`].value = new Vector2(layer.low, layer.high);
    }
    u.datum.value = datum;
    this.unpack.run(this.renderer, this.fieldsTarget);
    this.shaping.uniforms.fields.value = this.fields;
    this.shaping.uniforms.cellSize.value = cellSize;
    this.shaping.run(this.renderer, this.shapeTarget);
    const w = this.waterlining.uniforms;
    w.fields.value = this.fields;
    w.cellSize.value = cellSize;
    w.shallowest.value = SHALLOWEST * cellSize;
    this.waterlining.run(this.renderer, this.waterlineTarget);
  }

  /** The slower pass: shadows and occlusion. */
  relight(by: Lighting, cellSize: number, quality: Quality): void {
    const shrink = Math.min(1, quality.light / Math.max(this.fieldsTarget.width, this.fieldsTarget.height));
    const width = Math.max(1, Math.round(this.fieldsTarget.width * shrink));
    const height = Math.max(1, Math.round(this.fieldsTarget.height * shrink));
    this.roughLight.setSize(width, height);
    this.lightTarget.setSize(width, height);
    const u = this.lighting.uniforms;
    u.fields.value = this.fields;
    u.cellSize.value = cellSize;
    u.exaggeration.value = by.exaggeration;
    u.sunDirection.value = new Vector3(...by.sun);
    u.highest.value = by.highest;
    u.shadowSteps.value = quality.shadowSteps;
    u.skyDirections.value = quality.skyDirections;
    u.lightTexel.value = new Vector2(1 / width, 1 / height);
    this.lighting.run(this.renderer, this.roughLight);
    const s = this.softening.uniforms;
    s.light.value = this.roughLight.texture;
    s.fields.value = this.fields;
    s.cellSize.value = cellSize;
    this.softening.run(this.renderer, this.lightTarget);
    this.carve(by.steep, quality);
  }

  /** Continue the valleys below the size of the cells; not again while only the sun or the water has changed. */
  private carve(steep: number, quality: Quality): void {
    const wanted = [...this.ground, steep, quality.gullies, quality.gullyOctaves, this.anisotropy];
    if (wanted.every((part, i) => part === this.carvedFor[i])) return;
    this.carvedFor = wanted;
    const { width, height } = this.fieldsTarget;
    const finer = Math.min(quality.gullies / Math.max(width, height), TEXELS_PER_CELL);
    this.gulliesTarget.setSize(Math.max(1, Math.round(width * finer)), Math.max(1, Math.round(height * finer)));
    this.gulliesTarget.texture.anisotropy = this.anisotropy;
    const u = this.carving.uniforms;
    u.fields.value = this.fields;
    u.shape.value = this.shape;
    u.steepReference.value = steep;
    u.gullyOctaves.value = quality.gullyOctaves;
    u.gullyTexel.value = new Vector2(1 / this.gulliesTarget.width, 1 / this.gulliesTarget.height);
    this.carving.run(this.renderer, this.gulliesTarget);
  }

  dispose(): void {
    const { fieldsTarget, shapeTarget, waterlineTarget, roughLight, lightTarget, gulliesTarget } = this;
    for (const target of [fieldsTarget, shapeTarget, waterlineTarget, roughLight, lightTarget, gulliesTarget])
      target.dispose();
    for (const pass of [this.unpack, this.waterlining, this.shaping, this.lighting, this.softening, this.carving])
      pass.dispose();
  }

  private newFields(width: number, height: number): WebGLRenderTarget {
    // Float textures filter linearly only with an extension that some tablets lack; there the shading is a little coarser.
    const filter = this.renderer.extensions.has("OES_texture_float_linear") ? LinearFilter : NearestFilter;
    return new WebGLRenderTarget(width, height, {
      type: FloatType,
      format: RGBAFormat,
      minFilter: filter,
      magFilter: filter,
      wrapS: ClampToEdgeWrapping,
      wrapT: ClampToEdgeWrapping,
      depthBuffer: false,
      generateMipmaps: false,
    });
  }
}

function smoothTarget(width: number, height: number, mipmaps: boolean): WebGLRenderTarget {
  return new WebGLRenderTarget(width, height, {
    type: HalfFloatType,
    format: RGBAFormat,
    magFilter: LinearFilter,
    minFilter: mipmaps ? LinearMipmapLinearFilter : LinearFilter,
    depthBuffer: false,
    generateMipmaps: mipmaps,
  });
}

function uniforms<Name extends string>(...names: Name[]): Record<Name, IUniform> {
  return Object.fromEntries(names.map((name) => [name, { value: null }])) as Record<Name, IUniform>;
}
