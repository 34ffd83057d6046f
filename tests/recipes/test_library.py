"""The library of looks: each is a recipe that runs, and the landscape that its name promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import UnknownName
from slopewash.recipes.library import LIBRARY, Look, looks

NAMES = [look.name for look in LIBRARY]
SEAS = [look.name for look in LIBRARY if look.sea is not None or look.drowned is not None]


def small(name: str, *, size: int = 48, strength: float = 0.02, **changes: Any) -> sw.Terrain:
    return looks()[name].recipe(size=size, strength=strength, backend="cpu", **changes).run().terrain


def sea_level(look: Look) -> float:
    share = look.drowned if look.drowned is not None else look.sea
    assert share is not None
    assert look.start.relief is not None
    return share * look.start.relief


def test_there_are_a_dozen_looks_with_names_and_starts_of_their_own() -> None:
    assert len(set(NAMES)) == len(LIBRARY) >= 12
    assert list(looks()) == NAMES
    starts = {(look.start.kind, look.start.seed, tuple(look.start.options.items())) for look in LIBRARY}
    assert len(starts) == len(LIBRARY)


def test_each_look_is_described_by_one_plain_sentence() -> None:
    for look in LIBRARY:
        assert look.doc.endswith(".")
        assert look.doc.count(".") == 1
        assert f"{look.name:<18}{look.doc}" in repr(looks()).splitlines()


def test_an_unknown_look_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="badlands"):
        looks()["badland"]


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_survives_its_description(name: str) -> None:
    made = looks()[name].recipe(size=64, seed=5)
    read = sw.Recipe.from_dict(made.as_dict())
    assert read.as_dict() == made.as_dict()
    assert read.stages == made.stages
    assert (read.terrain()["elevation"] == made.terrain()["elevation"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_look_runs_draws_and_conserves_solids(name: str) -> None:
    look = looks()[name]
    result = look.recipe(size=48, strength=0.02, backend="cpu").run()
    assert result.settled
    assert result.terrain.shape == (48, 48)
    assert np.isfinite(result.terrain["elevation"]).all()
    assert abs(result.budget.solids_drift) < 1e-5  # float32 fields, float64 sums
    picture = sw.render_view(sw.add_water(result.terrain), size=(80, 50), **look.picture)
    assert np.asarray(picture).std() > 5


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_makes_another_landscape_of_the_same_relief(name: str) -> None:
    look = looks()[name]
    one, other = (look.recipe(size=48, seed=seed).terrain() for seed in (1, 2))
    assert np.abs(one["elevation"] - other["elevation"]).max() > 0.1 * one.relief
    assert 0.6 < other.relief / one.relief < 1.6


@pytest.mark.slow
@pytest.mark.parametrize("name", SEAS)
@pytest.mark.parametrize("seed", [None, 21])
def test_the_sea_stands_at_the_edge_and_leaves_land(name: str, seed: int | None) -> None:
    terrain = small(name, seed=seed)
    level = sea_level(looks()[name])
    ground, water = terrain["elevation"].astype(np.float64), terrain["water"].astype(np.float64)
    ring = np.ones(terrain.shape, bool)
    ring[1:-1, 1:-1] = False
    below = ring & (ground < level)
    assert below.sum() > 0.15 * ring.sum()
    np.testing.assert_allclose((ground + water)[below], level, atol=0.01)
    assert 0.1 < (ground > level).mean() < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("seed", [None, 21])
def test_the_lake_district_holds_lakes(seed: int | None) -> None:
    terrain = small("lake_district", size=64, strength=1.0, seed=seed)
    assert (sw.add_water(terrain)["lake"] > 0).mean() > 0.01


def test_a_sea_that_rises_comes_after_the_erosion() -> None:
    look = next(look for look in LIBRARY if look.drowned is not None)
    stage = look.recipe(size=64).stage
    assert stage.low_water["sea_level"] == sea_level(look)
    assert stage.settings.get("sea_level", -np.inf) < sea_level(look)


def test_layers_are_as_thick_as_their_share_of_the_relief() -> None:
    look = looks()["hogbacks"]
    beds = look.recipe(size=48).strata
    assert look.strata is not None
    assert beds is not None
    assert not beds.shares
    assert beds.strata.layers[0].thickness == pytest.approx(look.strata.layers[0].thickness * 640.0)
    # The lowest layer, which has no lower limit, stays buried: elsewhere it would be all that crops out.
    terrain = look.recipe(size=48).terrain()
    assert terrain.strata is not None
    exposed = terrain.strata.exposed(terrain["elevation"], terrain["elevation"])
    assert len(np.unique(exposed)) > 15
    assert (exposed == len(beds.strata.layers) - 1).mean() < 0.02


def test_recipe_files_of_looks_have_round_thicknesses() -> None:
    recipes = {name: look.recipe().strata for name, look in looks().items()}
    thick = {name: [s.thickness for s in beds.strata.layers] for name, beds in recipes.items() if beds is not None}
    assert thick["mesas"] == [121.6, 121.6, 76.0, 152.0, 76.0, 212.8]
    assert all(len(str(metres)) <= 7 for layers in thick.values() for metres in layers)


def test_strength_and_steps_shorten_a_look() -> None:
    look = looks()["alpine"]
    whole = look.recipe(size=64).stage.steps
    assert look.recipe(size=64, strength=0.5).stage.steps == pytest.approx(0.5 * whole, abs=1)
    assert look.recipe(size=64, steps=10).stage.steps == 10


def test_options_of_a_caller_come_before_those_of_the_look() -> None:
    assert looks()["fjords"].recipe(size=64).stages[0].settle == 600
    assert looks()["fjords"].recipe(size=64, settle=20).stages[0].settle == 20
    assert looks()["fjords"].recipe(size=64, settle=None).stages[0].settle == 600  # as if it was not given


@pytest.mark.slow
def test_no_single_cell_stands_out_of_the_fjords() -> None:
    terrain = looks()["fjords"].recipe(size=512, backend="cpu").run().terrain
    heights = terrain["elevation"].astype(np.float64) / terrain.cell_size
    inner = heights[1:-1, 1:-1]
    around = [heights[1 + i : 511 + i, 1 + j : 511 + j] for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    # A third of a cell, measured; with a settling in proportion to the strength there was one of 2.6 cells.
    assert (inner - np.max(around, axis=0)).max() < 0.6
