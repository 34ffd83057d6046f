"""Runs the WGSL kernels on whole heights: two dispatches per iteration, bit-identical to the reference."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.backends.gpu.program import Kernel, Use
from slopewash.backends.gpu.wgsl import Block
from slopewash.backends.gpu.workspace import Workspace
from slopewash.models.backend import Backend, counted_on_device, cut
from slopewash.models.state import Array, Domain, State, Window
from slopewash.models.steepest_talus.coefficients import Coefficients, beds, standing_ground
from slopewash.models.steepest_talus.prepare import WALL
from slopewash.models.steepest_talus.reference import CLOSER, NOWHERE

HERE = Path(__file__).parent
KINDS = {
    "n": "i32",  # heights
    "to": "i32",  # direction in which the cell sends, or nowhere
    "standing": "vec2<i32>",  # drops that stand to straight and diagonal neighbours, where they vary
    "rock": "i32",  # with strata: bedrock
    "top": "vec2<i32>",  # with strata: top of the first layer, high and low bits
}
LOW_BITS = 24
"""Depths may exceed 32 bits: they are kept as a high part and so many low bits."""


class Numbers(NamedTuple):
    """What slides, in units of height."""

    straight: int
    diagonal: int
    amplitude: int
    printed: bool
    varied: bool
    layered: bool


BLOCK = Block("talus", Numbers)


def kernels(*, varied: bool = False, layered: bool = False) -> tuple[Kernel, ...]:
    """One iteration: what each dispatch reads and writes."""
    choose = [Use("n", "read"), Use("to", "write")]
    gather = [Use("to", "read"), Use("n", "update"), Use("sums", "update", whole=True, apart=True)]
    if layered:
        choose += [Use("rock", "read"), Use("top", "read"), Use("strata", "read", whole=True)]
        gather.append(Use("rock", "update"))
    elif varied:
        choose.append(Use("standing", "read"))
    return (
        Kernel("choose", HERE / "choose.wgsl", tuple(choose)),
        Kernel("gather", HERE / "gather.wgsl", tuple(gather)),
    )


def high_and_low(a: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split whole numbers into a high part and `LOW_BITS` low bits, for comparing without 64-bit integers."""
    return np.stack([a >> LOW_BITS, a & ((1 << LOW_BITS) - 1)], axis=-1)


STEPPED = {"elevation": "n", "bedrock": "rock"}
"""Where the device keeps each field."""


class GpuBackend(Backend):
    """Steps the heights on a graphics card; `largest_binding` holds bands of rows to so many bytes of a field."""

    def __init__(self, state: State, domain: Domain, *, largest_binding: int | None = None) -> None:
        super().__init__(state, domain)
        layers = len(domain.strata)
        unused = {"standing"} if layers else {"rock", "top"}
        self._work = Workspace(
            domain.shape, {name: kind for name, kind in KINDS.items() if name not in unused}, block=BLOCK,
            entries=("SENT",), tables={"strata": ("vec4<i32>", layers + 1)} if layers else None,
            wraps_rows=domain.sides.wraps_rows, wraps_columns=domain.sides.wraps_columns,
            largest_binding=largest_binding,
        )  # fmt: skip
        self._fresh: dict[str, Array] = {}
        self._counted = 0
        self._coefficients: Coefficients | None = None
        self._numbers: Numbers | None = None
        for name, field in STEPPED.items():
            if name in self.host:
                self._work.fields[field].upload(self.host.pop(name))

    @property
    def scalars(self) -> dict[str, float | int]:
        """Sums, with what has slid since they were last asked for."""
        if self._coefficients is not None:
            sent = self._work.sums.units()["SENT"] >> 32
            self._scalars["solids_moved"] += (sent - self._counted) * self._coefficients.amplitude
            self._counted = sent
        return self._scalars

    def read(self, name: str, window: Window | None = None) -> Array:
        """Download a field, or the rows of part of it."""
        if name not in STEPPED:
            return super().read(name, window)
        field = self._work.fields[STEPPED[name]]
        if window is not None and name not in self._fresh:
            return field.download(window[0].start, window[0].stop)[:, window[1]]
        if name not in self._fresh:
            self._fresh[name] = field.download()
        return cut(self._fresh[name], window)

    def write(self, name: str, values: Array, window: Window | None = None) -> None:
        """Replace a field, or part of it: no more than its rows are moved."""
        if name not in STEPPED:
            super().write(name, values, window)
            self._numbers = None
            return
        field, rows = self._work.fields[STEPPED[name]], slice(0, self.domain.shape[0])
        if window is not None:
            rows = window[0]
            whole = np.array(field.download(rows.start, rows.stop))
            whole[:, window[1]] = values
            values = whole
        field.upload_rows(rows.start, values)
        self._fresh.pop(name, None)

    def advance(self, coefficients: Coefficients, iterations: int) -> None:
        """Take the state through some iterations; nothing is read back in between."""
        if self._numbers is None or coefficients != self._coefficients:
            _ = self.scalars  # what has slid so far did so by the amplitude in force until now
            self._coefficients = coefficients
            self._numbers = self._prepare(coefficients)
        constants = {
            "WALL": WALL, "NOWHERE": NOWHERE, "CLOSER": float(CLOSER), "LOW_BITS": LOW_BITS,
            **counted_on_device(self.domain),
        }  # fmt: skip
        self._work.use(self._numbers, kernels=self._kernels(self._numbers), constants=constants)
        self.forget()
        self._work.run(iterations)

    def _prepare(self, c: Coefficients) -> Numbers:
        """Upload the drops that stand where they vary, and return the numbers."""
        stands = standing_ground(State(self.host), self.domain, c)
        layered = bool(self.domain.strata)
        varied = not layered and stands.straight.size > 1
        if layered:
            layers = beds(self.domain, c)
            begins = np.append(layers.depths, 0)  # loose soil, the last, lies nowhere by its depth
            self._work.fields["top"].upload(high_and_low(self.host["strata_top"]))
            self._work.tables["strata"].upload(
                np.column_stack([high_and_low(begins), layers.straight, layers.diagonal])
            )
        elif varied:
            self._work.fields["standing"].upload(np.stack([stands.straight, stands.diagonal], axis=-1))
        return Numbers(
            straight=int(stands.straight.flat[0]), diagonal=int(stands.diagonal.flat[0]), amplitude=c.amplitude,
            printed=c.printed, varied=varied, layered=layered,
        )  # fmt: skip

    def _kernels(self, numbers: Numbers) -> tuple[Kernel, ...]:
        return kernels(varied=numbers.varied, layered=numbers.layered)

    def forget(self) -> None:
        """Drop what was downloaded."""
        self._fresh.clear()

    def traffic(self, coefficients: Coefficients) -> dict[str, int]:
        """Bytes per cell that each kernel of one iteration must move."""
        return self._work.traffic(self._kernels(self._numbers or self._prepare(coefficients)))

    def close(self) -> None:
        """Free the device's memory."""
        self._work.close()
