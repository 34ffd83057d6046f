"""A run of talus or of water particles that was stopped and goes on is bit-identical to one that never stopped."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw

BACKENDS = ("reference", "cpu", "gpu")
on_every_backend = pytest.mark.parametrize("backend", BACKENDS)
SHAPE = (15, 18)
SHORT: dict[str, Any] = {"flow_erosion": 1e-3, "collision_erosion": 1e-3, "maximum_steps": 60, "longest_stay": 20}
"""Water in pits goes to and fro: the reference would take seconds over it."""

Restart = Callable[[sw.Simulation, Path], sw.Simulation]


def rough(**given: Any) -> sw.Terrain:
    random = np.random.default_rng(6)
    heights = 60.0 * random.random(SHAPE) + np.linspace(120.0, 0.0, SHAPE[0])[:, None]
    return sw.Terrain(heights, cell_size=10.0, **given)


def missing_cells() -> np.ndarray[Any, Any]:
    missing = np.zeros(SHAPE, bool)
    missing[5:8, 9:14] = missing[-2:, :3] = True
    return missing


BANDS = sw.strata_bands(thickness=12.0, dip=6.0, direction=40.0)
CASES: dict[str, tuple[sw.Model, sw.Terrain]] = {
    "talus": (sw.SteepestTalus(), rough()),
    "talus, guessed erodibility, nodata": (
        sw.SteepestTalus(talus_law="hard_stands_steeper"),
        rough(nodata=missing_cells()),
    ),
    "talus, strata": (sw.SteepestTalus(talus_law="hard_stands_steeper"), rough(strata=BANDS)),
    "particles": (sw.VelocityField(**SHORT), rough(suspended=0.2)),
    "particles, nodata": (
        sw.VelocityField(**SHORT, steering="steepest"),
        rough(nodata=missing_cells(), erodibility=0.7),
    ),
    "particles, strata": (sw.VelocityField(**SHORT), rough(strata=BANDS)),
}


def start(case: str, backend: str) -> sw.Simulation:
    model, terrain = CASES[case]
    return sw.Simulation(terrain, model, backend=backend, seed=3)


def through_checkpoint(simulation: sw.Simulation, folder: Path) -> sw.Simulation:
    simulation.checkpoint(folder)
    return sw.Simulation.resume(folder)


RESTARTS: dict[str, Restart] = {
    "deepcopy": lambda simulation, folder: copy.deepcopy(simulation),
    "pickle": lambda simulation, folder: pickle.loads(pickle.dumps(simulation)),
    "checkpoint": through_checkpoint,
}


def assert_identical(one: sw.Simulation, other: sw.Simulation) -> None:
    before, after = one.terrain, other.terrain
    assert set(before) == set(after)
    for name in before:
        np.testing.assert_array_equal(before[name], after[name], err_msg=name)
    assert one.budget == other.budget
    assert (one.step, one.settled, one.time) == (other.step, other.settled, other.time)
    assert one.model == other.model
    mine, theirs = one._state, other._state
    assert set(mine.arrays) == set(theirs.arrays)
    for name in mine.arrays:
        np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name, strict=True)
    assert mine.scalars == theirs.scalars


@on_every_backend
@pytest.mark.parametrize("case", CASES)
def test_a_state_holds_declared_fields_only(backend: str, case: str) -> None:
    with start(case, backend) as simulation:
        simulation.run(1)
        assert set(simulation._state.arrays) <= {spec.name for spec in simulation.model.fields}


@on_every_backend
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", RESTARTS)
def test_a_restarted_run_is_bit_identical(backend: str, case: str, way: str, tmp_path: Path) -> None:
    unbroken, stopped = (start(case, backend) for _ in range(2))
    unbroken.run(7)
    stopped.run(3)
    again = RESTARTS[way](stopped, tmp_path)
    assert_identical(stopped, again)
    stopped.run(1)  # whatever the first one does next is no business of the second
    again.run(4)
    assert_identical(unbroken, again)
    assert unbroken.budget.solids_moved > 0


GO_ON = """
import sys
import slopewash as sw
simulation = sw.Simulation.resume(sys.argv[1])
simulation.run(2)
assert simulation.undo() and simulation.redo()
simulation.run(2)
simulation.settle(5, stop_after=3)
simulation.checkpoint(sys.argv[1])
"""


@pytest.mark.slow
@on_every_backend
@pytest.mark.parametrize("case", ["talus, strata", "particles, strata"])
def test_a_run_that_goes_on_in_another_process_is_bit_identical(backend: str, case: str, tmp_path: Path) -> None:
    unbroken, stopped = (start(case, backend) for _ in range(2))
    for simulation in (unbroken, stopped):
        simulation.run(3)
        simulation.paint("raise", points=[(90.0, 80.0)], radius=40.0)
    unbroken.run(2)
    assert unbroken.undo()
    assert unbroken.redo()
    unbroken.run(2)
    unbroken.settle(5)
    stopped.checkpoint(tmp_path)
    subprocess.run([sys.executable, "-c", GO_ON, str(tmp_path)], check=True, timeout=300)
    again = sw.Simulation.resume(tmp_path)
    again.settle(5, done=3)
    assert_identical(unbroken, again)


def other_parameters(simulation: sw.Simulation) -> list[sw.Model]:
    """Values that a run goes on with, one after the other."""
    model = simulation.model
    if isinstance(model, sw.SteepestTalus):
        hard = model.replace(talus_law="hard_stands_steeper", talus_slope_range=0.8)
        return [model.replace(amplitude=0.1), hard, hard.replace(amplitude=0.05, diagonals="printed")]
    return [
        model.replace(flow_erosion=5e-3, breadth=1),
        model.replace(steering="gradient", pits="stop", maximum_speed=9.0),
        model.replace(creep_rate=0.0, slide_rate=0.0, margin=0.1),
    ]


def events(simulation: sw.Simulation, restart: Callable[[sw.Simulation], sw.Simulation]) -> sw.Simulation:
    """Edits, undo, other parameters, settling: with a chance to stop after each."""
    tools = ["raise", "smooth", "lower"]
    if simulation.start.strata is None:
        tools.append("harden")
    if simulation.model.name == "velocity_field":
        tools.append("rain")
    simulation.run(2)
    for k, tool in enumerate(tools):
        simulation.paint(tool, points=[(50.0 + 30 * k, 90.0), (70.0 + 30 * k, 60.0)], radius=35.0)
        simulation = restart(simulation)
        simulation.run(1)
    assert simulation.undo()
    simulation = restart(simulation)
    assert simulation.undo()
    simulation.run(2)
    simulation = restart(simulation)
    assert simulation.redo()
    for model in other_parameters(simulation):
        simulation.model = model
        simulation = restart(simulation)
        simulation.run(3)
    simulation.settle(9, stop_after=4)
    simulation = restart(simulation)
    simulation.settle(9, done=4)
    simulation = restart(simulation)
    simulation.run(2)
    assert simulation.undo()
    return restart(simulation)


@on_every_backend
@pytest.mark.parametrize("case", CASES)
def test_edits_other_parameters_and_settling_go_on_bit_identically(backend: str, case: str, tmp_path: Path) -> None:
    unbroken = events(start(case, backend), lambda simulation: simulation)
    again = events(start(case, backend), lambda simulation: through_checkpoint(simulation, tmp_path))
    assert_identical(unbroken, again)
    assert unbroken.can_undo
    assert unbroken.can_redo
    assert unbroken.budget.solids_drift < 1e-9  # float64 sums, or whole numbers


@on_every_backend
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("taken", [0, 4, 7])
def test_settling_that_was_interrupted_is_bit_identical(backend: str, case: str, taken: int) -> None:
    unbroken, stopped = (start(case, backend) for _ in range(2))
    for simulation in (unbroken, stopped):
        simulation.run(2)
    unbroken.settle(7)
    stopped.settle(7, stop_after=taken)
    again = pickle.loads(pickle.dumps(stopped))
    again.settle(7, done=taken)
    assert_identical(unbroken, again)


@on_every_backend
@pytest.mark.parametrize("case", CASES)
def test_a_backend_leaves_the_state_it_was_given_alone(backend: str, case: str) -> None:
    model, terrain = CASES[case]
    domain, given = model.prepare(terrain, sides=sw.Sides.of("open"), seed=3)
    kept = given.copy()
    device = model.backend(backend)(given, domain)
    device.advance(model.coefficients(domain, substeps=1), 3)
    assert not np.array_equal(device.read("elevation"), kept["elevation"])
    device.close()
    for name in kept.arrays:
        np.testing.assert_array_equal(given[name], kept[name], err_msg=name)
    assert given.scalars == kept.scalars
