"""A run that was copied, pickled or written to disk goes on as if it had never stopped, bit for bit."""

from __future__ import annotations

import copy
import hashlib
import json
import os
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
SIZE = 28
MODELS = ("single_grid", "jako2011")
"""Presets, at least one for each model."""

Restart = Callable[[sw.Simulation, Path], sw.Simulation]


def from_disk(simulation: sw.Simulation, folder: Path) -> sw.Simulation:
    simulation.checkpoint(folder)
    simulation.close()
    return sw.Simulation.resume(folder)


def from_pickle(simulation: sw.Simulation, folder: Path) -> sw.Simulation:
    again: sw.Simulation = pickle.loads(pickle.dumps(simulation))
    simulation.close()
    return again


def from_copy(simulation: sw.Simulation, folder: Path) -> sw.Simulation:
    again = copy.deepcopy(simulation)
    simulation.run(3)  # the copy shares nothing with it
    simulation.close()
    return again


RESTARTS: dict[str, Restart] = {"deepcopy": from_copy, "pickle": from_pickle, "disk": from_disk}


def start(name: str, backend: str, kind: str = "plain") -> sw.Simulation:
    """A run of a preset on ground of some kind."""
    preset = sw.find_preset(name)
    terrain = sw.generate("dome", size=SIZE, seed=4, cell_size=5.0)
    if kind == "strata":
        terrain = terrain.replace(strata=sw.strata_bands(count=7, dip=3.0, direction=120.0).fitted(terrain.relief))
    if kind == "sources" and preset.model.has_sources():
        hole = np.zeros(terrain.shape, bool)
        hole[5:9, 7:12] = True
        rain = np.linspace(0.5, 1.5, SIZE) + np.zeros(terrain.shape)
        springs = [sw.WaterSource(x=70.0, y=40.0, radius=12.0, rate=0.6)]
        terrain = terrain.replace(nodata=hole, rainfall=rain, sources=springs)
    model: Any = preset.model
    if model.name == "mesh_particles":
        model = model.replace(triangles=20 * SIZE)
    return sw.Simulation(terrain, model, backend=backend, edges=preset.edges, seed=5)


def fingerprint(simulation: sw.Simulation) -> dict[str, Any]:
    """Everything that must be the same, as JSON has it: numbers in full, layers as hashes."""
    terrain = simulation.terrain
    return {
        "layers": {name: hashlib.sha256(terrain[name].tobytes()).hexdigest() for name in terrain},
        "budget": simulation.budget.as_dict(),
        "steps": [simulation.step, simulation.settled, simulation.steps_taken],
        "parameters": {name: str(value) for name, value in simulation.model.values().items()},
        "sources": len(simulation.sources),
        "undo": [simulation.can_undo, simulation.can_redo],
    }


def assert_same(one: sw.Simulation, other: sw.Simulation) -> None:
    assert fingerprint(one) == fingerprint(other)
    assert one.time == pytest.approx(other.time)  # stretches of steps are added up one by one


Story = tuple[Callable[[sw.Simulation], None], Callable[[sw.Simulation], None]]


def _run(steps: int) -> Callable[[sw.Simulation], None]:
    return lambda simulation: simulation.run(steps)


def _edit(simulation: sw.Simulation) -> None:
    """Paint whatever the model lets one paint, on the border too, and take some of it back."""
    editable = simulation.model.editable()
    layered = simulation.terrain.strata is not None
    simulation.run(5)
    for brush in sw.brushes():
        if brush.layer in editable and not (layered and brush.layer == "erodibility"):
            simulation.paint(brush.name, points=[(60.0, 60.0), (80.0, 70.0)], radius=20.0)
    if "elevation" in editable:
        simulation.paint("lower", points=[(0.0, 60.0)], radius=15.0, strength=20.0)
        simulation.paint("flatten", points=[(30.0, 90.0)], radius=12.0)
        simulation.paint("flatten", points=[(50.0, 90.0)], radius=12.0, join=True)
    if simulation.model.has_sources():
        simulation.sources = [sw.WaterSource(x=90.0, y=90.0, radius=10.0, rate=1.0)]
    simulation.undo()
    simulation.run(2)


def _edit_on(simulation: sw.Simulation) -> None:
    """Go on with the same stroke, and undo and redo what was done before the restart."""
    simulation.redo()
    if "elevation" in simulation.model.editable():
        simulation.paint("flatten", points=[(60.0, 95.0)], radius=12.0, join=True)
    simulation.run(3)
    for _ in range(4):
        simulation.undo()
    simulation.run(2)
    for _ in range(2):
        simulation.redo()
    simulation.run(4)


def _change(simulation: sw.Simulation) -> None:
    simulation.run(6)
    model: Any = simulation.model
    changes: dict[str, dict[str, Any]] = {
        "virtual_pipes": {"rain_rate": 0.03, "thermal_rate": 0.5, "edge_base": "graded"},
        "steepest_talus": {"talus_angle": 25.0},
        "velocity_field": {"flow_erosion": 1e-4},
        "mesh_particles": {"erosion_rate": 2 * getattr(model, "erosion_rate", 0.0)},
    }
    simulation.model = model.replace(**changes[model.name])
    simulation.run(3)


def _begin_settling(simulation: sw.Simulation) -> None:
    simulation.run(9)
    simulation.settle(24, stop_after=11)


def _settle_on(simulation: sw.Simulation) -> None:
    simulation.settle(24, done=11)


def _settle(simulation: sw.Simulation) -> None:
    simulation.run(9)
    simulation.settle(7, dry=True)


STORIES: dict[str, Story] = {
    "run": (_run(13), _run(12)),
    "before the first step": (_run(0), _run(9)),
    "edits": (_edit, _edit_on),
    "settling begun": (_begin_settling, _settle_on),
    "settled": (_settle, _settle),
    "other parameters": (_change, _run(8)),
}
"""What happens before the restart, and after it."""
CASES = [*(("strata", story) for story in STORIES), ("plain", "run"), ("sources", "run"), ("sources", "edits")]


@pytest.mark.product
@pytest.mark.parametrize(("kind", "story"), CASES)
@pytest.mark.parametrize("restart", sorted(RESTARTS))
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_restarted_run_is_the_unbroken_one(
    tmp_path: Path, backend: str, name: str, restart: str, kind: str, story: str
) -> None:
    unbroken, broken = start(name, backend, kind), start(name, backend, kind)
    before, after = STORIES[story]
    before(unbroken)
    before(broken)
    again = RESTARTS[restart](broken, tmp_path)
    assert_same(again, unbroken)
    after(unbroken)
    after(again)
    assert_same(again, unbroken)


@pytest.mark.parametrize("restart", sorted(RESTARTS))
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_restart_after_every_few_steps_changes_nothing(tmp_path: Path, backend: str, name: str, restart: str) -> None:
    unbroken, broken = start(name, backend, "strata"), start(name, backend, "strata")
    for steps in (1, 2, 5, 3, 4):
        unbroken.run(steps)
        broken.run(steps)
        broken = RESTARTS[restart](broken, tmp_path)
    assert_same(broken, unbroken)


GO_ON = """
import importlib.util, json, sys
import slopewash as sw
spec = importlib.util.spec_from_file_location("test_restart", sys.argv[1])
test = importlib.util.module_from_spec(spec)
spec.loader.exec_module(test)
simulation = sw.Simulation.resume(sys.argv[2])
test.STORIES[sys.argv[3]][1](simulation)
print(json.dumps(test.fingerprint(simulation)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_another_process_goes_on_with_the_same_bits(tmp_path: Path, backend: str, name: str) -> None:
    story = "edits"
    unbroken = start(name, backend, "strata")
    STORIES[story][0](unbroken)
    unbroken.checkpoint(tmp_path)
    STORIES[story][1](unbroken)
    done = subprocess.run(
        [sys.executable, "-c", GO_ON, __file__, str(tmp_path), story],
        env={**os.environ, "NUMBA_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == fingerprint(unbroken)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_fact_of_the_terrain_survives(tmp_path: Path, backend: str) -> None:
    terrain = sw.generate("dome", size=12, seed=1, cell_size=5.0)
    strata = sw.Strata([sw.Stratum(thickness=3.0, erodibility=0.2), sw.Stratum(thickness=float("inf"))], dip=4.0)
    given = terrain.replace(
        crs="EPSG:32611",
        transform=(5.0, 0.0, 4e5, 0.0, -5.0, 5e6),
        strata=strata,
        own_layers={"forest": np.eye(12)},
    )
    edges = {"north": "open", "south": "closed", "west": "periodic", "east": "periodic"}
    simulation = sw.Simulation(given, sw.preset("single_grid"), backend=backend, edges=edges, seed=7, substeps=2)
    simulation.run(np.int64(3))  # type: ignore[arg-type]
    simulation.paint("raise", points=[(30.0, 30.0)], radius=9.0)
    again = from_disk(copy.deepcopy(simulation), tmp_path)
    assert_same(again, simulation)
    one, other = again.terrain, simulation.terrain
    assert (one.crs, one.transform, one.cell_size) == (other.crs, other.transform, other.cell_size)
    assert one.strata is not None
    assert other.strata is not None
    assert one.strata.layers == other.strata.layers
    np.testing.assert_array_equal(one.strata.top, other.strata.top)
    np.testing.assert_array_equal(one["forest"], np.eye(12, dtype=np.float32))
    assert (again.edges, again.seed, again.backend) == (simulation.edges, 7, backend)
    assert repr(again) == repr(simulation)
    again.run(2)
    simulation.run(2)
    assert_same(again, simulation)


@pytest.mark.filterwarnings("ignore::slopewash.errors.StabilityWarning")
@pytest.mark.parametrize("name", ["single_grid", "chiba_strata", "outerrain", "bezin2010"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_two_runs_from_the_same_parts_share_nothing(backend: str, name: str) -> None:
    original = start(name, backend)
    original.run(3)
    facts, arrays = original.parts()
    before = {key: array.copy() for key, array in arrays.items()}
    for edit_first in (True, False):
        fork = sw.Simulation.from_parts(facts, arrays)
        if edit_first:
            for brush in sw.brushes():
                if brush.layer in fork.model.editable():
                    fork.paint(brush.name, points=[(60.0, 60.0)], radius=20.0)
        fork.run(5)
        fork.settle(2)
        for key, array in before.items():
            np.testing.assert_array_equal(arrays[key], array, err_msg=key)
    original.run(5)
    original.settle(2)
    assert_same(fork, original)


def test_a_resumed_run_is_not_warned_of_its_sub_steps_again(tmp_path: Path) -> None:
    hill, quick = sw.generate("hill", size=12), sw.VirtualPipes(pipe_area=60.0, gravity=20.0)
    with pytest.warns(sw.StabilityWarning):
        simulation = sw.Simulation(hill, quick, backend="reference")
    simulation.run(2)
    again = from_disk(copy.deepcopy(simulation), tmp_path)
    again.run(2)
    simulation.run(2)
    assert_same(again, simulation)
