"""Files read by windows and put together, as `erode_tiled` reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import slopewash as sw
from slopewash.tiles.files import opened
from slopewash.tiles.store import Store


def by_tiles(path: Path, options: dict[str, Any], tile: int | tuple[int, int] = 4) -> sw.Terrain:
    """Read as `fill` does, without a store."""
    source = sw.FromFile(path=path, options=options)
    windows = opened(source)
    if windows is None:
        return source.make()
    ground = windows.ground(Store("nowhere"), tile)
    layers: dict[str, Any] = {name: np.zeros(ground.shape, np.float32) for name in ground.layers}
    nodata = np.zeros(ground.shape, bool)
    for number, window in enumerate(ground.grid):
        part, _ = windows.read(ground, number)
        assert set(part) == set(layers)
        assert ground.has_nodata or part.nodata is None
        for name in layers:
            layers[name][window] = part[name]
        nodata[window] = False if part.nodata is None else part.nodata
    own = {name: layers.pop(name) for name in ground.own}
    return sw.Terrain(
        **layers, own_layers=own, nodata=nodata, cell_size=ground.cell_size, crs=ground.crs, transform=ground.transform
    )
