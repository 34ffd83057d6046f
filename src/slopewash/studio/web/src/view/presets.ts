// Ready-made light: each preset sets part of the look and leaves the rest as it is.

import { defaultLook, type Look } from "./look";

type Light = Pick<
  Look,
  "sunAzimuth" | "sunElevation" | "exposure" | "fog" | "sunStrength" | "skyFill" | "overcast" | "clay" | "paintedWoods"
>;

const { sunAzimuth, sunElevation, exposure, fog, sunStrength, skyFill, overcast, clay, paintedWoods } = defaultLook();
const AFTERNOON: Light = {
  sunAzimuth,
  sunElevation,
  exposure,
  fog,
  sunStrength,
  skyFill,
  overcast,
  clay,
  paintedWoods,
};

export const LIGHTS: Record<string, Light> = {
  afternoon: AFTERNOON,
  "golden hour": {
    ...AFTERNOON,
    sunAzimuth: 246,
    sunElevation: 12,
    exposure: 1.05,
    fog: 0.7,
    sunStrength: 1.5,
    skyFill: 0.75,
  },
  overcast: { ...AFTERNOON, sunElevation: 55, exposure: 1.1, fog: 0.9, sunStrength: 0.22, skyFill: 1.75, overcast: 1 },
  clay: {
    ...AFTERNOON,
    sunAzimuth: 305,
    sunElevation: 38,
    exposure: 0.72,
    fog: 0,
    skyFill: 1.1,
    overcast: 0.6,
    clay: 1,
  },
  satellite: {
    ...AFTERNOON,
    sunAzimuth: 325,
    sunElevation: 50,
    exposure: 1.05,
    fog: 0,
    skyFill: 1.1,
    paintedWoods: true,
  },
};
