// Uploads a height field from the user's disk and starts a run from it.

import type { Messages } from "../panels/messages";
import type { Connection } from "../wire/connection";
import type { Problem, Uploaded } from "../wire/protocol";

export const ACCEPTED = ".png,.tif,.tiff,.exr,.npy,.npz,.r16,.raw";

/** What a file does not contain. */
export interface FileFacts {
  /** Heights in metres of its lowest and its highest value. */
  low: number | null;
  high: number | null;
  cellSize: number | null;
  allow8bit: boolean;
}

export type Missing = NonNullable<Problem["wants"]>;

/** Asks the user for what a file does not contain; null if they cancel. */
export type Ask = (file: File, missing: Missing, facts: FileFacts) => Promise<FileFacts | null>;

const TOPIC = "upload";

/** Send a file and start from it. */
export async function uploadAndStart(
  file: File,
  connection: Connection,
  messages: Messages,
  limit: number,
  ask: Ask,
): Promise<void> {
  if (file.size > limit)
    throw new Error(`${file.name} is ${Math.round(file.size / 1e6)} MB; the limit is ${Math.round(limit / 1e6)} MB`);
  let facts: FileFacts | null = { low: null, high: null, cellSize: null, allow8bit: false };
  while (facts) {
    messages.say(`Reading ${file.name} …`, "notice", { topic: TOPIC });
    const answer = await send(file, facts);
    if ("upload" in answer) {
      await connection.ask({ type: "start", upload: answer.upload });
      const fewer =
        answer.file_columns > answer.columns
          ? `, resampled from ${answer.file_columns} × ${answer.file_rows} to ${answer.columns} × ${answer.rows} cells`
          : "";
      messages.say(`Started from ${file.name}${fewer}.`, "good", { topic: TOPIC });
      return;
    }
    messages.withdraw(TOPIC);
    if (!answer.wants) throw new Error(answer.message);
    facts = await ask(file, answer.wants, facts);
  }
}

async function send(file: File, facts: FileFacts): Promise<Uploaded | Problem> {
  const query = new URLSearchParams({ name: file.name });
  if (facts.low !== null && facts.high !== null) {
    query.set("low", String(facts.low));
    query.set("high", String(facts.high));
  }
  if (facts.cellSize !== null) query.set("cell_size", String(facts.cellSize));
  if (facts.allow8bit) query.set("allow_8bit", "true");
  const answer = await fetch(`/upload?${query}`, {
    method: "POST",
    body: file,
    headers: { "content-type": "application/octet-stream" },
  });
  const text = await answer.text();
  try {
    return JSON.parse(text) as Uploaded | Problem;
  } catch {
    return { message: text || `the server answered ${answer.status}`, wants: null };
  }
}
