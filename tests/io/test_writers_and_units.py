"""Every writer with every CRS and unit: what is read again is what was written, and other programs read the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import slopewash as sw

rasterio = pytest.importorskip("rasterio")
pytestmark = pytest.mark.filterwarnings("ignore::slopewash.errors.GeoreferenceWarning")

US_FOOT = 1200 / 3937
PLACES = {
    "nowhere": (None, 10.0, 1.0),
    "metres": ("EPSG:32611", 1.0, 1.0),
    "US feet on the ground": ("EPSG:2227", US_FOOT, 1.0),
    "metres above the sea": ("EPSG:32611+5703", 1.0, 1.0),
    "feet above the sea": ("EPSG:32611+8228", 1.0, 0.3048),
    "US feet above the sea": ("EPSG:2227+6360", US_FOOT, US_FOOT),
    "US feet on the ground, metres above the sea": ("EPSG:2227+5703", US_FOOT, 1.0),
}
"""CRS, metres per unit on the ground and per unit of height."""


def single(terrain: sw.Terrain, folder: Path, layer: str) -> Path:
    return sw.write(terrain, folder / "one.tif", layer=layer)


def several(terrain: sw.Terrain, folder: Path, layer: str) -> Path:
    return sw.write_geotiff(terrain, folder / "one.tif", layers=[layer], cog=False, compression="lzw")[0]


def cloud(terrain: sw.Terrain, folder: Path, layer: str) -> Path:
    return sw.write_geotiff(terrain, folder / "one.tif", layers=[layer])[0]


def ascii_grid(terrain: sw.Terrain, folder: Path, layer: str) -> Path:
    return sw.write(terrain, folder / "one.asc", layer=layer)


def export(terrain: sw.Terrain, folder: Path, layer: str) -> Path:
    sw.export(terrain, "gis", folder / "gis")
    return folder / "gis" / f"{layer}.tif"


def tiled(terrain: sw.Terrain, folder: Path, layer: str, *, cog: bool = False) -> Path:
    still = sw.SteepestTalus(talus_angle=89.0)
    sw.erode_tiled(terrain, still, steps=1, tile=16, out=folder / "o.zarr", workers=0, backend="reference")
    sw.write_tiled_geotiff(folder / "o.zarr", folder / "one.tif", [layer], cog=cog)
    return folder / "one.tif"


def tiled_cloud(terrain: sw.Terrain, folder: Path, layer: str) -> Path:
    return tiled(terrain, folder, layer, cog=True)


WRITERS = (single, several, cloud, ascii_grid, export, tiled, tiled_cloud)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_what_is_written_is_what_is_read(
    tmp_path: Path, writer: Callable[[sw.Terrain, Path, str], Path], place: str
) -> None:
    code, on_the_ground, up = PLACES[place]
    crs = None if code is None else crs_text(code)
    cell_size = 10.0 * on_the_ground if code else 10.0
    heights = 1000.0 + 50.0 * np.random.default_rng(3).random((12, 17))
    terrain = sw.Terrain(
        heights, cell_size=cell_size, crs=crs, transform=None if crs is None else (10, 0, 4e5, 0, -10, 4e6),
        water=np.full((12, 17), 2.0),
    )  # fmt: skip
    for layer, factor in (("elevation", up), ("water", 1.0)):
        if layer == "water" and writer in (tiled, tiled_cloud):
            continue
        path = writer(terrain, tmp_path, layer)
        with rasterio.open(path) as file:
            assert_allclose(file.read(1) * factor, terrain[layer], rtol=3e-7)
            assert code is None or file.crs == rasterio.crs.CRS.from_user_input(code)
        if layer == "elevation":  # a file is read as heights
            read = sw.read(path)
            assert_allclose(read["elevation"], terrain["elevation"], rtol=3e-7)
            assert read.cell_size == pytest.approx(cell_size, rel=1e-9)
            found = None if read.crs is None else rasterio.crs.CRS.from_user_input(read.crs)
            assert found == (None if code is None else rasterio.crs.CRS.from_user_input(code))


def crs_text(code: str) -> str:
    from slopewash.io.gdal_raster import crs_text as text

    found = text(rasterio.crs.CRS.from_user_input(code))
    assert found is not None
    return found
