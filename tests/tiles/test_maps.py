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
    with pytest.raises(sw.InvalidFile, match="has no data in 1 cells"):
        sw.erode_tiled(rough(), model, steps=2, tile=40, out=tmp_path / "out.zarr", backend="reference")
