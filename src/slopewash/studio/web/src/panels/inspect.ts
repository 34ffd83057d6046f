// Ask a cell: its height over time, what it holds, the way of water through it. And the terrain beside real ones.

import { button, capital, make, section, short, words } from "../page/dom";
import type { Store } from "../page/store";
import type { CellFacts, FindingFacts, Problem, SurveyFacts } from "../wire/protocol";
import { drawCurve } from "./curve";
import type { Messages } from "./messages";

/** Layers that count from the beginning of a level, until the run is complete. */
const SINCE_THE_LEVEL = new Set(["wear", "deposit"]);

interface Profile {
  curve: [number, number][];
  here: number;
}

export class InspectPanel {
  readonly element = make("div", { class: "inspect" });
  /** The cell that was asked about last. */
  cell: CellFacts | null = null;
  private readonly about = make(
    "div",
    { "data-role": "cell" },
    make(
      "p",
      { class: "quiet" },
      "While this tab is open, click the terrain, without a brush, to ask a cell; or press Enter for the middle of the view.",
    ),
  );
  private readonly findings = make("div", { "data-role": "survey" });
  private asked = 0;

  constructor(
    private readonly store: Store,
    private readonly messages: Messages,
    private readonly changed: () => void,
  ) {
    this.element.append(
      section("Cell", true, this.about),
      section(
        "Realism",
        true,
        make("p", { class: "quiet" }, "The terrain as it is now beside published ranges of real landscapes."),
        button("Measure this terrain", "Measure this terrain", () => void this.measure(), {
          class: "wide",
          "data-role": "measure",
        }),
        this.findings,
      ),
    );
    store.onState((state) => {
      if (this.cell && this.cell.run !== state.run) this.forget();
    });
  }

  /** Whether the tab is shown: elsewhere a click is just a click. */
  get isOpen(): boolean {
    return this.element.offsetParent !== null;
  }

  /** Ask about a place; of several questions, only the last answer counts. */
  async ask(x: number, y: number): Promise<void> {
    const number = ++this.asked;
    const facts = await this.fetch<CellFacts>(`/cell?x=${x}&y=${y}`);
    if (!facts || number !== this.asked) return;
    this.cell = facts;
    this.showCell(facts);
    this.changed();
  }

  private forget(): void {
    this.cell = null;
    this.about.replaceChildren(make("p", { class: "quiet" }, "Click the terrain to ask a cell."));
    this.changed();
  }

  private async measure(): Promise<void> {
    const facts = await this.fetch<SurveyFacts>("/survey");
    if (facts) this.showSurvey(facts);
  }

  private async fetch<Facts extends object>(path: string): Promise<Facts | null> {
    try {
      const answer = await fetch(path);
      const facts = (await answer.json()) as Facts | Problem;
      if (answer.ok) return facts as Facts;
      this.messages.say((facts as Problem).message, "error", { topic: "inspect" });
    } catch {
      this.messages.say("The server did not answer the question; ask again.", "error", { topic: "inspect" });
    }
    return null;
  }

  private showCell(facts: CellFacts): void {
    const list = make("dl", {});
    const line = (name: string, value: string): void => list.append(make("dt", {}, name), make("dd", {}, value));
    line("Place", `x ${short(facts.x)} m, y ${short(facts.y)} m`);
    line("Height", `${short(facts.height)} m`);
    line(
      "Since the start",
      `${facts.height < facts.start ? "−" : "+"}${short(Math.abs(facts.height - facts.start))} m`,
    );
    line("Upstream area", area(facts.upstream_area));
    const { state } = this.store;
    const partly = state?.stage != null && state.step < (state.usual_steps ?? 0);
    for (const { name, value, unit } of facts.values) {
      const since = partly && SINCE_THE_LEVEL.has(name) ? " on this level" : "";
      line(capital(words(name)) + since, `${short(value)} ${unit}`.trim());
    }
    line("Path of its water", `${short(facts.path_length / 1000)} km`);
    const heights = facts.heights.map((height, i): [number, number] => [facts.moments[i]!, height]);
    const profile = this.profile(facts);
    this.about.replaceChildren(
      list,
      drawCurve(heights, { title: "Height", colour: "#e0a15c", x: "steps", y: "m" }),
      drawCurve(profile.curve, {
        title: "Along its water",
        colour: "#58b7f0",
        x: "km",
        y: "m",
        mark: profile.curve[profile.here]!,
      }),
      button("Remove the path from the view", "Remove the path", () => this.forget(), { class: "wide" }),
    );
  }

  /** Heights along the path by the distance from its head, and the point nearest to the cell. */
  private profile({ path, path_heights, path_distances, x, y }: CellFacts): Profile {
    const away = path.map(([px, py]) => Math.hypot(px - x, py - y));
    const curve = path_distances.map((far, i): [number, number] => [far / 1000, path_heights[i]!]);
    return { curve, here: away.indexOf(Math.min(...away)) };
  }

  private showSurvey(facts: SurveyFacts): void {
    const density =
      facts.drainage_density === null
        ? "–"
        : `${short(facts.drainage_density)} km/km² (from ${area(facts.channel_area)})`;
    this.findings.replaceChildren(
      make("p", { class: "quiet" }, `Measured at step ${facts.moment} on ${facts.columns} × ${facts.rows} cells.`),
      ...facts.findings.map(findingLine),
      make(
        "dl",
        {},
        make("dt", {}, "Drainage density"),
        make("dd", {}, density),
        make("dt", {}, "Mean slope"),
        make("dd", {}, `${short(facts.mean_slope)}°`),
      ),
      drawCurve(facts.slope_area, {
        title: "Slope by drainage area",
        colour: "#9ad0a0",
        x: "m²",
        y: "",
        log: true,
        points: true,
      }),
      drawCurve(facts.hypsometry, {
        title: "Hypsometry",
        colour: "#d0a0d8",
        x: "share of the area above",
        y: "of the relief",
      }),
    );
    if (this.store.state) this.findings.dataset.moment = String(facts.moment);
  }
}

/** A measure with a bar: the published range in the middle, and where the terrain lies. */
function findingLine({ name, symbol, value, low, high, source, verdict }: FindingFacts): HTMLElement {
  const span = high - low;
  const share = (v: number): number => 100 * Math.min(Math.max((v - (low - span)) / (3 * span), 0), 1);
  const bar = make("span", { class: "range-bar" }, make("span", { class: "published" }));
  if (value !== null) {
    const here = make("span", { class: "here" });
    here.style.left = `${share(value)}%`;
    bar.append(here);
  }
  const words = value === null ? "not measured: too small" : `${value.toFixed(2)}, ${verdict}`;
  return make(
    "div",
    { class: "finding", title: `Published range ${low} to ${high} (${source})`, "data-verdict": verdict },
    make("span", { class: "name" }, capital(name), make("i", {}, ` ${symbol}`)),
    make("span", { class: "verdict" }, words),
    bar,
    make("small", {}, `${low} to ${high}, ${source}`),
  );
}

function area(squareMetres: number): string {
  return squareMetres >= 1e5 ? `${short(squareMetres / 1e6)} km²` : `${short(squareMetres)} m²`;
}
