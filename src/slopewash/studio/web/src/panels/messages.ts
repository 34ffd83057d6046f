// Short messages that come and go, and the banner that stays while the connection is lost.

import { button, make } from "../page/dom";

const SHOWN_FOR = 6000;
const OFFERED_FOR = 15000;

interface Offer {
  label: string;
  run: () => void;
}

export class Messages {
  readonly element = make("div", { class: "messages", role: "status", "aria-live": "polite" });
  readonly banner = make("div", { class: "banner", role: "alert", hidden: true });
  /** What stands there, by topic or by its own words. */
  private readonly said = new Map<string, HTMLElement>();

  /** Say something, in place of what was said on the same topic, and offer to do something about it. */
  say(
    text: string,
    kind: "notice" | "error" | "good" = "notice",
    { topic = text, offer }: { topic?: string; offer?: Offer } = {},
  ): void {
    this.withdraw(topic);
    const element = make("div", { class: `glass message ${kind}` }, text);
    if (offer)
      element.append(
        button(offer.label, offer.label, () => {
          this.withdraw(topic);
          offer.run();
        }),
      );
    this.said.set(topic, element);
    this.element.append(element);
    window.setTimeout(
      () => {
        if (this.said.get(topic) === element) this.withdraw(topic);
      },
      offer ? OFFERED_FOR : SHOWN_FOR,
    );
  }

  /** Take back what no longer holds. */
  withdraw(topic: string): void {
    this.said.get(topic)?.remove();
    this.said.delete(topic);
  }

  lost(seconds: number): void {
    this.banner.textContent = `The connection to the studio's server is lost. Trying again in ${seconds} s; the picture stays as it was.`;
    this.banner.hidden = false;
  }

  found(): void {
    this.banner.hidden = true;
  }
}
