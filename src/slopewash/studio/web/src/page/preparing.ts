// A note while the first image of a quality is drawn: without a GPU it takes seconds, in which the page cannot react.

import { make } from "./dom";

export class Preparing {
  readonly element = make(
    "output",
    { class: "glass preparing", "data-role": "preparing", "aria-live": "polite" },
    "Preparing the view …",
  );

  /** Changes that are announced and have not begun: until then, images are those before them. */
  private announced = 0;

  /** Show the note, and go on once the browser has painted it: afterwards it may be unable to for a while. */
  before(text: string, then: () => void): void {
    this.element.textContent = text;
    this.element.hidden = false;
    // The first callback comes before the paint, the second one after it.
    this.announced++;
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        this.announced--;
        then();
      }),
    );
  }

  /** An image is complete. */
  end(): void {
    if (this.announced === 0) this.element.hidden = true;
  }
}
