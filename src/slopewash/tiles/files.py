"""Files that are read by windows: GeoTIFF through rasterio, and groups of layers in Zarr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slopewash.errors import InvalidParameter
from slopewash.io import gdal
from slopewash.io.files import inspect
from slopewash.io.grids import Placed, has_coordinates
from slopewash.io.options import ReadOptions, ValueOptions
from slopewash.io.suspects import Suspects
from slopewash.io.tiff_meaning import TiffRaster, resolve
from slopewash.memory import check_memory
from slopewash.recipes.sources import FromFile
from slopewash.terrain import Terrain
from slopewash.tiles.ground import Ground
from slopewash.tiles.store import Store
from slopewash.tiles.zarr_source import ResultWindows, ZarrWindows, opened_zarr

SOURCE = "state/source"
TIFF = (".tif", ".tiff")
_BYTES_PER_CELL = 24
"""Of a file that is read as a whole: samples, layer, mask and what converts them."""
_WHOLE = 2**40
"""Most cells of a file that is read by windows, unless max_pixels says less."""


@dataclass(frozen=True, kw_only=True)
class TiffWindows:
    """A GeoTIFF that is read by windows, as `read` reads the whole."""

    raster: TiffRaster

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

    def read(self, ground: Ground, number: int) -> Terrain:
        """One tile of it."""
        from rasterio.windows import Window

        from slopewash.io import gdal_raster

        rows, columns = ground.grid.window(number)
        window = Window(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)
        with gdal_raster.opened(self.raster, f"reading {self.path} by windows") as source:
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
    windows = by_windows(source.path, source.options) if source.size is None else None
    if windows is None:
        _check_whole(source)
    return windows


def by_windows(path: Path, options: Mapping[str, Any], *, heights: bool = True) -> TiffWindows | None:
    """Return a GeoTIFF of which a window is a window of the terrain, or None; without `heights` it holds other values.

    Raises what `read` raises on the metadata of a file.
    """
    if path.suffix.lower() not in TIFF or options.get("reproject") is not None or not gdal.is_available():
        return None
    chosen = (ReadOptions if heights else ValueOptions)(**{"max_pixels": _WHOLE, **options})
    raster = resolve(path, inspect(path, chosen), chosen)
    return TiffWindows(raster=raster) if raster.meaning.by_windows else None


def same_cells(path: Path, terrain: Placed) -> TiffWindows | None:
    """Return a file of floats with the very cells of a terrain that can be read by windows, or None."""
    windows = by_windows(path, {"allow_8bit": True, "cell_size": 1.0}, heights=False)
    if windows is None:
        return None
    meaning = windows.raster.meaning
    fits = meaning.shape == terrain.shape and len(meaning.bands) == 1 and "float" in windows.raster.dtype
    if has_coordinates(meaning) and has_coordinates(terrain):
        fits = fits and (meaning.crs, meaning.transform) == (terrain.crs, terrain.transform)
    return windows if fits else None


def _check_whole(source: FromFile) -> None:
    """Refuse a file that no memory holds and that cannot be read by windows."""
    info = inspect(source.path, ReadOptions(**source.options))
    check_memory(
        f"{source.path} with {info.width} x {info.height} cells, which must be read as a whole,",
        info.width * info.height * _BYTES_PER_CELL * info.channels,
        "convert it first, with slopewash convert and the same options, to a .tif that can be read by windows",
    )
