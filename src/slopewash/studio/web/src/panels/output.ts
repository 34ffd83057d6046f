// Everything that leaves the studio: exports, pictures, films, the session as a script.

import { fetchAndSave, saveBlob } from "../output/download";
import { Film } from "../output/film";
import { screenshot } from "../output/screenshot";
import { button, checkbox, labelled, make, section, select } from "../page/dom";
import type { Store } from "../page/store";
import type { Stage } from "../view/stage";
import type { Messages } from "./messages";

const HEADLESS = [".r16", ".raw"];

export class OutputPanel {
  readonly element = make("div", { class: "output" });
  private readonly film: Film;
  private readonly recordButton: HTMLButtonElement;
  private readonly scale = select(
    "Size of the picture",
    [
      { value: "1", text: "as shown" },
      { value: "2", text: "2 × larger" },
      { value: "4", text: "4 × larger" },
    ],
    "1",
    () => {},
  );
  private readonly transparent = checkbox("Transparent background", false, () => {});
  private readonly exports = make("div", { class: "exports" });

  constructor(
    private readonly store: Store,
    private readonly stage: Stage,
    private readonly messages: Messages,
  ) {
    this.film = new Film(stage.canvas);
    this.recordButton = button("Record a film", "Record a film", () => this.record(), {
      class: "wide",
      "data-role": "record",
    });
    this.element.append(
      section("Export the terrain", true, this.exports),
      section(
        "Picture",
        true,
        labelled("Size", this.scale),
        labelled("Transparent background", this.transparent),
        button("Save a picture (X)", "Save a picture", () => void this.picture(), {
          class: "wide",
          "data-role": "screenshot",
        }),
      ),
      section("Film", true, this.recordButton),
      section(
        "Session",
        true,
        button(
          "Save the session as a Python script",
          "Save as Python script",
          () => void this.save("/script", "session.py"),
          { class: "wide", "data-role": "script" },
        ),
        make("p", { class: "quiet" }, "Replays start, parameters and edits to the same bits."),
      ),
    );
    store.onWelcome((welcome) => {
      this.exports.replaceChildren(
        ...welcome.formats.map(({ suffix, doc }) =>
          button(`Export ${suffix}: ${doc}`, suffix, () => void this.exportAs(suffix), { "data-suffix": suffix }),
        ),
      );
    });
  }

  async picture(): Promise<void> {
    try {
      const blob = await screenshot(this.stage, Number(this.scale.value) as 1 | 2 | 4, this.transparent.checked);
      saveBlob(blob, `slopewash-${this.store.state?.step ?? 0}.png`);
    } catch (problem) {
      this.messages.say((problem as Error).message, "error");
    }
  }

  private record(): void {
    try {
      if (this.film.running) this.film.stop();
      else this.film.start((film, suffix) => saveBlob(film, `slopewash.${suffix}`));
    } catch (problem) {
      this.messages.say((problem as Error).message, "error");
    }
    this.recordButton.textContent = this.film.running ? "Stop and save the film" : "Record a film";
    this.recordButton.classList.toggle("recording", this.film.running);
  }

  /** Headless formats say nothing of their size and range: the file that does comes along. */
  private async exportAs(suffix: string): Promise<void> {
    const name = `terrain${suffix}`;
    await this.save(`/export/${name}`, name);
    if (HEADLESS.includes(suffix)) await this.save(`/export/${name}.json`, `${name}.json`);
  }

  private async save(path: string, name: string): Promise<void> {
    try {
      await fetchAndSave(path, name);
    } catch (problem) {
      this.messages.say((problem as Error).message, "error");
    }
  }
}
