"""The sequence of kernels of an iteration; many iterations per submit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from slopewash.backends.gpu import wgsl
from slopewash.backends.gpu.device import Access, Device
from slopewash.backends.gpu.fields import Stored, bytes_per_cell
from slopewash.backends.gpu.layout import GROUP, Band, Layout

CELLS_PER_SUBMIT = 1 << 26
"""Cells times iterations per submit: long enough to keep a card busy, short enough for drivers' watchdogs."""


class Grid(NamedTuple):
    """The grid as passed to every kernel; rows count from the first row of the grid."""

    height: int
    width: int
    stride: int
    origin: int
    """first row bound"""
    first: int
    """first row to compute"""
    north: int
    """row north of row 0 where edges are periodic"""
    south: int
    """row south of the last where edges are periodic"""
    zero: int
    """always 0, which compilers cannot know: see `rounded` in grid.wgsl"""


GRID = wgsl.Block("grid", Grid)


@dataclass(frozen=True)
class Use:
    """A field as a kernel uses it."""

    field: str
    access: Access
    whole: bool = False
    """bound as a whole in every band: small tables and budget sums"""
    apart: bool = False
    """maps and budget sums, which are not counted in the memory traffic of the physics"""


@dataclass(frozen=True)
class Kernel:
    """One dispatch: a WGSL file and what it reads and writes."""

    name: str
    path: Path
    uses: tuple[Use, ...]

    def traffic(self, kinds: Mapping[str, str], *, apart: bool = False) -> int:
        """Bytes per cell that must cross the memory bus: each field once per direction, as caches serve neighbours."""
        used = [use for use in self.uses if use.apart == apart and not use.whole]
        return sum(bytes_per_cell(kinds[use.field]) * (2 if use.access == "update" else 1) for use in used)


class Program:
    """Compiled kernels bound to fields. One uniform block has the model's parameters, one per band has the grid."""

    def __init__(
        self,
        device: Device,
        layout: Layout,
        kernels: Sequence[Kernel],
        fields: Mapping[str, Stored],
        *,
        block: wgsl.Block,
        constants: Mapping[str, wgsl.Constant],
        numbers: Any,
        wrap: bool,
    ) -> None:
        self._device, self._layout, self._kernels, self._fields = device, layout, tuple(kernels), fields
        self._block = block
        self._numbers = numbers
        self._grids = [self._grid(band, wrap) for band in layout.bands]
        self._steps = [(kernel, *self._build(kernel, constants)) for kernel in kernels]
        widest = max(field.cell for field in fields.values())
        self._spare = device.buffer("spare row", layout.stride * widest if layout.ghosts else 4)

    def _grid(self, band: Band, wrap: bool) -> Any:
        layout = self._layout
        far = wrap and not layout.ghosts
        values = Grid(
            height=layout.rows,
            width=layout.columns,
            stride=layout.stride,
            origin=band.origin,
            first=band.first,
            north=layout.rows - 1 if far else -1,
            south=0 if far else layout.rows,
            zero=0,
        )
        buffer = self._device.buffer("grid", GRID.size, uniform=True)
        self._device.handle.queue.write_buffer(buffer, 0, GRID.pack(values))
        return buffer

    def _build(self, kernel: Kernel, constants: Mapping[str, wgsl.Constant]) -> tuple[Any, list[Any]]:
        buffers = [(use.field, self._fields[use.field].kind, use.access) for use in kernel.uses]
        source = wgsl.assemble(kernel.path, (self._block, GRID), buffers, {"GROUP": GROUP} | dict(constants))
        accesses: list[Access] = ["uniform", "uniform", *(use.access for use in kernel.uses)]
        pipeline, layout = self._device.pipeline(source, accesses)
        groups = [
            self._device.bind(
                layout,
                [
                    (self._numbers, 0, self._block.size),
                    (grid, 0, GRID.size),
                    *(self._range(use, band) for use in kernel.uses),
                ],
            )
            for band, grid in zip(self._layout.bands, self._grids, strict=True)
        ]
        return pipeline, groups

    def _range(self, use: Use, band: Band) -> tuple[Any, int, int]:
        field = self._fields[use.field]
        if use.whole:
            return field.buffer, 0, field.buffer.size
        return (field.buffer, *self._layout.part(band, field.cell))

    def run(self, iterations: int) -> None:
        """Run iterations and wait for them; nothing is read back in between."""
        at_once = max(1, CELLS_PER_SUBMIT // (self._layout.rows * self._layout.stride))
        while iterations > 0:
            count = min(at_once, iterations)
            with self._device.watched("computing"):
                self._submit(count)
            iterations -= count
        self._device.wait()

    def _submit(self, iterations: int) -> None:
        encoder = self._device.handle.create_command_encoder()
        layout = self._layout
        across = layout.stride // GROUP
        opened = None
        for _ in range(iterations):
            for kernel, pipeline, groups in self._steps:
                opened = opened or encoder.begin_compute_pass()
                opened.set_pipeline(pipeline)
                for band, group in zip(layout.bands, groups, strict=True):
                    opened.set_bind_group(0, group)
                    opened.dispatch_workgroups(across, band.last - band.first)
                if layout.ghosts:
                    opened.end()
                    opened = None
                    self._renew_ghosts(encoder, kernel)
        if opened is not None:
            opened.end()
        self._device.handle.queue.submit([encoder.finish()])

    def _renew_ghosts(self, encoder: Any, kernel: Kernel) -> None:
        """Copy the opposite edge rows of what a kernel has written."""
        for use in kernel.uses:
            if use.access == "read" or use.whole:
                continue
            field = self._fields[use.field]
            row = self._layout.stride * field.cell
            last = self._layout.rows * row
            for source, target in (
                (last, 0),
                (row, last + row),
            ):  # a buffer cannot be copied onto itself
                encoder.copy_buffer_to_buffer(field.buffer, source, self._spare, 0, row)
                encoder.copy_buffer_to_buffer(self._spare, 0, field.buffer, target, row)

    def close(self) -> None:
        """Free the memory."""
        for buffer in (*self._grids, self._spare):
            buffer.destroy()
