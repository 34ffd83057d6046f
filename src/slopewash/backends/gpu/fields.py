"""Fields on a device: one value of a few components per cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.backends.gpu.device import Device
from slopewash.backends.gpu.layout import Layout

TYPES: Mapping[str, tuple[Any, int]] = {
    "f32": (np.float32, 1),
    "i32": (np.int32, 1),
    "u32": (np.uint32, 1),
    "vec2<f32>": (np.float32, 2),
    "vec4<f32>": (np.float32, 4),
    "vec2<i32>": (np.int32, 2),
    "vec2<u32>": (np.uint32, 2),
    "vec4<i32>": (np.int32, 4),
    "atomic<u32>": (np.uint32, 1),
    "array<atomic<u32>, 2>": (np.uint32, 2),
    "array<atomic<u32>, 4>": (np.uint32, 4),
}
"""NumPy type and number of components of each WGSL type in use."""


def bytes_per_cell(kind: str) -> int:
    """Size of a WGSL type.

    >>> bytes_per_cell("vec4<f32>")
    16
    """
    dtype, components = TYPES[kind]
    return int(np.dtype(dtype).itemsize * components)


class Stored:
    """Values of one WGSL type in a buffer."""

    def __init__(self, device: Device, name: str, kind: str, count: int) -> None:
        self.name, self.kind = name, kind
        self.cell = bytes_per_cell(kind)
        self.dtype, self.components = TYPES[kind]
        self._device = device
        self.buffer = device.buffer(name, count * self.cell)

    def _write(self, first: int, values: NDArray[Any]) -> None:
        """Replace values from `first`."""
        with self._device.watched(f"uploading {self.name}"):
            self._device.handle.queue.write_buffer(
                self.buffer, first * self.cell, np.ascontiguousarray(values, self.dtype)
            )

    def _read(self, first: int, count: int) -> NDArray[Any]:
        """So many values from `first`, component by component."""
        with self._device.watched(f"downloading {self.name}"):
            data = self._device.handle.queue.read_buffer(self.buffer, first * self.cell, count * self.cell)
        return np.frombuffer(data, self.dtype)

    def clear(self) -> None:
        """Set all values to zero."""
        with self._device.watched(f"clearing {self.name}"):
            encoder = self._device.handle.create_command_encoder()
            encoder.clear_buffer(self.buffer)
            self._device.handle.queue.submit([encoder.finish()])

    def close(self) -> None:
        """Free the memory."""
        self.buffer.destroy()


class Field(Stored):
    """Cells of a grid."""

    def __init__(self, device: Device, layout: Layout, name: str, kind: str) -> None:
        super().__init__(device, name, kind, layout.cells)
        self.layout = layout

    def _shaped(self, rows: int) -> tuple[int, int, int]:
        return rows, self.layout.stride, self.components

    def upload(self, values: NDArray[Any]) -> None:
        """Replace all cells; `values` is `[row, column]` or `[row, column, component]`."""
        self.upload_rows(0, values)

    def upload_rows(self, first: int, values: NDArray[Any]) -> None:
        """Replace whole rows from `first`; `values` as for `upload`."""
        layout = self.layout
        rows = len(values)
        padded = np.zeros(self._shaped(rows), self.dtype)
        padded[:, : layout.columns] = values.reshape(rows, layout.columns, self.components)
        self._write_rows(first, padded)
        if layout.ghosts and first + rows == layout.rows:
            self._write_rows(-1, padded[-1])
        if layout.ghosts and first == 0:
            self._write_rows(layout.rows, padded[0])

    def _write_rows(self, row: int, values: NDArray[Any]) -> None:
        self._write((row + self.layout.lead) * self.layout.stride, values)

    def download(self, first: int = 0, last: int | None = None) -> NDArray[Any]:
        """Return rows `first` to `last` (excluded; all if None) as `[row, column]` or `[row, column, component]`."""
        layout = self.layout
        rows = (layout.rows if last is None else last) - first
        values = self._read((first + layout.lead) * layout.stride, rows * layout.stride)
        values = values.reshape(self._shaped(rows))[:, : layout.columns]
        return values[..., 0] if self.components == 1 else values


class Table(Stored):
    """A table of values that every cell can read."""

    def __init__(self, device: Device, name: str, kind: str, length: int) -> None:
        super().__init__(device, name, kind, length)
        self.length = length

    def upload(self, values: NDArray[Any]) -> None:
        """Replace all values, or the first ones."""
        self._write(0, values)

    def download(self, length: int) -> NDArray[Any]:
        """Return the first values as `[item]` or `[item, component]`."""
        values = self._read(0, length)
        return values if self.components == 1 else values.reshape(length, self.components)
