"""A map is not the ground: projections that stretch it, and degrees that nothing declares, are questioned aloud."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import GeoreferenceWarning
from slopewash.io.grids import Grid
from slopewash.io.ground_scale import question_scale

rasterio = pytest.importorskip("rasterio")
SHAPE = (20, 30)
HEIGHTS = np.linspace(100, 300, SHAPE[0] * SHAPE[1], dtype=np.float32).reshape(SHAPE)


def warned(crs: str | None, x: float, y: float, step: float, cell_size: float | None = None) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        question_scale("dem.tif", Grid(SHAPE, crs, (step, 0.0, x, 0.0, -step, y)), cell_size or step)
    assert len(caught) <= 1
    return str(caught[0].message) if caught else ""


def mercator_north(latitude: float) -> float:
    return 6_378_137 * math.asinh(math.tan(math.radians(latitude)))


@pytest.mark.parametrize("gdal", [True, False])
@pytest.mark.parametrize("crs", ["EPSG:3857", "wkt"])
@pytest.mark.parametrize(("latitude", "questioned"), [(0.0, False), (20.0, False), (45.0, True), (-60.0, True)])
def test_mercator_is_questioned_away_from_the_equator(
    crs: str, latitude: float, *, gdal: bool, questioned: bool
) -> None:
    text = crs if crs != "wkt" else str(rasterio.crs.CRS.from_epsg(3857).to_wkt())
    if gdal:
        found = warned(text, 1e6, mercator_north(latitude), 30.0)
    else:
        with sw.without_gdal():
            found = warned(text, 1e6, mercator_north(latitude), 30.0)
    assert bool(found) == questioned
    if questioned:
        side = 30 * math.cos(math.radians(latitude))
        sides = [float(number) for number in found.split("which are ")[1].split(" m on")[0].split(" x ")]
        assert sides == pytest.approx([side, side], rel=0.01)
        assert 'reproject="utm"' in found
        assert "cell_size" in found


@pytest.mark.parametrize(
    ("crs", "x", "y", "step", "questioned"),
    [
        ("EPSG:32611", 5e5, 4.1e6, 30.0, False),
        ("EPSG:3035", 4.3e6, 3.2e6, 25.0, False),
        ("EPSG:5070", -2e6, 2e6, 30.0, False),
        ("EPSG:3413", -1e6, -2e6, 100.0, False),
        ("EPSG:2193", 1.6e6, 5.4e6, 8.0, False),
        ("EPSG:4087", 1e6, 6.6e6, 30.0, True),  # only along the parallels
        ("EPSG:6933", 1e6, 6.4e6, 30.0, True),
        ("EPSG:32611", -117.0, 37.0, 1 / 3600, True),  # degrees under the wrong CRS
        ("a local grid", 11.0, 47.0, 5.0, False),
    ],
)
def test_only_maps_that_stretch_much_are_questioned(
    crs: str, x: float, y: float, step: float, *, questioned: bool
) -> None:
    assert bool(warned(crs, x, y, step)) == questioned


@pytest.mark.parametrize(
    ("x", "y", "step", "questioned"),
    [
        (-119.0, 37.0, 1 / 3600, True), (-180.0, 90.0, 0.25, True), (359.0, -80.0, 0.01, True),
        (5e5, 4e6, 0.05, False), (0.0, 20 * 0.001, 0.001, False),
        (-119.0, 37.0, 1.0, False), (-119.0, 95.0, 0.1, False),
    ],
)  # fmt: skip
def test_coordinates_like_degrees_are_questioned_where_there_is_no_crs(
    x: float, y: float, step: float, *, questioned: bool
) -> None:
    assert ("may be degrees" in warned(None, x, y, step)) == questioned


def saved(path: Path, **options: Any) -> Path:
    with rasterio.open(
        path, "w", driver="GTiff", height=SHAPE[0], width=SHAPE[1], count=1, dtype="float32", **options
    ) as file:
        file.write(HEIGHTS, 1)
    return path


def test_every_reader_of_maps_questions_them_unless_the_cell_size_is_given(tmp_path: Path) -> None:
    place = rasterio.Affine(30, 0, 1e6, 0, -30, mercator_north(60))
    path = saved(tmp_path / "dem.tif", crs="EPSG:3857", transform=place)
    grid = sw.Terrain(HEIGHTS, cell_size=30.0, crs="EPSG:3857", transform=place[:6])
    ascii_grid = sw.write(grid, tmp_path / "dem.asc")
    for file in (path, ascii_grid):
        with pytest.warns(GeoreferenceWarning, match="on the ground"):
            sw.read(file)
        assert sw.read(file, cell_size=15.0).cell_size == 15.0
    assert sw.read(path, reproject="utm").cell_size == pytest.approx(15.0, rel=0.02)
    with pytest.warns(GeoreferenceWarning, match="on the ground"):
        sw.reproject(sw.read(path, cell_size=15.0), "EPSG:3395", cell_size=30.0)
