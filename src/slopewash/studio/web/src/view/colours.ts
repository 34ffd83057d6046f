// Colour tables on the GPU.

import { DataTexture, LinearFilter, RGBAFormat, UnsignedByteType } from "three";
import type { Colour } from "../wire/protocol";

export function colourTexture(): DataTexture {
  const texture = new DataTexture(new Uint8Array(256 * 4), 256, 1, RGBAFormat, UnsignedByteType);
  texture.minFilter = texture.magFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

/** Convert sRGB colours to the linear ones that the shaders need. */
export function setColours(texture: DataTexture, colours: Colour[]): void {
  const bytes = texture.image.data as Uint8Array;
  const linear = (v: number): number => {
    const s = v / 255;
    return Math.round(255 * (s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4));
  };
  for (const [i, [red, green, blue]] of colours.slice(0, 256).entries())
    bytes.set([linear(red), linear(green), linear(blue), 255], 4 * i);
  texture.needsUpdate = true;
}
