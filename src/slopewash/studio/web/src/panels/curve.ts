// A small plot of one curve or of points, with the numbers at the ends of its axes.

import { make, short } from "../page/dom";

const WIDTH = 560;
const HEIGHT = 170;
/** Room for the numbers, left, right, top and bottom. */
const ROOM = { left: 8, right: 8, top: 30, bottom: 28 };

export interface CurveOptions {
  title: string;
  colour: string;
  x: string;
  y: string;
  /** Whether both axes are logarithmic. */
  log?: boolean;
  /** Points alone, without the line between them. */
  points?: boolean;
  /** Marked with a dot. */
  mark?: [number, number];
}

export function drawCurve(curve: [number, number][], options: CurveOptions): HTMLElement {
  const canvas = make("canvas", { width: WIDTH, height: HEIGHT, role: "img" });
  const usable = options.log ? curve.filter(([x, y]) => x > 0 && y > 0) : curve;
  const [low, high] = [usable[0], usable.at(-1)];
  const text = low && high ? `, ${options.y} ${short(low[1])} to ${short(high[1])}` : ": nothing to show";
  canvas.setAttribute("aria-label", options.title + text);
  if (usable.length) draw(canvas.getContext("2d")!, usable, options);
  return make("figure", { class: "plot curve" }, canvas);
}

function draw(context: CanvasRenderingContext2D, curve: [number, number][], options: CurveOptions): void {
  const scale = options.log ? Math.log10 : (value: number): number => value;
  const xs = curve.map(([x]) => scale(x));
  const ys = curve.map(([, y]) => scale(y));
  const place = (value: number, values: number[], from: number, to: number): number => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return high > low ? from + ((scale(value) - low) / (high - low)) * (to - from) : 0.5 * (from + to);
  };
  const at = ([x, y]: [number, number]): [number, number] => [
    place(x, xs, ROOM.left, WIDTH - ROOM.right),
    place(y, ys, HEIGHT - ROOM.bottom, ROOM.top),
  ];
  context.strokeStyle = context.fillStyle = options.colour;
  context.lineWidth = 3;
  context.beginPath();
  for (const point of curve) {
    if (!options.points) context.lineTo(...at(point));
    else context.rect(at(point)[0] - 3, at(point)[1] - 3, 6, 6);
  }
  if (options.points) context.fill();
  else context.stroke();
  if (options.mark) {
    context.beginPath();
    context.arc(...at(options.mark), 7, 0, 2 * Math.PI);
    context.fillStyle = "#ffffff";
    context.fill();
  }
  const bounds = (index: 0 | 1): [string, string] => {
    const values = curve.map((point) => point[index]);
    return [short(Math.min(...values)), short(Math.max(...values))];
  };
  const [x0, x1] = bounds(0);
  const [y0, y1] = bounds(1);
  context.fillStyle = "#b9c4d0";
  context.font = "19px system-ui, sans-serif";
  context.fillText(`${options.title}: ${y0} … ${y1} ${options.y}`, 6, 20);
  context.fillText(x0, 6, HEIGHT - 6);
  context.textAlign = "center";
  context.fillText(options.x, WIDTH / 2, HEIGHT - 6);
  context.textAlign = "right";
  context.fillText(x1, WIDTH - 6, HEIGHT - 6);
}
