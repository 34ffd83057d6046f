"""Budget sums on the device: every workgroup sums the changes of its cells, in 64-bit fixed point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slopewash.backends.gpu.device import Device
from slopewash.backends.gpu.fields import bytes_per_cell
from slopewash.backends.gpu.layout import Layout


class Books:
    """Sums by name, in the units of the kernels; each has an entry for every workgroup. See books.wgsl."""

    name = "books"
    kind = "vec2<u32>"

    def __init__(self, device: Device, layout: Layout, entries: Sequence[str]) -> None:
        self._device, self._entries = device, tuple(entries)
        self.cell = bytes_per_cell(self.kind)
        self.buffer = device.buffer(self.name, layout.groups * len(entries) * self.cell)

    @property
    def constants(self) -> dict[str, int]:
        """Indices of the entries, for the kernels."""
        return {"ENTRIES": len(self._entries)} | {name: k for k, name in enumerate(self._entries)}

    def totals(self) -> dict[str, float]:
        """Return the sums over the grid, exact up to the final division."""
        with self._device.watched("downloading the budget"):
            data = self._device.handle.queue.read_buffer(self.buffer)
        amounts = np.frombuffer(data, "<i8").reshape(-1, len(self._entries))
        whole = (amounts >> 32).sum(axis=0)
        part = (amounts & 0xFFFFFFFF).sum(axis=0)
        return {name: float(whole[k]) + float(part[k]) / 2.0**32 for k, name in enumerate(self._entries)}

    def close(self) -> None:
        """Free the memory."""
        self.buffer.destroy()
