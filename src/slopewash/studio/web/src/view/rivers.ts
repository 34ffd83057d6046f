// Rivers and lakes on a complete run: asked for when the run rests at its end, whose own water has nearly drained away.

import type { Store } from "../page/store";
import { decodeFrame, type Frame } from "../wire/frames";
import type { Stage } from "./stage";

export class Rivers {
  /** The frame they belong to. */
  private asked: Frame | null = null;

  constructor(
    private readonly store: Store,
    private readonly stage: Stage,
  ) {
    store.onState(() => this.follow());
  }

  /** Ask for them if the newest frame is the last of a complete run. */
  follow(): void {
    const { state } = this.store;
    const { frame, look } = this.stage;
    if (!state || !frame || !look.rivers || !state.layers.includes("water")) return;
    if (state.side_by_side) return; // panes are compared by the simulation's own water
    const complete = state.usual_steps !== null && state.usual_steps > 0 && state.step >= state.usual_steps;
    const newest = frame.header.run === state.run && frame.header.step === state.step;
    if (!complete || !newest || state.playing || state.busy !== null || this.asked === frame) return;
    if (this.stage.riversAwaited > 0) return; // strokes bring many frames: the newest one follows
    this.asked = frame;
    void this.fetch(frame).then(() => this.follow());
  }

  private async fetch(frame: Frame): Promise<void> {
    this.stage.riversAwaited++;
    try {
      const answer = await fetch("/rivers");
      if (!answer.ok) return;
      const { water } = decodeFrame(await answer.arrayBuffer());
      if (this.stage.frame === frame) this.stage.setRivers(water);
    } catch {
      // The connection is lost, which the page says elsewhere.
    } finally {
      this.stage.riversAwaited--;
      this.stage.invalidate();
    }
  }
}
