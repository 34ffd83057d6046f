// The scrubber: drag through the keyframes of the run, choose among its branches, and what the wipe compares with.

import { make, select } from "../page/dom";
import type { Store } from "../page/store";
import type { Connection } from "../wire/connection";
import type { BranchState, State, TimelineState } from "../wire/protocol";

export class TimelinePanel {
  readonly element: HTMLElement;
  /** Branch that the wipe compares with; null for the start. */
  against: number | null = null;
  private readonly range = make("input", {
    type: "range",
    min: 0,
    max: 0,
    step: 1,
    value: 0,
    "aria-label": "Keyframes",
    title: "Drag through the history of the run; playing on from there makes a branch, and this one stays",
    "data-role": "scrubber",
  });
  private readonly place = make("output", { class: "quiet", "data-role": "moment", "aria-label": "Keyframe" });
  private readonly branches = select("Branch", [], "", (branch) => this.ask(Number(branch), Infinity));
  private readonly others = select("Compare with", [], "", (branch) => {
    this.against = branch ? Number(branch) : null;
    this.compared();
  });
  /** Moments that the positions of the scrubber stand for. */
  private moments: number[] = [0];
  private shown: TimelineState | null = null;
  private dragging = false;
  /** What is to be shown next, while an answer is awaited. */
  private wanted: { branch: number; moment: number } | null = null;
  private waiting = false;
  /** Whether the wipe is shown. */
  private comparing = false;

  constructor(
    store: Store,
    private readonly connection: () => Connection,
    private readonly compared: () => void,
  ) {
    this.range.addEventListener("input", () => {
      const moment = this.moments[Number(this.range.value)];
      if (this.shown && moment !== undefined) this.ask(this.shown.branch, moment);
    });
    this.range.addEventListener("pointerdown", () => (this.dragging = true));
    for (const end of ["pointerup", "pointercancel", "change"])
      this.range.addEventListener(end, () => (this.dragging = false));
    this.branches.dataset.role = "branch";
    this.others.dataset.role = "against";
    this.element = make(
      "div",
      { class: "timeline", role: "group", "aria-label": "History" },
      this.branches,
      this.range,
      this.place,
      this.others,
    );
    store.onState((state) => this.receive(state));
  }

  /** Offer other branches to compare with, while the wipe is shown. */
  showComparison(shown: boolean): void {
    this.comparing = shown;
    this.others.hidden = !shown || (this.shown?.branches.length ?? 0) < 2;
  }

  private receive(state: State): void {
    const { timeline } = state;
    this.shown = timeline;
    const now = timeline.branches.find(({ branch }) => branch === timeline.branch);
    this.range.disabled = state.settling || !now || now.keyframes.length === 0;
    if (now && !this.dragging && !this.waiting) {
      this.moments = momentsOf(now);
      this.range.max = String(this.moments.length - 1);
      const at = timeline.at_end ? this.moments.length - 1 : this.moments.indexOf(timeline.at);
      this.range.value = String(Math.max(at, 0));
    }
    const end = now?.end ?? timeline.at;
    const text = timeline.at_end ? `step ${timeline.at}` : `step ${timeline.at} of ${end}`;
    this.place.textContent = text;
    this.range.setAttribute("aria-valuetext", text);
    this.element.dataset.past = String(!timeline.at_end);
    refill(
      this.branches,
      timeline.branches.map((b) => [String(b.branch), nameOf(b)]),
      String(timeline.branch),
    );
    this.branches.hidden = timeline.branches.length < 2;
    const others = timeline.branches.filter(({ branch }) => branch !== timeline.branch);
    if (this.against !== null && !others.some(({ branch }) => branch === this.against)) {
      this.against = null;
      this.compared();
    }
    refill(
      this.others,
      [["", "the start"], ...others.map((b): [string, string] => [String(b.branch), `branch ${b.branch}`])],
      this.against === null ? "" : String(this.against),
    );
    this.showComparison(this.comparing);
  }

  /** Ask for a keyframe; while one is awaited, only the last of those dragged over is asked for. */
  private ask(branch: number, moment: number): void {
    this.wanted = { branch, moment: Math.min(moment, 2 ** 53 - 1) };
    if (!this.waiting) void this.next();
  }

  private async next(): Promise<void> {
    this.waiting = true;
    while (this.wanted) {
      const wanted = this.wanted;
      this.wanted = null;
      await this.connection().send({ type: "scrub", ...wanted });
    }
    this.waiting = false;
  }
}

function momentsOf({ keyframes, end }: BranchState): number[] {
  return keyframes.at(-1) === end ? keyframes : [...keyframes, end];
}

function nameOf({ branch, forked, end }: BranchState): string {
  return forked === null ? `branch ${branch}: to ${end}` : `branch ${branch}: ${forked} to ${end}`;
}

function refill(list: HTMLSelectElement, options: [string, string][], value: string): void {
  const shown = [...list.options].map((option) => [option.value, option.text]);
  if (shown.flat().join("\n") !== options.flat().join("\n"))
    list.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
  if (list.value !== value) list.value = value;
}
