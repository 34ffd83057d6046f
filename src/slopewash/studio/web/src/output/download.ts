// Saves files to the user's disk.

const WITHOUT_HEADER = [".r16", ".raw"];

/** Fetch a file from the server and save it; throws the server's error message if it refuses. */
export async function fetchAndSave(path: string, name: string): Promise<void> {
  const answer = await fetch(path, { headers: { accept: "*/*" } });
  if (!answer.ok) throw new Error(await errorMessage(answer));
  saveBlob(await answer.blob(), name);
}

/** Save a terrain; formats without a header come with a second file that has their size and height range. */
export async function fetchAndSaveTerrain(path: string, name: string): Promise<void> {
  await fetchAndSave(path, name);
  if (WITHOUT_HEADER.some((suffix) => name.endsWith(suffix))) await fetchAndSave(`${path}.json`, `${name}.json`);
}

export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 30000);
}

export async function errorMessage(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text || `the server answered ${answer.status}`;
  }
}
