// The panel on the right: one tab at a time.

import { make } from "./dom";

export class Tabs {
  readonly element = make("aside", { class: "glass panel", "aria-label": "Settings" });
  private readonly buttons: HTMLButtonElement[] = [];
  private readonly pages: HTMLElement[] = [];

  constructor(tabs: { name: string; element: HTMLElement }[]) {
    const bar = make("div", { class: "tabs", role: "tablist" });
    tabs.forEach(({ name, element }, i) => {
      const id = `tab-${name.toLowerCase()}`;
      const tab = make(
        "button",
        { type: "button", role: "tab", id, "aria-controls": `${id}-page`, onclick: () => this.choose(i) },
        name,
      );
      tab.addEventListener("keydown", (event) => {
        const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (by) this.choose((i + by + tabs.length) % tabs.length, true);
      });
      this.buttons.push(tab);
      this.pages.push(
        make("div", { role: "tabpanel", id: `${id}-page`, "aria-labelledby": id, class: "page" }, element),
      );
      bar.append(tab);
    });
    this.element.append(bar, ...this.pages);
    this.choose(1);
  }

  choose(index: number, focus = false): void {
    this.buttons.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
    });
    for (const [i, page] of this.pages.entries()) page.hidden = i !== index;
    if (focus) this.buttons[index]?.focus();
  }
}
