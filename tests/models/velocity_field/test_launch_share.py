"""Particles from a share of the cells in each iteration: every cell has its turn, and no water is lost or made."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import slopewash as sw
from slopewash.models import Sides, VelocityField
from slopewash.models.velocity_field import reference
from slopewash.models.velocity_field.cpu import CpuBackend
from slopewash.models.velocity_field.iteration import FieldBackend, ReferenceBackend
from slopewash.simulation import Simulation
from slopewash.terrain import Terrain

BACKENDS = ("reference", "cpu", "gpu")
ROUND = {"half": 2, "quarter": 4}
"""Iterations in which every cell has its turn."""
SHAPES = ((9, 11), (8, 10), (1, 7), (6, 1), (1, 1))
STILL = VelocityField(
    breadth=0, flow_erosion=0.0, collision_erosion=0.0, creep_rate=0.0, slide_rate=0.0, maximum_steps=60
)
WORKING = VelocityField(flow_erosion=1e-3, collision_erosion=1e-3, maximum_steps=60, longest_stay=20)


def rough(shape: tuple[int, int], seed: int = 1) -> NDArray[np.float64]:
    return 6 * np.random.default_rng(seed).random(shape) + np.linspace(12, 0, shape[0])[:, None]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", ROUND)
@pytest.mark.parametrize("begin", range(4))
def test_every_cell_launches_once_in_a_round(shape: tuple[int, int], share: str, begin: int) -> None:
    rain, launched = np.random.default_rng(2).random(shape) + 0.1, 4 // ROUND[share]
    turns = np.array([reference.in_turn(rain, launched, k) for k in range(begin, begin + ROUND[share])])
    np.testing.assert_array_equal((turns > 0).sum(axis=0), 1)
    np.testing.assert_array_equal(turns.sum(axis=0), rain)


def test_half_is_a_checkerboard_and_a_quarter_one_cell_of_each_four() -> None:
    i, j = np.indices((6, 7))
    np.testing.assert_array_equal(reference.in_turn(np.ones((6, 7)), 2, 0), (i + j) % 2 == 0)
    np.testing.assert_array_equal(reference.in_turn(np.ones((6, 7)), 2, 1), (i + j) % 2 == 1)
    np.testing.assert_array_equal(reference.in_turn(np.ones((6, 7)), 1, 0), (i % 2 == 0) & (j % 2 == 0))


def test_with_all_cells_nobody_has_to_wait_and_nothing_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    rain = np.random.default_rng(2).random((5, 4))
    for k in range(3):
        np.testing.assert_array_equal(reference.in_turn(rain, 4, k), rain)
    monkeypatch.delattr(reference, "in_turn")
    Simulation(Terrain(rough((5, 4))), WORKING, backend="cpu").run(2)
    with pytest.raises(AttributeError):
        Simulation(Terrain(rough((5, 4))), WORKING.replace(launch_share="half"), backend="cpu").run(1)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("share", ROUND)
def test_on_ground_that_stays_a_round_adds_up_to_as_many_iterations_of_all(backend: str, share: str) -> None:
    terrain = Terrain(rough((9, 11)), rainfall=0.5 + np.random.default_rng(3).random((9, 11)))
    every, some = (Simulation(terrain, STILL.replace(launch_share=s), backend=backend) for s in ("all", share))
    every.run(1)
    water, energy = np.zeros((2, 9, 11))
    for _ in range(ROUND[share]):
        some.run(1)
        water += some.terrain["flow"]
        energy += some.terrain["collision_energy"]
    rtol = 1e-5  # layers in float32; on the card the energy is summed from float32
    np.testing.assert_allclose(water, ROUND[share] * every.terrain["flow"], rtol=rtol)
    np.testing.assert_allclose(energy, ROUND[share] * every.terrain["collision_energy"], rtol=rtol, atol=1e-5)
    assert some.budget.water_rain == pytest.approx(ROUND[share] * every.budget.water_rain, rel=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("share", ROUND)
@pytest.mark.parametrize("shape", SHAPES)
def test_water_and_solids_balance_after_every_iteration(backend: str, share: str, shape: tuple[int, int]) -> None:
    missing = np.random.default_rng(4).random(shape) < 0.15
    missing[0, 0] = False
    terrain = Terrain(rough(shape), rainfall=0.5 + rough(shape, seed=5), nodata=missing, cell_size=2.5)
    simulation = Simulation(terrain, WORKING.replace(launch_share=share), backend=backend)
    rain = np.where(missing, 0.0, terrain["rainfall"].astype(np.float64))
    fallen = 0.0
    for k in range(5):
        simulation.run(1)
        budget = simulation.budget
        launched = reference.in_turn(rain, 4 // ROUND[share], k)
        fallen += ROUND[share] * launched.sum() * terrain.cell_size**3
        assert budget.water_rain == pytest.approx(fallen, rel=1e-12)
        assert budget.water_drift < (1e-7 if backend == "gpu" else 1e-8)  # water in float32, or in units of 2^-30
        assert budget.solids_drift < 1e-9
    assert simulation.terrain["flow"][missing].max(initial=0) == 0


@pytest.mark.parametrize("share", ROUND)
@pytest.mark.parametrize("steering", ["gradient", "steepest"])
@pytest.mark.parametrize("shape", [(3, 3), (1, 7), (13, 8)])
def test_cpu_gives_the_bits_of_the_reference(shape: tuple[int, int], share: str, steering: str) -> None:
    model = WORKING.replace(launch_share=share, steering=steering)
    domain, state = model.prepare(Terrain(rough(shape)), sides=Sides.of("open"), seed=0)
    backends: list[FieldBackend] = [ReferenceBackend(state, domain), CpuBackend(state, domain)]
    for backend in backends:
        backend.advance(model.coefficients(domain, substeps=1), 1)
    wanted, got = (backend.state for backend in backends)
    for name in ("flow", "velocity_south", "velocity_east", "collision_energy", "elevation", "suspended"):
        np.testing.assert_array_equal(got[name], wanted[name], err_msg=name)
    assert got.scalars["particle_steps"] == wanted.scalars["particle_steps"]
    for backend in backends:
        backend.advance(model.coefficients(domain, substeps=1), 5)
    # Sediment that is exported may be added up in another order.
    np.testing.assert_allclose(got["elevation"], wanted["elevation"], atol=1e-9)


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_turns_go_on_in_a_state_that_does_not_count_iterations(backend: str) -> None:
    model = WORKING.replace(launch_share="quarter")
    domain, state = model.prepare(Terrain(rough((6, 7))), sides=Sides.of("open"), seed=0)
    earlier = state.copy()
    del earlier.scalars["iterations"]
    runs = [model.backend(backend)(given, domain) for given in (state, earlier)]
    for run in runs:
        run.advance(model.coefficients(domain, substeps=1), 3)
    np.testing.assert_array_equal(runs[0].read("elevation"), runs[1].read("elevation"))
    assert runs[0].scalars == runs[1].scalars


def test_the_picture_stays_near() -> None:
    preset = sw.find_preset("chiba_fig2")
    terrain = sw.generate(preset.generator, **{**preset.start, "size": 48})
    heights, steps = {}, {}
    for share in ("all", *ROUND):
        simulation = Simulation(terrain, preset.model.replace(launch_share=share), backend="cpu")
        simulation.run(60)
        heights[share] = simulation.terrain["elevation"].astype(np.float64)
        steps[share] = simulation._state.scalars["particle_steps"]
    eroded = np.sqrt(np.mean((heights["all"] - terrain["elevation"]) ** 2))
    for share, turns in ROUND.items():
        apart = np.sqrt(np.mean((heights[share] - heights["all"]) ** 2))
        assert apart < 0.01 * eroded  # measured: 0.0004 and 0.0006; a stream that changes its course makes it more
        assert steps[share] == pytest.approx(steps["all"] / turns, rel=0.01)  # measured: 0.0003
