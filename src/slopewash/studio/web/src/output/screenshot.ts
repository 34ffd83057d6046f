// Images larger than the window, drawn tile by tile, with or without the sky.

import { Vector2 } from "three";
import type { Stage } from "../view/stage";

/** Side by side, an image is as large as the window. */
export async function screenshot(stage: Stage, wanted: 1 | 2 | 4, transparent: boolean): Promise<Blob> {
  const scale = stage.isSideBySide ? 1 : wanted;
  const size = stage.renderer.getDrawingBufferSize(new Vector2());
  const picture = document.createElement("canvas");
  picture.width = size.x * scale;
  picture.height = size.y * scale;
  const context = picture.getContext("2d");
  if (!context) throw new Error("the browser cannot create an image of this size; choose a smaller one");
  try {
    for (let row = 0; row < scale; row++) {
      for (let column = 0; column < scale; column++) {
        if (!stage.isSideBySide)
          stage.cameras.showTile(picture.width, picture.height, column * size.x, row * size.y, size.x, size.y);
        // The finishing pass counts from the bottom, the canvas from the top.
        stage.drawPicture(size.x, size.y, !transparent, {
          x: column * size.x,
          y: (scale - 1 - row) * size.y,
          width: picture.width,
          height: picture.height,
        });
        context.drawImage(stage.canvas, column * size.x, row * size.y);
      }
    }
  } finally {
    stage.cameras.applyShift();
    stage.invalidate();
  }
  return new Promise((resolve, reject) =>
    picture.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("the image could not be saved; choose a smaller size"))),
      "image/png",
    ),
  );
}
