// Asks for what a file of integers does not contain: the heights they stand for, and the cell size.

import type { Ask, FileFacts, Missing } from "../output/upload";
import { button, labelled, make, short } from "../page/dom";

/** Longer side of a plausible terrain as a multiple of its relief. */
const SIDES = 5;

export class FileFactsDialog {
  readonly element = make("dialog", { class: "glass help facts", "aria-label": "Import options" });
  private readonly low = field("Lowest height, m", "0");
  private readonly high = field("Highest height, m", "");
  private readonly extent = field("Longer side, km", "");
  private readonly cell = field("Cell size of the file, m", "");
  private readonly about = make("p", { class: "quiet" });
  private readonly heights = make(
    "div",
    {},
    labelled("Lowest height, m", this.low),
    labelled("Highest height, m", this.high),
    labelled("Longer side, km", this.extent),
    labelled("Cell size of the file, m", this.cell),
  );
  private answer: (facts: FileFacts | null) => void = () => {};
  private missing: Missing = "height_range";
  private facts!: FileFacts;

  constructor() {
    this.high.placeholder = "such as 1500";
    this.cell.placeholder = "from the file, or the longer side";
    for (const input of [this.low, this.high, this.cell]) input.addEventListener("input", () => this.suggest());
    const open = button("Open", "Open", () => this.finish(), { class: "primary", "data-role": "file-facts" });
    const choice = make(
      "div",
      { class: "choice" },
      button("Cancel", "Cancel", () => this.end(null)),
      open,
    );
    this.element.append(make("h2", {}, "Import options"), this.about, this.heights, choice);
    this.element.addEventListener("cancel", () => this.end(null)); // Escape
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target instanceof HTMLInputElement) this.finish();
    });
  }

  readonly ask: Ask = (file, missing, facts) => {
    this.missing = missing;
    this.facts = facts;
    this.about.textContent = {
      height_range: `${file.name} stores integers. Which heights do the lowest and the highest possible value stand for?`,
      allow_8bit: `${file.name} has only 8 bits (256 height levels), which will show as terraces. Open it anyway?`,
      nodata: `${file.name} has cells of ${facts.nodata === "nan" ? "NaN" : facts.nodata}, which is not a height. Open it without those cells?`,
    }[missing];
    this.heights.hidden = missing !== "height_range";
    this.suggest();
    this.element.showModal();
    return new Promise((resolve) => (this.answer = resolve));
  };

  /** Suggest a side five times the relief, which is what mountains look like. */
  private suggest(): void {
    const relief = numberIn(this.high) - numberIn(this.low);
    this.extent.disabled = this.cell.value.trim() !== "";
    this.extent.placeholder =
      relief > 0 ? `from the file; ${short(SIDES * relief * 1e-3)} would suit` : "from the file";
  }

  private end(facts: FileFacts | null): void {
    this.element.close();
    this.answer(facts);
  }

  private finish(): void {
    const [low, high, cellSize, side] = [this.low, this.high, this.cell, this.extent].map(numberIn);
    if (this.missing === "allow_8bit") this.end({ ...this.facts, allow8bit: true });
    else if (this.missing === "nodata") this.end(this.facts);
    else if (Number.isFinite(low) && Number.isFinite(high) && high! > low!)
      this.end({
        ...this.facts,
        low: low!,
        high: high!,
        cellSize: Number.isFinite(cellSize) ? cellSize! : null,
        extent: Number.isFinite(cellSize) ? null : side! > 0 ? 1000 * side! : null,
      });
    else {
      this.about.textContent = "Enter two heights in metres, the highest above the lowest.";
      (Number.isFinite(low) ? this.high : this.low).focus();
    }
  }
}

function numberIn(input: HTMLInputElement): number {
  return Number.parseFloat(input.value.replace(",", "."));
}

function field(label: string, value: string): HTMLInputElement {
  return make("input", { type: "text", inputmode: "decimal", "aria-label": label, value });
}
