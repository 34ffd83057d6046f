"""A run that loses or makes mass ends with one sentence, whoever runs it, and what was kept before is sound."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tiles.conftest import assert_same_bits

import slopewash as sw
from slopewash.cli import main
from slopewash.models.base import Model
from slopewash.simulation.budget import LARGEST_ERROR

HILL = sw.generate("dome", size=24, seed=1, cell_size=5.0)
LEFT = sw.VirtualPipes(time_step=0.03)
STAGE = sw.Stage(model=LEFT, steps=6, settle=2)
RECIPE = sw.Recipe(source=sw.FromTerrain(terrain=HILL), stages=(STAGE,), backend="reference", seed=2)
MODELS: dict[str, Model] = {
    "virtual_pipes": LEFT, "steepest_talus": sw.SteepestTalus(), "velocity_field": sw.VelocityField(),
}  # fmt: skip
UNACCOUNTED = r"of .* m³ of (water|soil that moved) is unaccounted for by step \d+"


def forget(monkeypatch: pytest.MonkeyPatch, name: str, share: float = 0.5) -> None:
    """Leave a share of an amount out of the budgets of the water model."""
    usual = sw.VirtualPipes.amounts

    def amounts(self: sw.VirtualPipes, state: Any, domain: Any) -> Mapping[str, float]:
        found = dict(usual(self, state, domain))
        return {**found, name: found[name] * (1 - share)}

    monkeypatch.setattr(sw.VirtualPipes, "amounts", amounts)


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@pytest.mark.parametrize("field", ["elevation", "water", "suspended"])
def test_a_field_that_grew_by_itself_ends_the_run(backend: str, field: str) -> None:
    simulation = sw.Simulation(HILL, LEFT, backend=backend)
    simulation.run(3)
    values = np.array(simulation._state[field])
    simulation._state[field] = values + np.float32(0.01)  # as a kernel would that counts wrongly
    with pytest.raises(sw.MassNotConserved, match=UNACCOUNTED):
        simulation.run(1)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_held_to_its_budget(name: str) -> None:
    simulation = sw.Simulation(HILL, MODELS[name], backend="reference")
    simulation.run(2)
    simulation._state.scalars["solids_start"] *= 2
    with pytest.raises(sw.MassNotConserved, match="soil that moved"):
        simulation.run(1)


def test_the_sums_of_the_mesh_are_held_to_its_budget() -> None:
    emitter = sw.Emitter(x=60, y=60, radius=20, rate=20)
    model = sw.MeshParticles(triangles=1000, time_step=0.02)
    simulation = sw.Simulation(HILL.replace(emitters=[emitter]), model, backend="reference")
    simulation.run(2)
    simulation._state.scalars["solids_start"] *= 2
    with pytest.raises(sw.MassNotConserved, match="soil that moved"):
        simulation.run(1)


def test_what_a_model_does_not_conserve_is_its_own_affair() -> None:
    """Eq. 15 makes and loses sediment; water must balance there too."""
    model = LEFT.replace(transport="semi_lagrangian")
    assert sorted(model.conserved) == ["water"]
    simulation = sw.Simulation(HILL, model, backend="reference")
    simulation.run(2)
    simulation._state["elevation"] = simulation._state["elevation"] + np.float32(0.1)
    simulation.run(1)
    simulation._state["water"] = simulation._state["water"] + np.float32(0.1)
    with pytest.raises(sw.MassNotConserved, match="of water"):
        simulation.run(1)


def test_a_run_that_once_lost_sediment_by_its_law_is_not_ended_under_another(tmp_path: Path) -> None:
    simulation = sw.Simulation(HILL, sw.preset("mei2007"), backend="reference")
    simulation.run(10)
    assert simulation.budget.solids_drift > LARGEST_ERROR
    simulation.model = simulation.model.replace(transport="donor_cell")
    simulation.run(2)
    simulation.checkpoint(tmp_path / "run.ckpt")
    resumed = sw.Simulation.resume(tmp_path / "run.ckpt")
    resumed.run(2)
    assert resumed.conserved == {"water"}


def test_next_to_nothing_that_moves_is_no_error() -> None:
    """Heights are rounded to float32: next to a film of rain that moves a millionth, that is not a lost share."""
    model = LEFT.replace(suspension_rate=1e-9, thermal_rate=0.0, rain_rate=1e-9)
    simulation = sw.Simulation(HILL, model, backend="reference")
    simulation.run(20)
    assert simulation.budget.solids_moved < 1e-6 * simulation.budget.solids_start


@pytest.mark.parametrize("steps", [1, 12])
@pytest.mark.parametrize("name", sw.presets())
def test_presets_stay_far_below(name: str, steps: int) -> None:
    recipe = sw.recipe(name, size=20, steps=min(steps, 3) if "chiba" in name else steps, backend="reference")
    running = sw.Running(recipe)
    running.run()
    budget, conserved = running.result().budget, running.simulation.conserved
    assert budget.water_drift < LARGEST_ERROR / 100
    assert "solids" not in conserved or budget.solids_drift < LARGEST_ERROR / 10  # 6e-5 where hardly any soil moves


@pytest.mark.parametrize("name", sw.looks())
def test_looks_stay_far_below(name: str) -> None:
    budget = sw.recipe(name, size=32, strength=0.02, backend="cpu").run().budget
    assert max(budget.water_drift, budget.solids_drift) < LARGEST_ERROR / 20


@pytest.mark.parametrize("name", ["water_rain", "water_now", "solids_start", "solids_now"])
def test_every_executor_ends_such_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    forget(monkeypatch, name)
    out = tmp_path / "out.zarr"
    for run in (
        RECIPE.run,
        lambda: sw.erode(HILL, LEFT, steps=3, backend="reference"),
        lambda: sw.erode_tiled(None, RECIPE, tile=(12, 24), out=out, workers=0, iterations=3),
    ):
        with pytest.raises(sw.MassNotConserved, match=UNACCOUNTED):
            run()


def test_checkpoints_before_it_are_kept_and_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run.ckpt"
    running = sw.Running(RECIPE, checkpoint=folder, every=2)
    running.advance(3)
    running.write_checkpoint()
    forget(monkeypatch, "water_rain")
    with pytest.raises(sw.MassNotConserved):
        running.run()
    with pytest.raises(sw.MassNotConserved):
        running.write_checkpoint()
    with pytest.raises(sw.MassNotConserved):
        sw.Running.resumed(folder).run()
    monkeypatch.undo()
    resumed = sw.Running.resumed(folder)
    resumed.run()
    np.testing.assert_array_equal(resumed.result().terrain["elevation"], RECIPE.run().terrain["elevation"])


def test_a_store_stays_at_its_last_sound_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.zarr"
    usual, calls = sw.VirtualPipes.amounts, []

    def amounts(self: sw.VirtualPipes, state: Any, domain: Any) -> Mapping[str, float]:
        calls.append(1)
        found = dict(usual(self, state, domain))
        return {**found, "water_now": 0.0} if len(calls) > 4 else found

    monkeypatch.setattr(sw.VirtualPipes, "amounts", amounts)
    with pytest.raises(sw.MassNotConserved):
        sw.erode_tiled(None, RECIPE, tile=(12, 24), out=out, workers=0, iterations=3)
    with pytest.raises(sw.MassNotConserved):
        sw.resume_tiled(out, workers=0)
    monkeypatch.undo()
    sw.resume_tiled(out, workers=0)
    assert_same_bits(out, RECIPE.run().terrain)


def test_sums_of_levels_are_held_to_the_budget_of_the_stage() -> None:
    recipe = sw.recipe("landscape", size=96, strength=0.01, backend="reference").replace(low_water={})
    running = sw.Running(recipe)
    running.advance(running.steps_in_all - 1)
    assert len(running._budgets) > 1
    running._budgets[1] = dataclasses.replace(running._budgets[1], solids_exported=1e9)
    with pytest.raises(sw.MassNotConserved):
        running.run()


def test_the_command_prints_one_sentence_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raw, out = tmp_path / "raw.npz", tmp_path / "out.npz"
    sw.write(HILL, raw)
    forget(monkeypatch, "solids_exported", share=2.0)
    code = main(
        ["erode", str(raw), "-o", str(out), "--preset", "single_grid", "--steps", "9", "--backend", "reference"]
    )
    assert code == 1  # ours: what was asked for was valid
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("slopewash:")]
    assert len(said) == 1
    assert "unaccounted for" in said[0]
    assert not out.exists()
