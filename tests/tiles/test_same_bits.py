"""Tiles give what the whole gives, to the bit, however it is cut and however often neighbours exchange."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tiles.conftest import SHAPE, assert_same_bits, rough

import slopewash as sw

CUTS = {"1x1": (1, 1), "2x2": (2, 2), "3x5": (3, 5), "7x1": (7, 1)}
EDGES = ("open", "closed", "periodic")
ROUNDS = (1, 4, 16)
MODELS = {"pipes": sw.VirtualPipes(), "talus": sw.SteepestTalus()}
ALL = list(itertools.product(CUTS, EDGES, ROUNDS, MODELS))
SOME = [
    (cut, edges, ROUNDS[(i + j) % 3], list(MODELS)[(i + j) % 2])
    for (i, cut), (j, edges) in itertools.product(enumerate(CUTS), enumerate(EDGES))
]
"""Every cut with every edge; rounds and models by turns."""
STEPS = 17
LAWS: dict[str, tuple[sw.Model, str, dict[str, Any]]] = {
    "jako2011": (sw.preset("jako2011"), "periodic", {}),
    "single_grid": (sw.preset("single_grid"), "open", {}),
    "eight": (sw.preset("landscape"), "open", {"nodata": None, "rainfall": None, "sources": ()}),
    "mei2007": (sw.preset("mei2007"), "closed", {}),
    "beds": (sw.preset("single_grid").replace(bed_contrast=0.2, bed_thickness=9.0, bed_dip=20.0), "open", {}),
    "cover": (sw.preset("single_grid").replace(cover="loose", weathering_rate=0.02), "periodic", {}),
    "strata": (sw.preset("single_grid"), "periodic", {"strata": sw.strata_bands(thickness=2.0, hard=0.1, dip=4.0)}),
    "varied talus": (sw.SteepestTalus(talus_law="hard_stands_steeper"), "open", {}),
    "layered talus": (
        sw.SteepestTalus(talus_law="hard_stands_steeper"), "closed", {"strata": sw.strata_bands(thickness=2.0)},
    ),
    "thermal": (sw.VirtualPipes(processes="thermal"), "open", {"erodibility": 0.5}),
}  # fmt: skip

_wholes: dict[Any, sw.Terrain] = {}


def whole_of(model: str, edges: str) -> sw.Terrain:
    if (model, edges) not in _wholes:
        _wholes[model, edges] = sw.erode(rough(), MODELS[model], steps=STEPS, edges=edges, backend="cpu", seed=3)  # type: ignore[arg-type]
    return _wholes[model, edges]


def tile_for(cut: str) -> tuple[int, int]:
    down, across = CUTS[cut]
    return -(-SHAPE[0] // down), -(-SHAPE[1] // across)


def check(tmp_path: Path, cut: str, edges: str, iterations: int, model: str, **where: Any) -> None:
    result = sw.erode_tiled(
        rough(), MODELS[model], steps=STEPS, edges=edges, seed=3, tile=tile_for(cut), out=tmp_path / "out.zarr",  # type: ignore[arg-type]
        iterations=iterations, **where,
    )  # fmt: skip
    assert result.tiles == CUTS[cut][0] * CUTS[cut][1]
    whole = whole_of(model, edges)
    assert set(result.layers) == set(whole)
    assert_same_bits(tmp_path / "out.zarr", whole)


@pytest.mark.parametrize(("cut", "edges", "iterations", "model"), SOME)
def test_tiles_equal_the_whole(tmp_path: Path, cut: str, edges: str, iterations: int, model: str) -> None:
    check(tmp_path, cut, edges, iterations, model, workers=0)


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize(("cut", "edges", "iterations", "model"), ALL)
def test_tiles_equal_the_whole_on_two_workers(
    tmp_path: Path, cluster: Any, cut: str, edges: str, iterations: int, model: str
) -> None:
    check(tmp_path, cut, edges, iterations, model, client=cluster)


@pytest.mark.parametrize("model", MODELS)
def test_two_worker_processes_give_the_same_bits(tmp_path: Path, cluster: Any, model: str) -> None:
    check(tmp_path, "2x2", "open", 4, model, client=cluster)


@pytest.mark.parametrize("law", LAWS)
def test_every_law_gives_the_same_bits(tmp_path: Path, law: str) -> None:
    model, edges, layers = LAWS[law]
    terrain = rough(**layers)
    simulation = sw.Simulation(terrain, model, backend="cpu", edges=edges, seed=3)  # type: ignore[arg-type]
    simulation.run(9)
    simulation.settle(7)
    recipe = sw.Recipe(source=terrain, stages=(sw.Stage(model=model, steps=9, settle=7, edges=edges),), seed=3)  # type: ignore[arg-type]
    result = sw.erode_tiled(None, recipe, tile=(34, 27), out=tmp_path / "out.zarr", iterations=4, workers=0)
    assert_same_bits(tmp_path / "out.zarr", simulation.terrain)
    for name, amount in simulation.budget.as_dict().items():  # of other order of summing
        tolerance = 1e-6 if name.endswith("drift") else 1e-9 * max(1.0, abs(amount))
        assert result.budget.as_dict()[name] == pytest.approx(amount, abs=tolerance), name


@pytest.mark.parametrize(
    ("model", "backend"),
    [("four", "reference"), ("eight", "reference"), ("talus", "reference"), ("sea", "cpu"), ("sea", "gpu")],
)
def test_margins_up_to_the_far_border_count_nothing_twice(tmp_path: Path, model: str, backend: str) -> None:
    """What leaves over an edge that belongs to another tile counts there alone."""
    coast = sw.VirtualPipes(sea_level=rough().relief / 4)
    models = {"four": sw.VirtualPipes(), "eight": sw.preset("landscape"), "sea": coast, "talus": sw.SteepestTalus()}
    stage = sw.Stage(model=models[model], steps=9, settle=4)
    recipe = sw.Recipe(source=sw.FromTerrain(terrain=rough()), stages=(stage,), backend=backend)
    whole = recipe.run().budget.as_dict()
    out = tmp_path / "out.zarr"
    made = sw.erode_tiled(None, recipe, tile=(34, 27), out=out, workers=0, iterations=13)
    assert made.backend == backend
    for name, amount in made.budget.as_dict().items():
        scale = whole["solids_moved" if name.startswith("solids") else "water_rain"] or whole["solids_moved"]
        assert amount == pytest.approx(whole[name], abs=1e-6 if name.endswith("drift") else 1e-5 * scale), name


def test_a_tile_without_ground_is_a_wall(tmp_path: Path) -> None:
    hole = np.zeros(SHAPE, bool)
    hole[:40, :40] = True
    terrain = rough(nodata=hole, sources=())
    sw.erode_tiled(
        terrain, sw.VirtualPipes(), steps=5, tile=(20, 20), out=tmp_path / "out.zarr", workers=0, iterations=2
    )
    assert_same_bits(tmp_path / "out.zarr", sw.erode(terrain, sw.VirtualPipes(), steps=5, backend="cpu"))


def test_particle_models_say_that_they_are_whole(tmp_path: Path) -> None:
    with pytest.raises(sw.InvalidParameter, match="one machine alone"):
        sw.erode_tiled(rough(), sw.VelocityField(), steps=1, out=tmp_path / "out.zarr", workers=0)
    assert not (tmp_path / "out.zarr").exists()
