// The colours of the ground in one kind of country, as the shaders take them.

import { Color, Vector3 } from "three";
import type { Palette } from "../wire/protocol";
import type { StageUniforms } from "./uniforms";

/** In the order of ground.glsl. */
const MATERIALS = [
  "forest",
  "forest_mixed",
  "grass",
  "meadow",
  "lush",
  "heath",
  "soil",
  "rock",
  "dark_rock",
  "pale_rock",
  "scree",
  "sand",
  "gravel",
  "snow",
];

export function paletteColours(): Vector3[] {
  return MATERIALS.map(() => new Vector3(0.3, 0.3, 0.3));
}

export function usePalette(uniforms: StageUniforms, palette: Palette): void {
  for (const [i, material] of MATERIALS.entries()) {
    const { r, g, b } = new Color(palette.colours[material] ?? "#808080"); // linear
    uniforms.palette.value[i]!.set(r, g, b);
  }
  uniforms.country.value.set(palette.wooded, palette.green_floors, palette.bands, palette.bare_line);
  uniforms.treeLine.value = palette.tree_line;
}
