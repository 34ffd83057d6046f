// Chooses the quality by how long images take: starts low, goes up to what the renderer promises, and back down if it is slow.

import type { Tier } from "./quality";

const TIERS: Tier[] = ["low", "medium", "high"];

/** How long one image took, in milliseconds until the GPU was done with it. */
export interface Measured {
  milliseconds: number;
  /** A small image, drawn before the first full one of a tier. */
  trial: boolean;
}

export const LIMITS = {
  /** Milliseconds of an image in low quality up to which a higher tier is tried. */
  quick: 16,
  /** Milliseconds of the quickest of several images above which the tier is given up. */
  slow: 80,
  /** Above this, one image is enough; also where the user has chosen the tier. */
  frozen: 1500,
  /** Above this, the first image of a tier is enough to go back to low, although it compiles shaders. */
  compiling: 3000,
  /** How much longer a full image takes than a trial, which has a sixteenth of the pixels but all vertices, of trees too. */
  trial: 4,
};
/** Images that are timed before a decision. The first one of a tier compiles shaders, and does not count. */
const SAMPLES = 3;

export class Pace {
  /** Leave the quality as it is, however slow: for pictures. */
  fixed = false;
  readonly limits = { ...LIMITS };
  private tier: Tier = "low";
  private chosenByUser = false;
  private probing: boolean;
  private warm = false;
  private samples: number[] = [];

  constructor(
    private readonly promised: Tier,
    private readonly use: (tier: Tier) => void,
    private readonly gaveUp: (slow: Tier, milliseconds: number, chosenByUser: boolean) => void,
  ) {
    this.probing = promised !== "low";
  }

  /** The user wants this tier: it is given up only if the page would freeze. */
  choose(tier: Tier): void {
    this.chosenByUser = true;
    this.probing = false;
    this.start(tier);
  }

  /** Whether more images should be drawn now, to be timed: also in a tier that nobody chose, or it would stay until something moves. */
  get wantsMore(): boolean {
    const untried = this.tier !== "low" && !this.chosenByUser && this.samples.length < SAMPLES;
    return (this.probing || untried) && !this.fixed;
  }

  take({ milliseconds, trial }: Measured): void {
    if (this.fixed) return;
    if (!this.warm) {
      this.warm = true;
      const hopeless = milliseconds > this.limits.compiling && !this.chosenByUser;
      if (this.tier !== "low" && hopeless) this.fallBack(milliseconds, "low");
      return;
    }
    const full = trial ? this.limits.trial * milliseconds : milliseconds;
    this.samples = [...this.samples, full].slice(-SAMPLES);
    const quickest = Math.min(...this.samples);
    const enough = this.samples.length === SAMPLES;
    const slow = enough && quickest > this.limits.slow && !this.chosenByUser;
    if (this.tier !== "low" && (full > this.limits.frozen || slow)) this.fallBack(full);
    else if (this.probing && enough) {
      this.probing = false;
      if (quickest <= this.limits.quick) this.start(this.promised);
    }
  }

  private fallBack(milliseconds: number, to = TIERS[TIERS.indexOf(this.tier) - 1]!): void {
    const slow = this.tier;
    const byUser = this.chosenByUser;
    this.start(to);
    this.gaveUp(slow, milliseconds, byUser);
  }

  private start(tier: Tier): void {
    this.tier = tier;
    this.samples = [];
    this.warm = false;
    this.use(tier);
  }
}
