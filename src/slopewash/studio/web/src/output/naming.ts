// Names of saved files: what made them, from which seed, after how many steps.

import type { State } from "../wire/protocol";

/** Such as landscape-seed7-step300, or gentle-valley-step300 for a file valley.tif. */
export function runName(state: State | null): string {
  if (!state) return "slopewash";
  const from = state.generator ? `seed${state.generator.seed}` : state.name.replace(/\.[^.]*$/, "");
  const parts = [state.preset ?? state.model, from, `step${state.step}`];
  return parts.map((part) => part.replaceAll(/[^\p{L}\p{N}_]+/gu, "_")).join("-");
}
