// View settings: none of them affects the simulation.

export interface Look {
  sunAzimuth: number; // degrees clockwise from north
  sunElevation: number; // degrees
  exaggeration: number;
  fog: number;
  clouds: number; // 0 … 1
  surroundings: "auto" | "block" | "horizon"; // auto: inside the terrain, the ground goes on to the horizon
  country: string; // name of a palette
  trees: boolean; // as geometry, where the quality allows it
  paintedWoods: boolean; // no trees, whatever is chosen: as seen from far above
  snow: boolean;
  snowLine: number; // fraction of the height of the summit
  exposure: number;
  detail: number;
  water: boolean;
  rivers: boolean; // on a complete run, in the place of what is left of its water
  sedimentTint: number;
  clarity: number;
  contours: boolean;
  particles: boolean;
  wireframe: boolean;
  overlayOpacity: number;
  sunStrength: number;
  skyFill: number; // light from the sky, beside that of a clear day
  overcast: number; // 0 … 1: how grey the sky is
  clay: number; // 0 … 1: one colour instead of those of the ground
}

export function defaultLook(): Look {
  return {
    sunAzimuth: 272,
    sunElevation: 32,
    exaggeration: 1,
    fog: 0.25,
    clouds: 0.55,
    surroundings: "auto",
    country: "alpine",
    trees: true,
    paintedWoods: false,
    snow: true,
    snowLine: 0.78,
    exposure: 1,
    detail: 1,
    water: true,
    rivers: true,
    sedimentTint: 0.4,
    clarity: 1.2,
    contours: false,
    particles: true,
    wireframe: true,
    overlayOpacity: 0.9,
    sunStrength: 1,
    skyFill: 1,
    overcast: 0,
    clay: 0,
  };
}

/** Towards the sun: x east, y up, z south. */
export function sunDirection(look: Look): [number, number, number] {
  const azimuth = (look.sunAzimuth * Math.PI) / 180;
  const elevation = (look.sunElevation * Math.PI) / 180;
  return [Math.sin(azimuth) * Math.cos(elevation), Math.sin(elevation), -Math.cos(azimuth) * Math.cos(elevation)];
}
