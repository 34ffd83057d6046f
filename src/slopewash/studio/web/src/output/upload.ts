// Uploads a height field from the user's disk and starts a run from it.

import { short } from "../page/dom";
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
  /** Longer side in metres, instead of the cell size. */
  extent: number | null;
  allow8bit: boolean;
  /** Number of cells without data, "nan" for NaN. */
  nodata: string | null;
}

export type Missing = NonNullable<Problem["wants"]>;

/** Asks the user for what a file does not contain; null if they cancel. */
export type Ask = (file: File, missing: Missing, facts: FileFacts) => Promise<FileFacts | null>;

const TOPIC = "upload";
const NOTHING: FileFacts = { low: null, high: null, cellSize: null, extent: null, allow8bit: false, nodata: null };

/** Send a file and start from it. */
export async function uploadAndStart(
  file: File,
  connection: Connection,
  messages: Messages,
  limit: number,
  ask: Ask,
  known: FileFacts = NOTHING,
): Promise<void> {
  if (file.size > limit)
    throw new Error(`${file.name} is ${Math.round(file.size / 1e6)} MB; the limit is ${Math.round(limit / 1e6)} MB`);
  let facts: FileFacts | null = known;
  while (facts) {
    messages.say(`Reading ${file.name} …`, "notice", { topic: TOPIC });
    const sent: FileFacts = facts;
    const answer = await send(file, sent);
    if ("upload" in answer) {
      await connection.ask({ type: "start", upload: answer.upload });
      const fewer =
        answer.file_columns > answer.columns
          ? `, resampled from ${answer.file_columns} × ${answer.file_rows} to ${answer.columns} × ${answer.rows} cells`
          : "";
      messages.say(`Started from ${file.name}${fewer}.`, "good", { topic: TOPIC });
      for (const { nodata, message } of answer.suspects)
        messages.say(message, "notice", {
          topic: "nodata",
          offer: {
            label: "Leave those cells out",
            run: () => void uploadAndStart(file, connection, messages, limit, ask, { ...sent, nodata: String(nodata) }),
          },
        });
      const extent = answer.plausible_extent;
      if (extent !== null && sent.extent === null) {
        const side = Math.max(answer.rows, answer.columns) * answer.cell_size;
        messages.say(
          `${file.name} is ${short(answer.relief)} m high and ${short(side / 1000)} km wide, which is hardly right.`,
          "notice",
          {
            topic: "extent",
            offer: {
              label: `Make it ${short(extent / 1000)} km wide`,
              run: () => void uploadAndStart(file, connection, messages, limit, ask, { ...sent, extent }),
            },
          },
        );
      }
      return;
    }
    messages.withdraw(TOPIC);
    if (!answer.wants) throw new Error(answer.message);
    facts = await ask(file, answer.wants, { ...facts, nodata: answer.nodata ?? facts.nodata });
  }
}

async function send(file: File, facts: FileFacts): Promise<Uploaded | Problem> {
  const query = new URLSearchParams({ name: file.name });
  if (facts.low !== null && facts.high !== null) {
    query.set("low", String(facts.low));
    query.set("high", String(facts.high));
  }
  if (facts.extent !== null) query.set("extent", String(facts.extent));
  else if (facts.cellSize !== null) query.set("cell_size", String(facts.cellSize));
  if (facts.allow8bit) query.set("allow_8bit", "true");
  if (facts.nodata !== null) query.set("nodata", facts.nodata);
  const answer = await fetch(`/upload?${query}`, {
    method: "POST",
    body: file,
    headers: { "content-type": "application/octet-stream" },
  });
  const text = await answer.text();
  try {
    return JSON.parse(text) as Uploaded | Problem;
  } catch {
    return { message: text || `the server answered ${answer.status}`, wants: null, nodata: null };
  }
}
