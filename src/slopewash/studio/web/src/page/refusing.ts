// Input that cannot be used: the field is marked, and a sentence says why.

/** Sent by a field that refuses its input, up to the page, which shows the sentence. */
export const REFUSED = "slopewash-refused";

/** Milliseconds for which a field stays marked. */
const MARKED_FOR = 4000;

export function refuse(field: HTMLElement, sentence: string): void {
  field.setAttribute("aria-invalid", "true");
  window.setTimeout(() => field.removeAttribute("aria-invalid"), MARKED_FOR);
  field.dispatchEvent(new CustomEvent(REFUSED, { bubbles: true, detail: sentence }));
}

/** What was typed, short enough for a sentence. */
export function quoted(text: string): string {
  return `“${text.length > 24 ? `${text.slice(0, 24)}…` : text}”`;
}
