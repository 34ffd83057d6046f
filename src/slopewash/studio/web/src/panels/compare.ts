// The slider between the start (left) and now (right).

import { make } from "../page/dom";
import { icon } from "../page/icons";
import type { Stage } from "../view/stage";
import type { BlockHeader } from "../wire/protocol";

export class Compare {
  private readonly left = make("span", { class: "tag left" }, "before");
  private readonly right = make("span", { class: "tag right" }, "after");
  readonly element = make(
    "div",
    {
      class: "compare",
      role: "slider",
      tabindex: "0",
      "aria-label": "Before and after",
      "aria-valuemin": "0",
      "aria-valuemax": "100",
      hidden: true,
    },
    make("span", { class: "handle" }, icon("slide")),
    this.left,
    this.right,
  );

  constructor(
    private readonly stage: Stage,
    private readonly watch: (before: boolean) => void,
  ) {
    this.element.addEventListener("pointerdown", (event) => this.element.setPointerCapture(event.pointerId));
    this.element.addEventListener("pointermove", (event) => {
      if (this.element.hasPointerCapture(event.pointerId)) this.move(event.clientX / window.innerWidth);
    });
    this.element.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowLeft" ? -0.02 : event.key === "ArrowRight" ? 0.02 : 0;
      if (by) this.move((this.stage.split ?? 0.5) + by);
    });
  }

  get shown(): boolean {
    return this.stage.split !== null;
  }

  /** Name what the terrain is compared with. */
  showWhat({ branch, moment }: BlockHeader): void {
    this.left.textContent = branch === undefined ? "before" : `branch ${branch}, step ${moment}`;
    this.right.textContent = branch === undefined ? "after" : "now";
  }

  toggle(): void {
    const show = !this.shown;
    this.element.hidden = !show;
    this.watch(show);
    if (show) this.move(0.5);
    else {
      this.stage.split = null;
      this.stage.lookChanged(true);
    }
  }

  private move(share: number): void {
    this.stage.split = Math.min(Math.max(share, 0.02), 0.98);
    this.element.style.left = `${100 * this.stage.split}%`;
    this.element.setAttribute("aria-valuenow", String(Math.round(100 * this.stage.split)));
    this.stage.lookChanged(!this.stage.before);
  }
}
