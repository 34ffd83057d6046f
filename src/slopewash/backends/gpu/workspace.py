"""Everything one run holds on a device: fields, budget sums, parameters and the kernels built for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slopewash.backends.gpu.device import open_device
from slopewash.backends.gpu.fields import Field, Table, bytes_per_cell
from slopewash.backends.gpu.layout import lay_out
from slopewash.backends.gpu.program import Kernel, Program
from slopewash.backends.gpu.sums import Sums
from slopewash.backends.gpu.wgsl import Block, Constant

Constants = Mapping[str, Constant]


class Workspace:
    """A grid of `rows` by `columns` cells with fields of the WGSL types `kinds` and tables of (type, length).

    `largest_binding` limits bands of rows to so many bytes of a field, if the device would allow more. `whole` is for
    kernels that may read any cell: then there are no bands. `ring` cells around the grid belong to the backend.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        kinds: Mapping[str, str],
        *,
        block: Block,
        entries: Sequence[str],
        tables: Mapping[str, tuple[str, int]] | None = None,
        wraps_rows: bool = False,
        wraps_columns: bool = False,
        largest_binding: int | None = None,
        whole: bool = False,
        ring: int = 0,
    ) -> None:
        self.device = open_device()
        self._wraps = {"wraps_rows": wraps_rows, "wraps_columns": wraps_columns}
        self.layout = lay_out(
            *shape,
            widest=max(map(bytes_per_cell, kinds.values())),
            periodic=wraps_rows,
            largest_binding=largest_binding or self.device.largest_binding,
            largest_buffer=self.device.largest_buffer,
            adapter=self.device.adapter.name,
            whole=whole,
            ring=ring,
        )
        self.fields: dict[str, Field] = {}
        self._block = block
        self._in_force: Any = None
        self._variant: Any = None
        self._program: Program | None = None
        for name, kind in kinds.items():
            self.add_field(name, kind)
        self.tables = {name: Table(self.device, name, *what) for name, what in (tables or {}).items()}
        self.sums = Sums(self.device, self.layout, entries)
        self._numbers = self.device.buffer("numbers", block.size, uniform=True)

    def add_field(self, name: str, kind: str) -> None:
        """Allocate another field."""
        self.fields[name] = Field(self.device, self.layout, name, kind)

    def use(self, *numbers: Any, kernels: Sequence[Kernel], constants: Constants) -> None:
        """Set the parameters: one write, unless other kernels or constants need other pipelines."""
        if numbers != self._in_force:
            with self.device.watched("uploading parameters"):
                self.device.handle.queue.write_buffer(self._numbers, 0, self._block.pack(*numbers))
            self._in_force = numbers
        constants = {**constants, **self.sums.constants, **self._block.constants(*numbers), **self._wraps}
        variant = (tuple(kernels), constants)
        if variant != self._variant:
            self._build(kernels, constants)
            self._variant = variant

    def _build(self, kernels: Sequence[Kernel], constants: Constants) -> None:
        if self._program is not None:
            self._program.close()
        self._program = Program(
            self.device,
            self.layout,
            kernels,
            {**self.fields, **self.tables, "sums": self.sums},
            block=self._block,
            constants=constants,
            numbers=self._numbers,
            wrap=self._wraps["wraps_rows"],
        )

    def run(self, iterations: int) -> None:
        """Run iterations."""
        assert self._program is not None
        self._program.run(iterations)

    def traffic(self, kernels: Sequence[Kernel]) -> dict[str, int]:
        """Bytes per cell that each kernel moves, and maps separately; budget sums are small and not counted."""
        kinds = {name: field.kind for name, field in self.fields.items()}
        maps = sum(kernel.traffic(kinds, apart=True) for kernel in kernels)
        return {kernel.name: kernel.traffic(kinds) for kernel in kernels} | ({"maps": maps} if maps else {})

    def close(self) -> None:
        """Free the memory."""
        if self._program is not None:
            self._program.close()
        for field in self.fields.values():
            field.close()
        for table in self.tables.values():
            table.close()
        self.sums.close()
        self._numbers.destroy()
