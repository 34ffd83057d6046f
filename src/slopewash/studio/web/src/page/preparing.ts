// A note while the first image of a quality is drawn: without a GPU it takes seconds, in which the page cannot react.

import { make } from "./dom";

export class Preparing {
  readonly element = make(
    "output",
    { class: "glass preparing", "data-role": "preparing", "aria-live": "polite" },
    "Preparing the view …",
  );

  /** The change that is announced and has not begun: until then, images are those before it. */
  private announced: (() => void) | null = null;

  /** Show the note, and go on once the browser has painted it: afterwards it may be unable to for a while. Only the newest change is carried out. */
  before(text: string, then: () => void): void {
    this.element.textContent = text;
    this.element.hidden = false;
    // The first callback comes before the paint, the second one after it.
    this.announced = then;
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        if (this.announced !== then) return;
        this.announced = null;
        then();
      }),
    );
  }

  /** Do not carry out what is announced. */
  forget(): void {
    this.announced = null;
    this.element.hidden = true;
  }

  /** An image is complete. */
  end(): void {
    if (!this.announced) this.element.hidden = true;
  }
}
