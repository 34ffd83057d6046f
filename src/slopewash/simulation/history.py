"""Edits that can be undone."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from slopewash.errors import InvalidParameter
from slopewash.models.soundness import REAL, check_field, check_range
from slopewash.models.state import Array, Domain, Patch
from slopewash.simulation.facts import is_count, shortened
from slopewash.terrain.fields import FieldSpec

MOST_BYTES = 64 * 2**20
"""What undo and redo together remember; the oldest edits are forgotten first."""
MOST_PIECES = 20_000
"""The same, counted in pieces."""

WHOLE_LISTS = ("sources", "emitters")
"""Lists that edits replace as a whole."""

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

    def check(self, names: Collection[str], fields: Iterable[FieldSpec], domain: Domain) -> None:
        """Refuse edits of anything but these fields of a run, and values that those could not have."""
        specs = {spec.name: spec for spec in fields}
        for edit in (*self._undo, *self._redo):
            for patch in itertools.chain.from_iterable(edit.pieces):
                if patch.name not in names:
                    raise InvalidParameter(f"an edit is of {shortened(patch.name)}, which this model does not have")
                _check_patch(patch, specs.get(patch.name), domain)

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
        if values.dtype != np.uint8 or values.ndim != 1:
            raise InvalidParameter(f"the values of the edits are {values.dtype} of shape {values.shape}, not bytes")

        def patch(note: list[Any]) -> Patch:
            nonlocal taken
            name, dtype, shape, span = note
            kind = np.dtype(dtype)
            if kind.kind not in REAL or not all(map(is_count, shape)) or not (span is None or is_span(span)):
                raise InvalidParameter(f"an edit of {shortened(name)} is of type {kind} and shape {shortened(shape)}")
            first, taken = taken, taken + math.prod(shape) * kind.itemsize
            if taken > len(values):
                raise InvalidParameter(f"the values of the edits end at byte {len(values)}, and not at {taken}")
            piece = np.array(values[first:taken]).view(kind).reshape(shape)
            window = None if span is None else (slice(span[0], span[1]), slice(span[2], span[3]))
            return Patch(name, piece, window)

        history = cls()
        for stack, edits in ((history._undo, facts["undo"]), (history._redo, facts["redo"])):
            stack.extend(_edit([patch(note) for note in piece] for piece in edit) for edit in edits)
        if taken != len(values):
            raise InvalidParameter(f"the values of the edits end at byte {len(values)}, and not at {taken}")
        history.edited = facts.get("edited", history.can_undo or history.can_redo)
        return history


def is_span(value: Any) -> bool:
    """Whether these are the first and one past the last row and column of part of a grid."""
    return isinstance(value, list) and len(value) == 4 and all(map(is_count, value))


def _check_patch(patch: Patch, spec: FieldSpec | None, domain: Domain) -> None:
    if patch.window is None:
        if spec is None or (spec.each and spec.name not in WHOLE_LISTS):
            raise InvalidParameter(f"an edit replaces all of {patch.name}, which no edit does")
        check_field(spec, patch.values, domain)
        return
    (rows, columns), size = patch.window, patch.values.shape[-2:]
    inside = rows.stop <= domain.shape[0] and columns.stop <= domain.shape[1]
    if not inside or patch.values.ndim not in (2, 3) or size != (rows.stop - rows.start, columns.stop - columns.start):
        raise InvalidParameter(f"an edit of {patch.name} does not fit the grid")
    if spec is not None and (spec.place != "cells" or (spec.dtypes and patch.values.dtype.name not in spec.dtypes)):
        raise InvalidParameter(f"an edit of {patch.name} is of type {patch.values.dtype}")
    check_range(spec or FieldSpec(name=patch.name, doc=""), patch.values)


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
