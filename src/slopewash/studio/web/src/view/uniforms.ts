// Uniforms that all shaders of the block share, those that each terrain sets for itself, and those of the finishing pass.

import { Color, DataTexture, FloatType, Matrix4, RedFormat, type Texture, Vector2, Vector3, Vector4 } from "three";
import { colourTexture } from "./colours";
import { noiseTexture } from "./noise";
import { paletteColours } from "./palette";
import { uniformsOf } from "./pass";
import { TREE_SPACING } from "./trees";

export type OwnUniforms = ReturnType<typeof ownUniforms>;
export type StageUniforms = ReturnType<typeof stageUniforms>;

/** Those that each terrain has its own values for. */
export function ownUniforms() {
  return uniformsOf({
    fields: null as Texture | null,
    shape: null as Texture | null,
    light: null as Texture | null,
    gullies: null as Texture | null,
    waterline: null as Texture | null,
    groundColours: null as Texture | null,
    shallowest: 0,
    riversDrawn: 0,
    surroundingsLevel: 0,
    bedTops: new DataTexture(new Float32Array(1), 1, 1, RedFormat, FloatType),
    bedTable: new DataTexture(new Uint8Array(4), 1, 1),
    bedDepth: 0,
    strataTops: new DataTexture(new Float32Array(1), 1, 1, RedFormat, FloatType),
    strataLayers: 0,
    extent: new Vector2(1, 1),
    worldScale: 1,
    cellSize: 1,
    datum: 0,
    relief: 1,
    summit: 1,
    steepReference: 1,
    floorLevel: -1,
    finerThanField: false,
    history: null as Texture | null,
    historyKnown: 0,
    grainScale: 1,
    size: 1,
  });
}

export function stageUniforms() {
  return { ...ownUniforms(), ...sharedUniforms() };
}

function sharedUniforms() {
  return uniformsOf({
    reflectionSteps: 0,
    flowSamples: 1,
    clouds: 0,
    detailHeight: 0,
    detailReach: 1,
    detailSteep: 1,
    detailDry: 1,
    nearPlace: new Vector4(),
    hole: new Vector4(),
    surroundings: 0,
    palette: paletteColours(),
    country: new Vector4(1, 0.8, 1, 0.62),
    treeLine: 0.62,
    treeSpacing: TREE_SPACING,
    treesDrawn: 0,
    wooded: 1,
    noise: noiseTexture(),
    stones: null as Texture | null,
    colourMap: colourTexture(),
    exaggeration: 1,
    overlayScale: new Vector3(0, 0.5, 1),
    overlayLog: false,
    overlayOpacity: 0,
    overlayShading: 0.25,
    sunStrength: 1,
    skyFill: 1,
    overcast: 0,
    clay: 0,
    clearAir: 4,
    snowLine: 9,
    contourInterval: 0,
    detail: 1,
    sedimentTint: 0.5,
    clarity: 1,
    ripple: 0,
    fogDensity: 0,
    brush: new Vector3(),
    brushFalloff: 0,
    brushColour: new Color(),
    sunDirection: new Vector3(0, 1, 0),
    eye: new Vector3(),
    pixelsPerUnit: 1,
    viewToWorld: new Matrix4(),
    viewExtent: new Vector2(),
    viewCentre: new Vector2(),
    targetSize: new Vector2(),
    targetOrigin: new Vector2(),
    opaque: 1,
  });
}

export function finishUniforms() {
  return uniformsOf({
    scene: null as Texture | null,
    exposure: 1,
    targetSize: new Vector2(),
    tileOffset: new Vector2(),
    pictureSize: new Vector2(),
    vignetting: 0,
    smoothEdges: false,
  });
}
