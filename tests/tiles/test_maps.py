"""Maps and layers of a recipe on tiles: the same bits as in one piece."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.tiles.conftest import SHAPE, assert_same_bits, rough

import slopewash as sw

MAP = np.random.default_rng(8).random(SHAPE).astype(np.float32)


def test_maps_on_tiles_give_the_bits_of_the_whole(tmp_path: Path) -> None:
    """A file that is read by windows, an array and a layer; two stages, of which the second has a map of its own."""
    pytest.importorskip("rasterio")
    sw.write(sw.Terrain(MAP), tmp_path / "wet.tif")
    first = sw.preset("single_grid").replace(
        rain_rate=sw.Map(tmp_path / "wet.tif", low=0.01, high=0.06), talus_slope_bias=sw.Map(MAP),
        thermal_rate=sw.Map("rainfall"),
    )  # fmt: skip
    stages = (
        sw.Stage.of(first, steps=9),
        sw.Stage.of(sw.VirtualPipes(evaporation_rate=sw.Map(0.05 * MAP), processes="hydraulic"), steps=4),
    )
    recipe = sw.Recipe(
        source=sw.FromTerrain(terrain=rough()), stages=stages, layers={"capacity": 0.5}, seed=3, backend="reference"
    )
    whole = recipe.run().terrain
    assert "talus" not in whole
    assert not whole.own_layers
    result = sw.erode_tiled(None, recipe, tile=30, iterations=4, out=tmp_path / "out.zarr", backend="reference")
    assert set(result.layers) == set(whole)
    assert_same_bits(tmp_path / "out.zarr", whole)


def test_maps_go_through_the_levels_on_tiles(tmp_path: Path) -> None:
    terrain = rough((96, 96), nodata=None, sources=())
    given = sw.Map(np.linspace(0, 1, 96)[:, None].repeat(96, 1), low=0.4, high=1.2)
    stage = sw.Stage.of("landscape", strength=0.02).with_parameters(talus_slope_bias=given)
    recipe = sw.Recipe(source=sw.FromTerrain(terrain=terrain), stages=(stage,), seed=3, backend="reference")
    sw.erode_tiled(None, recipe, tile=48, out=tmp_path / "out.zarr", backend="reference")
    assert_same_bits(tmp_path / "out.zarr", recipe.run().terrain)


def test_a_map_with_gaps_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("rasterio")
    nodata = np.zeros(SHAPE, bool)
    nodata[3, 4] = True
    sw.write(sw.Terrain(MAP, nodata=nodata), tmp_path / "wet.tif")
    model = sw.VirtualPipes(rain_rate=sw.Map(tmp_path / "wet.tif"))
    out = tmp_path / "out.zarr"
    with pytest.raises(sw.InvalidFile, match="has no data in 1 cells"):
        sw.erode_tiled(rough(), model, steps=2, tile=40, out=out, backend="reference", workers=0)
    sw.erode_tiled(rough(), sw.VirtualPipes(), steps=1, tile=40, out=out, backend="reference", workers=0)  # tried anew


def test_cells_without_ground_have_no_part_in_a_map(tmp_path: Path) -> None:
    """Also where a whole tile has no ground."""
    terrain = rough(sources=())
    assert terrain.nodata is not None
    hole = terrain.nodata.copy()
    hole[:30, :30] = True
    angles = np.where(hole, np.nan, 30 + 10 * MAP)
    recipe = sw.Recipe(
        source=sw.FromTerrain(terrain=terrain.replace(nodata=hole, own_layers={"angles": np.where(hole, 0, angles)})),
        stages=tuple(
            sw.Stage.of(sw.SteepestTalus(talus_angle=angle), steps=2)
            for angle in (sw.Map(angles), sw.Map("angles"), sw.Map((angles - 20) / 20, low=20, high=40))
        ),
        backend="reference",
    )
    sw.erode_tiled(None, recipe, tile=30, out=tmp_path / "out.zarr", workers=0)
    assert_same_bits(tmp_path / "out.zarr", recipe.run().terrain)


def test_an_array_is_refused_where_the_whole_would_be(tmp_path: Path) -> None:
    hole = rough().nodata
    assert hole is not None
    row, column = np.argwhere(~hole[40:, 30:])[0] + (40, 30)
    gap = MAP.copy()
    gap[row, column] = np.nan
    for out, given, words in (
        ("gap", gap, f"the map of rain_rate is not finite at row {row}, column {column}; fill such cells"),
        ("less", MAP[1:], r"the map of rain_rate has shape \(66, 53\); it must be \(67, 53\), as the terrain is"),
    ):
        model = sw.VirtualPipes(rain_rate=sw.Map(given))
        with pytest.raises(sw.InvalidParameter, match=words):
            sw.Simulation(rough(), model, backend="reference")
        with pytest.raises(sw.InvalidParameter, match=words):
            sw.erode_tiled(rough(), model, steps=2, tile=20, out=tmp_path / out, backend="reference", workers=0)
