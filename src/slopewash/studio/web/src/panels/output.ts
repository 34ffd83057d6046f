// Everything that can be saved: terrain files, images, videos, the run as a script.

import { fetchAndSave, fetchAndSaveTerrain, saveBlob } from "../output/download";
import { runName } from "../output/naming";
import { screenshot } from "../output/screenshot";
import { Video } from "../output/video";
import { button, checkbox, labelled, make, section, select } from "../page/dom";
import type { Store } from "../page/store";
import type { Stage } from "../view/stage";
import type { Messages } from "./messages";

export class OutputPanel {
  readonly element = make("div", { class: "output" });
  private readonly video: Video;
  private readonly recordButton: HTMLButtonElement;
  private readonly scale = select(
    "Image size",
    [
      { value: "1", text: "window size" },
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
    private readonly project: { save: () => void; open: () => void; finish: HTMLElement },
  ) {
    this.video = new Video(stage.canvas);
    this.recordButton = button("Record video", "Record video", () => this.record(), {
      class: "wide",
      "data-role": "record",
    });
    this.element.append(
      section(
        "Project",
        true,
        button("Save the run with its edits and the view (Ctrl+S)", "Save project", () => this.project.save(), {
          class: "wide",
          "data-role": "save-project",
        }),
        button("Open a project that was saved before", "Open project…", () => this.project.open(), {
          class: "wide",
          "data-role": "open-project",
        }),
      ),
      this.project.finish,
      section("Export terrain", true, this.exports),
      section(
        "Image",
        true,
        labelled("Size", this.scale),
        labelled("Transparent background", this.transparent),
        button("Save image (X)", "Save image", () => void this.picture(), {
          class: "wide",
          "data-role": "screenshot",
        }),
      ),
      section("Video", true, this.recordButton),
      section(
        "Script",
        true,
        button(
          "Save the run as a Python script",
          "Save as Python script",
          () => void this.save("/script", `${runName(this.store.state)}.py`),
          { class: "wide", "data-role": "script" },
        ),
        button(
          "Save the terrain and the parameters as a recipe for slopewash run",
          "Save as recipe",
          () => void this.save("/recipe", `${runName(this.store.state)}.toml`),
          { class: "wide", "data-role": "recipe" },
        ),
        make(
          "p",
          { class: "quiet" },
          "The script repeats the run with all parameter changes and edits; the result is bit-identical. The recipe holds the terrain, all stages and the parameters as they are now.",
        ),
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
      saveBlob(blob, `${runName(this.store.state)}.png`);
    } catch (problem) {
      this.messages.say((problem as Error).message, "error");
    }
  }

  private record(): void {
    try {
      if (this.video.running) this.video.stop();
      else this.video.start((video, suffix) => saveBlob(video, `${runName(this.store.state)}.${suffix}`));
    } catch (problem) {
      this.messages.say((problem as Error).message, "error");
    }
    this.recordButton.textContent = this.video.running ? "Stop and save video" : "Record video";
    this.recordButton.classList.toggle("recording", this.video.running);
  }

  private async exportAs(suffix: string): Promise<void> {
    const name = `${runName(this.store.state)}${suffix}`;
    await this.save(`/export/${name}`, name, fetchAndSaveTerrain);
  }

  private async save(path: string, name: string, fetchIt = fetchAndSave): Promise<void> {
    try {
      await fetchIt(path, name);
    } catch (problem) {
      this.messages.say((problem as Error).message, "error");
    }
  }
}
