"""Masks, gullies and the layers that a recipe adds, on tiles as in one piece."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.tiles.conftest import SHAPE, assert_same_bits, rough

import slopewash as sw

MASK = np.clip(np.random.default_rng(2).random(SHAPE) * 3 - 1, 0, 1)
"""Of which a third is 0, and a third 1."""


def compare(out: Path, recipe: sw.Recipe, tile: tuple[int, int]) -> sw.TiledResult:
    whole = recipe.run()
    result = sw.erode_tiled(None, recipe, tile=tile, out=out, workers=0, iterations=5)
    assert set(result.layers) == set(whole.terrain)
    assert_same_bits(out, whole.terrain)
    for name, amount in whole.budget.as_dict().items():
        tolerance = 1e-5 if name.endswith("drift") else 1e-9 * max(abs(amount), whole.budget.solids_moved)
        assert result.budget.as_dict()[name] == pytest.approx(amount, abs=tolerance), name
    return result


@pytest.mark.parametrize("edges", ["open", "periodic"])
def test_a_mask_keeps_the_same_on_tiles_in_every_stage(tmp_path: Path, edges: sw.Edges) -> None:
    stages = (
        sw.Stage(model=sw.VirtualPipes(), steps=4, settle=2, edges=edges),
        sw.Stage(model=sw.SteepestTalus(), steps=5, edges=edges),
    )
    source = sw.FromTerrain(terrain=rough(mask=MASK))
    result = compare(tmp_path / "out.zarr", sw.Recipe(source=source, stages=stages, backend="cpu"), (34, 27))
    assert (result.steps, result.steps_in_all) == (9, 11)


def test_layers_that_a_recipe_adds_count_on_tiles(tmp_path: Path) -> None:
    np.save(tmp_path / "mask.npy", MASK.astype(np.float32))
    recipe = sw.recipe("landscape", seed=5).replace(
        source=sw.FromTerrain(terrain=sw.generate("dome", size=SHAPE, seed=5)),
        layers={"rainfall": 0.5, "mask": tmp_path / "mask.npy"},
        strength=0.01,
        backend="cpu",
        low_water={},
    )
    compare(tmp_path / "out.zarr", recipe, (40, 30))


def test_gullies_are_drawn_on_tiles_before_the_mask(tmp_path: Path) -> None:
    stages = (
        sw.Stage(model=sw.VirtualPipes(), steps=4, settle=2, gullies=0.7),
        sw.Stage(model=sw.SteepestTalus(), steps=2, edges="periodic", gullies=0.3),
    )
    source = sw.FromTerrain(terrain=rough(mask=MASK, strata=sw.strata_bands(thickness=2.0)))
    recipe = sw.Recipe(source=source, stages=stages, backend="cpu", seed=4)
    compare(tmp_path / "out.zarr", recipe, (34, 27))
    plain = recipe.replace(stages=(stages[0].replace(gullies=0.0), stages[1].replace(gullies=0.0))).run().terrain
    assert (sw.read_tiled(tmp_path / "out.zarr")["elevation"] != plain["elevation"]).mean() > 0.3


def test_gullies_after_levels_are_the_same_on_tiles(tmp_path: Path) -> None:
    recipe = sw.recipe("landscape", size=101, seed=5).replace(strength=0.01, backend="cpu", low_water={}, gullies=1.0)
    compare(tmp_path / "out.zarr", recipe, (34, 51))
