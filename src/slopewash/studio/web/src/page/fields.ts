// Text fields for numbers.

import { make } from "./dom";
import { quoted, refuse } from "./refusing";

/** A field that takes a number; `cleared` is called when it is left empty. What is no number is refused. */
export function numberField(
  label: string,
  changed: (value: number) => void,
  cleared: () => void = () => {},
): HTMLInputElement {
  const field = make("input", { type: "text", inputmode: "decimal", "aria-label": label, class: "number" });
  let before = "";
  field.addEventListener("focus", () => (before = field.value));
  field.addEventListener("change", () => {
    const text = field.value.trim().replace(",", ".");
    if (text === "") cleared();
    else if (Number.isFinite(Number(text))) changed(Number(text));
    else {
      refuse(field, `${label} takes a number, not ${quoted(field.value)}.`);
      field.value = before;
    }
  });
  field.addEventListener("keydown", (event) => event.key === "Enter" && field.blur());
  return field;
}

/** Show a value from the server, unless the user is typing. */
export function setUnlessFocused(control: HTMLSelectElement | HTMLInputElement, value: string): void {
  if (control instanceof HTMLInputElement && document.activeElement === control) return;
  control.value = value;
}
