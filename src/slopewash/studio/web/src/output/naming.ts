// Names of saved files: what made them, from which seed, after how many steps.

import type { FinishState, State } from "../wire/protocol";

/** Such as landscape-seed7-step300, or gentle-valley-step300 for a file valley.tif. */
export function runName(state: State | null): string {
  if (!state) return "slopewash";
  return joined(state.preset ?? state.model, state.generator?.seed ?? null, state.name, `step${state.step}`);
}

/** Such as landscape-seed7-1024cells-step300. */
export function finishName({ preset, model, seed, name, size, step }: FinishState): string {
  return joined(preset ?? model, seed, name, `${size}cells`, `step${step}`);
}

function joined(made: string, seed: number | null, file: string, ...rest: string[]): string {
  const from = seed === null ? file.replace(/\.[^.]*$/, "") : `seed${seed}`;
  return [made, from, ...rest].map((part) => part.replaceAll(/[^\p{L}\p{N}_]+/gu, "_")).join("-");
}
