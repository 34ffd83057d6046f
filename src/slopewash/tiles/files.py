"""Files that are read by windows: GeoTIFF through rasterio, and groups of layers in Zarr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slopewash.errors import InvalidFile
from slopewash.io.gdal_raster import crs_text
from slopewash.io.placement import Grid, Placed, has_coordinates
from slopewash.recipes.sources import FromFile
from slopewash.terrain import Terrain, TerrainPart
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.ground import Ground
from slopewash.tiles.store import Store
from slopewash.tiles.zarr_source import describe_zarr, read_zarr

SOURCE = "state/source"


def _has_rasterio() -> bool:
    """Whether GeoTIFFs can be read by windows here."""
    from importlib.util import find_spec

    return find_spec("rasterio") is not None


@dataclass(frozen=True, kw_only=True)
class ByWindows:
    """A file that is read by windows: a GeoTIFF, or a Zarr group of layers."""

    path: str
    kind: str
    options: Mapping[str, Any]

    def ground(self, store: Store, tile: int | tuple[int, int]) -> Ground:
        """What is known of it before it is read."""
        return (
            _describe_tiff(self, store, tile)
            if self.kind == "tiff"
            else describe_zarr(self.path, self.options, store, tile)
        )

    def read(self, ground: Ground, number: int) -> Terrain:
        """One tile of it."""
        return _read_tiff(self, ground, number) if self.kind == "tiff" else read_zarr(self.path, ground, number)


def opened(source: FromFile) -> ByWindows | None:
    """Return a file that can be read by windows, or None."""
    path = str(source.path)
    if not source.path.exists():
        raise InvalidFile(f"{path} does not exist")
    if source.path.suffix.lower() in (".tif", ".tiff") and _has_rasterio():
        return ByWindows(path=path, kind="tiff", options=source.options)
    if source.path.suffix.lower() == ".zarr":
        return ByWindows(path=path, kind="zarr", options=source.options)
    return None


def same_cells(path: Path, terrain: Placed) -> ByWindows | None:
    """Return a file of floats with the very cells of a terrain that can be read by windows, or None."""
    if path.suffix.lower() not in (".tif", ".tiff") or not (_has_rasterio() and path.exists()):
        return None
    with _open_tiff(str(path)) as file:
        grid = Grid((file.height, file.width), crs_text(file.crs), tuple(file.transform)[:6])
        plain = file.count == 1 and "float" in file.dtypes[0] and (file.scales[0], file.offsets[0]) == (1.0, 0.0)
    a, b, _, d, e, _ = grid.transform or ()
    if has_coordinates(grid) and has_coordinates(terrain):
        fits = (grid.crs, grid.transform) == (terrain.crs, terrain.transform)
    else:
        fits = grid.crs is None or a * e < b * d  # rows from the north
    return (
        ByWindows(path=str(path), kind="tiff", options={}) if plain and fits and grid.shape == terrain.shape else None
    )


def _open_tiff(path: str) -> Any:
    import rasterio

    try:
        # Always by its driver: a file of another kind may be named .tif and read files of its own choice.
        return rasterio.open(path, driver="GTiff")
    except rasterio.errors.RasterioIOError as error:
        raise InvalidFile(f"cannot read {path}: {error}") from error


def _describe_tiff(source: ByWindows, store: Store, tile: int | tuple[int, int]) -> Ground:
    with _open_tiff(source.path) as file:
        transform = file.transform
        placed = file.crs is not None or not transform.is_identity
        given = source.options.get("cell_size")
        if placed and given is None and abs(abs(transform.a) - abs(transform.e)) > 1e-6 * abs(transform.a):
            raise InvalidFile(
                f"{source.path} has cells of {abs(transform.a):g} x {abs(transform.e):g}; they must be square, or give "
                "cell_size"
            )
        cell_size = given or (abs(transform.a) if placed else 1.0)
        return Ground(
            store=store, path=SOURCE, grid=TileGrid.of((file.height, file.width), tile), cell_size=float(cell_size),
            has_nodata=file.nodata is not None or "float" in file.dtypes[0],
            crs=crs_text(file.crs),
            transform=tuple(transform)[:6] if placed else None,
        )  # fmt: skip


def _read_tiff(source: ByWindows, ground: Ground, number: int) -> Terrain:
    from rasterio.windows import Window

    rows, columns = ground.grid.window(number)
    with _open_tiff(source.path) as file:
        window = Window(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)
        values = file.read(1, window=window)
        missing = np.zeros(values.shape, bool) if file.nodata is None else values == values.dtype.type(file.nodata)
    if values.dtype.kind == "f":
        missing |= ~np.isfinite(values)
    return TerrainPart(np.where(missing, 0, values), nodata=missing, cell_size=ground.cell_size)
