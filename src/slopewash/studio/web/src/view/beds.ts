// The strata of a terrain as slopes show them: where the first begins, and what lies how far below it.

import { DataTexture, FloatType, LinearFilter, RedFormat, RGBAFormat, UnsignedByteType } from "three";
import type { Frame } from "../wire/frames";
import type { OwnUniforms } from "./uniforms";

const STEPS = 1024;

export function useBeds(uniforms: OwnUniforms, { strata, strataTop }: Frame, datum: number): void {
  if (!strata || !strataTop) return; // sent once per run
  const { values, low, high, rows, columns } = strataTop;
  const unit = (high - low) / 65535;
  const tops = Float32Array.from(values, (value) => low + unit * value - datum);
  uniforms.bedTops.value.dispose();
  uniforms.bedTops.value = smooth(new DataTexture(tops, columns, rows, RedFormat, FloatType));
  const { depths, hardness } = strata;
  // The lowest has no end: it is shown as thick as all above it.
  const deepest = Math.max(2 * (depths.at(-1) ?? 0), 1);
  const bytes = new Uint8Array(4 * STEPS);
  for (let i = 0, layer = 0; i < STEPS; i++) {
    while (layer + 1 < depths.length && ((i + 0.5) / STEPS) * deepest >= depths[layer + 1]!) layer++;
    bytes.set([255 * (hardness[layer] ?? 0), layer % 2 ? 0 : 255, 0, 255], 4 * i);
  }
  uniforms.bedTable.value.dispose();
  uniforms.bedTable.value = smooth(new DataTexture(bytes, STEPS, 1, RGBAFormat, UnsignedByteType));
  uniforms.bedDepth.value = deepest;
}

function smooth(texture: DataTexture): DataTexture {
  texture.minFilter = texture.magFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}
