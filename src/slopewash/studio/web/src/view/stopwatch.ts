// How long the GPU takes for what was just asked of it, without waiting for it.

const LOOK_EVERY = 4;

export class Stopwatch {
  private running = false;

  constructor(private readonly gl: WebGL2RenderingContext) {}

  /** Report the milliseconds since `began` as soon as all commands so far are carried out. */
  time(began: number, done: (milliseconds: number) => void): void {
    if (this.running) return;
    const { gl } = this;
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!fence) return;
    this.running = true;
    gl.flush();
    const look = (): void => {
      const state = gl.clientWaitSync(fence, 0, 0);
      if (state === gl.TIMEOUT_EXPIRED) {
        window.setTimeout(look, LOOK_EVERY);
        return;
      }
      this.running = false;
      gl.deleteSync(fence);
      if (state !== gl.WAIT_FAILED) done(performance.now() - began);
    };
    window.setTimeout(look, 0);
  }
}
