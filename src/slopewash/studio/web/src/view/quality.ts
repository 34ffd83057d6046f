// How expensive drawing may be.

export type Tier = "low" | "medium" | "high";

export interface Quality {
  mesh: number; // vertices per side of the terrain's grid
  field: number; // largest side of the fields asked from the server
  light: number; // largest side of the shadow map
  shadowSteps: number;
  skyDirections: number;
  lightInterval: number; // milliseconds between two shadow passes while frames arrive
  samples: number; // of the multisampled target
  pixelRatio: number; // at most
  anisotropy: number;
  movingScale: number; // of the resolution while something moves; drawn in full when it stops
  closeGrain: boolean; // stones, tufts and cracks, visible only from near
  reflectionSteps: number; // with which water looks for the ground it mirrors; 0 for the sky alone
  flowSamples: number; // of the noise along a current
  gullies: number; // largest side of the map of gullies finer than cells
  gullyOctaves: number;
  nearLevels: number; // meshes near the eye, each twice as fine as the one around it
  surroundings: number; // vertices per side of the block on the ground around it
  trees: number; // places for trees at most, in all panes; 0 where woods are only painted
  clouds: boolean;
  cullDryWater: boolean; // draw water only where there is some: worth it for software renderers
}

export const QUALITIES: Record<Tier, Quality> = {
  low: {
    mesh: 257,
    field: 512,
    light: 384,
    shadowSteps: 32,
    skyDirections: 5,
    lightInterval: 900,
    samples: 0,
    pixelRatio: 1,
    anisotropy: 1,
    movingScale: 0.5,
    closeGrain: false,
    reflectionSteps: 0,
    flowSamples: 2,
    gullies: 448,
    gullyOctaves: 2,
    nearLevels: 0,
    surroundings: 49,
    trees: 0,
    clouds: false,
    cullDryWater: true,
  },
  medium: {
    mesh: 513,
    field: 1024,
    light: 512,
    shadowSteps: 56,
    skyDirections: 8,
    lightInterval: 180,
    samples: 4,
    pixelRatio: 1.5,
    anisotropy: 4,
    movingScale: 1,
    closeGrain: true,
    reflectionSteps: 28,
    flowSamples: 4,
    gullies: 1024,
    gullyOctaves: 3,
    nearLevels: 3,
    surroundings: 129,
    trees: 60000,
    clouds: true,
    cullDryWater: true,
  },
  high: {
    mesh: 1025,
    field: 2048,
    light: 1024,
    shadowSteps: 80,
    skyDirections: 12,
    lightInterval: 60,
    samples: 4,
    pixelRatio: 2,
    anisotropy: 8,
    movingScale: 1,
    closeGrain: true,
    reflectionSteps: 56,
    flowSamples: 6,
    gullies: 2048,
    gullyOctaves: 4,
    nearLevels: 4,
    surroundings: 257,
    trees: 200000,
    clouds: true,
    cullDryWater: false,
  },
};

/** The highest tier that is worth a try, by the renderer's name: how long images take decides (pace.ts). */
export function tierOf(renderer: string): Tier {
  if (/swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer)) return "low";
  if (/nvidia|geforce|rtx|radeon rx|apple m[0-9]|radeon pro|arc\(tm\) a/i.test(renderer)) return "high";
  return "medium";
}

export function rendererName(gl: WebGL2RenderingContext): string {
  const debug = gl.getExtension("WEBGL_debug_renderer_info");
  return String(gl.getParameter(debug ? debug.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
}
