"""Edits that can be taken back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from slopewash.models.base import Block
from slopewash.terrain import Emitter, WaterSource

MOST_BYTES = 64 * 2**20
"""What undo and redo together remember; the oldest edits are forgotten first."""
MOST_BLOCKS = 20_000
"""The same, counted in blocks."""
SPRING_BYTES = 256
"""About what a spring or an emitter takes."""


@dataclass(frozen=True)
class Springs:
    """All water sources of a moment."""

    sources: tuple[WaterSource, ...]

    @property
    def nbytes(self) -> int:
        """Memory they take, about."""
        return SPRING_BYTES * len(self.sources)


@dataclass(frozen=True)
class Emitters:
    """All emitters of a moment."""

    emitters: tuple[Emitter, ...]

    @property
    def nbytes(self) -> int:
        """Memory they take, about."""
        return SPRING_BYTES * len(self.emitters)


Overwritten = Block | Springs | Emitters
Edit = list[Overwritten]
Restore = Callable[[Overwritten], Overwritten]


class History:
    """Two stacks of edits, each edit what it overwrote in the order it did."""

    def __init__(self) -> None:
        self._undo: deque[Edit] = deque()
        self._redo: deque[Edit] = deque()
        self._bytes = 0
        self._blocks = 0

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to take back."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit to do again."""
        return bool(self._redo)

    def add(self, overwritten: Overwritten, *, join: bool) -> None:
        """Remember what an edit overwrote; with `join` it belongs to the one before.

        A stroke that would fill the memory by itself becomes two edits.
        """
        while self._redo:
            self._forget(self._redo.popleft())
        self._bytes += overwritten.nbytes
        self._blocks += 1
        if join and self._undo and not self._is_full():
            self._undo[-1].append(overwritten)
        else:
            self._undo.append([overwritten])
        while self._is_full() and len(self._undo) > 1:
            self._forget(self._undo.popleft())

    def undo(self, restore: Restore) -> bool:
        """Take the last edit back; False if there is none."""
        return self._move(self._undo, self._redo, restore)

    def redo(self, restore: Restore) -> bool:
        """Do the last edit taken back again; False if there is none."""
        return self._move(self._redo, self._undo, restore)

    def _move(self, source: deque[Edit], target: deque[Edit], restore: Restore) -> bool:
        if not source:
            return False
        edit = source.pop()
        moved = [restore(block) for block in reversed(edit)]
        self._forget(edit)
        self._bytes += _size(moved)  # springs before an edit and after it differ in number
        self._blocks += len(moved)
        target.append(moved)
        return True

    def _is_full(self) -> bool:
        return self._bytes > MOST_BYTES or self._blocks > MOST_BLOCKS

    def _forget(self, edit: Edit) -> None:
        self._bytes -= _size(edit)
        self._blocks -= len(edit)


def _size(edit: Edit) -> int:
    return sum(part.nbytes for part in edit)
