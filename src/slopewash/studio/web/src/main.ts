import { Stage } from "./view/stage";
import { Connection } from "./wire/connection";

const canvas = document.querySelector("canvas")!;
const stage = new Stage(canvas, (frame) => connection.acknowledge(frame));
const connection: Connection = new Connection(`ws://${location.host}/ws`, {
  welcomed: () => {}, stateChanged: () => {}, failed: console.warn, noticed: console.info, lost: () => {}, connected: () => {},
  frameArrived: (frame) => { const first = !stage.frame; stage.show(frame); if (first) stage.frameWholeBlock(); },
});
window.addEventListener("resize", () => stage.resize());
(window as any).stage = stage;
