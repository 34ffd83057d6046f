// What all shaders of the block share, by name.

import { Color, DataTexture, FloatType, Matrix4, RedFormat, Vector2, Vector3 } from "three";
import { colourTexture } from "./colours";
import { noiseTexture } from "./noise";
import type { Uniforms } from "./pass";

export function stageUniforms(): Uniforms {
  const values: Record<string, unknown> = {
    fields: null,
    shape: null,
    light: null,
    noise: noiseTexture(),
    colourMap: colourTexture(),
    strataTops: new DataTexture(new Float32Array(1), 1, 1, RedFormat, FloatType),
    strataColours: colourTexture(),
    strataLayers: 0,
    extent: new Vector2(1, 1),
    worldScale: 1,
    exaggeration: 1,
    cellSize: 1,
    datum: 0,
    relief: 1,
    steepReference: 1,
    floorLevel: -1,
    finerThanField: false,
    overlayRange: new Vector2(0, 1),
    overlayLog: false,
    overlayOpacity: 0,
    overlayShading: 0.25,
    snowLine: 9,
    contourInterval: 0,
    detail: 1,
    closeGrain: 0,
    sedimentTint: 0.5,
    clarity: 1,
    ripple: 0,
    fogDensity: 0,
    brush: new Vector3(),
    brushFalloff: 0,
    brushColour: new Color(),
    sunDirection: new Vector3(0, 1, 0),
    eye: new Vector3(),
    size: 1,
    pixelsPerUnit: 1,
    viewToWorld: new Matrix4(),
    viewExtent: new Vector2(),
    viewCentre: new Vector2(),
    targetSize: new Vector2(),
    opaque: 1,
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}
