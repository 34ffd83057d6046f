"""The sea on tiles: what it covers and where its sediment sinks, as on the whole, to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.tiles.conftest import assert_same_bits

import slopewash as sw
from slopewash.analysis.labels import labelled
from slopewash.models.sea import border_mask, covered
from slopewash.models.state import Sides
from slopewash.models.virtual_pipes import sea
from slopewash.models.virtual_pipes.sea_parts import SeaParts
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.reach import Rim, united
from slopewash.tiles.run import MANIFEST
from slopewash.tiles.store import Store

SHORES = Sides(north="periodic", south="periodic", west="open", east="closed")
"""Water comes in from the west alone, and goes round from south to north."""


def coast(**layers: Any) -> sw.Terrain:
    """Islands, straits of one cell, bays and hollows that no sea reaches; much of what it carries finds no room."""
    random = np.random.default_rng(4)
    blocks = np.kron(random.random((14, 11)), np.ones((5, 5)))[:67, :53]
    ground = 24 * blocks + 3 * random.random(blocks.shape)
    ground[33:36] -= 9
    given: dict[str, Any] = {"suspended": 0.4 * random.random(ground.shape), "water": 0.1}
    return sw.Terrain(ground, cell_size=2.0, **(given | layers))


@pytest.mark.product
@pytest.mark.parametrize("diagonally", [False, True])
@pytest.mark.parametrize("edges", ["open", SHORES])
@pytest.mark.parametrize("tile", [(67, 53), (34, 27), (9, 53), (13, 7), (1, 53)])
def test_what_the_sea_reaches_is_that_of_the_whole(tile: tuple[int, int], edges: Any, *, diagonally: bool) -> None:
    sides = Sides.of(edges)
    grid = TileGrid.of((67, 53), tile)
    for seed in range(6):  # about the density at which low ground begins to hang together
        b = np.random.default_rng(seed).random((67, 53))
        level = 0.44 if diagonally else 0.6
        low = b < level
        labels = [labelled(low[window], diagonally=diagonally) for window in grid]
        rims = []
        for window, part in zip(grid, labels, strict=True):
            met = np.unique(part[border_mask((67, 53), sides)[window]])
            lines = {"north": part[0], "south": part[-1], "west": part[:, 0], "east": part[:, -1]}
            rims.append(Rim(lines, met[met > 0]))
        found = np.zeros((67, 53), bool)
        for window, part, reached in zip(grid, labels, united(grid, rims, sides, diagonally=diagonally), strict=True):
            found[window] = np.isin(part, reached)
        assert_array_equal(found, covered(b, level, sides, diagonally=diagonally))
        assert 0 < found.sum() < low.sum()


HOLES = np.zeros((67, 53), bool)
HOLES[40:48, 30:44] = True
CASES: dict[str, tuple[sw.Model, Any, dict[str, Any]]] = {
    "open": (sw.preset("single_grid").replace(sea_level=9.0), "open", {}),
    "eight": (sw.preset("landscape").replace(sea_level=9.0), SHORES, {"nodata": HOLES, "suspended": 0.1}),
    "graded": (sw.VirtualPipes(sea_level=7.0, edge_base="graded", sediment_volume=0.6), "open", {"nodata": HOLES}),
    "strata": (
        sw.preset("single_grid").replace(sea_level=9.0), "open", {"strata": sw.strata_bands(thickness=2.0, dip=4.0)},
    ),
    "enclosed": (sw.VirtualPipes(sea_level=9.0), "closed", {}),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """End at the largest number of passes, which some of these seas reach, after a tenth of it."""
    monkeypatch.setattr(sea, "MOST_PASSES", 200)
    monkeypatch.setattr(SeaParts, "most_passes", 200)


@pytest.mark.parametrize("dry", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_a_run_with_a_sea_gives_the_same_bits(tmp_path: Path, case: str, *, dry: bool) -> None:
    model, edges, layers = CASES[case]
    settle = 7 if dry else 0
    terrain = coast(**layers)
    stage = sw.Stage(model=model, steps=5, settle=settle, dry=dry, edges=edges)
    recipe = sw.Recipe(source=sw.FromTerrain(terrain=terrain), stages=(stage,), seed=3)
    whole = recipe.replace(backend="cpu").run()
    tile = (34, 20) if dry else (23, 53)
    result = sw.erode_tiled(None, recipe, tile=tile, out=tmp_path / "out.zarr", iterations=3, workers=0)
    assert_same_bits(tmp_path / "out.zarr", whole.terrain)
    for name, amount in whole.budget.as_dict().items():  # of other order of summing
        tolerance = 1e-6 if name.endswith("drift") else 1e-9 * max(1.0, abs(amount), whole.budget.solids_moved)
        assert result.budget.as_dict()[name] == pytest.approx(amount, abs=tolerance), name


def test_levels_with_a_sea_give_the_same_bits(tmp_path: Path) -> None:
    heights = np.array(sw.generate("dome", size=101, seed=2)["elevation"])
    hole = np.zeros(heights.shape, bool)
    hole[60:70, 20:40] = True
    terrain = sw.Terrain(heights, cell_size=40.0, nodata=hole)
    level = float(np.quantile(heights, 0.4))
    recipe = sw.recipe("landscape", seed=5).replace(
        source=sw.FromTerrain(terrain=terrain), strength=0.01, backend="cpu"
    )
    recipe = recipe.replace(low_water={}, sea_level=level)
    whole = recipe.run().terrain
    assert (whole["water"] > 1).any()
    sw.erode_tiled(None, recipe, tile=(34, 51), out=tmp_path / "out.zarr", workers=0, iterations=6)
    assert_same_bits(tmp_path / "out.zarr", whole)


@pytest.mark.parametrize("count", [3, 5, 7])
def test_a_run_with_a_sea_goes_on_from_any_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Stopped before the sea sinks, after it, and after it has settled."""
    model, out = CASES["open"][0], tmp_path / "out.zarr"
    stage = sw.Stage(model=model, steps=3, settle=2, dry=True, gullies=0.5)
    recipe = sw.Recipe(source=sw.FromTerrain(terrain=coast(suspended=0.1)), stages=(stage,), backend="cpu")
    usual, written = Store.write_json, []

    def write(self: Store, name: str, facts: Any) -> None:
        usual(self, name, facts)
        written.extend([name] if name == MANIFEST else [])
        if len(written) == count:
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "write_json", write)
    with pytest.raises(KeyboardInterrupt):
        sw.erode_tiled(None, recipe, tile=(34, 53), out=out, workers=0, iterations=3)
    monkeypatch.undo()
    sw.resume_tiled(out, workers=0)
    assert_same_bits(out, recipe.run().terrain)


def test_a_sea_over_all_land_is_refused_before_the_first_round(tmp_path: Path) -> None:
    with pytest.raises(sw.InvalidParameter, match="all of it would be under water"):
        sw.erode_tiled(
            coast(), sw.VirtualPipes(sea_level=99.0), steps=1, tile=(34, 27), out=tmp_path / "out.zarr", workers=0
        )
