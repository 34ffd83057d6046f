"""The progress bar: what it prints on a terminal and elsewhere."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import slopewash as sw
from slopewash.observers import progress as module


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def some_run(backend: str = "cpu") -> Any:
    return SimpleNamespace(step=0, steps_taken=0, backend=backend)


def look(progress: sw.Progress, run: Any, steps: int) -> None:
    run.steps_taken += steps
    progress.observe(run)


def test_the_bar_shows_steps_and_speed() -> None:
    console, run = terminal(), some_run()
    progress = sw.Progress(every=10, console=console)
    progress.start(run, 25)
    for steps in (10, 10, 5):
        time.sleep(0.02)
        look(progress, run, steps)
    progress.finish(run)
    assert "eroding" in shown(console)
    assert "25/25" in shown(console)
    assert "/s" in shown(console)


def test_the_bar_counts_phases_that_the_simulation_does_not_count() -> None:
    console, run = terminal(), some_run()
    progress = sw.Progress(every=4, console=console)
    progress.start(run, 6, label="settling")
    look(progress, run, 4)
    assert progress.done == 4
    look(progress, run, 2)
    progress.finish(run)
    assert progress.done == 6
    assert "settling" in shown(console)
    assert "6/6" in shown(console)


def test_the_bar_fills_wherever_a_run_begins() -> None:
    console = terminal()
    progress = sw.Progress(every=20, console=console)
    simulation = sw.Simulation(sw.generate("hill", size=12), sw.VirtualPipes(), backend="reference").add(progress)
    for steps in (7, 30):
        simulation.run(steps)
        assert progress.done == steps
        assert f"{steps}/{steps}" in shown(console)


@pytest.mark.parametrize(("backend", "explains"), [("cpu", True), ("reference", False)])
def test_a_first_step_that_takes_long_is_explained_where_kernels_are_compiled(
    backend: str, explains: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    console, run = terminal(), some_run(backend)
    progress = sw.Progress(console=console)
    progress.start(run, 100)
    time.sleep(0.3)
    progress.finish(run)
    assert ("compiling kernels (first run only)" in shown(console)) == explains


def test_a_short_run_prints_nothing_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    terrain = sw.generate("hill", size=12)
    simulation = sw.Simulation(terrain, sw.VirtualPipes(), backend="reference").add(sw.Progress(every=2))
    simulation.run(5)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_long_run_prints_a_line_at_intervals_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINE_EVERY", 0.05)
    console, run = Console(file=io.StringIO(), width=100), some_run()
    progress = sw.Progress(every=10, console=console)
    progress.start(run, 40)
    time.sleep(0.06)
    look(progress, run, 10)  # compilation may be in it, so that no rate is printed
    time.sleep(0.06)
    look(progress, run, 10)
    progress.finish(run)
    first, second = shown(console).splitlines()
    assert first == "eroding: 10 of 40 steps"
    assert "eroding: 20 of 40 steps, " in second
    assert "/s, " in second


@pytest.mark.parametrize(("seconds_per_step", "seen"), [(1e-4, [1, 20, 40, 45]), (2.0, list(range(1, 46)))])
def test_the_first_step_is_shown_and_slow_ones_each(
    seconds_per_step: float, seen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[int] = []

    class Seen(sw.Progress):
        def observe(self, simulation: sw.Simulation) -> None:
            super().observe(simulation)
            shown.append(self.done)

    simulation = sw.Simulation(sw.generate("cone", size=8), sw.SteepestTalus(), backend="reference")
    clock = SimpleNamespace(monotonic=lambda: seconds_per_step * simulation.step)
    monkeypatch.setattr(module, "time", clock)
    bar = Seen()
    simulation.add(bar).run(45)
    assert shown == seen
    assert repr(bar) == "Seen(every=20)"


def test_an_interrupted_bar_gives_the_terminal_back() -> None:
    console, run = terminal(), some_run()
    progress = sw.Progress(every=10, console=console)
    progress.start(run, 100)
    look(progress, run, 10)
    progress.finish(run)
    progress.close()
    assert shown(console).endswith("\x1b[?25h")  # the cursor is shown again


def test_watching_changes_nothing() -> None:
    terrain = sw.generate("hill", size=12)
    alone = sw.Simulation(terrain, sw.VirtualPipes(), backend="reference")
    watched = sw.Simulation(terrain, sw.VirtualPipes(), backend="reference").add(sw.Progress(every=3))
    alone.run(10)
    watched.run(10)
    assert (alone.terrain["elevation"] == watched.terrain["elevation"]).all()


@pytest.mark.parametrize("every", [0, -1])
def test_an_interval_below_one_step_is_rejected(every: int) -> None:
    with pytest.raises(sw.InvalidParameter, match=f"every is {every}"):
        sw.Progress(every=every)
