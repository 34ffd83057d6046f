"""Prefix sums and counting sort on a device: which items lie in which cell of a hash grid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.backends.gpu import wgsl
from slopewash.backends.gpu.device import Access, Device

HERE = Path(__file__).parent
BLOCK = 256
"""Numbers that one workgroup takes."""
ACROSS = 1 << 14
"""Workgroups along x: a row of them stays below every device's limit."""
WORD = 4


class Step:
    """A small kernel bound to buffers: one lane per item."""

    def __init__(self, device: Device, name: str, buffers: Sequence[tuple[Any, Access]], items: int) -> None:
        source = wgsl.declare_constants({"BLOCK": BLOCK, "ACROSS": ACROSS}) + "\n" + wgsl.read_kernel(HERE / name)
        self._pipeline, layout = device.pipeline(source, [access for _, access in buffers])
        self._group = device.bind(layout, [(buffer, 0, buffer.size) for buffer, _ in buffers])
        self._blocks = -(-items // BLOCK)

    def encode(self, running: Any) -> None:
        """Add the dispatch to a compute pass."""
        running.set_pipeline(self._pipeline)
        running.set_bind_group(0, self._group)
        running.dispatch_workgroups(min(self._blocks, ACROSS), -(-self._blocks // ACROSS))


class PrefixSum:
    """Replaces `count` whole numbers of a buffer by the sums of all before each."""

    def __init__(self, device: Device, numbers: Any, count: int) -> None:
        self._made: list[Any] = []
        up: list[Step] = []
        down: list[Step] = []
        while True:
            blocks = -(-count // BLOCK)
            sums = device.buffer("sums", blocks * WORD)
            self._made.append(sums)
            up.append(Step(device, "scan.wgsl", [(numbers, "update"), (sums, "write")], count))
            if blocks == 1:
                break
            down.append(Step(device, "raise.wgsl", [(numbers, "update"), (sums, "read")], count))
            numbers, count = sums, blocks
        self._steps = [*up, *reversed(down)]

    def encode(self, running: Any) -> None:
        """Add the dispatches to a compute pass."""
        for step in self._steps:
            step.encode(running)

    def close(self) -> None:
        """Give the memory back."""
        for buffer in self._made:
            buffer.destroy()


class CellOrder:
    """Numbers of items ordered by their cell, and by their own number within it.

    Items write their cell's number into `cells`; one that is not below `count` of cells is in none. After `encode`,
    `order[starts[c]:starts[c + 1]]` are the items of cell c.
    """

    def __init__(self, device: Device, *, items: int, cells: int) -> None:
        self._device = device
        self.cells = device.buffer("cells", items * WORD)
        self.starts = device.buffer("starts", (cells + 1) * WORD)
        self.order = device.buffer("order", items * WORD)
        self._filled = device.buffer("filled", cells * WORD)
        self._count = Step(device, "count.wgsl", [(self.cells, "read"), (self.starts, "update")], items)
        self._sum = PrefixSum(device, self.starts, cells + 1)
        buffers: list[tuple[Any, Access]] = [
            (self.cells, "read"), (self.starts, "read"), (self._filled, "update"), (self.order, "write"),
        ]  # fmt: skip
        self._scatter = Step(device, "scatter.wgsl", buffers, items)
        self._by_number = Step(device, "by_number.wgsl", [(self.starts, "read"), (self.order, "update")], cells)

    def encode(self, encoder: Any) -> None:
        """Add the sort to a command encoder."""
        for buffer in (self.starts, self._filled):
            encoder.clear_buffer(buffer)
        running = encoder.begin_compute_pass()
        for step in (self._count, self._sum, self._scatter, self._by_number):
            step.encode(running)
        running.end()

    def download(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Starts of all cells, and the order up to the last item that is in one."""
        with self._device.watched("downloading an order"):
            starts, order = (
                np.frombuffer(self._device.handle.queue.read_buffer(buffer), np.uint32)
                for buffer in (self.starts, self.order)
            )
        return starts, order[: starts[-1]]

    def close(self) -> None:
        """Give the memory back."""
        self._sum.close()
        for buffer in (self.cells, self.starts, self.order, self._filled):
            buffer.destroy()
