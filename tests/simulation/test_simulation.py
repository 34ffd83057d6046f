"""Runs, observers, derived layers and what goes wrong."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash import (
    BackendUnavailable,
    InvalidParameter,
    InvalidTerrain,
    NotFinite,
    Simulation,
    Terrain,
    UnknownName,
    VirtualPipes,
    generate,
    preset,
)

HILL = generate("dome", size=24, seed=1, cell_size=5.0)


class Watcher(sw.Observer):
    def __init__(self, every: int) -> None:
        super().__init__(every)
        self.seen: list[int] = []
        self.phases: list[tuple[str, int]] = []
        self.finished = 0

    def start(self, simulation: Simulation, steps: int, *, label: str = "eroding") -> None:
        self.phases.append((label, steps))

    def observe(self, simulation: Simulation) -> None:
        self.seen.append(simulation.step)

    def finish(self, simulation: Simulation) -> None:
        self.finished += 1


def test_an_observer_needs_only_the_methods_of_one() -> None:
    class Own:
        every = 4
        seen: list[int]

        def start(self, simulation: Simulation, steps: int, *, label: str = "eroding") -> None:
            self.seen = []

        def observe(self, simulation: Simulation) -> None:
            self.seen.append(simulation.step)

        def finish(self, simulation: Simulation) -> None:
            self.seen.append(-1)

    own: Any = Own()
    Simulation(HILL, VirtualPipes(), backend="reference").add(own).run(6)
    assert own.seen == [4, 6, -1]


def test_observers_see_every_so_many_steps_and_the_end() -> None:
    watcher = Watcher(4)
    simulation = Simulation(HILL, VirtualPipes(), backend="reference").add(watcher)
    simulation.run(10)
    simulation.settle(3)
    assert watcher.seen == [4, 8, 10, 10, 10]  # of the steps of settling, the second makes 12
    assert watcher.phases == [("eroding", 10), ("settling", 3)]
    assert watcher.finished == 2


def test_observers_count_the_steps_of_the_simulation_however_they_are_asked_for() -> None:
    watcher = Watcher(20)
    simulation = Simulation(HILL, VirtualPipes(), backend="reference").add(watcher)
    for steps in (7, 7, 30, 0):
        simulation.run(steps)
    assert watcher.seen == [7, 14, 20, 40, 44]


def test_steps_taken_are_those_of_runs_and_of_settling() -> None:
    simulation = Simulation(HILL, VirtualPipes(), backend="reference")
    simulation.run(5)
    simulation.settle(3)
    assert (simulation.step, simulation.steps_taken) == (5, 8)


@pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])
def test_watching_changes_nothing(backend: str) -> None:
    results = []
    for observers in ([], [Watcher(3), Watcher(7)]):
        simulation = Simulation(HILL, preset("single_grid"), backend=backend).add(*observers)
        simulation.run(31)
        simulation.settle(47)
        results.append(simulation.terrain)
    for layer in results[0]:
        np.testing.assert_array_equal(results[0][layer], results[1][layer])


def test_two_runs_are_one_long_run() -> None:
    once = Simulation(HILL, VirtualPipes())
    once.run(30)
    twice = Simulation(HILL, VirtualPipes())
    twice.run(13)
    twice.run(17)
    np.testing.assert_array_equal(once.terrain["elevation"], twice.terrain["elevation"])


def test_derived_layers_say_what_changed() -> None:
    simulation = Simulation(HILL, VirtualPipes(), edges="closed")
    simulation.run(60)
    after = simulation.terrain
    change = after["elevation"].astype(np.float64) - HILL["elevation"]
    np.testing.assert_allclose(after["difference"], change, atol=1e-3)
    np.testing.assert_array_equal(after["wear"], np.maximum(-after["difference"], 0))
    np.testing.assert_array_equal(after["deposit"], np.maximum(after["difference"], 0))
    assert after["flow"].max() > 0
    assert after["velocity"].max() > 0
    assert 0 <= after["slope"].min() <= after["slope"].max() < 90


def test_flow_is_the_mean_discharge() -> None:
    """On an even slope in balance with rain, the discharge per metre of width is all the rain from uphill."""
    ramp = Terrain(np.repeat(np.linspace(20, 0, 40)[:, None], 8, axis=1), cell_size=2.0)
    model = VirtualPipes(processes="hydraulic", suspension_rate=0.0, evaporation_rate=0.0)
    simulation = Simulation(ramp, model, edges="open")
    simulation.run(3000)
    started = simulation.terrain["flow"] * 3000
    simulation.run(1000)
    mean = (simulation.terrain["flow"] * 4000 - started) / 1000
    rain = model.rain_rate * 2.0  # metres per unit of time
    uphill = 20 * 2.0  # metres
    assert mean[20, 4] == pytest.approx(rain * uphill, rel=0.1)  # side edges let some of it out


def test_the_model_can_be_changed_between_steps() -> None:
    simulation = Simulation(HILL, VirtualPipes())
    simulation.run(5)
    simulation.model = VirtualPipes(rain_rate=0.0)
    rained = simulation.budget.water_rain
    simulation.run(5)
    assert simulation.budget.water_rain == rained
    with pytest.raises(InvalidParameter, match="start another Simulation"):
        simulation.model = sw.SteepestTalus()
    with pytest.raises(InvalidParameter, match=r"pass a model, such as VirtualPipes\(\)"):
        simulation.model = "single_grid"  # type: ignore[assignment]


def test_nan_stops_the_run_and_names_step_layer_and_cell() -> None:
    simulation = Simulation(HILL, VirtualPipes(), backend="reference")
    simulation._state["water"][7, 5] = np.nan
    with pytest.raises(
        NotFinite, match=r"(elevation|water|suspended) is no longer finite at row \d+, column \d+ by step 1"
    ):
        simulation.run(1)


def test_forced_single_steps_beyond_the_limit_blow_up_loudly() -> None:
    model = VirtualPipes(time_step=5.0, processes="thermal", thermal_rate=3.0)
    simulation = Simulation(HILL, model, substeps=1)
    with pytest.raises(NotFinite):
        simulation.run(4000)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"edges": "round"}, InvalidParameter, "edges is 'round'"),
        ({"backend": "gpuu"}, UnknownName, "unknown backend"),
        ({"substeps": 0}, InvalidParameter, "substeps is 0"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Simulation(HILL, VirtualPipes(), **options)


@pytest.mark.parametrize("steps", [1, 3, 7, 20, 30, 45, 600])
def test_settling_fades_to_nothing_whatever_its_length(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = VirtualPipes(sediment_capacity=1.0)
    simulation = Simulation(HILL, model, backend="reference").add(Watcher(4))
    carried: list[tuple[int, float]] = []
    monkeypatch.setattr(simulation._device, "advance", lambda c, n: carried.append((n, c.Kc)))
    simulation.settle(steps)
    strengths = [strength for _, strength in carried]
    assert sum(n for n, _ in carried) == steps
    assert strengths == sorted(strengths, reverse=True)
    assert strengths[-1] == 0
    assert steps < 2 or strengths[0] > 0


def test_velocity_is_the_model_s_own() -> None:
    """[Mei07] divides the discharge by the depth."""
    plain, divided = (Simulation(HILL, preset("mei2007").replace(velocity=v)) for v in ("discharge", "mean_depth"))
    for simulation in (plain, divided):
        simulation.run(1)
    depth = np.maximum(divided.terrain["water"] / 5.0, 1e-3)
    np.testing.assert_allclose(divided.terrain["velocity"], plain.terrain["velocity"] / depth, rtol=1e-4)


def test_numpy_integers_are_whole_numbers() -> None:
    simulation = Simulation(HILL, VirtualPipes(), backend="reference", substeps=np.int64(1))  # type: ignore[arg-type]
    simulation.run(np.int64(2))  # type: ignore[arg-type]
    assert simulation.step == 2


@pytest.mark.parametrize("steps", [-1, 2.5, "many", True])
def test_steps_must_be_whole(steps: Any) -> None:
    with pytest.raises(InvalidParameter, match="steps is"):
        Simulation(HILL, VirtualPipes(), backend="reference").run(steps)


def test_heights_without_a_terrain_are_refused_with_the_remedy() -> None:
    with pytest.raises(InvalidTerrain, match="wrap heights as Terrain"):
        Simulation(np.zeros((3, 3)), VirtualPipes())  # type: ignore[arg-type]


def test_a_backend_the_model_lacks_is_never_switched_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VirtualPipes, "backends", ("reference",))
    with pytest.raises(BackendUnavailable, match="it runs on reference"):
        Simulation(HILL, VirtualPipes(), backend="cpu")


def test_erode_is_the_one_line_form() -> None:
    one = sw.erode(HILL, preset("single_grid"), steps=12, settle=5)
    simulation = Simulation(HILL, preset("single_grid"))
    simulation.run(12)
    simulation.settle(5)
    np.testing.assert_array_equal(one["elevation"], simulation.terrain["elevation"])


def test_the_start_is_never_changed() -> None:
    before = HILL["elevation"].copy()
    sw.erode(HILL, VirtualPipes(), steps=5)
    np.testing.assert_array_equal(HILL["elevation"], before)


def test_repr_and_budget_read_well() -> None:
    simulation = Simulation(HILL, VirtualPipes(), backend="reference")
    simulation.run(2)
    assert repr(simulation) == "Simulation of virtual_pipes on 24 x 24 cells, backend reference, edges open, step 2"
    text = repr(simulation.budget)
    assert "drift" in text
    assert "evaporated" in text
    assert set(simulation.budget.as_dict()) >= {"water_rain", "solids_moved", "water_drift", "solids_drift"}


def test_the_name_of_a_preset_is_no_model() -> None:
    with pytest.raises(sw.InvalidParameter, match=r"model is .landscape.; pass a model, such as VirtualPipes\(\)"):
        sw.Simulation(sw.generate("hill", size=8), "landscape")  # type: ignore[arg-type]


def test_a_settling_stopped_after_its_last_step_leaves_the_load_in_the_water() -> None:
    simulation = Simulation(HILL, preset("single_grid"), backend="reference")
    simulation.run(20)
    simulation.settle(20, stop_after=20)
    assert simulation.terrain["suspended"].max() > 0
    simulation.settle(20, stop_after=21)
    assert simulation.terrain["suspended"].max() == 0


def test_observers_see_the_load_laid_down() -> None:
    carried: list[float] = []

    class Weigher(Watcher):
        def observe(self, simulation: Simulation) -> None:
            carried.append(float(simulation.terrain["suspended"].max()))

    simulation = Simulation(HILL, preset("single_grid"), backend="reference").add(Weigher(5))
    simulation.run(10)
    simulation.settle(8)
    assert carried[-2] > 0
    assert carried[-1] == 0


@pytest.mark.slow
def test_two_threads_share_a_run_and_its_observers(tmp_path: Path) -> None:
    simulation = Simulation(HILL, preset("single_grid"), backend="reference")
    simulation.add(sw.Recorder(tmp_path, every=10))
    failures: list[BaseException] = []

    def run() -> None:
        try:
            for _ in range(15):
                simulation.run(4)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    numbers = sorted(int(file.stem.removeprefix("frame_")) for file in tmp_path.glob("*.png"))
    assert numbers == list(range(0, 121, 10))


def test_a_settling_broken_off_goes_on_from_there() -> None:
    broken = Simulation(HILL, preset("single_grid"), backend="reference")
    broken.run(20)
    broken.settle(40, stop_after=13)
    assert broken.terrain["suspended"].max() > 0  # the load is still in the water
    whole = Simulation(HILL, preset("single_grid"), backend="reference")
    whole.run(20)

    class Impatient(Watcher):
        def observe(self, simulation: Simulation) -> None:
            raise KeyboardInterrupt

    impatient = Impatient(33)  # 13 after the 20 of the run
    with pytest.raises(KeyboardInterrupt):
        whole.add(impatient).settle(40)
    whole.remove(impatient)
    whole.run(5)
    broken.run(5)
    for layer in ("elevation", "water", "suspended"):
        assert np.array_equal(broken.terrain[layer], whole.terrain[layer])
    assert broken.step == 25
