"""Edits that can be taken back."""

from __future__ import annotations

from collections.abc import Callable

from slopewash.models.base import Block

MOST_BYTES = 128 * 2**20
"""What undo and redo together remember; the oldest edits are forgotten first."""

Edit = list[Block]
Restore = Callable[[Block], Block]


class History:
    """Two stacks of edits, each edit the blocks it overwrote in the order it did."""

    def __init__(self) -> None:
        self._undo: list[Edit] = []
        self._redo: list[Edit] = []

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to take back."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit to do again."""
        return bool(self._redo)

    def add(self, block: Block, *, join: bool) -> None:
        """Remember what an edit overwrote; with `join` it belongs to the one before."""
        if join and self._undo and not self._redo:
            self._undo[-1].append(block)
        else:
            self._undo.append([block])
        self._redo.clear()
        while self._bytes() > MOST_BYTES and len(self._undo) > 1:
            del self._undo[0]

    def undo(self, restore: Restore) -> bool:
        """Take the last edit back; False if there is none."""
        return self._move(self._undo, self._redo, restore)

    def redo(self, restore: Restore) -> bool:
        """Do the last edit taken back again; False if there is none."""
        return self._move(self._redo, self._undo, restore)

    def _move(self, source: list[Edit], target: list[Edit], restore: Restore) -> bool:
        if not source:
            return False
        target.append([restore(block) for block in reversed(source.pop())])
        return True

    def _bytes(self) -> int:
        return sum(block.values.nbytes for edit in (*self._undo, *self._redo) for block in edit)
