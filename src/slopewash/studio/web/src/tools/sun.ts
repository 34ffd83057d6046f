// Moving the sun: Alt and drag over the picture.

import type { Stage } from "../view/stage";

const DEGREES_PER_PIXEL = 0.35;

export function dragSun(stage: Stage, moved: () => void): void {
  const { canvas, look } = stage;
  let from: { x: number; y: number; azimuth: number; elevation: number } | null = null;
  canvas.addEventListener(
    "pointerdown",
    (event) => {
      if (!event.altKey || event.button !== 0) return;
      event.stopImmediatePropagation();
      canvas.setPointerCapture(event.pointerId);
      stage.gestures.held = true;
      from = { x: event.clientX, y: event.clientY, azimuth: look.sunAzimuth, elevation: look.sunElevation };
    },
    { capture: true },
  );
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    look.sunAzimuth = (from.azimuth + (event.clientX - from.x) * DEGREES_PER_PIXEL + 720) % 360;
    look.sunElevation = Math.min(Math.max(from.elevation - (event.clientY - from.y) * DEGREES_PER_PIXEL, 3), 85);
    stage.lookChanged(true);
    moved();
  });
  for (const end of ["pointerup", "pointercancel"] as const)
    canvas.addEventListener(end, () => {
      if (from) stage.gestures.held = false;
      from = null;
    });
}
