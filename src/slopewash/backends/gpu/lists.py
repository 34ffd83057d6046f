"""Kernels over lists: particles, triangles, grains. Each dispatch has the length of its list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from slopewash.backends.gpu import wgsl
from slopewash.backends.gpu.device import MIB, Access, open_device
from slopewash.backends.gpu.fields import Table, bytes_per_cell
from slopewash.backends.gpu.layout import GROUP
from slopewash.backends.gpu.program import Kernel
from slopewash.errors import BackendUnavailable

MOST_GROUPS = 65535
"""Workgroups in a row of a dispatch that every WebGPU device supports."""
PASSES_PER_SUBMIT = 512
"""Dispatches per submit: enough to keep a card busy, few enough for drivers' watchdogs."""


class Pass(NamedTuple):
    """A kernel and its number of items."""

    kernel: Kernel
    items: int


class Lists:
    """Tables of the WGSL types `kinds`, which may grow, the current parameters, and kernels over them."""

    def __init__(
        self,
        kinds: Mapping[str, str],
        *,
        block: wgsl.Block,
        constants: Mapping[str, wgsl.Constant],
    ) -> None:
        self.device = open_device()
        self.tables: dict[str, Table] = {}
        self._kinds = kinds
        self._block = block
        self._constants = {"GROUP": GROUP} | dict(constants)
        self._in_force: Any = None
        self._built: dict[str, tuple[Any, Any]] = {}
        self._numbers = self.device.buffer("numbers", block.size, uniform=True)

    def hold(self, lengths: Mapping[str, int], what: str) -> None:
        """Allocate tables of zeros where the length changed; `what` names their contents in errors."""
        for name, length in lengths.items():
            if name in self.tables and self.tables[name].length == length:
                continue
            self._check(name, length, what)
            if name in self.tables:
                self.tables[name].close()
            self.tables[name] = Table(self.device, name, self._kinds[name], length)
            self._built.clear()

    def _check(self, name: str, length: int, what: str) -> None:
        allowed = min(self.device.largest_binding, self.device.largest_buffer)
        size = length * bytes_per_cell(self._kinds[name])
        if size > allowed:
            raise BackendUnavailable(
                f"{what} need {size / MIB:.0f} MiB for a table; {self.device.adapter.name} allows "
                f"{allowed / MIB:.0f} MiB per binding: take fewer, or backend cpu"
            )

    def use(self, *numbers: Any) -> None:
        """Set the parameters, with one write."""
        if numbers != self._in_force:
            with self.device.watched("uploading parameters"):
                self.device.handle.queue.write_buffer(self._numbers, 0, self._block.pack(*numbers))
            self._in_force = numbers

    def run(self, passes: Sequence[Pass]) -> None:
        """Dispatch kernels one after another and wait for them; nothing is read back in between."""
        for first in range(0, len(passes), PASSES_PER_SUBMIT):
            with self.device.watched("computing"):
                self._submit(passes[first : first + PASSES_PER_SUBMIT])
        self.device.wait()

    def _submit(self, passes: Sequence[Pass]) -> None:
        encoder = self.device.handle.create_command_encoder()
        opened = encoder.begin_compute_pass()
        for kernel, items in passes:
            pipeline, bound = self._build(kernel)
            opened.set_pipeline(pipeline)
            opened.set_bind_group(0, bound)
            groups = -(-items // GROUP)
            rows = -(-groups // MOST_GROUPS)
            if rows:
                opened.dispatch_workgroups(-(-groups // rows), rows)
        opened.end()
        self.device.handle.queue.submit([encoder.finish()])

    def _build(self, kernel: Kernel) -> tuple[Any, Any]:
        if kernel.name not in self._built:
            uses = [(use.field, self._kinds[use.field], use.access) for use in kernel.uses]
            source = wgsl.assemble(kernel.path, (self._block,), uses, self._constants)
            accesses: list[Access] = ["uniform", *(use.access for use in kernel.uses)]
            pipeline, layout = self.device.pipeline(source, accesses)
            buffers = [self.tables[use.field].buffer for use in kernel.uses]
            bound = self.device.bind(layout, [(b, 0, b.size) for b in (self._numbers, *buffers)])
            self._built[kernel.name] = pipeline, bound
        return self._built[kernel.name]

    def close(self) -> None:
        """Free the memory."""
        for table in self.tables.values():
            table.close()
        self._numbers.destroy()
