"""What holds for any ground and any parameters."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from slopewash.models import Sides, VelocityField
from slopewash.models.velocity_field.cpu import CpuBackend
from slopewash.models.velocity_field.iteration import FieldBackend, ReferenceBackend
from slopewash.simulation import Simulation
from slopewash.terrain import Terrain

BACKENDS = ("reference", "cpu", "gpu")
STEERINGS = ("steepest", "gradient")
POINTS = VelocityField(breadth=0, creep_rate=0.0, slide_rate=0.0)
LAWS = {"ours": VelocityField(), "points": POINTS, "printed": POINTS.replace(steering="steepest")}
LARGE = [pytest.param(shape, marks=pytest.mark.slow) for shape in ((13, 7), (9, 24))]
SHAPES = ((3, 3), (1, 1), (1, 7), (8, 1), (2, 5), *LARGE)


def rough(shape: tuple[int, int], relief: float = 6.0, seed: int = 0, whole: bool = False) -> NDArray[np.float64]:
    random = np.random.default_rng(seed)
    heights = relief * random.random(shape) + np.linspace(2 * relief, 0, shape[0])[:, None]
    return np.round(heights) if whole else heights


models = st.builds(
    VelocityField,
    flow_erosion=st.floats(0, 1e3),
    collision_erosion=st.floats(0, 1e3),
    transport_capacity=st.floats(0, 1e3),
    capacity_exponent=st.floats(0, 4),
    margin=st.floats(0, 1),
    height_per_load=st.floats(1e-3, 1e3),
    breadth=st.integers(0, 4),
    creep_rate=st.floats(0, 0.05),
    slide_rate=st.floats(0, 0.2),
    talus_slope=st.floats(0, 3),
    gravity=st.floats(1e-3, 10.0),
    maximum_speed=st.floats(1.0, 1e3),
    minimum_speed=st.floats(0, 1),
    maximum_steps=st.integers(1, 300),
    steering=st.sampled_from(STEERINGS),
    pits=st.sampled_from(("trap", "stop")),
)


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=25, deadline=None)
@given(model=models, seed=st.integers(0, 1000), relief=st.floats(0, 300), offset=st.sampled_from((0.0, 2000.0)))
def test_solids_balance_and_the_surface_stays_within_its_margins(
    backend: str, model: VelocityField, seed: int, relief: float, offset: float
) -> None:
    terrain = Terrain(rough((7, 9), relief, seed) + offset, cell_size=2.5)
    simulation = Simulation(terrain, model, backend=backend)
    simulation.run(3)
    budget = simulation.budget
    assert abs(budget.solids_now + budget.solids_exported - budget.solids_start) <= 1e-5 * budget.solids_moved + 1e-6
    assert budget.water_drift < 1e-8  # fixed point: half of 2^-30 for each particle
    low, high = terrain.range("elevation")
    margins = 3 * model.margin * terrain.cell_size + 1e-3
    after = simulation.terrain.range("elevation")
    assert low - margins <= after[0] <= after[1] <= high + margins
    assert simulation.terrain["suspended"].min() >= 0


@pytest.mark.product
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("laws", LAWS)
@pytest.mark.parametrize("whole", [False, True])
def test_cpu_gives_the_bits_of_the_reference(shape: tuple[int, int], laws: str, whole: bool) -> None:
    model = LAWS[laws].replace(flow_erosion=1e-3, collision_erosion=1e-3, maximum_steps=500)
    terrain = Terrain(rough(shape, whole=whole))
    domain, state = model.prepare(terrain, sides=Sides.of("open"), seed=0)
    c = model.coefficients(domain, substeps=1)
    backends: list[FieldBackend] = [ReferenceBackend(state, domain), CpuBackend(state, domain)]
    for backend in backends:
        backend.advance(c, 1)
    wanted, got = (backend.state for backend in backends)
    for name in ("flow", "velocity_south", "velocity_east", "collision_energy", "elevation", "suspended"):
        np.testing.assert_array_equal(got[name], wanted[name], err_msg=name)
    assert got.scalars["particle_steps"] == wanted.scalars["particle_steps"]
    for backend in backends:
        backend.advance(c, 9)
    # Sediment that is exported may be added up in another order.
    np.testing.assert_allclose(got["elevation"], wanted["elevation"], atol=1e-9)
    assert got.scalars["solids_exported"] == pytest.approx(wanted.scalars["solids_exported"], abs=1e-9)


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("laws", LAWS)
@pytest.mark.parametrize("flip", [(slice(None), slice(None, None, -1)), (slice(None, None, -1), slice(None))])
@pytest.mark.parametrize("whole", [False, True])
def test_mirrored_ground_gives_the_mirrored_field_bit_for_bit(
    backend: str, laws: str, flip: tuple[slice, slice], whole: bool
) -> None:
    heights = rough((12, 17), whole=whole, seed=3)
    model = LAWS[laws].replace(flow_erosion=1e-3, collision_erosion=1e-3, maximum_steps=600)
    plain, mirrored = (Simulation(Terrain(h), model, backend=backend) for h in (heights, heights[flip]))
    for simulation in (plain, mirrored):
        simulation.run(5)
    for name in ("elevation", "flow", "velocity", "collision_energy", "suspended"):
        np.testing.assert_array_equal(mirrored.terrain[name], plain.terrain[name][flip], err_msg=name)


def test_any_number_of_bands_gives_the_same_bits() -> None:
    model = VelocityField(flow_erosion=1e-3)
    terrain = Terrain(rough((31, 23)), rainfall=0.1 + rough((31, 23), seed=5))
    domain, state = model.prepare(terrain, sides=Sides.of("open"), seed=0)
    results = []
    for bands in (1, 2, 3, 7, 40):
        backend = CpuBackend(state, domain, bands=bands)
        backend.advance(model.coefficients(domain, substeps=1), 5)
        fields = backend.state["elevation"].tobytes() + backend.state["collision_energy"].tobytes()
        results.append(hashlib.sha256(fields).hexdigest())
    assert len(set(results)) == 1


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_bits() -> None:
    code = (
        "import hashlib, slopewash as sw;"
        "s = sw.Simulation(sw.generate('dome', size=48), sw.VelocityField(flow_erosion=1e-3), backend='cpu');"
        "s.run(5); print(hashlib.sha256(s._state['elevation'].tobytes()).hexdigest())"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_NUM_THREADS": str(threads)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in (1, 2, 3, 7)
    }
    assert len(results) == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_run_in_parts_gives_the_bits_of_one_in_one_piece(backend: str) -> None:
    terrain = Terrain(rough((9, 11)))
    whole, parts = (Simulation(terrain, VelocityField(flow_erosion=1e-3), backend=backend) for _ in range(2))
    whole.run(6)
    for steps in (1, 2, 3):
        parts.run(steps)
    np.testing.assert_array_equal(whole.terrain["elevation"], parts.terrain["elevation"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_settling_deposits_all_sediment(backend: str) -> None:
    simulation = Simulation(Terrain(rough((9, 11))), VelocityField(flow_erosion=1e-2), backend=backend)
    simulation.run(3)
    simulation.settle(20)
    assert simulation.terrain["suspended"].max() == 0
    assert simulation.budget.solids_drift < 1e-9


def test_only_open_edges_are_offered() -> None:
    with pytest.raises(ValueError, match="velocity_field runs with edges open; edges is 'closed'"):
        Simulation(Terrain(np.zeros((3, 3))), VelocityField(), edges="closed")


def test_mass_is_conserved_in_the_papers_figures() -> None:
    import slopewash as sw

    for name in ("chiba_fig2", "chiba_fig3", "chiba_fig4", "chiba_strata"):
        preset = sw.find_preset(name)
        terrain = sw.generate(preset.generator, **{**preset.start, "size": 32})
        if preset.strata is not None:
            terrain = terrain.replace(strata=preset.strata.fitted(terrain.relief))
        simulation = sw.Simulation(terrain, preset.model, edges=preset.edges)
        simulation.run(20)
        assert simulation.budget.solids_drift < 1e-9


@pytest.mark.parametrize("backend", BACKENDS)
def test_sediment_that_a_terrain_comes_with_is_in_the_mass_budget(backend: str) -> None:
    terrain = Terrain(np.random.default_rng(2).random((9, 9)) * 30, suspended=0.5, cell_size=10.0)
    simulation = Simulation(terrain, VelocityField(), backend=backend)
    assert simulation.budget.solids_now == pytest.approx(simulation.budget.solids_start, rel=1e-12)
    simulation.run(3)
    assert simulation.budget.solids_drift < 1e-10  # float64 sums
