// Small helpers to create elements.

type Child = Node | string | null;
type Attributes = Record<string, string | number | boolean | EventListener>;

/** An element with attributes: functions become listeners, true sets an empty attribute, false leaves it out. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/**
 * A button with a longer label as its tooltip. What is visible on it is part of its accessible name, or else voice control could
 * not find it: a text that the label does not contain is the name by itself.
 */
export function button(
  label: string,
  content: Child,
  action: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const text = typeof content === "string" ? content.toLowerCase() : "";
  const name = text !== label.toLowerCase() && label.toLowerCase().includes(text) ? { "aria-label": label } : {};
  return make("button", { type: "button", ...name, title: label, onclick: () => action(), ...attributes }, content);
}

/** A line of a form: a label and its control. */
export function labelled(text: string, control: HTMLElement, help = ""): HTMLLabelElement {
  return make("label", { class: "line", title: help }, make("span", {}, text), control);
}

export function select(
  label: string,
  options: { value: string; text?: string; help?: string; disabled?: boolean }[],
  value: string,
  changed: (value: string) => void,
): HTMLSelectElement {
  const element = make("select", { "aria-label": label, onchange: () => changed(element.value) });
  for (const option of options)
    element.append(
      make(
        "option",
        { value: option.value, title: option.help ?? "", disabled: option.disabled ?? false },
        option.text ?? option.value,
      ),
    );
  element.value = value;
  return element;
}

export function checkbox(label: string, value: boolean, changed: (value: boolean) => void): HTMLInputElement {
  const element = make("input", { type: "checkbox", "aria-label": label, onchange: () => changed(element.checked) });
  element.checked = value;
  return element;
}

/** A section that can be collapsed. */
export function section(title: string, open: boolean, ...children: Child[]): HTMLDetailsElement {
  return make("details", { open }, make("summary", {}, capital(title)), ...children);
}

/** A number with four significant digits. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

/** A volume in a readable unit: 1.2 km³ rather than 1.2e9 m³. */
export function volume(cubicMetres: number): string {
  const size = Math.abs(cubicMetres);
  if (size >= 1e8) return `${short(cubicMetres / 1e9)} km³`;
  if (size >= 1e5) return `${short(cubicMetres / 1e6)} hm³`;
  return `${short(cubicMetres)} m³`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** An error as a sentence: with a capital, unless it begins with a name that is to be typed, and a full stop. */
export function sentence(text: string): string {
  const begun = /^[a-z]+ (?!\()/.test(text) ? capital(text) : text;
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

export function words(name: string): string {
  return name.replaceAll("_", " ");
}
