// Handing files to the user.

/** Fetch a file of the server and save it; throws the server's own sentence when it will not give it. */
export async function fetchAndSave(path: string, name: string): Promise<void> {
  const answer = await fetch(path, { headers: { accept: "*/*" } });
  if (!answer.ok) throw new Error(await sentence(answer));
  saveBlob(await answer.blob(), name);
}

export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 30000);
}

export async function sentence(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text || `the server answered ${answer.status}`;
  }
}
