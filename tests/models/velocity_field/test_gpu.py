"""Particles on a card: float32 paths, held to how far a float32 reference strays from the float64 one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash import Simulation, Terrain, VelocityField
from slopewash.errors import BackendUnavailable
from slopewash.models import Sides
from slopewash.models.state import State
from slopewash.models.velocity_field import reference
from slopewash.models.velocity_field.iteration import FieldBackend, ReferenceBackend
from slopewash.models.velocity_field.reference import SCALE, Motion, Sums
from slopewash.models.velocity_field.surface import Field, Surface

pytestmark = pytest.mark.gpu

SHORT: dict[str, Any] = {"maximum_steps": 300, "longest_stay": 40}
"""Water in pits goes to and fro: the reference would take minutes over it."""
MODELS = {
    "gradient": VelocityField(flow_erosion=1e-3, collision_erosion=1e-3, **SHORT),
    "steepest": VelocityField(flow_erosion=1e-3, collision_erosion=1e-3, steering="steepest", **SHORT),
    "stopping": VelocityField(flow_erosion=1e-4, pits="stop", maximum_steps=40),
}


FINER = 1 << 8
"""Units of the sums below in one of the reference's."""


def finely_summed(surface: Surface, w: Field, motion: Motion) -> Sums:
    """Trace as the reference does, but round to its units only once all is summed, about as a card does.

    Water that rocks in a pit gives up energy in amounts below half a unit. The reference drops every one of them, in
    float32 as in float64, so that the two would agree better than either is right.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference, "SCALE", SCALE * FINER)
        sums = reference.velocity_field(surface, w, motion)
    W, Vy, Vx, E = (np.rint(a / FINER).astype(np.int64) for a in (sums.W, sums.Vy, sums.Vx, sums.E))
    return Sums(W, Vy, Vx, E, sums.left // FINER, sums.sunk // FINER, sums.particle_steps)


class DoublePrecision(ReferenceBackend):
    """The reference, finely summed."""

    def trace(self, surface: Surface, w: Field, motion: Motion) -> Sums:
        return finely_summed(surface, w, motion)


class SinglePrecision(ReferenceBackend):
    """The same with its particles in float32, as a card has them."""

    def trace(self, surface: Surface, w: Field, motion: Motion) -> Sums:
        single = Surface(*(a.astype(np.float32) if a.dtype == np.float64 else a for a in surface))  # type: ignore[arg-type]
        return finely_summed(single, w.astype(np.float32), motion)


def run(kind: type[FieldBackend], model: VelocityField, terrain: Terrain, iterations: int) -> State:
    """State after some iterations on a backend."""
    domain, state = model.prepare(terrain, sides=Sides.of("open"), seed=0)
    backend = kind(state, domain)
    backend.advance(model.coefficients(domain, substeps=1), iterations)
    after = backend.state.copy()
    backend.close()
    return after


def on_gpu(model: VelocityField, terrain: Terrain, iterations: int = 1) -> State:
    from slopewash.models.velocity_field.gpu import GpuBackend

    return run(GpuBackend, model, terrain, iterations)


def valley(shape: tuple[int, int], seed: int = 2) -> NDArray[Any]:
    y, x = np.indices(shape)
    noise = np.random.default_rng(seed).random(shape)
    result: NDArray[Any] = 12 - 0.4 * y + 0.15 * np.abs(x - shape[1] / 2.3) + 0.5 * noise
    return result


def assert_as_near_as_float32(model: VelocityField, terrain: Terrain, iterations: int) -> None:
    """Quantiles of the error against float64: a particle that meets a ridge may go either way."""
    gpu = on_gpu(model, terrain, iterations)
    single, double = (run(kind, model, terrain, iterations) for kind in (SinglePrecision, DoublePrecision))
    wettest = double["rainfall"].max()
    unit = wettest * model.maximum_speed**2 / SCALE  # of E's sums: on few cells no error may be seen
    for name in ("elevation", "flow", "velocity_south", "velocity_east", "collision_energy"):
        here, one, two = (state[name] for state in (gpu, single, double))
        for share in (0.5, 0.9):
            bound = 2 * np.quantile(np.abs(one - two), share) + 1e-5 * np.abs(two).max()
            bound += unit if name == "collision_energy" else 0
            assert np.quantile(np.abs(here - two), share) <= bound, (name, share)


@pytest.mark.parametrize("shape", [(19, 26), (5, 70), (1, 9), (9, 1), (3, 3), (1, 1)])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_it_is_as_near_to_float64_as_a_float32_reference(name: str, shape: tuple[int, int]) -> None:
    terrain = Terrain(valley(shape), rainfall=0.5 + np.random.default_rng(1).random(shape))
    assert_as_near_as_float32(MODELS[name], terrain, 1)


def test_it_stays_near_for_50_iterations() -> None:
    assert_as_near_as_float32(VelocityField(**SHORT), Terrain(valley((16, 22))), 50)


def test_the_first_steps_of_every_particle_are_the_reference_s() -> None:
    terrain = Terrain(valley((12, 12)))
    model = VelocityField(maximum_steps=12)
    gpu, double = on_gpu(model, terrain), run(ReferenceBackend, model, terrain, 1)
    for name, atol in (("flow", 1e-6), ("velocity_east", 1e-4), ("collision_energy", 1e-3)):  # a dozen float32 sums
        np.testing.assert_allclose(gpu[name], double[name], atol=atol, err_msg=name)
    assert gpu.scalars["particle_steps"] == double.scalars["particle_steps"]


def test_particles_that_run_over_several_dispatches_lose_nothing() -> None:
    slope = np.repeat(-0.02 * np.arange(300.0)[None, :], 3, axis=0)
    model = VelocityField(maximum_speed=60.0, maximum_steps=4000, longest_stay=1000)
    gpu, double = on_gpu(model, Terrain(slope)), run(ReferenceBackend, model, Terrain(slope), 1)
    sums = gpu.scalars
    assert double.scalars["particle_steps"] > 250 * 300
    assert sums["particle_steps"] == pytest.approx(double.scalars["particle_steps"], rel=1e-3)
    np.testing.assert_allclose(gpu["flow"], double["flow"], rtol=1e-6)
    assert sums["water_exported"] + sums["water_evaporated"] == pytest.approx(sums["water_rain"], rel=1e-9)


def test_nodata_is_not_entered_and_two_runs_are_bit_identical() -> None:
    shape = (20, 90)
    nodata = np.random.default_rng(4).random(shape) < 0.1
    terrain = Terrain(np.where(nodata, np.nan, valley(shape)), nodata=nodata)
    one, two = (Simulation(terrain, MODELS["gradient"], backend="gpu") for _ in range(2))
    for simulation in (one, two):
        simulation.run(6)
    assert one.terrain["flow"][nodata].max() == 0
    for layer in one.terrain:
        np.testing.assert_array_equal(one.terrain[layer], two.terrain[layer], err_msg=layer)
    assert one.budget == two.budget
    assert one.budget.solids_drift < 1e-9


def test_a_grid_that_no_binding_holds_is_refused_with_what_would_fit() -> None:
    with pytest.raises(
        BackendUnavailable, match=r"a grid of 3000 x 3000 .* 128 MiB per binding: take at most 2878 x 2878"
    ):
        on_gpu(VelocityField(), Terrain(np.zeros((3000, 3000))))
