// Short messages that come and go, and the banner that stays while the connection is lost.

import { button, make } from "../page/dom";
import { icon } from "../page/icons";

const SHOWN_FOR = 6000;
const OFFERED_FOR = 15000;

export interface Offer {
  label: string;
  run: () => void;
}

export class Messages {
  readonly element = make("div", { class: "messages", role: "status", "aria-live": "polite" });
  readonly banner = make("div", { class: "banner", role: "alert", hidden: true });
  /** Messages that are shown, by topic, or by their text. */
  private readonly shown = new Map<string, HTMLElement>();

  /**
   * Show a message instead of the previous one on the same topic, with a button for what can be done about it. One that stays
   * is for the caller to withdraw.
   */
  say(
    text: string,
    kind: "notice" | "error" | "good" = "notice",
    { topic = text, offer, stays = false }: { topic?: string; offer?: Offer; stays?: boolean } = {},
  ): void {
    this.withdraw(topic);
    const element = make("div", { class: `glass message ${kind}` }, make("span", {}, text));
    if (offer)
      element.append(
        button(offer.label, offer.label, () => {
          this.withdraw(topic);
          offer.run();
        }),
      );
    element.append(button("Dismiss", icon("close"), () => this.withdraw(topic), { class: "dismiss" }));
    this.shown.set(topic, element);
    this.element.append(element);
    if (stays) return;
    window.setTimeout(
      () => {
        if (this.shown.get(topic) === element) this.withdraw(topic);
      },
      offer ? OFFERED_FOR : SHOWN_FOR,
    );
  }

  /** Remove a message that no longer applies. */
  withdraw(topic: string): void {
    this.shown.get(topic)?.remove();
    this.shown.delete(topic);
  }

  lost(seconds: number): void {
    this.banner.textContent = `Lost the connection to the server. Reconnecting in ${seconds} s.`;
    this.banner.hidden = false;
  }

  found(): void {
    this.banner.hidden = true;
  }
}
