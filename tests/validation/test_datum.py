"""The same ground further up gives the same landscape: nothing counts from sea level but the sea."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

import slopewash as sw

LOW, LIFT, LOWEST_BIT = 2304.0, 1024.0, 2.0**-12
"""Between 2048 and 4096 m float32 has steps of 2^-12 m throughout: there a lift of 1024 m is exact, and metres round
alike before and after it, between two levels too."""
MOST_RELIEF = 500.0
"""Leaves room within these bounds for valleys that are cut below the lowest ground, and for deposits."""


def at(terrain: sw.Terrain, lowest: float) -> sw.Terrain:
    """The terrain with that lowest ground, on heights that any lift leaves exact, and strata and bedrock with it."""
    heights = terrain["elevation"].astype(np.float64)
    low = terrain.range("elevation")[0]
    shrunk = (heights - low) * min(1.0, MOST_RELIEF / (terrain.relief or 1.0))
    made = terrain.replace(elevation=np.round(shrunk / LOWEST_BIT) * LOWEST_BIT + lowest)
    if terrain.strata is None or terrain.strata.top is None:
        return made
    top = np.round(terrain.strata.top - low) + lowest  # of dipping strata, it may lie far above the ground
    return made.replace(strata=terrain.strata.replace(top=top))


def with_sea_lifted(stage: sw.Stage, by: float) -> sw.Stage:
    """The sea level is an elevation: it is lifted with the ground."""
    if "sea_level" in stage.low_water:
        stage = stage.replace(low_water={**stage.low_water, "sea_level": float(stage.low_water["sea_level"]) + by})
    if stage.model.water_beyond == -math.inf:
        return stage
    return stage.with_parameters(sea_level=stage.model.water_beyond + by)


def run(recipe: sw.Recipe, start: sw.Terrain, by: float) -> tuple[sw.Terrain, float]:
    """Result and lowest ground at the start, of the recipe on a terrain that is lifted by so much."""
    stages = tuple(with_sea_lifted(stage, LOW + by) for stage in recipe.stages)
    terrain = at(start, LOW + by)
    running = sw.Running(recipe.replace(stages=stages, backend="reference"), terrain)
    running.run()
    return running.result().terrain, terrain.range("elevation")[0]


def shortened(stage: sw.Stage) -> sw.Stage:
    """The stage with hardly any settling; and with no flood that recedes, unless the sea rises then."""
    return dataclasses.replace(stage, settle=4, low_water=stage.low_water if "sea_level" in stage.low_water else {})


def assert_lifted(low: sw.Terrain, high: sw.Terrain) -> None:
    """Every layer is the same, and heights 1024 m higher, to the bit."""
    assert set(low) == set(high)
    for name in low:
        lifted = low[name].astype(np.float64) + (LIFT if name in ("elevation", "bedrock") else 0.0)
        if low.nodata is not None:
            lifted[low.nodata] = 0
        np.testing.assert_array_equal(lifted, high[name], err_msg=name)


@pytest.mark.parametrize("name", sw.presets())
def test_every_preset_gives_the_same_further_up(name: str) -> None:
    """On a single grid, in few steps: all of its laws act, and settling."""
    given = sw.presets()[name]
    start = sw.preset_source(name, size=24).make() if given.generator != "cone" else sw.generate("cone", size=24)
    if given.strata is not None:
        start = start.replace(strata=given.strata.fitted(start.relief))
    stage = sw.Stage.of(name, steps=6).replace(levels=(), low_water={}, settle=4 if given.settle else 0)
    recipe = sw.Recipe(source=sw.FromTerrain(terrain=start), stages=(stage,), seed=3)
    low, high = (run(recipe, start, by)[0] for by in (0.0, LIFT))
    assert_lifted(low, high)


@pytest.mark.parametrize("name", sw.looks())
def test_every_recipe_of_the_library_gives_the_same_further_up(name: str) -> None:
    """On two levels, each a few steps; layers of rock and the sea are lifted with the ground."""
    recipe = sw.looks()[name].recipe(size=96, strength=0.003)
    recipe = recipe.replace(stages=tuple(map(shortened, recipe.stages)))
    start = recipe.terrain()
    low, high = (run(recipe, start, by)[0] for by in (0.0, LIFT))
    assert_lifted(low, high)


def test_tiles_give_the_same_further_up_and_the_same_as_the_whole(tmp_path: Path) -> None:
    """With beds of both kinds, on two levels, and with a hole in the lowest ground."""
    recipe = sw.looks()["alpine"].recipe(size=96, strength=0.003, backend="reference")
    recipe = recipe.replace(stages=tuple(map(shortened, recipe.stages)))
    ground = recipe.terrain()
    hole = np.zeros(ground.shape, bool)
    hole[40:50, :30] = True
    made = []
    for by in (0.0, LIFT):
        start = at(ground.replace(nodata=hole), LOW + by)
        out = tmp_path / f"{by:g}.zarr"
        sw.erode_tiled(start, recipe, tile=(50, 60), out=out, workers=0)
        made.append(sw.read_tiled(out))
    whole, _ = run(recipe, ground.replace(nodata=hole), 0.0)
    assert_lifted(*made)
    np.testing.assert_array_equal(made[0]["elevation"], whole["elevation"])
