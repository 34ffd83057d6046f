// Height fields from the user's disk: sent to the server, then started from.

import type { Connection } from "../wire/connection";
import type { Messages } from "../panels/messages";
import { sentence } from "./download";

export const ACCEPTED = ".png,.tif,.tiff,.exr,.npy,.npz,.r16,.raw";

export interface HeightRange {
  low: number;
  high: number;
}

/** Send a file and start from it. `range` says what black and white mean where a format does not say so itself. */
export async function uploadAndStart(file: File, connection: Connection, messages: Messages, limit: number, range: HeightRange | null, cellSize: number | null): Promise<void> {
  if (file.size > limit) throw new Error(`${file.name} has ${Math.round(file.size / 1e6)} MB; the studio takes at most ${Math.round(limit / 1e6)} MB`);
  messages.say(`Reading ${file.name} …`);
  const query = new URLSearchParams({ name: file.name });
  if (range) {
    query.set("low", String(range.low));
    query.set("high", String(range.high));
  }
  if (cellSize !== null) query.set("cell_size", String(cellSize));
  const answer = await fetch(`/upload?${query}`, { method: "POST", body: file, headers: { "content-type": "application/octet-stream" } });
  if (!answer.ok) throw new Error(await sentence(answer));
  const taken = (await answer.json()) as { upload: string; rows: number; columns: number; file_rows: number; file_columns: number };
  await connection.ask({ type: "start", upload: taken.upload });
  const fewer = taken.file_columns > taken.columns ? `, its ${taken.file_columns} × ${taken.file_rows} cells made ${taken.columns} × ${taken.rows}` : "";
  messages.say(`Started from ${file.name}${fewer}.`, "good");
}
