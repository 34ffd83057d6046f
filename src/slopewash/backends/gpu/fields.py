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


class Field:
    """Cells of one WGSL type in a buffer."""

    def __init__(self, device: Device, layout: Layout, name: str, kind: str) -> None:
        self.name, self.kind, self.layout = name, kind, layout
        self.cell = bytes_per_cell(kind)
        self.dtype, self.components = TYPES[kind]
        self._device = device
        self.buffer = device.buffer(name, layout.bytes(self.cell))

    def _shaped(self, rows: int) -> tuple[int, int, int]:
        return rows, self.layout.stride, self.components

    def upload(self, values: NDArray[Any]) -> None:
        """Replace all cells; `values` is `[row, column]` or `[row, column, component]`."""
        layout = self.layout
        padded = np.zeros(self._shaped(layout.rows), self.dtype)
        padded[:, : layout.columns] = values.reshape(layout.rows, layout.columns, self.components)
        self._write(0, padded)
        if layout.ghosts:
            self._write(-1, padded[-1])
            self._write(layout.rows, padded[0])

    def upload_rows(self, first: int, values: NDArray[Any]) -> None:
        """Replace whole rows from `first`; `values` as for `upload`."""
        layout = self.layout
        rows = len(values)
        padded = np.zeros(self._shaped(rows), self.dtype)
        padded[:, : layout.columns] = values.reshape(rows, layout.columns, self.components)
        self._write(first, padded)
        if layout.ghosts and first + rows == layout.rows:
            self._write(-1, padded[-1])
        if layout.ghosts and first == 0:
            self._write(layout.rows, padded[0])

    def _write(self, row: int, values: NDArray[Any]) -> None:
        offset = (row + self.layout.lead) * self.layout.stride * self.cell
        with self._device.watched(f"uploading {self.name}"):
            self._device.handle.queue.write_buffer(self.buffer, offset, np.ascontiguousarray(values))

    def download(self, first: int = 0, last: int | None = None) -> NDArray[Any]:
        """Return rows `first` to `last` (excluded; all if None) as `[row, column]` or `[row, column, component]`."""
        layout = self.layout
        last = layout.rows if last is None else last
        row = layout.stride * self.cell
        with self._device.watched(f"downloading {self.name}"):
            data = self._device.handle.queue.read_buffer(self.buffer, (first + layout.lead) * row, (last - first) * row)
        values = np.frombuffer(data, self.dtype).reshape(self._shaped(last - first))[:, : layout.columns]
        return values[..., 0] if self.components == 1 else values

    def clear(self) -> None:
        """Set all cells to zero."""
        with self._device.watched(f"clearing {self.name}"):
            encoder = self._device.handle.create_command_encoder()
            encoder.clear_buffer(self.buffer)
            self._device.handle.queue.submit([encoder.finish()])

    def close(self) -> None:
        """Free the memory."""
        self.buffer.destroy()


class Table:
    """A table of values that every cell can read."""

    def __init__(self, device: Device, name: str, kind: str, length: int) -> None:
        self.name, self.kind, self.length = name, kind, length
        self.cell = bytes_per_cell(kind)
        self._device = device
        self.buffer = device.buffer(name, length * self.cell)

    def upload(self, values: NDArray[Any]) -> None:
        """Replace all values, or the first ones."""
        with self._device.watched(f"uploading {self.name}"):
            self._device.handle.queue.write_buffer(self.buffer, 0, np.ascontiguousarray(values, TYPES[self.kind][0]))

    def download(self, length: int) -> NDArray[Any]:
        """Return the first values as `[item]` or `[item, component]`."""
        dtype, components = TYPES[self.kind]
        with self._device.watched(f"downloading {self.name}"):
            data = self._device.handle.queue.read_buffer(self.buffer, 0, length * self.cell)
        values = np.frombuffer(data, dtype)
        return values if components == 1 else values.reshape(length, components)

    def clear(self) -> None:
        """Set all values to zero."""
        with self._device.watched(f"clearing {self.name}"):
            encoder = self._device.handle.create_command_encoder()
            encoder.clear_buffer(self.buffer)
            self._device.handle.queue.submit([encoder.finish()])

    def close(self) -> None:
        """Free the memory."""
        self.buffer.destroy()
