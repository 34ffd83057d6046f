"""A bar on the terminal, or a line at intervals elsewhere: steps done, steps per second, time left."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from slopewash.errors import printable
from slopewash.simulation.observing import Observer

if TYPE_CHECKING:
    from slopewash.simulation import Simulation

PATIENCE = 1.5
"""Seconds without a first step after which the bar shows that kernels are compiled; cached kernels load faster."""
UPDATE_EVERY = 0.5
"""Seconds between two updates of a run whose steps are slow."""
LINE_EVERY = 10.0
"""Seconds between two lines where there is no terminal to draw a bar on, such as a log."""


class Progress(Observer):
    """Shows a progress bar on stderr while a simulation runs, or a line every ten seconds if that is not a terminal.

    Parameters
    ----------
    every
        Steps between two updates. The first step is shown as soon as it is done, and steps that take long one by one.
    console
        Where to draw instead of stderr.

    >>> import slopewash as sw
    >>> sw.Progress(every=10)
    Progress(every=10)
    """

    def __init__(self, every: int = 20, *, console: Console | None = None) -> None:
        super().__init__(every)
        self._usual = self.every
        self._looked = 0.0
        self._console = console
        self._bar: Bar | None = None
        self.title = ""
        """Goes before the name of each phase, such as the level that it belongs to."""
        self._label = ""
        self._printed = 0.0
        self._first: tuple[int, float] | None = None
        """Steps and time at the first update: earlier time may be compilation."""

    def start(self, simulation: Simulation, steps: int, *, label: str = "eroding") -> None:
        """Open a bar of `steps` steps."""
        super().start(simulation, steps, label=label)
        self.close()
        self._label = label = printable(f"{self.title}: {label}" if self.title else label)
        self._printed = self._looked = time.monotonic()
        self._first = None
        self.every = 1
        console = self._console or Console(stderr=True)
        if steps < 1 or not console.is_terminal:
            return
        self._bar = Bar(
            _Label(compiles=simulation.backend == "cpu"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("steps"),
            _Rate(),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=console,
        )
        self._bar.add_task(label, total=steps)
        self._bar.start()

    def observe(self, simulation: Simulation) -> None:
        """Move the bar to the steps done."""
        before, looked = self.done, self._looked
        super().observe(simulation)
        self._looked = time.monotonic()
        per_step = (self._looked - looked) / max(self.done - before, 1)
        self.every = self._usual if per_step * self._usual < UPDATE_EVERY else max(1, int(UPDATE_EVERY / per_step))
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.done)
        elif time.monotonic() - self._printed >= LINE_EVERY:
            self._print_line()
        self._first = self._first or (self.done, time.monotonic())

    def _print_line(self) -> None:
        self._printed = time.monotonic()
        console = self._console or Console(stderr=True)
        line = f"{self._label}: {self.done} of {self.steps} steps"
        if self._first is not None and self.done > self._first[0]:
            rate = (self.done - self._first[0]) / max(self._printed - self._first[1], 1e-9)
            line += f", {rate:,.0f}/s, {(self.steps - self.done) / rate:.0f} s left"
        console.out(line, highlight=False)

    def finish(self, simulation: Simulation) -> None:
        """Stop the bar where the phase ended."""
        self.every = self._usual
        self.close()

    def close(self) -> None:
        """Restore the terminal, whatever state the bar is in."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


class _Label(ProgressColumn):
    """Name of the phase, or what delays its first step."""

    def __init__(self, *, compiles: bool) -> None:
        super().__init__()
        self._compiles = compiles

    def render(self, task: Task) -> Text:
        """Draw the label."""
        waits = self._compiles and task.completed == 0 and (task.elapsed or 0.0) > PATIENCE
        return Text("compiling kernels (first run only)" if waits else task.description)


class _Rate(ProgressColumn):
    """Steps per second."""

    def render(self, task: Task) -> Text:
        """Draw the speed over the last updates, or of the whole phase once it is over."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "  -/s", style="progress.data.speed")
