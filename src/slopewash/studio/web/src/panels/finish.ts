// The same run on more cells, in the background: how far it is, a picture of its level, and what comes of it.

import { fetchAndSaveTerrain } from "../output/download";
import { finishName } from "../output/naming";
import { PROJECT_SUFFIX } from "../output/project";
import { button, capital, labelled, make, section, select, words } from "../page/dom";
import type { Store } from "../page/store";
import type { Connection } from "../wire/connection";
import type { FinishState } from "../wire/protocol";
import type { ConfirmDialog } from "./confirm";
import type { Messages } from "./messages";

const SIZES = [256, 512, 1024, 2048, 4096];
const USUAL = 1024;
const DRAFT = 256;
/** Seconds of work that are given up without asking. */
const LITTLE = 30;
const TOPIC = "finish";

export class FinishPanel {
  readonly element: HTMLElement;
  private readonly size: HTMLSelectElement;
  private readonly begin: HTMLButtonElement;
  private readonly cancel: HTMLButtonElement;
  private readonly goOn: HTMLButtonElement;
  private readonly discard: HTMLButtonElement;
  private readonly bar = make("progress", { max: 1, value: 0, "aria-label": "Finish" });
  private readonly words = make("output", { class: "quiet", "data-role": "finish-words", "aria-label": "Finish" });
  private readonly picture = make("img", { class: "finish-picture", alt: "The level of the finish under way" });
  private readonly result: HTMLElement;
  private readonly format = select("Format of the finish", [], "", () => {});
  private last: FinishState | null = null;
  private preview = 0;

  constructor(
    store: Store,
    private readonly connection: () => Connection,
    private readonly messages: Messages,
    private readonly confirm: ConfirmDialog,
  ) {
    this.size = select("Cells of the finish", [], "", () => {});
    this.begin = button("Finish: the same run on more cells", "Finish", () => void this.finish(), {
      class: "wide",
      "data-role": "finish",
    });
    this.cancel = button("Cancel the finish", "Cancel", () => void this.remove(), {
      class: "wide",
      "data-role": "cancel-finish",
    });
    this.goOn = button(
      "Continue the finish from its last checkpoint",
      "Continue",
      () => this.send({ type: "continue_finish" }),
      { class: "wide", "data-role": "continue-finish" },
    );
    this.result = make(
      "div",
      { class: "finish-result" },
      button("Show the finish in this page", "Show the finish", () => this.open(), {
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
    this.discard = button("Discard the finish: remove it from the disk", "Discard", () => void this.remove(), {
      class: "wide",
      "data-role": "discard-finish",
    });
    this.element = section(
      "Draft and finish",
      true,
      button("Draft: start this run again on 256 cells", "Draft", () => this.send({ type: "start", size: DRAFT }), {
        class: "wide",
        "data-role": "draft",
      }),
      make(
        "p",
        { class: "quiet" },
        "Draft starts the run again on 256 × 256 cells. Finish repeats it on the cells chosen here, in the background; this run stays.",
      ),
      labelled("Cells", this.size, "More cells are the same ground, finer"),
      this.begin,
      this.cancel,
      this.goOn,
      this.bar,
      this.words,
      this.picture,
      this.result,
      this.discard,
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
    const first = this.last === null;
    const before = this.last?.status;
    this.last = finish;
    const status = finish?.status ?? "idle";
    if (status !== before) this.confirm.withdraw();
    const running = status === "running";
    this.begin.hidden = this.size.disabled = running;
    this.cancel.hidden = this.bar.hidden = !running;
    this.goOn.hidden = !finish?.can_continue;
    this.result.hidden = status !== "done";
    this.discard.hidden = status !== "done" && !finish?.can_continue;
    this.bar.value = finish?.share ?? 0;
    this.words.textContent = finish ? describe(finish) : "";
    this.words.hidden = status === "idle";
    this.picture.hidden = !running || !finish?.preview;
    if (finish?.preview && finish.preview !== this.preview) this.picture.src = `/finish/preview.png?${finish.preview}`;
    this.preview = finish?.preview ?? 0;
    if (finish) this.report(finish, before, first && finish.resumed);
  }

  /** Report what changed, or what a server before this one has left. */
  private report({ status, size, name, message }: FinishState, before: string | undefined, left: boolean): void {
    const offer = { label: "Show the finish", run: () => this.open() };
    if (status === "done" && (before === "running" || left))
      this.messages.say(`Finished on ${size} cells${left ? ` earlier: ${name}` : ""}.`, "good", {
        topic: TOPIC,
        offer,
      });
    if (status === "failed" && (before === "running" || left))
      this.messages.say(`The finish failed: ${message}`, "error", { topic: TOPIC });
    if (status === "running" && left)
      this.messages.say(`The finish of ${name} on ${size} cells goes on.`, "notice", { topic: TOPIC });
  }

  private open(): void {
    this.messages.withdraw(TOPIC); // which offers it too
    this.send({ type: "open_finish" });
  }

  /** Start one; a result before it makes room. */
  private async finish(): Promise<void> {
    if (this.isLeft && !(await this.confirmed("Replace the finish?", "Replace"))) return;
    this.send({ type: "finish", size: this.cells });
  }

  /** Cancel one, or discard its result. */
  private async remove(): Promise<void> {
    const { share = 0, seconds_left: left, resumed } = this.last ?? {};
    // How long one has worked that goes on after a restart is not known at first: it may be hours.
    const worked =
      left == null && (share > 0 || resumed) ? Infinity : ((left ?? 0) * share) / (1 - Math.min(share, 0.999));
    if (this.isLeft && !(await this.confirmed("Discard the finish?", "Discard"))) return;
    if (!this.isLeft && worked > LITTLE && !(await this.confirmed("Cancel the finish?", "Cancel the finish"))) return;
    this.send({ type: "cancel_finish" });
  }

  /** Whether there is a result, or one that can be continued. */
  private get isLeft(): boolean {
    return this.last?.status === "done" || Boolean(this.last?.can_continue);
  }

  private confirmed(title: string, does: string): Promise<boolean> {
    const { name, size, step, steps, status } = this.last!;
    const far = status === "done" ? `after ${step} steps` : `at step ${step} of ${steps}`;
    return this.confirm.ask({
      title,
      about: `${capital(words(name))} on ${size} × ${size} cells, ${far}, will be removed from the disk. This cannot be undone.`,
      does,
    });
  }

  private get cells(): number {
    return Number(this.size.value);
  }

  private send(message: Parameters<Connection["send"]>[0]): void {
    void this.connection().send(message);
  }

  private async save(): Promise<void> {
    if (!this.last) return;
    const name = `${finishName(this.last)}${this.format.value}`;
    try {
      await fetchAndSaveTerrain(`/finish/${name}`, name);
    } catch (problem) {
      this.messages.say((problem as Error).message, "error");
    }
  }
}

/** Level, steps and the time left. */
function describe({ status, size, words: level, step, steps, seconds_left, message }: FinishState): string {
  if (status === "failed") return `It failed: ${message}`;
  if (status === "cancelled") return "It was cancelled.";
  if (status === "done") return `Finished on ${size} × ${size} cells after ${step} steps.`;
  const place = level ? `${level}, ` : "";
  const left = seconds_left === null ? "" : `, ${duration(seconds_left)} left`;
  return steps ? `${place}step ${step} of ${steps}${left}` : "starting …";
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
