"""How a run is paced, whole or in tiles: sub-steps, the fading of its end, and what ends it early."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

from slopewash.errors import NotFinite, StabilityWarning
from slopewash.models.parameters import Limit

FADES = 20
"""Equal stages in which the power to erode fades while a run settles."""


def fading(done: int, chunk: int, steps: int) -> Iterator[tuple[float, int]]:
    """Strength and length of each stage of `chunk` settling steps after `done` of `steps`.

    Strength depends on the step alone and ends at 0.

    >>> list(fading(0, 4, 4))
    [(0.75, 1), (0.5, 1), (0.25, 1), (0.0, 1)]
    """
    fades = min(FADES, steps)
    while chunk > 0:
        fade = done * fades // steps
        next_fade = -(-(fade + 1) * steps // fades)
        length = min(chunk, next_fade - done)
        yield 1 - (fade + 1) / fades, length
        done += length
        chunk -= length


def needed_substeps(limits: Sequence[Limit], before: int = 1, *, stacklevel: int = 2) -> int:
    """Sub-steps that stability needs, with a warning when that is more than before."""
    worst = max(limits, key=lambda limit: limit.substeps, default=None)
    if worst is None:
        return 1
    worst.check()
    if worst.substeps > before:
        warnings.warn(
            f"{worst.name} is {worst.value:.3g}, above the stability limit {worst.bound:.3g}: "
            f"each step is taken in {worst.substeps} sub-steps",
            StabilityWarning,
            stacklevel=stacklevel,
        )
    return worst.substeps


def not_finite(layer: str, row: int, column: int, *, step: int) -> NotFinite:
    """Build the error for a run that has produced NaN or infinity."""
    return NotFinite(
        f"{layer} is no longer finite at row {row}, column {column} by step {step}; "
        "use a smaller time_step, or leave substeps at auto"
    )
