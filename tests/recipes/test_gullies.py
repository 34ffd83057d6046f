"""Gullies at the end of a stage: drawn once, counted in the mass budget, the same after an interruption."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.recipes.levels import expanded

MODEL = sw.VirtualPipes(evaporation_rate=0.0)


def cone(size: int = 64) -> sw.Terrain:
    return sw.generate("cone", size=size, extent=1280.0, relief=500.0, seed=2)


def single(gullies: float, steps: int = 4) -> sw.Recipe:
    stage = sw.Stage.of(MODEL, steps=steps, edges="open", gullies=gullies)
    return sw.Recipe(source=sw.FromTerrain(terrain=cone()), stages=(stage,), seed=5, backend="reference")


def ladder(gullies: float) -> sw.Recipe:
    return sw.recipe("landscape", source=cone(100), seed=5, backend="cpu", strength=0.01, gullies=gullies)


@pytest.mark.parametrize("make", [single, ladder])
def test_gullies_are_drawn_into_what_the_simulation_leaves(make: Callable[[float], sw.Recipe]) -> None:
    without, carved = (make(gullies).run() for gullies in (0.0, 0.7))
    expected = sw.add_gullies(without.terrain, depth=0.7, seed=5)
    assert np.abs(expected["elevation"] - without.terrain["elevation"]).max() > 1
    assert set(carved.terrain) == set(without.terrain)
    np.testing.assert_array_equal(carved.terrain["elevation"], expected["elevation"])
    for name in ("difference", "wear", "deposit"):
        np.testing.assert_allclose(carved.terrain[name], expected[name], atol=1e-3, err_msg=name)


@pytest.mark.parametrize("make", [single, ladder])
def test_what_gullies_take_away_counts_as_resampled(make: Callable[[float], sw.Recipe]) -> None:
    without, carved = (make(gullies).run() for gullies in (0.0, 0.7))
    lost = carved.terrain["elevation"].astype(np.float64) - without.terrain["elevation"]
    volume = float(lost.sum()) * carved.terrain.cell_size**2
    assert volume < -1000
    before, after = without.budget, carved.budget
    assert after.solids_resampled - before.solids_resampled == pytest.approx(volume)
    assert after.solids_now - before.solids_now == pytest.approx(volume)
    assert after.solids_drift == before.solids_drift
    came = after.solids_start + after.solids_resampled
    assert after.solids_now + after.solids_exported == pytest.approx(came, rel=1e-6)


def test_only_the_last_level_has_gullies() -> None:
    recipe = ladder(0.7)
    assert [level.gullies for level in expanded(recipe.stage, cone(100))] == [0.0, 0.7]


def test_a_stage_begins_with_the_gullies_of_the_one_before() -> None:
    recipe = single(0.7)
    still = sw.Stage.of(MODEL, steps=0, edges="open")
    both = recipe.replace(stages=(*recipe.stages, still)).run().terrain
    np.testing.assert_allclose(both["elevation"], recipe.run().terrain["elevation"], atol=1e-3)


def test_a_run_that_is_interrupted_has_no_gullies_yet_and_all_of_them_when_resumed(tmp_path: Path) -> None:
    whole = ladder(0.7).run()
    running = sw.Running(ladder(0.7), checkpoint=tmp_path, every=2)

    def interrupt(simulation: sw.Simulation) -> None:
        if running.number == 1:  # on the last level
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        running.run(interrupt)
    broken = running.result()
    assert broken.interrupted
    np.testing.assert_array_equal(broken.terrain["elevation"], running.simulation.terrain["elevation"])
    running.write_checkpoint()
    running.close()
    for _ in range(2):  # the second time from the checkpoint of the finished run
        resumed = sw.Running.resumed(tmp_path)
        resumed.run()
        result = resumed.result()
        for name, layer in whole.terrain.items():
            np.testing.assert_array_equal(result.terrain[name], layer, err_msg=name)
        assert result.budget == whole.budget
        resumed.close()


def test_gullies_are_part_of_the_description_of_a_recipe() -> None:
    recipe = ladder(0.7)
    assert recipe.as_dict()["stages"][0]["gullies"] == 0.7
    facts = recipe.as_dict() | {"source": sw.Generated(kind="cone").as_dict()}
    assert sw.Recipe.from_dict(facts).stage == recipe.stage
    assert sw.recipe("landscape").stage.gullies == 0


def test_erode_takes_gullies() -> None:
    carved = sw.erode(cone(), MODEL, steps=4, backend="reference", seed=5, gullies=0.7, settle=0)
    np.testing.assert_array_equal(carved["elevation"], single(0.7).run().terrain["elevation"])


def test_impossible_gullies_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"gullies is -1; it must be within 0 \.\. 2"):
        single(-1)
    with pytest.raises(InvalidParameter, match="mesh_particles erodes a mesh; use add_gullies on its terrain"):
        sw.Stage.of("bezin2010", gullies=0.5)
