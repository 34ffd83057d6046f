"""A run that was stopped and goes on is bit-identical to one that never stopped."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash
from slopewash.models import MeshParticles
from slopewash.simulation import Simulation
from slopewash.terrain import Emitter, Strata, Stratum, Terrain

STREAM = Emitter(x=60, y=40, radius=25, rate=150, speed=3, direction=180)
OTHER = Emitter(x=100, y=90, radius=10, rate=90)
MODEL: dict[str, Any] = {
    "triangles": 400,
    "erosion_rate": 0.1,
    "transport_time": 12,
    "update_every": 5,
    "lifetime": 1.2,
}
VARIANTS: dict[str, dict[str, Any]] = {
    "vertical": {},
    "lateral": {"displacement": "lateral"},
    "uniform": {"weights": "uniform"},
    "crowded": {"maximum_particles": 60},
    "divided": {"stiffness": 400.0},
    "layered": {},
}
ODD = 13
"""Steps before the stop: vertices move every fifth, so that erosion is pending and grains are on their way."""

Restart = Callable[[Simulation, Path], Simulation]


def through_checkpoint(simulation: Simulation, folder: Path) -> Simulation:
    simulation.checkpoint(folder)
    return Simulation.resume(folder)


CHILD = "import sys, slopewash as sw; s = sw.Simulation.resume(sys.argv[1]); s.run(4); s.checkpoint(sys.argv[1])"


RESTARTS: dict[str, Restart] = {
    "deepcopy": lambda simulation, folder: copy.deepcopy(simulation),
    "pickle": lambda simulation, folder: pickle.loads(pickle.dumps(simulation)),
    "checkpoint": through_checkpoint,
}


def start(lab: Any, backend: str, **parameters: Any) -> Simulation:
    terrain = lab.rough(relief=20.0).replace(emitters=[STREAM])
    return Simulation(terrain, MeshParticles(**MODEL | parameters), backend=backend, seed=3)


def layered(terrain: Terrain) -> Terrain:
    beds = [Stratum(thickness=t, erodibility=r) for t, r in ((8.0, 1.0), (15.0, 0.2), (50.0, 0.7))]
    return terrain.replace(strata=Strata(beds))


def assert_identical(one: Simulation, other: Simulation) -> None:
    before, after = one.terrain, other.terrain
    assert set(before) == set(after)
    for name in before:
        np.testing.assert_array_equal(before[name], after[name], err_msg=name)
    np.testing.assert_array_equal(one.particles, other.particles)
    np.testing.assert_array_equal(one.mesh.vertices, other.mesh.vertices)
    np.testing.assert_array_equal(one.mesh.triangles, other.mesh.triangles)
    for name in ("eroded", "deposited"):
        np.testing.assert_array_equal(one.mesh.attributes[name], other.mesh.attributes[name])
    assert one.budget == other.budget
    assert (one.step, one.settled) == (other.step, other.settled)
    assert one.time == pytest.approx(other.time, rel=1e-12)  # summed stretch by stretch, and shown to users only
    assert one.emitters == other.emitters
    mine, theirs = one._state, other._state
    assert set(mine.arrays) == set(theirs.arrays)
    for name in mine.arrays:
        np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name, strict=True)
    assert mine.scalars == theirs.scalars


def test_a_state_holds_declared_fields_only(lab: Any, backend: str) -> None:
    with start(lab, backend) as simulation:
        simulation.run(ODD)
        assert set(simulation._state.arrays) <= {spec.name for spec in MeshParticles.fields}


@pytest.mark.parametrize("way", RESTARTS)
def test_a_restarted_run_is_bit_identical(lab: Any, backend: str, way: str, tmp_path: Path) -> None:
    unbroken, stopped = (start(lab, backend) for _ in range(2))
    unbroken.run(2 * ODD)
    stopped.run(ODD)
    again = RESTARTS[way](stopped, tmp_path)
    assert_identical(stopped, again)
    stopped.run(3)  # whatever the first one does next is no business of the second
    again.run(ODD)
    assert_identical(unbroken, again)
    assert unbroken.budget.solids_moved > 100
    assert unbroken.budget.water_evaporated > 0


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.filterwarnings("ignore:.*contact period")
def test_laws_and_layers_go_on_bit_identically(lab: Any, backend: str, name: str) -> None:
    model = MeshParticles(**MODEL | VARIANTS[name])
    terrain = lab.rough(relief=20.0).replace(emitters=[STREAM])
    terrain = layered(terrain) if name == "layered" else terrain.replace(erodibility=terrain["elevation"] / 100)
    unbroken, again = (Simulation(terrain, model, backend=backend) for _ in range(2))
    unbroken.run(2 * ODD)
    for steps in (1, 6, 6, 13):  # stopped before the first move of the vertices, and again and again
        again.run(steps)
        again = pickle.loads(pickle.dumps(again))
    assert_identical(unbroken, again)
    assert unbroken.budget.solids_moved > 1


def events(simulation: Simulation, restart: Callable[[Simulation], Simulation]) -> Simulation:
    """Emitters, undo, parameters of flow and mesh, settling: with a chance to stop after each."""
    simulation.run(7)
    simulation.set_emitters(replace(STREAM, rate=300), OTHER)
    simulation = restart(simulation)
    simulation.run(4)
    assert simulation.undo()
    simulation = restart(simulation)
    simulation.run(2)
    assert simulation.redo()
    model: Any = simulation.model
    simulation.model = model = model.replace(erosion_rate=0.3, weights="uniform", gravity=5.0)
    simulation = restart(simulation)
    simulation.run(4)
    simulation.model = model.replace(displacement="lateral")
    simulation = restart(simulation)
    simulation.run(9)
    simulation.model = simulation.model.replace(triangles=300)
    simulation = restart(simulation)
    simulation.run(8)
    simulation.settle(9, stop_after=4)
    simulation = restart(simulation)
    simulation.settle(9, done=4)
    simulation = restart(simulation)
    simulation.run(7)
    return simulation


def test_edits_other_parameters_and_settling_go_on_bit_identically(lab: Any, backend: str, tmp_path: Path) -> None:
    unbroken = events(start(lab, backend), lambda simulation: simulation)
    again = events(start(lab, backend), lambda simulation: through_checkpoint(simulation, tmp_path))
    assert_identical(unbroken, again)
    assert len(unbroken.mesh.triangles) == 300
    assert unbroken.emitters == (replace(STREAM, rate=300), OTHER)
    assert unbroken.can_undo


class AskedOften:
    """Wants a run to stop when it is asked for the `last` time."""

    def __init__(self, last: int) -> None:
        self.last, self.asked = last, 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked >= self.last


@pytest.mark.parametrize("name", ["divided", "lateral"])
@pytest.mark.filterwarnings("ignore:.*contact period")
def test_a_step_that_is_left_at_a_safe_point_is_taken_whole_later(lab: Any, backend: str, name: str) -> None:
    unbroken, again = (start(lab, backend, **VARIANTS[name]) for _ in range(2))
    unbroken.run(ODD)
    left = 0
    for last in range(1, 200, 7):
        before, stop = again.step, AskedOften(last)
        again.run(ODD - again.step, stop=stop)
        left += stop.asked == last and again.step == before
        if again.step == ODD:
            break
    again.run(ODD - again.step)
    assert_identical(unbroken, again)
    assert left > 0 or (backend, name) == ("cpu", "lateral")  # its safe points are between sub-steps


def test_a_stop_amid_a_step_that_cannot_be_divided_comes_before_it(lab: Any, backend: str) -> None:
    with start(lab, backend) as unbroken, start(lab, backend) as again:
        unbroken._substeps = again._substeps = 3
        unbroken.run(5)
        again.run(5, stop_after=8)
        assert (again.step, again.substeps_done) == (2, 0)
        again.run(3)
        assert_identical(unbroken, again)


@pytest.mark.parametrize("parts", [(1, 2, 3, 20), (13, 13)])
def test_a_run_in_parts_is_bit_identical(lab: Any, backend: str, parts: tuple[int, ...]) -> None:
    unbroken, again = (start(lab, backend) for _ in range(2))
    unbroken.run(26)
    for steps in parts:
        again.run(steps)
        _ = again.terrain, again.budget, again.particles  # looking changes nothing
    assert_identical(unbroken, again)


def test_a_backend_leaves_the_state_it_was_given_alone(lab: Any, backend: str) -> None:
    model = MeshParticles(**MODEL)
    run = lab.run(model, lab.rough(relief=20.0).replace(emitters=[STREAM]), backend)
    run.advance(ODD)
    given = run.state.copy()
    kept = given.copy()
    other = model.backend(backend)(given, run.domain)
    other.advance(model.coefficients(run.domain, substeps=run.substeps), ODD * run.substeps)
    for name in kept.arrays:
        np.testing.assert_array_equal(given[name], kept[name], err_msg=name)
    assert given.scalars == kept.scalars


def test_a_warning_of_sub_steps_is_raised_once(lab: Any) -> None:
    terrain = Terrain(lab.rough()["elevation"] / 10, cell_size=1.0)
    with pytest.warns(UserWarning, match="in 3 sub-steps"):
        simulation = Simulation(terrain, MeshParticles(triangles=512), backend="cpu")
    model: Any = simulation.model
    simulation.model = model.replace(gravity=3.0)  # warnings are errors here: a second one would fail the test
    simulation = pickle.loads(pickle.dumps(simulation))
    simulation.model = simulation.model.replace(gravity=4.0)
    with pytest.warns(UserWarning, match="in 5 sub-steps"):
        simulation.model = simulation.model.replace(stiffness=200.0)
    assert simulation._substeps == 5


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])
def test_steps_taken_in_another_process_are_those_of_an_unbroken_run(lab: Any, backend: str, tmp_path: Path) -> None:
    whole, broken = start(lab, backend), start(lab, backend)
    whole.run(ODD + 7)
    broken.run(ODD)
    broken.checkpoint(tmp_path)
    here = {**os.environ, "PYTHONPATH": str(Path(slopewash.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", CHILD, str(tmp_path)], env=here, check=True, timeout=300)
    resumed = Simulation.resume(tmp_path)
    assert resumed.step == ODD + 4
    resumed.run(3)
    for name, layer in whole.terrain.items():
        np.testing.assert_array_equal(resumed.terrain[name], layer, err_msg=name)
    np.testing.assert_array_equal(resumed.particles, whole.particles)
    assert resumed.budget == whole.budget
