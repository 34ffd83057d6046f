// Asks for what a file of whole numbers does not say: which heights they stand for, and how large a cell is.

import type { Ask, FileFacts, Missing } from "../output/upload";
import { button, labelled, make } from "../page/dom";

export class FileFactsDialog {
  readonly element = make("dialog", { class: "glass help facts", "aria-label": "What the file does not say" });
  private readonly low = field("Lowest height in metres", "0");
  private readonly high = field("Highest height in metres", "");
  private readonly cell = field("Cell size of the file in metres", "");
  private readonly about = make("p", { class: "quiet" });
  private readonly heights = make(
    "div",
    {},
    labelled("Lowest, m", this.low),
    labelled("Highest, m", this.high),
    labelled("Cell size, m", this.cell),
  );
  private answer: (facts: FileFacts | null) => void = () => {};
  private missing: Missing = "height_range";
  private facts!: FileFacts;

  constructor() {
    this.cell.placeholder = "as the file says, or 1";
    const open = button("Open it", "Open it", () => this.finish(), { class: "primary", "data-role": "file-facts" });
    const choice = make(
      "div",
      { class: "choice" },
      button("Cancel", "Cancel", () => this.end(null)),
      open,
    );
    this.element.append(make("h2", {}, "What the file does not say"), this.about, this.heights, choice);
    this.element.addEventListener("cancel", () => this.end(null)); // Escape
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target instanceof HTMLInputElement) this.finish();
    });
  }

  readonly ask: Ask = (file, missing, facts) => {
    this.missing = missing;
    this.facts = facts;
    this.about.textContent =
      missing === "height_range"
        ? `${file.name} holds whole numbers. Which heights do its lowest and its highest possible value stand for?`
        : `${file.name} has only 8 bits: 256 levels, which show as terraces. Open it all the same?`;
    this.heights.hidden = missing !== "height_range";
    this.element.showModal();
    return new Promise((resolve) => (this.answer = resolve));
  };

  private end(facts: FileFacts | null): void {
    this.element.close();
    this.answer(facts);
  }

  private finish(): void {
    const [low, high, cellSize] = [this.low, this.high, this.cell].map((input) =>
      Number.parseFloat(input.value.replace(",", ".")),
    );
    if (this.missing === "allow_8bit") this.end({ ...this.facts, allow8bit: true });
    else if (Number.isFinite(low) && Number.isFinite(high) && high! > low!)
      this.end({ ...this.facts, low: low!, high: high!, cellSize: Number.isFinite(cellSize) ? cellSize! : null });
    else {
      this.about.textContent = "Two heights in metres are needed, the highest above the lowest.";
      (Number.isFinite(low) ? this.high : this.low).focus();
    }
  }
}

function field(label: string, value: string): HTMLInputElement {
  return make("input", { type: "text", inputmode: "decimal", "aria-label": label, value });
}
