"""Files that are read by windows: GeoTIFF through rasterio, and groups of layers in Zarr."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from slopewash.errors import InvalidParameter
from slopewash.io import gdal
from slopewash.io.costs import reading_cost
from slopewash.io.files import inspect
from slopewash.io.grids import Placed
from slopewash.io.options import ReadOptions
from slopewash.io.placement import lattice_between, same_grid
from slopewash.io.suspects import Look, Suspects
from slopewash.io.tiff_meaning import TiffRaster, resolve
from slopewash.memory import check_memory
from slopewash.recipes.layers import options_of, wanted
from slopewash.recipes.sources import FromFile
from slopewash.remedies import Wanted, read_for
from slopewash.terrain import Terrain
from slopewash.tiles.ground import SOURCE, Ground
from slopewash.tiles.store import Store
from slopewash.tiles.zarr_source import ResultWindows, ZarrWindows, opened_zarr

TIFF = (".tif", ".tiff")
_WHOLE = 2**40
"""Most cells of a file that is read by windows, unless max_pixels says less."""


@dataclass(frozen=True, kw_only=True)
class TiffWindows:
    """A GeoTIFF that is read by windows, as `read` reads the whole."""

    raster: TiffRaster
    wanted: Wanted | None = None
    """The layer or map that it is read for, or None for the ground."""

    @property
    def path(self) -> str:
        """The file."""
        return str(self.raster.meaning.path)

    def ground(self, store: Store, tile: int | tuple[int, int]) -> Ground:
        """What is known of it before it is read."""
        return Ground.of_file(self.raster.meaning, store, SOURCE, tile)

    @property
    def suspects(self) -> Suspects:
        """Heights that may mark cells without data though nothing says so."""
        return self.raster.meaning.suspects(np.dtype(self.raster.dtype))

    def read(self, ground: Ground, number: int) -> tuple[Terrain, Look]:
        """One tile of it, and what is to be asked about that."""
        from rasterio.windows import Window

        from slopewash.io import gdal_raster

        rows, columns = ground.grid.window(number)
        window = Window(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)
        with read_for(self.wanted), gdal_raster.opened(self.raster, f"reading {self.path} by windows") as source:
            return self.raster.meaning.part(
                lambda band: gdal_raster.samples(source, self.raster, band, window), (rows.start, columns.start)
            )


ByWindows = TiffWindows | ZarrWindows | ResultWindows


def opened(source: FromFile) -> ByWindows | None:
    """Return a file that can be read by windows, or None where it must be read as a whole."""
    if source.path.suffix.lower() == ".zarr":
        if source.size is not None:
            raise InvalidParameter(
                f"{source.path} is read by windows, which are not resampled; leave out size ({source.size})"
            )
        return opened_zarr(source.path, source.options, _WHOLE)
    chosen = ReadOptions(**{"max_pixels": _WHOLE, **source.options})
    windows = by_windows(source.path, chosen) if source.size is None else None
    if windows is None:
        _check_whole(source)
    return windows


def by_windows(path: Path, options: ReadOptions) -> TiffWindows | None:
    """Return a GeoTIFF of which a window is a window of the terrain, or None.

    Raises what `read` raises on the metadata of a file.
    """
    if path.suffix.lower() not in TIFF or options.reproject is not None or not gdal.is_available():
        return None
    raster = resolve(path, inspect(path, options), options)
    return TiffWindows(raster=raster) if raster.meaning.by_windows else None


def same_cells(path: Path, name: str, terrain: Placed) -> TiffWindows | None:
    """Return the file of a layer or map that can be read by windows, or None: floats in the very cells of a terrain."""
    with warnings.catch_warnings(record=True) as caught:  # whoever reads it as a whole is told again
        warnings.simplefilter("always")
        with read_for(wanted(name)):
            windows = by_windows(path, replace(options_of(name), max_pixels=_WHOLE))
        if windows is None:
            return None
        meaning = windows.raster.meaning
        if len(meaning.bands) != 1 or "float" not in windows.raster.dtype:
            return None
        lattice = lattice_between(path, meaning, terrain)
        if meaning.shape != terrain.shape if lattice is None else not same_grid(meaning, terrain, lattice):
            return None
    for warning in caught:
        warnings.warn(warning.message, stacklevel=2)
    return replace(windows, wanted=wanted(name))


def _check_whole(source: FromFile) -> None:
    """Refuse a file that no memory holds and that cannot be read by windows."""
    info = inspect(source.path, ReadOptions(**source.options))
    check_memory(
        f"{source.path} with {info.width} x {info.height} cells, which must be read as a whole,",
        info.width * info.height * reading_cost(source.path, info).memory * info.channels,
        "convert it first, with slopewash convert and the same options, to a .tif that can be read by windows",
    )
