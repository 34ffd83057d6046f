"""Row 0 of a terrain lies in the north and column 0 in the west; files may store them the other way round."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from slopewash.terrain import Terrain

T = TypeVar("T", bound=np.generic)

Transform = tuple[float, ...]


def upright(array: NDArray[T], orientation: int) -> NDArray[T]:
    """Return an array with its rows from the top and its columns from the left, given the orientation of a TIFF.

    >>> upright(np.array([[1, 2, 3]]), 6).tolist()
    [[1], [2], [3]]
    """
    if orientation >= 5:
        array = array.T
    down = -1 if orientation in (3, 4, 7, 8) else 1
    across = -1 if orientation in (2, 3, 6, 7) else 1
    return array[::down, ::across]


def is_mirrored(transform: Transform) -> bool:
    """Whether a transform shows a mirror image of the ground, as south-up rasters do.

    >>> is_mirrored((1, 0, 0, 0, 1, 0)), is_mirrored((1, 0, 0, 0, -1, 0))
    (True, False)
    """
    a, b, _, d, e, _ = transform
    return a * e - b * d > 0


def row_0_in_the_north(terrain: Terrain) -> Terrain:
    """Return a terrain whose rows run from the south with its rows reversed.

    >>> south_up = Terrain([[1.0], [2.0]], crs="EPSG:32611", transform=(1, 0, 0, 0, 1, 0))
    >>> turned = row_0_in_the_north(south_up)
    >>> turned["elevation"][:, 0].tolist(), turned.transform
    ([2.0, 1.0], (1.0, 0.0, 0.0, 0.0, -1.0, 2.0))
    """
    return _reversed(terrain, south_up=True)


def as_stored(terrain: Terrain) -> Terrain:
    """Return the terrain with its rows in the order of the file it came from."""
    return _reversed(terrain, south_up=False) if terrain.south_up and terrain.transform is not None else terrain


def _reversed(terrain: Terrain, *, south_up: bool) -> Terrain:
    assert terrain.transform is not None
    a, b, c, d, e, f = terrain.transform
    rows = terrain.shape[0]
    return terrain.replace(
        **{name: layer[::-1] for name, layer in terrain.items()},
        nodata=None if terrain.nodata is None else terrain.nodata[::-1],
        transform=(a, 0.0 - b, c + b * rows, d, 0.0 - e, f + e * rows),
        south_up=south_up,
    )
