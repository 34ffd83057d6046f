// The model's five sliders and its parameters, built from its declarations: nothing here knows a model by name.

import { checkbox, labelled, make, section, select, words } from "../page/dom";
import { resetButton, Slider } from "../page/slider";
import type { Store } from "../page/store";
import type { Connection } from "../wire/connection";
import type { ModelDeclaration, ParameterDeclaration, ParameterValue } from "../wire/protocol";
import { MainSliders } from "./main-sliders";
import { symbol } from "./symbol";

interface Row {
  element: HTMLElement;
  receive(value: ParameterValue): void;
  /** Like `receive`, but also while the user moves the slider. */
  show(value: ParameterValue): void;
}

export class ParametersPanel {
  readonly element = make("div", { class: "parameters" });
  private shown: ModelDeclaration | null = null;
  private readonly rows = new Map<string, Row>();
  private readonly main: MainSliders;
  /** Opened once, the symbols stay open for the next model. */
  private unfolded = false;

  constructor(
    private readonly store: Store,
    private readonly connection: () => Connection,
  ) {
    this.main = new MainSliders(store, connection);
    store.onWelcome(() => (this.shown = null));
    store.onState((state) => {
      const model = store.model;
      if (model && model !== this.shown) this.build(model);
      for (const [name, value] of Object.entries(state.parameters)) this.rows.get(name)?.receive(value);
      this.main.receive(state);
    });
  }

  private build(model: ModelDeclaration): void {
    this.shown = model;
    this.rows.clear();
    this.main.build(model);
    const groups = new Map<string, ParameterDeclaration[]>();
    for (const parameter of model.parameters)
      groups.set(parameter.group, [...(groups.get(parameter.group) ?? []), parameter]);
    const sections = [...groups].map(([group, parameters]) => {
      const rows = parameters.map((parameter) => this.row(parameter));
      return section(words(group) || "general", group !== "laws", ...rows.map((row) => row.element));
    });
    const all = section(`All ${model.parameters.length} parameters`, this.unfolded, ...sections);
    all.dataset.role = "all-parameters";
    all.addEventListener("toggle", () => (this.unfolded = all.open));
    this.element.replaceChildren(
      make("p", { class: "quiet" }, `${model.summary} `, make("cite", {}, model.paper)),
      this.main.element,
      all,
    );
  }

  private usual(parameter: ParameterDeclaration): ParameterValue {
    return this.store.usual(parameter.name) ?? parameter.default;
  }

  private row(parameter: ParameterDeclaration): Row {
    const send = async (value: ParameterValue): Promise<void> => {
      const taken = await this.connection().send({ type: "parameters", values: { [parameter.name]: value } });
      const valid = this.store.state?.parameters[parameter.name];
      if (!taken && valid !== undefined) row.show(valid);
    };
    const row = parameter.kind === "number" ? numberRow(parameter, send) : choiceRow(parameter, send);
    const element = row.element;
    element.dataset.parameter = parameter.name;
    element.title = help(parameter);
    const reset = resetButton(`Reset ${words(parameter.name)}`, () => {
      row.show(this.usual(parameter));
      void send(this.usual(parameter));
    });
    element.append(reset);
    const result = {
      element,
      show: row.show,
      receive: (value: ParameterValue) => {
        row.receive(value);
        element.classList.toggle("changed", value !== this.usual(parameter));
        reset.title = `Reset ${words(parameter.name)} to ${named(this.usual(parameter))}`;
      },
    };
    this.rows.set(parameter.name, result);
    return result;
  }
}

function numberRow(parameter: ParameterDeclaration, send: (value: ParameterValue) => Promise<void>): Row {
  const [low, high] = parameter.typical ?? [0, Math.max(1, 2 * Number(parameter.default) || 1)];
  const slider = new Slider({
    label: words(parameter.name),
    low,
    high,
    log: parameter.log,
    whole: parameter.whole,
    changed: (value) => void send(Number.isFinite(value) ? value : value > 0 ? "inf" : "-inf"),
  });
  const name = make(
    "span",
    { class: "name" },
    words(parameter.name),
    parameter.symbol ? make("i", {}, symbol(parameter.symbol)) : null,
    parameter.units ? make("small", {}, parameter.units) : null,
  );
  return {
    element: make("div", { class: "line parameter" }, name, slider.element),
    receive: (value) => slider.receive(toNumber(value)),
    show: (value) => slider.show(toNumber(value)),
  };
}

function choiceRow(parameter: ParameterDeclaration, send: (value: ParameterValue) => Promise<void>): Row {
  const label = words(parameter.name);
  if (parameter.kind === "flag") {
    const box = checkbox(label, Boolean(parameter.default), (value) => void send(value));
    const show = (value: ParameterValue): void => {
      box.checked = Boolean(value);
    };
    return { element: wrap(label, box), receive: show, show };
  }
  const list = select(
    label,
    parameter.choices.map((value) => ({ value, text: words(value) })),
    String(parameter.default),
    (value) => void send(value),
  );
  const show = (value: ParameterValue): void => {
    list.value = String(value);
  };
  return { element: wrap(label, list), receive: show, show };
}

function toNumber(value: ParameterValue): number {
  return value === "inf" ? Infinity : value === "-inf" ? -Infinity : Number(value);
}

/** Minus infinity is how parameters say none. */
function named(value: ParameterValue): string {
  return value === "-inf" ? "none" : String(value);
}

function wrap(label: string, control: HTMLElement): HTMLElement {
  return make("div", { class: "line parameter" }, labelled(label, control));
}

function help(parameter: ParameterDeclaration): string {
  const typical = parameter.typical ? ` Typical: ${parameter.typical[0]} … ${parameter.typical[1]}.` : "";
  const equation = parameter.eq ? ` Eq. ${parameter.eq}.` : "";
  return `${parameter.doc.replaceAll("`", "")}${typical} Default: ${named(parameter.default)}.${equation}`;
}
