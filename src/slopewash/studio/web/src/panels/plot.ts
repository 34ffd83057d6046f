// A curve over the steps, small enough to sit in the panel.

import { make, volume } from "../page/dom";

const MOST = 400;
const WIDTH = 560;
const HEIGHT = 120;

export class Plot {
  readonly element: HTMLElement;
  private readonly canvas = make("canvas", { width: WIDTH, height: HEIGHT, role: "img" });
  private points: [number, number][] = [];

  constructor(
    private readonly title: string,
    private readonly colour: string,
  ) {
    this.canvas.setAttribute("aria-label", title);
    this.element = make("figure", { class: "plot" }, this.canvas);
  }

  clear(): void {
    this.points = [];
    this.draw();
  }

  add(step: number, value: number): void {
    if (step < (this.points.at(-1)?.[0] ?? 0)) this.points = [];
    const last = this.points.at(-1);
    if (last && last[0] === step) last[1] = value;
    else this.points.push([step, value]);
    // Half of the points are dropped, so that the whole run stays visible.
    if (this.points.length > MOST)
      this.points = this.points.filter((_, i) => i % 2 === 0 || i === this.points.length - 1);
    this.draw();
  }

  private draw(): void {
    const context = this.canvas.getContext("2d")!;
    context.clearRect(0, 0, WIDTH, HEIGHT);
    const first = this.points[0];
    const last = this.points.at(-1);
    if (!first || !last) return;
    const high = Math.max(...this.points.map((p) => p[1]), 1e-9);
    const x = (step: number): number => 4 + ((step - first[0]) / Math.max(last[0] - first[0], 1)) * (WIDTH - 8);
    const y = (value: number): number => HEIGHT - 6 - (value / high) * (HEIGHT - 34);
    context.beginPath();
    for (const [step, value] of this.points) context.lineTo(x(step), y(value));
    context.strokeStyle = this.colour;
    context.lineWidth = 3;
    context.stroke();
    context.lineTo(x(last[0]), HEIGHT);
    context.lineTo(x(first[0]), HEIGHT);
    context.closePath();
    context.globalAlpha = 0.18;
    context.fillStyle = this.colour;
    context.fill();
    context.globalAlpha = 1;
    context.fillStyle = "#b9c4d0";
    context.font = "19px system-ui, sans-serif";
    context.fillText(`${this.title}: ${volume(last[1])}`, 6, 20);
    this.canvas.setAttribute("aria-label", `${this.title}: ${volume(last[1])} at step ${last[0]}`);
  }
}
