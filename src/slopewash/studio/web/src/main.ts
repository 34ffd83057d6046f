// Entry: a studio where WebGL2 is there, else a sentence about what to do.

import "./page/style.css";
import { App } from "./page/app";
import { make } from "./page/dom";

const canvas = document.querySelector<HTMLCanvasElement>("#picture")!;

function hasWebGL2(): boolean {
  return document.createElement("canvas").getContext("webgl2") !== null;
}

if (hasWebGL2()) {
  const app = new App(canvas);
  // For tests and for the curious at the console.
  Object.assign(window, { studio: app });
} else {
  canvas.remove();
  document.body.append(
    make(
      "main",
      { class: "glass unsupported", role: "alert" },
      make("h1", {}, "This browser has no WebGL2"),
      make(
        "p",
        {},
        "The studio draws with WebGL2. Use a current Chromium, Firefox or Safari with hardware acceleration switched on, or update the graphics driver. The simulation itself goes on: the command line (slopewash erode, slopewash render) needs no browser.",
      ),
    ),
  );
}
