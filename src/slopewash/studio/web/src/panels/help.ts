// The dialog with all keyboard shortcuts and mouse controls.

import { button, make } from "../page/dom";

const SHORTCUTS: [string, string][] = [
  ["Space", "play or pause"],
  [".", "one step"],
  ["R", "reset to the start"],
  ["K", "restore the previous run"],
  ["N / B", "next / previous seed"],
  ["1 … 9, 0", "select a tool; 1 is the view tool"],
  ["[ and ]", "smaller / larger brush"],
  ["Shift while painting", "invert the brush"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["W A S D, Q E", "fly; Q down, E up; with Shift faster"],
  ["Arrow keys, + −", "turn the view, zoom"],
  ["Enter", "use the tool, or ask the cell, in the middle of the view, without a mouse"],
  ["G", "walk on the ground under the pointer, or return"],
  ["F", "frame all"],
  ["P", "top view"],
  ["C", "compare with the start"],
  ["M", "models side by side, or return to one run"],
  ["O", "next overlay"],
  ["V", "show or hide water"],
  ["X", "save image"],
  ["Ctrl+S", "save the project"],
  ["H", "show or hide panels"],
  ["?", "this help"],
];

const MOUSE: [string, string][] = [
  ["Left drag", "orbit about the ground under the pointer; look around on foot; paint with a brush"],
  ["Right drag, Shift+drag", "pan; the right button orbits while a brush is active"],
  ["Wheel, pinch", "zoom to the cursor"],
  ["Alt+drag", "move the sun"],
  ["Water source, emitter", "click to place"],
  ["Placed source, emitter", "click to edit, drag to move, Delete or double-click to remove"],
  ["Pane, side by side", "click to choose the one that panels and tools are for"],
  ["Drop a file", "open it as the terrain, or as the project that it is"],
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
      button("Close help", "Close", () => this.toggle()),
    );
    this.element.addEventListener("click", (event) => event.target === this.element && this.element.close());
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else {
      this.element.showModal();
      this.element.scrollTop = 0; // the focus is on the button at its end
    }
  }
}
