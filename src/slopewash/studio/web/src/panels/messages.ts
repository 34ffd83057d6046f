// Short messages that come and go, and the banner that stays while the connection is lost.

import { button, make } from "../page/dom";

const SHOWN_FOR = 6000;
const OFFERED_FOR = 15000;

export class Messages {
  readonly element = make("div", { class: "messages", role: "status", "aria-live": "polite" });
  readonly banner = make("div", { class: "banner", role: "alert", hidden: true });
  private readonly said = new Map<string, HTMLElement>();

  /** Say something, and offer to do something about it. */
  say(text: string, kind: "notice" | "error" | "good" = "notice", offer?: { label: string; run: () => void }): void {
    this.said.get(text)?.remove();
    const element = make("div", { class: `glass message ${kind}` }, text);
    if (offer)
      element.append(button(offer.label, offer.label, () => {
        element.remove();
        offer.run();
      }));
    this.said.set(text, element);
    this.element.append(element);
    window.setTimeout(() => {
      element.remove();
      if (this.said.get(text) === element) this.said.delete(text);
    }, offer ? OFFERED_FOR : SHOWN_FOR);
  }

  lost(seconds: number): void {
    this.banner.textContent = `The connection to the studio's server is lost. Trying again in ${seconds} s; the picture stays as it was.`;
    this.banner.hidden = false;
  }

  found(): void {
    this.banner.hidden = true;
  }
}
