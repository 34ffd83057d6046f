"""From coarse to fine on tiles: the same bits as in one piece."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tiles.conftest import assert_same_bits

import slopewash as sw


def check(out: Path, recipe: sw.Recipe, tile: tuple[int, int], **where: Any) -> None:
    whole = recipe.run()
    result = sw.erode_tiled(None, recipe, tile=tile, out=out, **where)
    assert set(result.layers) == set(whole.terrain)
    assert_same_bits(out, whole.terrain)
    for name, amount in whole.budget.as_dict().items():
        tolerance = 1e-5 if name.endswith("drift") else 1e-9 * max(abs(amount), whole.budget.solids_moved)
        assert result.budget.as_dict()[name] == pytest.approx(amount, abs=tolerance), name


def test_levels_on_tiles_equal_those_in_memory(tmp_path: Path) -> None:
    recipe = sw.recipe("landscape", size=101, seed=5).replace(strength=0.01, backend="cpu")
    check(tmp_path / "out.zarr", recipe, (34, 51), workers=0, iterations=6)


def test_levels_of_ground_with_holes_and_strata_that_is_not_square(tmp_path: Path) -> None:
    heights = np.array(sw.generate("dome", size=(90, 131), seed=2)["elevation"])
    hole = np.zeros(heights.shape, bool)
    hole[30:50, 60:90] = True
    terrain = sw.Terrain(heights, cell_size=40.0, nodata=hole, strata=sw.strata_bands(thickness=60.0))
    recipe = sw.recipe("landscape", seed=5).replace(
        source=sw.FromTerrain(terrain=terrain), strength=0.01, backend="cpu"
    )
    check(tmp_path / "out.zarr", recipe, (45, 50), workers=0, iterations=6)


@pytest.mark.slow
def test_the_landscape_at_1024_in_six_tiles_on_two_workers(tmp_path: Path, cluster: Any) -> None:
    recipe = sw.recipe("landscape", size=1024, seed=7)
    # Without the thousand steps of low water, which smaller grids are tested with.
    short = recipe.replace(stages=(recipe.stage.replace(low_water={}, strength=0.02),), backend="cpu")
    check(tmp_path / "out.zarr", short, (342, 512), client=cluster)
