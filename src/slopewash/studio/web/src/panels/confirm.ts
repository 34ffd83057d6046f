// Asks before something is removed that cannot be brought back.

import { button, make } from "../page/dom";

export interface Question {
  title: string;
  /** What would be lost, in a sentence. */
  about: string;
  /** What the button says that does it. */
  does: string;
}

export class ConfirmDialog {
  private readonly title = make("h2", { id: "confirm-title" });
  private readonly about = make("p", { id: "confirm-about" });
  private readonly stay = button("Keep", "Keep", () => this.end(false), { "data-role": "confirm-no" });
  private readonly go = button("Discard", "Discard", () => this.end(true), {
    class: "danger",
    "data-role": "confirm-yes",
  });
  readonly element = make(
    "dialog",
    {
      class: "glass help confirm",
      role: "alertdialog",
      "aria-labelledby": "confirm-title",
      "aria-describedby": "confirm-about",
    },
    this.title,
    this.about,
    make("div", { class: "choice" }, this.stay, this.go),
  );
  private answer: (does: boolean) => void = () => {};

  constructor() {
    // Escape, unless a button has answered; the event comes late, when something else may be asked already.
    this.element.addEventListener("close", () => this.element.open || this.answer(false));
    this.element.addEventListener("click", (event) => event.target === this.element && this.end(false));
  }

  /** Ask; resolves to whether to do it. Enter, right away, keeps everything. */
  ask({ title, about, does }: Question): Promise<boolean> {
    this.withdraw();
    this.title.textContent = title;
    this.about.textContent = about;
    this.go.textContent = this.go.title = does;
    this.element.showModal();
    this.stay.focus();
    return new Promise((resolve) => (this.answer = resolve));
  }

  /** What was asked about is gone meanwhile. */
  withdraw(): void {
    if (this.element.open) this.end(false);
  }

  private end(does: boolean): void {
    this.answer(does);
    this.answer = () => {};
    this.element.close();
  }
}
