"""Edits between steps, for engines whose fields lie in the machine's own memory."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.models.base import Block, Engine
from slopewash.terrain import Layer

Field = NDArray[Any]
Window = tuple[slice, slice]

SOLIDS = ("elevation", "suspended")
RANGES = {
    "elevation": (-1e7, 1e7),
    "water": (0.0, 1e7),
    "suspended": (0.0, 1e7),
    "rainfall": (0.0, 1e6),
    "erodibility": (0.0, 1.0),
}
"""What edits may make of a layer: far beyond any landscape, and far below what counts as a wall."""


OF_STRATA = "erodibility comes from this terrain's strata; leave it as it is"


class EditedEngine(Engine):
    """An engine that can be painted on: heirs say what their fields mean in metres.

    `_edited` counts what edits added, in the engine's own units.
    """

    def __init__(self) -> None:
        self._edited: dict[str, Any] = {"water": 0, "solids": 0}

    @abstractmethod
    def _input(self, layer: str) -> Field:
        """Field of an editable layer; in memory of our own, to be written to."""

    @abstractmethod
    def _metres(self, layer: str, values: Field, window: Window) -> Layer:
        """Convert part of a field to what users see."""

    @abstractmethod
    def _units(self, layer: str, metres: Field, window: Window) -> Field:
        """Convert what users see to the engine's own units and type."""

    @abstractmethod
    def _inputs(self) -> Sequence[str]:
        """Names of the editable layers."""

    @abstractmethod
    def _walls_in(self, window: Window) -> NDArray[np.bool_] | None:
        """Where part of the grid has no ground."""

    def _write(self, layer: str, window: Window, values: Field) -> None:
        """Overwrite part of a field."""
        self._input(layer)[window] = values

    @property
    @abstractmethod
    def _layered(self) -> bool:
        """Whether there are strata: then `_input("bedrock")` is the surface of the bedrock."""

    def _beside(self, layer: str) -> Any:
        """What else has to be put back when an edit of this layer is taken back."""
        return None

    def _after_edit(self, layer: str, beside: Any) -> None:
        """Bring whatever follows from a layer up to date; `beside` is what `_beside` gave, or None for a new edit."""

    def block(self, layer: str, row: int, column: int, shape: tuple[int, int]) -> Layer:
        """Download part of a layer in metres."""
        if layer not in self._inputs():
            return super().block(layer, row, column, shape)
        window = self._window(row, column, shape)
        return self._metres(layer, self._input(layer)[window], window)

    def edit(self, layer: str, row: int, column: int, values: ArrayLike) -> Block:
        """Overwrite part of a layer, in metres, and return what was there."""
        if layer not in self._inputs():
            raise unknown_name("editable layer", layer, self._inputs())
        metres = np.asarray(values, dtype=np.float64)
        if metres.ndim != 2:
            raise InvalidParameter(f"values have {metres.ndim} dimensions; an edit takes rows and columns")
        window = self._window(row, column, (metres.shape[0], metres.shape[1]))
        low, high = RANGES[layer]
        if not (np.isfinite(metres).all() and metres.min() >= low and metres.max() <= high):
            raise InvalidParameter(
                f"values for {layer} span {metres.min():g} .. {metres.max():g}; "
                f"they must be finite and within {low:g} .. {high:g}"
            )
        field = self._input(layer)
        kept = metres.astype(np.float32) == self._metres(layer, field[window], window)
        new = np.where(kept, field[window], self._units(layer, metres, window))
        return self._exchange(Block(layer=layer, row=row, column=column, values=new))

    def restore(self, block: Block) -> Block:
        """Put a block back to the bit, and return what was there."""
        return self._exchange(block)

    def _exchange(self, block: Block) -> Block:
        field, window = self._input(block.layer), self._window(block.row, block.column, block.values.shape)
        old, beside = field[window].copy(), self._beside(block.layer)
        wall = self._walls_in(window)
        new = block.values if wall is None else np.where(wall, old, block.values)
        if block.layer == "water" or block.layer in SOLIDS:
            book = "water" if block.layer == "water" else "solids"
            self._edited[book] += _sum(new, wall) - _sum(old, wall)
        self._write(block.layer, window, new)
        rock = None
        if block.layer == "elevation" and self._layered:  # what is heaped up is loose; what is dug away lays bare
            rock = self._input("bedrock")[window].copy()
            self._write("bedrock", window, np.minimum(rock, new) if block.bedrock is None else block.bedrock)
        self._after_edit(block.layer, block.beside)
        return dataclasses.replace(block, values=old, beside=beside, bedrock=rock)

    def _window(self, row: int, column: int, shape: tuple[int, ...]) -> Window:
        rows, columns = self.shape
        if not (row >= 0 and column >= 0 and row + shape[0] <= rows and column + shape[1] <= columns):
            raise InvalidParameter(
                f"a block of {shape[0]} x {shape[1]} cells at row {row}, column {column} reaches beyond the "
                f"{rows} x {columns} cells of the terrain"
            )
        return slice(row, row + shape[0]), slice(column, column + shape[1])


def _sum(values: Field, wall: NDArray[np.bool_] | None) -> float | int:
    """Sum without walls: exact for whole numbers, in float64 for others."""
    if wall is not None:
        values = values[~wall]
    return int(values.sum(dtype=np.int64)) if values.dtype.kind in "iu" else float(values.sum(dtype=np.float64))
