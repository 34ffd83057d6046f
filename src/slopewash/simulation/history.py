"""Edits that can be undone."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from slopewash.models.state import Array, Patch

MOST_BYTES = 64 * 2**20
"""What undo and redo together remember; the oldest edits are forgotten first."""
MOST_PIECES = 20_000
"""The same, counted in pieces."""

Piece = list[Patch]
"""What one call overwrote, in the order in which it is written."""
Swap = Callable[[Sequence[Patch]], Piece]
"""Writes patches and returns what was there."""


@dataclass
class Edit:
    """Pieces that are undone together: one stroke of a brush."""

    pieces: list[Piece] = field(default_factory=list)
    nbytes: int = 0
    """Memory it takes."""

    def add(self, piece: Piece) -> None:
        """Add what one more call overwrote."""
        self.pieces.append(piece)
        self.nbytes += sum(patch.values.nbytes for patch in piece)


class History:
    """Two stacks of edits, each of them what it overwrote."""

    def __init__(self) -> None:
        self._undo: deque[Edit] = deque()
        self._redo: deque[Edit] = deque()
        self.edited = False
        """Whether there ever was an edit, undone or forgotten since or not."""

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit to redo."""
        return bool(self._redo)

    def add(self, piece: Piece, *, join: bool) -> None:
        """Remember what an edit overwrote; with `join` it belongs to the one before.

        A stroke that would fill the memory by itself becomes two edits.
        """
        self.edited = True
        self._redo.clear()
        if not (join and self._undo and not self._is_full(piece)):
            self._undo.append(Edit())
        self._undo[-1].add(piece)
        while self._is_full() and len(self._undo) > 1:
            self._undo.popleft()

    def undo(self, swap: Swap) -> bool:
        """Undo the last edit; False if there is none."""
        return _move(self._undo, self._redo, swap)

    def redo(self, swap: Swap) -> bool:
        """Redo the last edit undone; False if there is none."""
        return _move(self._redo, self._undo, swap)

    def _is_full(self, more: Piece | None = None) -> bool:
        edits = [*self._undo, *self._redo]
        extra = sum(patch.values.nbytes for patch in more or ())
        nbytes, pieces = sum(edit.nbytes for edit in edits), sum(len(edit.pieces) for edit in edits)
        return nbytes + extra > MOST_BYTES or pieces + (more is not None) > MOST_PIECES

    def take_apart(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Facts that JSON can hold, and the values of all patches in one array of bytes: there may be thousands."""
        pieces: list[bytes] = []

        def note(patch: Patch) -> list[Any]:
            rows, columns = patch.window or (None, None)
            span = None if rows is None or columns is None else [rows.start, rows.stop, columns.start, columns.stop]
            pieces.append(patch.values.tobytes())
            return [patch.name, patch.values.dtype.str, list(patch.values.shape), span]

        facts: dict[str, Any] = {
            stack: [[[note(patch) for patch in piece] for piece in edit.pieces] for edit in edits]
            for stack, edits in (("undo", self._undo), ("redo", self._redo))
        }
        return {**facts, "edited": self.edited}, {"values": np.frombuffer(b"".join(pieces), np.uint8)}

    @classmethod
    def put_together(cls, facts: dict[str, Any], arrays: dict[str, Array]) -> History:
        """Make the history that `take_apart` took apart."""
        values, taken = arrays["values"], 0

        def patch(note: list[Any]) -> Patch:
            nonlocal taken
            name, dtype, shape, span = note
            first, taken = taken, taken + math.prod(shape) * np.dtype(dtype).itemsize
            piece = np.array(values[first:taken]).view(dtype).reshape(shape)
            window = None if span is None else (slice(span[0], span[1]), slice(span[2], span[3]))
            return Patch(name, piece, window)

        history = cls()
        for stack, edits in ((history._undo, facts["undo"]), (history._redo, facts["redo"])):
            stack.extend(_edit([patch(note) for note in piece] for piece in edit) for edit in edits)
        history.edited = facts.get("edited", history.can_undo or history.can_redo)
        return history


def _edit(pieces: Iterable[Piece]) -> Edit:
    edit = Edit()
    for piece in pieces:
        edit.add(piece)
    return edit


def _move(source: deque[Edit], target: deque[Edit], swap: Swap) -> bool:
    if not source:
        return False
    target.append(_edit(swap(piece) for piece in reversed(source.pop().pieces)))
    return True
