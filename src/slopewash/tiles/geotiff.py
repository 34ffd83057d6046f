"""The result of a run on tiles as a GeoTIFF, written window by window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from slopewash.drafts import staged
from slopewash.errors import InvalidFile, unknown_name
from slopewash.io.gdal import ENVIRONMENT, failures, rasterio_for
from slopewash.io.gdal_raster import CELL_SIZE_TAG, STEP_TAG
from slopewash.io.gdal_writing import BLOCK, parsed_crs
from slopewash.io.geotiff import step_of
from slopewash.io.height_units import as_in_crs
from slopewash.paths import remove_file
from slopewash.tiles.finished import Finished
from slopewash.tiles.ground import Ground
from slopewash.tiles.opening import result_of
from slopewash.tiles.output import overviews_of, transform_of
from slopewash.tiles.store import Store

EMPTY = 830
"""Bytes of a block in which nothing varies."""


def write_tiled_geotiff(
    url: str | Path, path: str | Path, layers: Sequence[str] | None = None, *, cog: bool = False
) -> None:
    """Write the result of a run on tiles to a tiled GeoTIFF with overviews, a band for each layer, window by window.

    With `cog` it is a cloud-optimised GeoTIFF, which is written twice: GDAL can only copy another file to one.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> cone, store = sw.generate("cone", size=32), f"{folder.name}/out.zarr"
    >>> made = sw.erode_tiled(cone, sw.SteepestTalus(), steps=3, tile=16, out=store, workers=0, backend="reference")
    >>> sw.write_tiled_geotiff(store, f"{folder.name}/cone.tif", ["elevation"])
    >>> sw.read(f"{folder.name}/cone.tif").shape
    (32, 32)
    >>> folder.cleanup()
    """
    rasterio = rasterio_for(f"writing {path} by windows")
    from rasterio.shutil import copy

    result = result_of(Store(str(url), is_source=True))
    ground = result.ground
    names = list(ground.layers if layers is None else layers)
    for name in names:
        if name not in ground.layers:
            raise unknown_name("layer", name, ground.layers)
    path = Path(path)
    with staged(path) as made, _named(path), rasterio.Env(**ENVIRONMENT):
        _check_room(result, names, path, made.parent)
        draft = made.with_name(f"{made.name}.draft") if cog else made
        try:
            with result.reading():
                has_overviews = _write(ground, draft, names)
            if cog:
                copy(
                    draft, made, driver="COG", compress="deflate", predictor="yes", bigtiff="if_safer", blocksize=BLOCK,
                    overviews="auto" if has_overviews else "none",
                )  # fmt: skip
        finally:
            if cog:
                remove_file(draft)


def _check_room(result: Finished, names: Sequence[str], path: Path, folder: Path) -> None:
    """Refuse what the disk cannot hold, before hours are spent on it."""
    rows, columns = (-(-cells // BLOCK) for cells in result.ground.shape)
    digests, free = result.digests, shutil.disk_usage(folder).free
    needed = sum(digests.size(result.ground.field(name).path) for name in names) + EMPTY * rows * columns * len(names)
    if needed > free:
        raise InvalidFile(
            f"{path} needs about {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free there; make room, or write "
            "fewer layers"
        )


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of GDAL name the file that was asked for."""
    try:
        yield
    except failures() as error:
        raise InvalidFile(f"cannot write {path}: {error}") from error


def _write(ground: Ground, temporary: Path, names: Sequence[str]) -> bool:
    """Write the bands and their overviews; returns whether there are any of those."""
    import rasterio
    from rasterio.enums import Resampling

    rows, columns = ground.shape
    crs = ground.crs if ground.transform is not None else None
    options: dict[str, Any] = {
        "driver": "GTiff", "width": columns, "height": rows, "count": len(names), "dtype": "float32", "tiled": True,
        "blockxsize": BLOCK, "blockysize": BLOCK, "compress": "deflate", "predictor": 3, "bigtiff": "if_safer",
        "transform": rasterio.Affine(*transform_of(ground)), "crs": None if crs is None else parsed_crs(crs),
        "nodata": np.nan if ground.has_nodata else None,
    }  # fmt: skip
    with rasterio.open(temporary, "w", **options) as file:
        notes = {CELL_SIZE_TAG: repr(ground.cell_size), STEP_TAG: repr(step_of(transform_of(ground)))}
        file.update_tags(**notes, TIFFTAG_SOFTWARE="slopewash")
        for band, name in enumerate(names, 1):
            file.set_band_description(band, name)
            file.set_band_unit(band, as_in_crs(np.zeros(1, np.float32), name, crs)[1])
        for window in ground.grid:
            _write_window(file, ground, names, crs, window)
        factors = [factor for factor, _ in overviews_of(ground.grid)]
        if factors:
            file.build_overviews(factors, Resampling.average)
    return bool(factors)


def _write_window(
    file: Any, ground: Ground, names: Sequence[str], crs: str | None, window: tuple[slice, slice]
) -> None:
    from rasterio.windows import Window

    part = ground.part(window, ["elevation", *names])
    place = Window(window[1].start, window[0].start, part.shape[1], part.shape[0])
    for band, name in enumerate(names, 1):
        values, _ = as_in_crs(part[name], name, crs)
        if part.nodata is not None:
            values = np.where(part.nodata, np.float32(np.nan), values)
        file.write(values, band, window=place)
