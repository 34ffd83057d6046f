// The same run on more cells, in the background: how far it is, a picture of its level, and what comes of it.

import { fetchAndSaveTerrain } from "../output/download";
import { runName } from "../output/naming";
import { PROJECT_SUFFIX } from "../output/project";
import { button, labelled, make, section, select } from "../page/dom";
import type { Store } from "../page/store";
import type { Connection } from "../wire/connection";
import type { FinishState } from "../wire/protocol";
import type { Messages } from "./messages";

const SIZES = [256, 512, 1024, 2048, 4096];
const USUAL = 1024;
const DRAFT = 256;

export class FinishPanel {
  readonly element: HTMLElement;
  private readonly size: HTMLSelectElement;
  private readonly begin: HTMLButtonElement;
  private readonly cancel: HTMLButtonElement;
  private readonly bar = make("progress", { max: 1, value: 0, "aria-label": "Finish" });
  private readonly words = make("output", { class: "quiet", "data-role": "finish-words", "aria-label": "Finish" });
  private readonly picture = make("img", { class: "finish-picture", alt: "The level of the finish under way" });
  private readonly result: HTMLElement;
  private readonly format = select("Format of the finish", [], "", () => {});
  private last: FinishState | null = null;
  private preview = 0;

  constructor(
    private readonly store: Store,
    private readonly connection: () => Connection,
    private readonly messages: Messages,
  ) {
    this.size = select("Cells of the finish", [], "", () => {});
    this.begin = button(
      "Finish: the same run on more cells",
      "Finish",
      () => this.send({ type: "finish", size: this.cells }),
      {
        class: "wide",
        "data-role": "finish",
      },
    );
    this.cancel = button("Cancel the finish", "Cancel", () => this.send({ type: "cancel_finish" }), {
      class: "wide",
      "data-role": "cancel-finish",
    });
    this.result = make(
      "div",
      { class: "finish-result" },
      button("Show the finish in this page", "Show the finish", () => this.send({ type: "open_finish" }), {
        class: "wide",
        "data-role": "open-finish",
      }),
      make(
        "div",
        { class: "line" },
        this.format,
        button("Save the finish", "Save", () => void this.save(), { "data-role": "save-finish" }),
      ),
    );
    this.element = section(
      "Draft and finish",
      true,
      button("Draft: start this run again on 256 cells", "Draft", () => this.send({ type: "start", size: DRAFT }), {
        class: "wide",
        "data-role": "draft",
      }),
      labelled("Cells", this.size, "More cells are the same ground, finer"),
      this.begin,
      this.cancel,
      this.bar,
      this.words,
      this.picture,
      this.result,
    );
    store.onWelcome((welcome) => {
      const sizes = SIZES.filter((cells) => cells <= welcome.limits.finish_size);
      const chosen = this.size.value || String(USUAL);
      this.size.replaceChildren(...sizes.map((cells) => make("option", { value: cells }, `${cells} × ${cells}`)));
      this.size.value = chosen;
      const formats = [...welcome.formats, { suffix: PROJECT_SUFFIX, doc: "the whole run as a project" }];
      this.format.replaceChildren(
        ...formats.map(({ suffix, doc }) => make("option", { value: suffix, title: doc }, suffix)),
      );
    });
    this.receive(null);
  }

  /** Show how the finish is doing. */
  receive(finish: FinishState | null): void {
    const before = this.last?.status;
    this.last = finish;
    const status = finish?.status ?? "idle";
    const running = status === "running";
    this.begin.hidden = this.size.disabled = running;
    this.cancel.hidden = this.bar.hidden = !running;
    this.result.hidden = status !== "done";
    this.bar.value = finish?.share ?? 0;
    this.words.textContent = finish ? describe(finish) : "";
    this.words.hidden = status === "idle";
    this.picture.hidden = !running || !finish?.preview;
    if (finish?.preview && finish.preview !== this.preview) this.picture.src = `/finish/preview.png?${finish.preview}`;
    this.preview = finish?.preview ?? 0;
    if (before === "running" && status === "done")
      this.messages.say(`Finished on ${finish!.size} cells.`, "good", {
        topic: "finish",
        offer: { label: "Show the finish", run: () => this.send({ type: "open_finish" }) },
      });
    if (before === "running" && status === "failed")
      this.messages.say(`The finish failed: ${finish!.message}`, "error", { topic: "finish" });
  }

  private get cells(): number {
    return Number(this.size.value);
  }

  private send(message: Parameters<Connection["send"]>[0]): void {
    void this.connection().send(message);
  }

  private async save(): Promise<void> {
    const { last } = this;
    const suffix = this.format.value;
    const name = `${runName(this.store.state).replace(/-step\d+$/, "")}-${last?.size}cells-step${last?.step}${suffix}`;
    try {
      await fetchAndSaveTerrain(`/finish/${name}`, name);
    } catch (problem) {
      this.messages.say((problem as Error).message, "error");
    }
  }
}

/** Level, steps and the time left. */
function describe({ status, size, words, step, steps, seconds_left, message }: FinishState): string {
  if (status === "failed") return `It failed: ${message}`;
  if (status === "cancelled") return "It was cancelled.";
  if (status === "done") return `Finished on ${size} × ${size} cells after ${step} steps.`;
  const place = words ? `${words}, ` : "";
  const left = seconds_left === null ? "" : `, ${duration(seconds_left)} left`;
  return steps ? `${place}step ${step} of ${steps}${left}` : "starting …";
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
