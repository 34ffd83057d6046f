// Symbols of parameters.

import { make } from "../page/dom";

/** K_dmax as papers print it: a letter with a subscript. */
export function symbol(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const [base = "", lowered] = text.split("_");
  fragment.append(" ", base);
  if (lowered) fragment.append(make("sub", {}, lowered));
  return fragment;
}
