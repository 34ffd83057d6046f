"""The memory that the fused kernel works in: every field that is stepped, twice, and rows of its own for each band."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from slopewash.backends import first_touch
from slopewash.backends.aligned import aligned_rows
from slopewash.models.backend import Memory
from slopewash.models.ground import WALL
from slopewash.models.state import Array, Domain
from slopewash.models.virtual_pipes import rings
from slopewash.models.virtual_pipes.sweep import LAG

DEPTH = 8
"""Most iterations in flight."""
RECOMPUTED = 0.2
"""Most work that a band may do again because it belongs to its neighbours, per work of its own."""
CELLS_PER_THREAD = 16384
"""With fewer cells per thread, waking a thread takes longer than the work."""
STEPPED: dict[str, Any] = {
    "elevation": rings.B, "water": rings.W, "suspended": rings.S, "erodibility": rings.R, "bedrock": -1,
}  # fmt: skip
"""Where the kernels keep each field."""


class Room:
    """Fields as they are and as they will be, with a ghost column on either side.

    Parameters
    ----------
    domain
        Of what is stepped.
    pipes
        Components of outflow.
    rocky
        Whether the bedrock's surface is known.
    wanted
        Iterations in flight and bands of rows; None for what is best for the threads in use.
    memory
        Whom to ask for memory, whose values stay in the fields; fresh memory is all zeros.
    """

    def __init__(
        self,
        domain: Domain,
        *,
        pipes: int,
        rocky: bool,
        wanted: tuple[int | None, int | None] = (None, None),
        memory: Memory | None = None,
    ) -> None:
        rows, columns = domain.shape
        self.domain, self.pipes, self.rocky = domain, pipes, rocky
        self.temporaries = rings.WITH_COVER if rocky else rings.WITHOUT_COVER
        self.bands = count_bands(domain, wanted[1])
        self.depth = wanted[0] or iterations_in_flight(rows, self.bands, wraps=domain.sides.wraps_rows)
        self.fields = rings.FW + pipes + rocky
        own = rings.rows_of_band(self.fields, self.temporaries, self.depth)
        begin = self.fields + 2 * self.fields * rows
        end = begin + self.bands * own
        together = aligned_rows(end + rows, width=columns + 2, memory=memory)
        self.rows, self.flow = together[:end], together[end:]
        self.first, self.second = self.fields, self.fields + self.fields * rows
        if memory is None and first_touch.matters(together, rows, self.bands):  # all else is first written by a sweep
            uploaded = [*range(self.first, self.second, rows), end]
            first_touch.touch_in_bands(together, uploaded, rows, self.bands)
        if memory is not None:
            self.rows[: self.fields] = self.rows[begin:] = 0
            ghosts = self._whole(self.second)
            ghosts[:, :, 0] = ghosts[:, :, -1] = 0
        self.rows[rings.B] = WALL
        self.of_bands = begin + own * np.arange(self.bands)

    @property
    def now(self) -> NDArray[np.float32]:
        """Fields as they are, with ghosts."""
        return self._whole(self.first)

    def _whole(self, first: int) -> NDArray[np.float32]:
        rows, columns = self.domain.shape
        return self.rows[first : first + self.fields * rows].reshape(self.fields, rows, -1)[:, :, : columns + 2]

    def field(self, name: str) -> Array | None:
        """A field without ghosts; None if it is kept elsewhere."""
        if name == "flow":
            return self.flow[:, 1 : self.domain.shape[1] + 1]
        if name == "outflow":
            return self.now[rings.FW : rings.FW + self.pipes, :, 1:-1]
        return self.now[STEPPED[name], :, 1:-1] if name in STEPPED else None

    def places(self) -> dict[str, Array]:
        """Every field there is room for."""
        names = [*STEPPED, "outflow", "flow"]
        return {
            name: field
            for name in names
            if (name != "bedrock" or self.rocky) and (field := self.field(name)) is not None
        }

    def close_ends(self) -> None:
        """Let the ghosts be what lies beyond."""
        for k, field in enumerate(self.now):
            if self.domain.sides.wraps_columns:
                field[:, 0], field[:, -1] = field[:, -2], field[:, 1]
            else:
                field[:, 0] = field[:, -1] = WALL if k == rings.B else 0

    def swap(self, low: int, high: int) -> None:
        """Let the fields be what was computed, which are the rows from `low` up to `high`: others are as they were."""
        before, after = self._whole(self.first), self._whole(self.second)
        after[:, :low], after[:, high:] = before[:, :low], before[:, high:]
        self.first, self.second = self.second, self.first


def count_bands(domain: Domain, wanted: int | None = None) -> int:
    """One band of rows per thread in use, fewer where waking a thread takes longer than its work."""
    rows, columns = domain.shape
    wanted = wanted or min(numba.get_num_threads(), rows * columns // CELLS_PER_THREAD)
    return max(1, min(wanted, rows))


def iterations_in_flight(rows: int, bands: int, *, wraps: bool) -> int:
    """As many as its neighbours' rows allow a band: with each, it works on `LAG` more rows than its own."""
    if bands == 1 and not wraps:
        return DEPTH
    return max(1, min(DEPTH, int(RECOMPUTED * rows / bands / LAG)))
