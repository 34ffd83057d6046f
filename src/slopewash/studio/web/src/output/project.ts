// Project files: the whole run with its edits and the view, saved and opened.

import type { Messages } from "../panels/messages";
import type { Connection } from "../wire/connection";
import type { OpenedProject, SavedView } from "../wire/protocol";
import { errorMessage, fetchAndSave } from "./download";

export const PROJECT_SUFFIX = ".slopewash";

const TOPIC = "project";

/** Save the run with the view; the server knows everything else. */
export async function saveProject(connection: Connection, view: SavedView | null, name: string): Promise<void> {
  await connection.ask({ type: "look", view });
  await fetchAndSave("/project", `${name}${PROJECT_SUFFIX}`);
}

/** Send a project and open it; `expected` takes the view before the terrain arrives, or undefined if none will. */
export async function openProject(
  file: File,
  connection: Connection,
  messages: Messages,
  expected: (view: SavedView | null | undefined) => void,
): Promise<void> {
  messages.say(`Reading ${file.name} …`, "notice", { topic: TOPIC });
  try {
    const answer = await fetch(`/open?${new URLSearchParams({ name: file.name })}`, {
      method: "POST",
      body: file,
      headers: { "content-type": "application/octet-stream" },
    });
    if (!answer.ok) throw new Error(await errorMessage(answer));
    const project = (await answer.json()) as OpenedProject;
    if (project.replayed)
      messages.say(`${file.name} was saved elsewhere: repeating its ${project.step} steps …`, "notice", {
        topic: TOPIC,
      });
    expected(project.view);
    await connection.ask({ type: "open", upload: project.upload });
    messages.say(`Opened ${file.name} at step ${project.step}.`, "good", { topic: TOPIC });
  } catch (problem) {
    expected(undefined);
    messages.withdraw(TOPIC);
    throw problem;
  }
}
