// Changes that wait a little for further ones, so that a drag sends a few messages instead of hundreds.

/** Milliseconds after a change during which values from the server are ignored: they may be older. */
export const HOLD = 700;

const all = new Set<Waiting>();
/** When everything was last sent for good: what the server says afterwards may be of another run. */
let settled = -Infinity;

export class Waiting {
  private timer = 0;
  private touched = -Infinity;

  constructor(
    private readonly send: () => void,
    private readonly milliseconds: number,
  ) {}

  /** Send soon, unless that is under way. */
  begin(): void {
    this.touched = performance.now();
    if (this.timer) return;
    this.timer = window.setTimeout(() => this.end(), this.milliseconds);
    all.add(this);
  }

  /** Send now, if anything waits. */
  end(): void {
    if (!this.timer) return;
    window.clearTimeout(this.timer);
    this.timer = 0;
    all.delete(this);
    this.send();
  }

  /** Whether a value from the server may be older than the last change here. */
  get isHeld(): boolean {
    return this.touched > settled && performance.now() - this.touched < HOLD;
  }
}

/** Send everything that is typed or waits, before a message that makes later ones go to another run. */
export function sendWaiting(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLInputElement) activeElement.blur(); // its change event would come too late
  for (const waiting of all) waiting.end(); // also what these add: a marker waits on its own after its slider
  settled = performance.now();
}
