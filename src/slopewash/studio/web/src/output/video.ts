// Records the view as a video, in the best format that the browser supports.

const KINDS = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];
const FRAMES_PER_SECOND = 30;
const BITS_PER_SECOND = 16e6;

export class Video {
  /** Recorded so far. */
  bytes = 0;
  private recorder: MediaRecorder | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  get running(): boolean {
    return this.recorder !== null;
  }

  start(done: (video: Blob, suffix: string) => void): void {
    const kind = typeof MediaRecorder === "undefined" ? undefined : KINDS.find((k) => MediaRecorder.isTypeSupported(k));
    if (!kind) throw new Error("this browser cannot record video; use Chromium or Firefox");
    const parts: Blob[] = [];
    this.bytes = 0;
    const recorder = new MediaRecorder(this.canvas.captureStream(FRAMES_PER_SECOND), {
      mimeType: kind,
      videoBitsPerSecond: BITS_PER_SECOND,
    });
    recorder.addEventListener("dataavailable", (event) => {
      parts.push(event.data);
      this.bytes += event.data.size;
    });
    recorder.addEventListener("stop", () =>
      done(new Blob(parts, { type: kind.split(";")[0]! }), kind.includes("mp4") ? "mp4" : "webm"),
    );
    recorder.start(500);
    this.recorder = recorder;
  }

  stop(): void {
    this.recorder?.stop();
    this.recorder = null;
  }
}
