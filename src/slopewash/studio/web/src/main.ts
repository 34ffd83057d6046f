// Entry point: opens the studio, or explains what to do where WebGL2 is missing.

import "./style/index.css";
import { App } from "./page/app";
import { make } from "./page/dom";

const canvas = document.querySelector<HTMLCanvasElement>("#picture")!;

function hasWebGL2(): boolean {
  return document.createElement("canvas").getContext("webgl2") !== null;
}

if (hasWebGL2()) {
  const app = new App(canvas);
  // For tests and the browser's console.
  Object.assign(window, { studio: app });
} else {
  canvas.remove();
  document.body.append(
    make(
      "main",
      { class: "glass unsupported", role: "alert" },
      make("h1", {}, "This browser does not support WebGL2"),
      make(
        "p",
        {},
        "The studio draws with WebGL2. Use a current Chromium, Firefox or Safari with hardware acceleration enabled, or update the graphics driver. The command line needs no browser: slopewash erode erodes a height field, and slopewash render draws it.",
      ),
    ),
  );
}
