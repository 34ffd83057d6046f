// The overlay with all keyboard shortcuts and what the mouse does.

import { button, make } from "../page/dom";

const SHORTCUTS: [string, string][] = [
  ["Space", "play or pause"],
  [".", "one step"],
  ["R", "back to the start"],
  ["K", "bring back the run that was left"],
  ["N / B", "next / previous seed"],
  ["1 … 9, 0", "pick a tool; 1 looks around"],
  ["[ and ]", "smaller / larger brush"],
  ["Shift while painting", "the opposite tool"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo an edit"],
  ["W A S D, Q E", "fly; down and up"],
  ["F", "see the whole block"],
  ["P", "plan from above"],
  ["C", "compare with the start"],
  ["O", "next overlay"],
  ["V", "water on or off"],
  ["X", "screenshot"],
  ["H", "hide or show the panels"],
  ["?", "this help"],
];

const MOUSE: [string, string][] = [
  ["Left drag", "turn the view, or paint with a tool"],
  ["Right drag", "move the view; turn it while a tool is in hand"],
  ["Wheel, pinch", "zoom to the cursor"],
  ["Alt+drag", "move the sun"],
  ["Source tool", "click to place"],
  ["A placed mark", "click to change it, drag to move it, Delete or double click to remove it"],
  ["Drop a file", "start from its heights"],
];

export class Help {
  readonly element = make("dialog", { class: "glass help", "aria-label": "Keyboard shortcuts and mouse" });

  constructor() {
    const table = (rows: [string, string][]): HTMLElement =>
      make(
        "table",
        {},
        make(
          "tbody",
          {},
          ...rows.map(([keys, does]) =>
            make("tr", {}, make("th", { scope: "row" }, make("kbd", {}, keys)), make("td", {}, does)),
          ),
        ),
      );
    this.element.append(
      make("h2", {}, "Shortcuts"),
      make("div", { class: "columns" }, table(SHORTCUTS), table(MOUSE)),
      button("Close the help", "Close", () => this.toggle()),
    );
    this.element.addEventListener("click", (event) => event.target === this.element && this.element.close());
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}
