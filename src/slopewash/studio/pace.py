"""Timing: how many steps to take at a time, and when to send frames and states, so that they cost the run little."""

from __future__ import annotations

import time
from collections import deque

CHUNK_SECONDS = 0.015
"""Seconds of stepping between two looks for commands."""
LONGEST_CHUNK = 400
GROUP = 4
"""Steps that kernels take at once; single steps cost up to twice as much each."""
FRAME_SECONDS = 0.03
"""Shortest time between two frames."""
FRAME_SHARE = 0.05
"""Largest share of this process's CPU time that frames take from a run."""
LONGEST_WAIT = 0.25
"""Longest time between two frames, whatever they cost."""
SLOW_LAYERS_SECONDS = 0.25
"""Time between two frames of a run that hold layers which change slowly: without those, a frame costs half as much."""
STATE_SECONDS = 0.25
"""Shortest time between two states while it runs."""
STATE_SHARE = 0.02
"""Largest share of CPU time spent on computing the mass budget."""


class Pace:
    """How many steps to take at a time, and when."""

    def __init__(self) -> None:
        self.due = 0.0
        """Moment of the next steps."""
        self._speed: float | None = None
        self._seconds_per_step = 0.0
        self._progress: deque[tuple[float, int]] = deque(maxlen=64)

    @property
    def speed(self) -> float | None:
        """Limit in steps per second; None for no limit."""
        return self._speed

    @speed.setter
    def speed(self, steps_per_second: float | None) -> None:
        self._speed, self.due = steps_per_second, time.monotonic()

    def begin(self) -> None:
        """Start or continue playing."""
        self._progress.clear()
        self.due = time.monotonic()

    def forget(self) -> None:
        """Measure the cost of a step again, because it has changed."""
        self._seconds_per_step = 0.0

    def chunk(self) -> int:
        """Steps that take about `CHUNK_SECONDS`, in whole groups if possible."""
        known = self._seconds_per_step > 0
        steps = min(int(CHUNK_SECONDS / self._seconds_per_step), LONGEST_CHUNK) if known else 1
        if steps < GROUP and known and GROUP * self._seconds_per_step < 4 * CHUNK_SECONDS:
            steps = GROUP
        if self._speed:
            steps = min(steps, int(self._speed * CHUNK_SECONDS))
        return max(1, steps - steps % GROUP if steps > GROUP else steps)

    def took(self, steps: int, seconds: float) -> None:
        """Note how long some steps took."""
        each, end = seconds / steps, time.monotonic()
        self._seconds_per_step = each if self._seconds_per_step == 0 else 0.7 * self._seconds_per_step + 0.3 * each
        self.due = max(self.due + steps / self._speed, end - 0.25) if self._speed else end
        self._progress.append((end, steps))

    def measured(self) -> float:
        """Steps per second over the last two seconds."""
        horizon = time.monotonic() - 2.0
        while self._progress and self._progress[0][0] < horizon:
            self._progress.popleft()
        if len(self._progress) < 2:
            return 0.0 if self._seconds_per_step == 0 else 1 / self._seconds_per_step
        span = self._progress[-1][0] - self._progress[0][0]
        return sum(steps for _, steps in list(self._progress)[1:]) / max(span, 1e-6)


class FrameClock:
    """Decides when a frame is due, from the cost of the last ones."""

    def __init__(self) -> None:
        self._last = 0.0
        self._cost = self._spent = self._cpu_at_last = 0.0

    @property
    def next(self) -> float:
        """Earliest moment of the next frame."""
        return self._last + FRAME_SECONDS

    def is_due(self, *, running: bool) -> bool:
        """Whether enough time has passed since the last frame and, during a run, enough CPU time for the run."""
        waited = time.monotonic() - self._last
        had_share = time.process_time() - self._cpu_at_last >= self._cost / FRAME_SHARE
        return waited >= FRAME_SECONDS and (not running or had_share or waited >= LONGEST_WAIT)

    def begin(self) -> None:
        """Note that a frame is being made."""
        self._last, self._cpu_at_last = time.monotonic(), time.process_time()
        self._cost = 0.7 * self._cost + 0.3 * self._spent
        self._spent = 0.0

    def spend(self, seconds: float) -> None:
        """Count CPU time spent on the current frame, in any thread."""
        self._spent += seconds


class StateClock:
    """Decides when the mass budget is computed again."""

    def __init__(self) -> None:
        self._last = self._cost = 0.0

    @property
    def next(self) -> float:
        """Earliest moment of the next state while it runs."""
        return self._last + max(STATE_SECONDS, self._cost / STATE_SHARE)

    def took(self, cpu_seconds: float) -> None:
        """Note what a state cost."""
        self._last, self._cost = time.monotonic(), cpu_seconds
