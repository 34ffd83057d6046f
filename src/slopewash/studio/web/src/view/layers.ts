// Layers on the GPU as they came over the wire: unsigned 16-bit textures, never half floats.

import { DataTexture, NearestFilter, RedIntegerFormat, UnsignedShortType } from "three";
import type { Field } from "../wire/frames";

export class LayerTexture {
  texture = integerTexture(new Uint16Array(1), 1, 1);
  low = 0;
  high = 0;

  set(field: Field | null): void {
    if (!field) {
      this.replace(new Uint16Array(1), 1, 1);
      this.low = this.high = 0;
      return;
    }
    this.replace(field.values, field.columns, field.rows);
    this.low = field.low;
    this.high = field.high;
  }

  private replace(values: Uint16Array<ArrayBuffer>, columns: number, rows: number): void {
    const image = this.texture.image as { data: Uint16Array; width: number; height: number };
    if (image.width === columns && image.height === rows) {
      image.data = values;
      this.texture.needsUpdate = true;
      return;
    }
    this.texture.dispose();
    this.texture = integerTexture(values, columns, rows);
  }
}

function integerTexture(values: Uint16Array<ArrayBuffer>, columns: number, rows: number): DataTexture {
  const texture = new DataTexture(values, columns, rows, RedIntegerFormat, UnsignedShortType);
  texture.internalFormat = "R16UI";
  texture.minFilter = texture.magFilter = NearestFilter;
  texture.unpackAlignment = 2;
  texture.generateMipmaps = false;
  texture.needsUpdate = true;
  return texture;
}
