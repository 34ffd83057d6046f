"""Sums for the mass budget on the device: every workgroup adds up its cells, in 64-bit fixed point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slopewash.backends.gpu.device import Device
from slopewash.backends.gpu.fields import Stored
from slopewash.backends.gpu.layout import Layout


class Sums(Stored):
    """Amounts by name, in the kernels' own units; each has an entry for every workgroup. See sums.wgsl."""

    def __init__(self, device: Device, layout: Layout, entries: Sequence[str]) -> None:
        super().__init__(device, "sums", "vec2<u32>", layout.groups * len(entries))
        self._entries = tuple(entries)

    @property
    def constants(self) -> dict[str, int]:
        """Numbers of the entries, for the kernels."""
        return {"ENTRIES": len(self._entries)} | {name: k for k, name in enumerate(self._entries)}

    def units(self) -> dict[str, int]:
        """Sum up over the grid, exactly, in units of 2⁻³²."""
        with self._device.watched("downloading the mass budget"):
            data = self._device.handle.queue.read_buffer(self.buffer)
        amounts = np.frombuffer(data, "<i8").reshape(-1, len(self._entries))
        whole = (amounts >> 32).sum(axis=0).tolist()
        part = (amounts & 0xFFFFFFFF).sum(axis=0).tolist()
        return {name: (whole[k] << 32) + part[k] for k, name in enumerate(self._entries)}
