"""Where a raster lies on the grid of a terrain: which of its values belongs to which cell, by coordinates.

A raster and a terrain that both have coordinates are matched by them, across coordinate reference systems; else
by shape.
Each cell is worked out by itself, so that a window has the bits of the whole.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import GeoreferenceWarning, InvalidFile
from slopewash.io.gdal import rasterio_for
from slopewash.io.gdal_writing import parsed_crs, shortened
from slopewash.io.grids import Placed, has_coordinates
from slopewash.io.heights import bands
from slopewash.io.projection import Points, projected
from slopewash.patience import in_parts

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]
Window = tuple[slice, slice]

SAME = 1e-3
"""Share of a cell by which two grids may differ and be the same: coordinates are rounded in files."""
SNAP = 1e-6
"""Share of a pixel within which a point lies on the centre of a pixel, whose value it then has to the bit."""
FINE = 4
"""Pixels along a side of a cell, from which on means of whole blocks of them take their place."""
_BAND = 1 << 20
"""Pixels that are averaged at a time."""
COARSEST_LATTICE, FINEST_LATTICE = 32, 1024
"""Spans along the longer side of the terrain, at the ends of which coordinates are projected; linear in between."""
BENT = 0.01
"""Pixels by which straight spans may miss the projection in their middle."""


@dataclass(frozen=True)
class Lattice:
    """Pixel coordinates in a raster at points of a terrain, straight in between.

    >>> rows, columns = np.array([0.0, 2.0]), np.array([0.0, 4.0])
    >>> whole = Lattice(rows, columns, np.array([[0.0, 8], [0, 8]]), np.array([[0.0, 0], [4, 4]]))
    >>> [axis.tolist() for axis in whole.at(np.array([0.5]), np.array([0.5, 3.5]))]
    [[[1.0, 7.0]], [[1.0, 1.0]]]
    """

    rows: Numbers
    columns: Numbers
    x: Numbers
    y: Numbers

    def at(self, rows: Numbers, columns: Numbers) -> Points:
        """Column and row of the raster for all pairs of rows and columns of the terrain."""
        i, t = _between(self.rows, rows)
        k, s = _between(self.columns, columns)
        t, s = t[:, None], s[None, :]

        def mixed(values: Numbers) -> Numbers:
            upper = (1 - s) * values[i][:, k] + s * values[i][:, k + 1]
            lower = (1 - s) * values[i + 1][:, k] + s * values[i + 1][:, k + 1]
            return (1 - t) * upper + t * lower

        return mixed(self.x), mixed(self.y)

    @property
    def pixels_per_cell(self) -> tuple[float, float]:
        """Pixels along the sides of a cell, rows first, where there are most."""
        down, across = np.diff(self.rows)[:, None], np.diff(self.columns)[None, :]
        return (
            float((np.hypot(np.diff(self.x, axis=0), np.diff(self.y, axis=0)) / down).max()),
            float((np.hypot(np.diff(self.x, axis=1), np.diff(self.y, axis=1)) / across).max()),
        )


def _between(knots: Numbers, at: Numbers) -> tuple[NDArray[np.intp], Numbers]:
    first = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    return first, (at - knots[first]) / (knots[first + 1] - knots[first])


@dataclass(frozen=True, kw_only=True)
class Raster:
    """Values of a raster, or of a part of one, for the cells of a terrain."""

    path: Path
    values: NDArray[np.float32]
    missing: Mask | NDArray[np.float32] | None
    """Pixels without a value, or the share of each block that has none."""
    lattice: Lattice | None
    """Where its pixels are; None if they are the cells of the terrain."""
    whole: tuple[float, float]
    """Rows and columns of the whole raster; the last block in a row or column may be a part of one."""
    origin: tuple[int, int] = (0, 0)
    """Row and column of the first value, in the whole raster."""
    nearest: bool = False
    """Whether a cell takes the value of one pixel, as classes and masks must, and not one in between."""
    resampled: bool = False
    """Whether its pixels, or those that it was made of, are other cells than those of the terrain."""

    def averaged(self) -> Raster:
        """The same with means of whole blocks, where a cell has many pixels: what a cell takes is a few of them."""
        if self.lattice is None or self.nearest:
            return self
        down, across = (block_of(n) for n in self.lattice.pixels_per_cell)
        if down == across == 1:
            return self
        values, missing = self._means(down, across)
        lattice = replace(self.lattice, x=self.lattice.x / across, y=self.lattice.y / down)
        whole = self.whole[0] / down, self.whole[1] / across
        return replace(self, values=values, missing=missing, lattice=lattice, whole=whole)

    def _means(self, down: int, across: int) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        """Means of blocks of `down` rows and `across` columns, and the shares of them that are missing."""
        rows, columns = self.values.shape
        shape = -(-rows // down), -(-columns // across)
        means = np.empty(shape, np.float32)
        missing = None if self.missing is None else np.empty(shape, np.float32)

        def summed(pixels: NDArray[Any]) -> Numbers:
            inner = np.add.reduceat(pixels, range(0, len(pixels), down), axis=0, dtype=np.float64)
            return np.asarray(np.add.reduceat(inner, range(0, columns, across), axis=1))

        step = max(1, _BAND // (down * columns))
        for top in in_parts(range(0, shape[0], step), f"averaging {self.path.name}"):
            band, pixels = slice(top, top + step), slice(top * down, (top + step) * down)
            values = self.values[pixels]
            count = summed(np.ones(values.shape, np.bool_))
            if self.missing is not None and missing is not None:
                values = np.where(self.missing[pixels], np.float32(0), values)
                whole, count = count, summed(self.missing[pixels] == 0)
                missing[band] = 1 - count / whole
            means[band] = summed(values) / np.maximum(count, 1)
        return means, missing

    def part(self, window: Window) -> Raster:
        """No more of it than a window of the terrain needs."""
        if self.lattice is None:
            rows, columns = window
        else:
            (top, bottom), (left, right) = self._reach(window)
            rows, columns = slice(top, bottom), slice(left, right)
        return replace(
            self,
            values=self.values[rows, columns],
            missing=None if self.missing is None else self.missing[rows, columns],
            origin=(rows.start, columns.start),
        )

    def _reach(self, window: Window) -> tuple[tuple[int, int], tuple[int, int]]:
        """First and last row and column that a window needs: points along its sides and knots within reach furthest."""
        assert self.lattice is not None
        rows, columns = (
            np.unique(np.concatenate([[span.start, span.stop], knots[(knots > span.start) & (knots < span.stop)]]))
            for span, knots in zip(window, (self.lattice.rows, self.lattice.columns), strict=True)
        )
        x, y = self.lattice.at(rows.astype(np.float64), columns.astype(np.float64))
        return _covered(y, self.whole[0]), _covered(x, self.whole[1])

    def cells(self, window: Window) -> tuple[NDArray[np.float32], Mask, Mask]:
        """Values for the cells of a window of the terrain, where there are none, and which cells lie outside."""
        shape = window[0].stop - window[0].start, window[1].stop - window[1].start
        if self.lattice is None:
            (top, left), (rows, columns) = self.origin, window
            here = np.s_[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
            missing = np.zeros(shape, bool) if self.missing is None else self.missing[here].astype(bool)
            return self.values[here], missing, np.zeros(shape, bool)
        values, missing, outside = np.empty(shape, np.float32), np.empty(shape, bool), np.empty(shape, bool)
        for band in bands(shape):
            down = np.arange(window[0].start + band.start, window[0].start + band.stop, dtype=np.float64)
            across = np.arange(window[1].start, window[1].stop, dtype=np.float64)
            values[band], missing[band], outside[band] = self._sampled(self.lattice, down, across)
        return values, missing, outside

    def outside(self, x: Numbers, y: Numbers) -> Mask:
        """Which points lie beyond the whole raster."""
        height, width = self.whole
        return ~((x >= -SNAP) & (x <= width + SNAP) & (y >= -SNAP) & (y <= height + SNAP))

    def _sampled(self, lattice: Lattice, rows: Numbers, columns: Numbers) -> tuple[Any, Any, Any]:
        x, y = lattice.at(rows + 0.5, columns + 0.5)
        outside = self.outside(x, y)
        if self.nearest:
            i, k = self._index(np.floor(_snapped(y))), self._index(np.floor(_snapped(x)), axis=1)
            missing = np.zeros(x.shape, bool) if self.missing is None else self.missing[i, k].astype(bool)
            return self.values[i, k], missing, outside
        down, across = (max(1, math.ceil(n - SAME)) for n in lattice.pixels_per_cell)
        total, weight = np.zeros(x.shape), np.zeros(x.shape)
        for m in range(down):
            for n in range(across):
                point = lattice.at(rows + (m + 0.5) / down, columns + (n + 0.5) / across)
                self._add(total, weight, *point)
        missing = weight < 0.5 * down * across
        return np.where(missing, 0.0, total / np.where(missing, 1.0, weight)).astype(np.float32), missing, outside

    def _add(self, total: Numbers, weight: Numbers, x: Numbers, y: Numbers) -> None:
        """Add what lies at some points: bilinear between the centres of pixels, of those that have a value."""
        x, y = _snapped(_centred(x, self.whole[1])), _snapped(_centred(y, self.whole[0]))
        column, row = np.floor(x), np.floor(y)
        s, t = x - column, y - row
        for i, down in ((row, 1 - t), (row + 1, t)):
            for k, across in ((column, 1 - s), (column + 1, s)):
                at = self._index(i), self._index(k, axis=1)
                share = down * across
                if self.missing is not None:
                    share = share * (1 - self.missing[at])
                weight += share
                total += share * np.where(share > 0, self.values[at], np.float32(0)).astype(np.float64)

    def _index(self, at: Numbers, axis: int = 0) -> NDArray[np.intp]:
        return np.clip(at, 0, math.ceil(self.whole[axis]) - 1).astype(np.intp) - self.origin[axis]


def _centred(at: Numbers, whole: float) -> Numbers:
    """Coordinates in which the centres of pixels are whole numbers, that of a last part of one too.

    >>> _centred(np.array([0.5, 2.0, 2.25]), 2.5).tolist()
    [0.0, 1.6666666666666665, 2.0]
    """
    last = math.ceil(whole) - 1
    at = at - 0.5
    if last == 0 or last + 1 == whole:
        return at
    before = last - 1
    return np.where(at > before, before + (at - before) * 2 / (1 + whole - last), at)


def block_of(pixels: float) -> int:
    """Pixels along a side of a block: two to four blocks make a cell, if possible a whole number of them.

    >>> block_of(3.9), block_of(16), block_of(15), block_of(7)
    (1, 8, 5, 3)
    """
    if pixels < FINE - SAME:
        return 1
    fitting = range(math.ceil(pixels / 4 - SAME), int(pixels / 2 + SAME) + 1)
    return max(fitting, key=lambda side: (-round(abs(pixels / side - round(pixels / side)), 3), side))


def _snapped(at: Numbers) -> Numbers:
    near = np.rint(at)
    return np.where(np.abs(at - near) < SNAP, near, at)


def _covered(at: Numbers, whole: float) -> tuple[int, int]:
    """First pixel, and the one behind the last, that points between these may take a value from."""
    count = math.ceil(whole)
    return max(0, min(count - 1, math.floor(at.min()) - 2)), max(1, min(count, math.ceil(at.max()) + 2))


@dataclass(frozen=True)
class Cover:
    """How much of the ground of a terrain a raster covers; those of its parts add up."""

    cells: int = 0
    outside: int = 0
    empty: int = 0
    """Cells within it without data."""

    @classmethod
    def of(cls, missing: Mask, outside: Mask, nodata: Mask | None) -> Cover:
        """Count cells with ground."""
        ground = np.ones(missing.shape, bool) if nodata is None else ~nodata
        count = np.count_nonzero
        return cls(int(count(ground)), int(count(outside & ground)), int(count(missing & ~outside & ground)))

    def __add__(self, other: Cover) -> Cover:
        return Cover(self.cells + other.cells, self.outside + other.outside, self.empty + other.empty)

    def check(self, path: Path) -> None:
        """Refuse a raster that leaves ground without a value.

        >>> Cover(1000, 600, 0).check(Path("rain.tif"))
        Traceback (most recent call last):
        slopewash.errors.InvalidFile: rain.tif covers 40 % of the terrain; give one that covers all of it, or crop ...
        """
        if self.outside:
            share = min(math.floor(1000 * (1 - self.outside / self.cells)) / 10, 99.9)
            shown = f"{share:g} %" if share else "less than 0.1 %"
            raise InvalidFile(
                f"{path} covers {shown} of the terrain; give one that covers all of it, or crop the terrain to it"
            )
        if self.empty:
            raise InvalidFile(f"{path} has no data in {self.empty} cells of the terrain; fill them first")


def lattice_between(path: Path, raster: Placed, terrain: Placed) -> Lattice | None:
    """Where the pixels of a raster are in a terrain; None where nothing but the shape can say.

    >>> import slopewash as sw
    >>> place = {"crs": "EPSG:32611", "transform": (5.0, 0, 0, 0, -5, 100)}
    >>> hill, rain = sw.Terrain(np.zeros((4, 4)), **place), sw.Terrain(np.zeros((9, 9)), **place)
    >>> lattice_between(Path("rain.tif"), rain, hill).at(np.array([0.5]), np.array([2.5]))[0].item()
    2.5
    """
    if not (has_coordinates(raster) and has_coordinates(terrain)):
        return None
    if (raster.crs is None) != (terrain.crs is None):
        without = path if raster.crs is None else "the terrain"
        warnings.warn(
            f"{without} has coordinates and no CRS, and {'the terrain' if raster.crs is None else path} has one; "
            "they are taken to be the same",
            GeoreferenceWarning,
            stacklevel=2,
        )
    a, b, _, d, e, _ = raster.transform or terrain.transform or ()
    if a * e == b * d:
        raise InvalidFile(f"{path} has pixels without area; its transform is {raster.transform}")
    foreign = None not in (raster.crs, terrain.crs) and raster.crs != terrain.crs
    if foreign:
        assert raster.crs is not None
        assert terrain.crs is not None
        rasterio_for(f"{path} lies in another CRS than the terrain")
        known, wanted = parsed_crs(terrain.crs), parsed_crs(raster.crs)
        if known != wanted:
            return _meeting(path, raster, terrain, _projected(path, raster, terrain, (known, wanted)))
    return _meeting(path, raster, terrain, _straight(raster, terrain))


def _meeting(path: Path, raster: Placed, terrain: Placed, lattice: Lattice) -> Lattice:
    """The lattice, unless the raster lies wholly beside the terrain."""
    rows, columns = raster.shape
    x, y = lattice.x, lattice.y
    if x.max() <= 0 or x.min() >= columns or y.max() <= 0 or y.min() >= rows:
        raise InvalidFile(
            f"{path} lies beside the terrain: at {_extent(raster)}, and the terrain at {_extent(terrain)}; give one of "
            "the same place, or correct the CRS that is wrong, as gdal_translate -a_srs does"
        )
    return lattice


def _extent(grid: Placed) -> str:
    rows, columns = (np.array([0.0, n]) for n in grid.shape)
    x, y = _world(grid, rows, columns)
    crs = "no CRS" if grid.crs is None else _name(grid.crs)
    return f"x {x.min():.7g} .. {x.max():.7g}, y {y.min():.7g} .. {y.max():.7g} in {crs}"


def same_grid(raster: Placed, terrain: Placed, lattice: Lattice) -> bool:
    """Whether pixels are cells, but for the rounding of coordinates."""
    if raster.shape != terrain.shape:
        return False
    own_rows, own_columns = np.meshgrid(lattice.rows, lattice.columns, indexing="ij")
    return bool(np.abs(lattice.x - own_columns).max() < SAME and np.abs(lattice.y - own_rows).max() < SAME)


def _straight(raster: Placed, terrain: Placed) -> Lattice:
    rows, columns = (np.array([0.0, n]) for n in terrain.shape)
    x, y = _pixels(raster, _world(terrain, rows, columns))
    return Lattice(rows, columns, x, y)


def _projected(path: Path, raster: Placed, terrain: Placed, systems: tuple[Any, Any]) -> Lattice:
    spans = COARSEST_LATTICE
    while True:
        step = max(1, math.ceil(max(terrain.shape) / spans))
        rows, columns = (np.append(np.arange(0.0, n, step), float(n)) for n in terrain.shape)
        lattice = Lattice(rows, columns, *_pixels(raster, _transformed(path, terrain, systems, rows, columns)))
        middles = 0.5 * (rows[1:] + rows[:-1]), 0.5 * (columns[1:] + columns[:-1])
        x, y = _pixels(raster, _transformed(path, terrain, systems, *middles))
        straight_x, straight_y = lattice.at(*middles)
        if max(np.abs(x - straight_x).max(), np.abs(y - straight_y).max()) <= BENT * max(1, *lattice.pixels_per_cell):
            return lattice
        if step == 1 or spans >= FINEST_LATTICE:
            raise InvalidFile(
                f"{path} is too far bent in the CRS of the terrain, {_name(terrain.crs)}; warp it to that first"
            )
        spans *= 2


def _transformed(path: Path, terrain: Placed, systems: tuple[Any, Any], rows: Numbers, columns: Numbers) -> Points:
    found = projected(_world(terrain, rows, columns), *systems)
    if found is None:
        raise InvalidFile(
            f"{path} lies in a CRS to which nothing leads from that of the terrain, {_name(terrain.crs)}, as if on "
            "another planet; give both the right CRS, as gdal_translate -a_srs does"
        )
    if not np.isfinite(found).all():
        raise InvalidFile(f"{path} lies in a CRS that is not defined for all of the terrain; warp it to the terrain's")
    return found


def _world(grid: Placed, rows: Numbers, columns: Numbers) -> Points:
    assert grid.transform is not None
    a, b, c, d, e, f = grid.transform
    column, row = columns[None, :], rows[:, None]
    return a * column + b * row + c, d * column + e * row + f


def _pixels(grid: Placed, world: Points) -> Points:
    assert grid.transform is not None
    a, b, c, d, e, f = grid.transform
    x, y = world[0] - c, world[1] - f
    area = a * e - b * d
    return (e * x - b * y) / area, (a * y - d * x) / area


def _name(crs: str | None) -> str:
    return "unknown" if crs is None else shortened(crs)
