// The options of a generator besides size, relief and seed: a field for each that it declares.

import { capital, labelled, make, words } from "../page/dom";
import { numberField, setUnlessFocused } from "../page/fields";
import type { GeneratorDeclaration, GeneratorState, ParameterValue } from "../wire/protocol";

type Options = Record<string, ParameterValue>;

export class GeneratorOptions {
  readonly element = make("div", { class: "options" });
  private readonly fields = new Map<string, HTMLInputElement>();
  private kind: string | null = null;
  private options: Options = {};

  constructor(private readonly changed: (options: Options) => void) {}

  receive(generator: GeneratorState | null, declared: GeneratorDeclaration[]): void {
    const about = declared.find((g) => g.name === generator?.kind);
    this.options = generator?.options ?? {};
    if (this.kind !== (about?.name ?? null)) this.build(about);
    for (const [name, field] of this.fields)
      setUnlessFocused(field, name in this.options ? String(this.options[name]) : "");
  }

  private build(about: GeneratorDeclaration | undefined): void {
    this.kind = about?.name ?? null;
    this.fields.clear();
    for (const [name, usual] of Object.entries(about?.options ?? {})) {
      const field = numberField(
        `Option ${words(name)}`,
        (value) => this.change(name, value),
        () => this.change(name, null),
      );
      field.placeholder = usual === null ? "automatic" : String(usual);
      this.fields.set(name, field);
    }
    this.element.replaceChildren(...[...this.fields].map(([name, field]) => labelled(capital(words(name)), field)));
  }

  private change(name: string, value: number | null): void {
    const { [name]: _, ...rest } = this.options;
    this.changed(value === null ? rest : { ...rest, [name]: value });
  }
}
