"""From the layers and metadata of a file to a Terrain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from numpy.typing import ArrayLike

from slopewash.errors import InvalidFile, InvalidTerrain
from slopewash.terrain import Emitter, Layer, Strata, Terrain, WaterSource
from slopewash.terrain.fields import LAYERS, RESERVED


def gather(
    path: Path,
    layers: Mapping[str, Layer],
    *,
    cell_size: float | None = None,
    nodata: ArrayLike | None = None,
    crs: str | None = None,
    transform: Sequence[float] | None = None,
    sources: Sequence[WaterSource] = (),
    emitters: Sequence[Emitter] = (),
    strata: Strata | None = None,
) -> Terrain:
    """Build a terrain; errors name the file.

    >>> import numpy as np
    >>> gather(Path("hill.npy"), {"elevation": np.ones((2, 3), dtype=np.float32)}, cell_size=5.0)
    Terrain 3 x 2 cells of 5 m (15 x 10 m)
      elevation   1 .. 1 m
    """
    if "elevation" not in layers:
        names = ", ".join(layers) or "nothing"
        raise InvalidFile(f"{path} contains {names}; one layer must be called elevation")
    for name in layers:
        if name in RESERVED:
            raise InvalidFile(f'{path} contains a layer called "{name}", which is a reserved name; rename it')
    try:
        return Terrain(
            cell_size=1.0 if cell_size is None else cell_size,
            nodata=nodata,
            crs=crs,
            transform=transform,
            south_up=False,
            sources=sources,
            emitters=emitters,
            strata=strata,
            **{name: layer for name, layer in layers.items() if name in LAYERS},
            own_layers={name: layer for name, layer in layers.items() if name not in LAYERS},
        )
    except InvalidTerrain as error:
        raise InvalidTerrain(f"{path}: {error}") from error
