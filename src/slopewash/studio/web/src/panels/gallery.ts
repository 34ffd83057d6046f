// Thumbnails to choose a landscape, a generator or a preset from; the files are drawn by make_thumbnails.py.

import { make, words } from "../page/dom";

export class Gallery {
  readonly element: HTMLElement;
  private readonly buttons = new Map<string, HTMLButtonElement>();

  constructor(
    label: string,
    kind: "look" | "generator" | "preset",
    entries: { name: string; doc: string }[],
    chosen: (name: string) => void,
  ) {
    this.element = make("div", { class: "gallery", role: "group", "aria-label": label });
    for (const { name, doc } of entries) {
      const picture = make("img", {
        src: `/thumbnails/${kind}-${name}.jpg`,
        alt: "",
        loading: "lazy",
        width: 72,
        height: 48,
      });
      picture.addEventListener("error", () => picture.remove()); // one of the user's own has none
      const button = make(
        "button",
        { type: "button", title: doc, "aria-pressed": "false", "data-choice": name, onclick: () => chosen(name) },
        picture,
        make("span", {}, words(name)),
      );
      this.buttons.set(name, button);
      this.element.append(button);
    }
  }

  /** Mark what is in use. */
  show(name: string | null): void {
    for (const [key, button] of this.buttons) button.setAttribute("aria-pressed", String(key === name));
  }
}
