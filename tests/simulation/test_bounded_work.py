"""Work per call is bounded, whatever the parameters: each gives finite ground or one sentence, soon.

`make extremes` tries all parameters, and RANDOM_SETS random sets, on every backend.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest

import slopewash as sw

HILL = sw.generate("hill", size=12, extent=120.0, relief=40.0)
MODELS = (sw.VirtualPipes, sw.VelocityField, sw.SteepestTalus, sw.MeshParticles)
ALL = "RANDOM_SETS" in os.environ
SETS = int(os.environ.get("RANDOM_SETS", "30"))
SHARES = {"reference": 1.0, "cpu": 0.2, "gpu": 0.1}
"""Of the random sets that the test suite tries; compiling for each combination of laws takes long."""
BACKENDS = ["reference", pytest.param("cpu", marks=pytest.mark.slow), pytest.param("gpu", marks=pytest.mark.gpu)]
SMALL: dict[str, dict[str, Any]] = {
    "mesh_particles": {"triangles": 100, "maximum_particles": 50},
    "velocity_field": {"maximum_steps": 100},
}


def small(model: type[sw.Model], **values: Any) -> sw.Model:
    return model(**(SMALL.get(model.name, {}) | values))


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (sw.VirtualPipes, {"time_step": 1e6}),
        (sw.VirtualPipes, {"time_step": 1000}),
        (sw.VirtualPipes, {"pipe_area": 1e12}),
        (sw.VirtualPipes, {"gravity": 1e12}),
        (sw.VirtualPipes, {"pipe_friction": 1e6}),
        (sw.VirtualPipes, {"evaporation_rate": 1e6}),
        (sw.MeshParticles, {"stiffness": 1e12}),
        (sw.MeshParticles, {"particle_radius": 1e-10}),
    ],
)
def test_more_sub_steps_than_a_step_may_have_are_refused(model: type[sw.Model], values: dict[str, float]) -> None:
    with pytest.raises(sw.TooManySubsteps, match=r"sub-steps, more than 100; make time_step .* times smaller"):
        sw.Simulation(HILL, small(model, **values), backend="reference")


@pytest.mark.parametrize("value", [1e308, 10**400, 1e-308, "1e308", "1e-320", -1e308])
@pytest.mark.parametrize(("model", "name"), [(sw.VirtualPipes, "time_step"), (sw.MeshParticles, "particle_radius")])
def test_numbers_beyond_single_precision_are_refused_in_one_sentence(
    model: type[sw.Model], name: str, value: Any
) -> None:
    with pytest.raises(sw.InvalidParameter, match=rf"{name}.* is .*; i.* must be "):
        model().replace(**{name: value})


def test_a_refused_value_leaves_the_run_as_it_was() -> None:
    simulation = sw.Simulation(HILL, sw.VirtualPipes(), backend="reference")
    with pytest.raises(sw.TooManySubsteps):
        simulation.model = sw.VirtualPipes(time_step=1e3)
    simulation.run(2)
    assert simulation.model.values()["time_step"] == 0.02


def extremes(p: Any) -> list[Any]:
    numbers = [0.0, -1.0, math.nan, math.inf, -math.inf, 1e308, 1e12, 1e-12]
    return [*(p.typical or ()), *numbers]


def skip_without(backend: str) -> None:
    if backend not in sw.available_backends():
        pytest.skip(f"backend {backend} does not work here")


@pytest.mark.parametrize("backend", BACKENDS[: None if ALL else 2])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_every_parameter_at_its_extremes_gives_finite_ground_or_one_sentence(
    model: type[sw.Model], backend: str
) -> None:
    skip_without(backend)
    sw.Simulation(HILL, small(model), backend=backend).run(2)  # compiles its kernels
    for p in model.parameters():
        for value in extremes(p) if not (p.choices or isinstance(p.default, bool)) else (*p.choices, "", 7):
            if p.name in ("triangles", "maximum_particles") and isinstance(value, float) and value > 1e4:
                continue  # they are the size of the run, which memory bounds
            check_extreme(model, backend, p.name, value)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["time_step", "rain_rate", "sediment_capacity", "thermal_rate"])
def test_extremes_on_the_gpu_give_finite_ground_or_one_sentence(name: str) -> None:
    skip_without("gpu")
    for value in extremes(sw.VirtualPipes.parameter(name)):
        check_extreme(sw.VirtualPipes, "gpu", name, value)


def check_extreme(model: type[sw.Model], backend: str, name: str, value: Any) -> None:
    begin, sentence = time.perf_counter(), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sw.StabilityWarning)
            simulation = sw.Simulation(HILL, small(model, **{name: value}), backend=backend)
            simulation.run(2)
    except sw.SlopewashError as error:
        sentence = str(error)
    else:
        assert np.isfinite(simulation.terrain["elevation"]).all(), (name, value)
        simulation.close()
    assert "\n" not in sentence, (name, value)
    assert time.perf_counter() - begin < 10.0, (name, value)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_random_values_within_the_sliders_keep_the_ground_in_its_place(model: type[sw.Model], backend: str) -> None:
    skip_without(backend)
    draw = np.random.default_rng(7)
    share = 1.0 if ALL else SHARES[backend] * (0.34 if model is sw.VelocityField else 1.0)
    for _ in range(max(1, round(SETS * share))):
        values: dict[str, Any] = {}
        for p in model.parameters():
            if p.choices and draw.random() < 0.2:
                values[p.name] = p.choices[draw.integers(len(p.choices))]
            elif p.typical and p.name not in SMALL.get(model.name, {}):
                value = draw.uniform(*p.typical)
                values[p.name] = value if isinstance(p.default, float) else round(value)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", sw.StabilityWarning)
                simulation = sw.Simulation(HILL, small(model, **values), backend=backend)
        except sw.InvalidParameter:
            continue  # laws that exclude each other
        begin = time.perf_counter()
        simulation.run(10)
        assert time.perf_counter() - begin < (60.0 if backend == "cpu" else 10.0), values  # cpu may compile kernels
        ground = simulation.terrain["elevation"]
        margin = 10.0 * values.get("margin", 0.0) + 10.0  # cells of 10 m
        assert ground.min() >= HILL["elevation"].min() - margin, values
        assert ground.max() <= HILL["elevation"].max() + 2 * HILL.relief, values
        assert abs(simulation.budget.solids_drift) < 1e-4, values
        simulation.close()


@pytest.mark.parametrize("layer", ["elevation", "water"])
def test_heights_of_millions_of_cells_are_refused(layer: str) -> None:
    layers: dict[str, Any] = {"elevation": np.zeros((4, 4)), layer: np.eye(4) * 1e12}
    with pytest.raises(sw.InvalidParameter, match=r"is 1e\+12 m, more than 1e\+07 cells of 2 m; check its units"):
        sw.Simulation(sw.Terrain(**layers, cell_size=2.0), sw.VirtualPipes(), backend="reference")


def test_a_step_that_is_interrupted_goes_on_bit_identically() -> None:
    whole, divided = (sw.Simulation(HILL, sw.VirtualPipes(), backend="reference", substeps=7) for _ in range(2))
    whole.run(3)
    divided.run(3, stop_after=10)
    assert (divided.step, divided.substeps_done) == (1, 3)
    resumed = sw.Simulation.from_parts(*divided.parts())
    resumed.run(2)
    assert (resumed.step, resumed.substeps_done) == (3, 0)
    assert np.array_equal(whole.terrain["elevation"], resumed.terrain["elevation"])
    assert whole.budget == resumed.budget


@pytest.mark.parametrize("model", [sw.VirtualPipes, sw.SteepestTalus, sw.VelocityField], ids=lambda m: m.name)
def test_a_run_stops_soon_after_it_is_asked_to(model: type[sw.Model]) -> None:
    ground = sw.generate("fbm", size=192, seed=3)
    substeps: dict[str, Any] = {"substeps": 100} if model is sw.VirtualPipes else {}
    simulation = sw.Simulation(ground, model(), backend="reference", **substeps)
    asked = time.perf_counter() + 0.5
    simulation.run(1000, stop=lambda: time.perf_counter() > asked)
    assert time.perf_counter() - asked < 2.0  # one second on a quiet machine
    assert simulation.step < 1000


def test_a_run_goes_on_where_ctrl_c_is_ignored() -> None:
    """As in what shells start in the background."""

    def interrupt() -> bool:
        signal.raise_signal(signal.SIGINT)
        return False

    simulation = sw.Simulation(HILL, small(sw.MeshParticles), backend="reference")
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        simulation.run(3, stop=interrupt)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert simulation.step == 3


def test_ctrl_c_is_answered_amid_a_step_of_particles() -> None:
    simulation, unbroken = (sw.Simulation(HILL, small(sw.MeshParticles), backend="reference") for _ in range(2))
    asked: list[int] = []

    def interrupt() -> bool:
        asked.append(simulation.step)
        if len(asked) == 5:
            signal.raise_signal(signal.SIGINT)
        return False

    with pytest.raises(KeyboardInterrupt):
        simulation.run(50, stop=interrupt)
    assert len(asked) == 5  # it was not asked again
    simulation.run(12 - simulation.step)
    unbroken.run(12)
    assert np.array_equal(simulation.particles, unbroken.particles)


def test_ctrl_c_is_answered_within_a_long_step() -> None:
    simulation = sw.Simulation(
        sw.generate("fbm", size=192, seed=3), sw.VirtualPipes(), backend="reference", substeps=100
    )
    simulation.run(1, stop_after=1)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        simulation.run(100)
    timer.join()
    assert time.perf_counter() - sent[0] < 2.0  # one second on a quiet machine
    assert simulation.step < 3
    assert simulation.budget.water_drift < 1e-5
