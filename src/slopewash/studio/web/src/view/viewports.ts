// Where terrains are drawn: one fills the window; side by side, two or four share what the bars leave free.

/** In pixels of the window, from its upper left corner. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Pixels between two panes. */
const GAP = 6;

export class Viewports {
  /** One for each terrain; the first is the whole window if there is only one. */
  boxes: Box[] = [{ left: 0, top: 0, width: 1, height: 1 }];

  /** Divide the free space among so many panes; a single one gets the window. */
  layOut(count: number, window: Box, free: Box): void {
    if (count < 2) {
      this.boxes = [window];
      return;
    }
    const across = count === 2 && free.width < free.height ? 1 : 2; // one above the other on a phone
    const down = Math.ceil(count / across);
    const width = Math.max((free.width - GAP * (across - 1)) / across, 1);
    const height = Math.max((free.height - GAP * (down - 1)) / down, 1);
    this.boxes = Array.from({ length: count }, (_, i) => ({
      left: free.left + (i % across) * (width + GAP),
      top: free.top + Math.floor(i / across) * (height + GAP),
      width,
      height,
    }));
  }

  /** Number of the one at a point of the window; null between several of them. */
  at(x: number, y: number): number | null {
    if (this.boxes.length === 1) return 0;
    const found = this.boxes.findIndex(
      ({ left, top, width, height }) => x >= left && x < left + width && y >= top && y < top + height,
    );
    return found < 0 ? null : found;
  }

  /** A point of the window as the camera of a pane counts, −1 … 1 to the right and up. */
  inView(pane: number, x: number, y: number): { x: number; y: number } {
    const { left, top, width, height } = this.boxes[pane] ?? this.boxes[0]!;
    return { x: ((x - left) / width) * 2 - 1, y: 1 - ((y - top) / height) * 2 };
  }
}
