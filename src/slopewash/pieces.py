"""How many iterations to take at a time, so that signals and commands wait for less than a second at any size."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

PIECE_SECONDS = 0.4
GROUP = 4
"""Iterations that kernels take at once; single ones cost up to twice as much each."""
LONGEST_GROUP = 0.9
"""Seconds that a group may take."""
GROWTH = 4
"""Times by which a piece may be longer than the one before: the first one includes compiling kernels."""


class Pieces:
    """Measures how long iterations take; use it as a context around each piece.

    >>> pieces = Pieces()
    >>> pieces.next(100)
    1
    >>> with pieces:
    ...     pass
    >>> pieces.next(100)
    4
    """

    def __init__(self) -> None:
        self._length, self._seconds, self._begin = 0, 0.0, 0.0

    def next(self, left: int, unit: int = 1) -> int:
        """Iterations of the next piece, at most `left`; a multiple of `unit` where steps cannot be divided."""
        if self._length == 0:
            length = 1
        else:
            each = max(self._seconds / self._length, 1e-9)
            length = min(int(PIECE_SECONDS / each), GROWTH * self._length)
            if length < GROUP and GROUP * each < LONGEST_GROUP and self._length > 1:
                length = GROUP
            if length > GROUP:
                length -= length % GROUP
        self._length = min(left, max(unit, length - length % unit))
        return self._length

    def __enter__(self) -> Self:
        self._begin = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._seconds = time.perf_counter() - self._begin
