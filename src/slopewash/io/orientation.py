"""Row 0 of a terrain lies in the north; files may store rows the other way round."""

from __future__ import annotations

from slopewash.terrain import Terrain

Transform = tuple[float, ...]


def row_0_in_the_north(terrain: Terrain) -> Terrain:
    """Return the terrain with its rows reversed if its transform shows a mirror image, as south-up rasters do.

    Without a CRS, a y that grows downwards is taken for what it is in pictures: rows already run from the north.

    >>> south_up = Terrain([[1.0], [2.0]], crs="EPSG:32611", transform=(1, 0, 0, 0, 1, 0))
    >>> upright = row_0_in_the_north(south_up)
    >>> upright["elevation"][:, 0].tolist(), upright.transform
    ([2.0, 1.0], (1.0, 0.0, 0.0, 0.0, -1.0, 2.0))
    """
    if terrain.transform is None or terrain.crs is None:
        return terrain
    a, b, _, d, e, _ = terrain.transform
    return _reversed(terrain, south_up=True) if a * e - b * d > 0 else terrain


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
