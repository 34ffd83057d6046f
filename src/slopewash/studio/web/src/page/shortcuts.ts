// Keyboard shortcuts, except while the user types.

export interface Shortcut {
  key: string;
  control?: boolean;
  shift?: boolean;
  run(): void;
}

export function listenForShortcuts(
  shortcuts: Shortcut[],
  flight: (code: string, down: boolean) => boolean,
  released: () => void,
): void {
  window.addEventListener("keydown", (event) => {
    if (isTyping(event.target) || event.altKey) return;
    const control = event.ctrlKey || event.metaKey;
    if (!control && !event.repeat && !(ARROWS.test(event.code) && usesArrows(event.target)) && flight(event.code, true))
      return;
    const found = shortcuts.find(
      (s) =>
        s.key === event.key.toLowerCase() &&
        Boolean(s.control) === control &&
        (s.shift === undefined || s.shift === event.shiftKey),
    );
    if (!found || (event.key === " " && event.target instanceof HTMLButtonElement)) return;
    event.preventDefault();
    found.run();
  });
  // A clicked button or list would keep the focus, and the shortcuts would go to it.
  window.addEventListener("click", (event) => {
    const clicked = (event.target as Element).closest<HTMLElement>("button:not(.mark), summary");
    if (event.detail > 0 && clicked && !clicked.closest("dialog")) clicked.blur();
  });
  window.addEventListener("change", (event) => event.target instanceof HTMLSelectElement && event.target.blur());
  window.addEventListener("keyup", (event) => flight(event.code, false));
  window.addEventListener("blur", released);
}

const ARROWS = /^Arrow/;

/** Sliders, tabs and the like have their own use for the arrow keys. */
function usesArrows(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, [role=tab], [role=slider], summary") !== null;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && target.type === "text") ||
    document.querySelector("dialog[open]") !== null
  );
}
