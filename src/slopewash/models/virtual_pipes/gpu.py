"""Runs the WGSL kernels: three dispatches per iteration, everything else stays on the device."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.backends.gpu.program import Kernel, Use
from slopewash.backends.gpu.wgsl import Block, Constant
from slopewash.backends.gpu.workspace import Workspace
from slopewash.models.backend import Backend, counted_on_device, cut
from slopewash.models.ground import IS_WALL, WALL
from slopewash.models.state import Array, Domain, State, Window
from slopewash.models.virtual_pipes.bedding import ROUNDING, SECOND_SHIFT
from slopewash.models.virtual_pipes.coefficients import SHALLOW, SHORTENING, SLANTED_WIDTH, TINY, Coefficients
from slopewash.models.virtual_pipes.cover import DECAY
from slopewash.models.virtual_pipes.fields import BASES, SHARES
from slopewash.models.virtual_pipes.strata import LEAST_FACE, beds
from slopewash.terrain.rock import LEAST, SECOND, SECOND_PER_BED

HERE = Path(__file__).parent


BLOCK = Block("c", Coefficients)
KINDS = {
    "cell": "vec4<f32>",  # ground above the level, water, sediment, erodibility
    "worked": "vec4<f32>",  # ground, depth before the flow, sediment and erodibility after the exchange
    "flux": "vec4<f32>",  # outflow to the west, east, north, south
    "slanted_flux": "vec4<f32>",  # with eight pipes: outflow to the north-west, north-east, south-west, south-east
    "level": "f32",
    "poured": "vec2<f32>",  # water after the rain, and weight of slides or the part of leaving cover that is there
    "supply": "vec2<f32>",  # rainfall and water sources, where they are uneven
    "rock": "vec2<f32>",  # bedrock, and with strata the top of the first layer, both above the level
    "flow": "f32",  # discharge summed over the iterations done
}
WITH_BEDS = {"rock": "vec4<f32>"}
"""With tilted beds: bedrock, where in the beds the datum lies, and erodibility of the rock without them."""
WITH_MAPS = {"level": "vec4<f32>", "supply": "vec4<f32>", "poured": "vec4<f32>"}
"""Where maps multiply parameters: level, capacity, talus, sliding; rainfall, sources, evaporation; water, weight,
evaporation. No kernel may have a buffer more."""
PARTS = {
    "elevation_change": ("cell", 0), "water": ("cell", 1), "suspended": ("cell", 2), "erodibility": ("cell", 3),
    "bedrock_change": ("rock", 0), "flow": ("flow", None), "level": ("level", None),
}  # fmt: skip
"""Where each field is on the device: a buffer, and which component of it."""
MAPS = {"bed_phase": 1, "rock_erodibility": 2}
"""Maps on the host that the device has a copy of, and which component of `rock` that is."""
STRAIGHT = 4
"""Pipes along the axes: components of `outflow` that come before those of the diagonals."""
HEIGHTS = {"elevation": "elevation_change", "bedrock": "bedrock_change"}
WITH_LEVEL = {f"{change}_and_level": change for change in HEIGHTS.values()}
"""A change and the level it is counted from, one behind the other: heights to the bit, though the level may move."""
ENTRIES = {
    "RAIN": "water_rain", "SOURCES": "water_sources", "MOVED": "solids_moved", "HELD": "solids_exported",
    "EVAPORATED": "water_evaporated", "WATER_EXPORTED": "water_exported", "SOLIDS_EXPORTED": "solids_exported",
    "SEA": "water_sea",
}  # fmt: skip
"""Sums of the kernels, and the amounts of the budget they belong to."""
CONSTANTS: dict[str, Constant] = {
    "WALL": WALL,
    "IS_WALL": IS_WALL,
    "TINY": TINY,
    "LEAST_FACE": LEAST_FACE,
    "SHALLOW": SHALLOW,
    "DIAGONAL": math.sqrt(2),
    "SHORTENING": SHORTENING,
    "SLANTED_WIDTH": SLANTED_WIDTH,
    "SECOND": SECOND,
    "SECOND_PER_BED": SECOND_PER_BED,
    "SECOND_SHIFT": SECOND_SHIFT,
    "ROUNDING": ROUNDING,
    "HARDEST": LEAST,
    "DECAY": float(DECAY),
}
SUMS = Use("sums", "update", whole=True, apart=True)


def kernels(c: Coefficients, *, supplied: bool, rocky: bool) -> tuple[Kernel, ...]:
    """One iteration: what each dispatch reads and writes; `rocky` if the bedrock's surface is known."""
    push = [Use("cell", "read"), Use("flux", "update"), Use("level", "read"), Use("poured", "write"), SUMS]
    carry = [Use("worked", "read"), Use("flux", "read"), Use("poured", "read"), Use("cell", "write")]
    carry += [Use("flow", "update", apart=True), SUMS]
    if supplied:
        push.append(Use("supply", "read", apart=True))
    if c.semi_lagrangian or c.sea:
        carry.append(Use("level", "read"))
    work = [Use("cell", "read"), Use("flux", "read"), Use("level", "read"), Use("poured", "read")]
    work += [Use("worked", "write"), SUMS]
    if rocky or c.bedded:
        work.append(Use("rock", "update" if rocky else "read", apart=True))
    if c.covered:
        push.append(Use("rock", "read", apart=True))
    if c.eight:
        push.append(Use("slanted_flux", "update"))
        work.append(Use("slanted_flux", "read"))
        carry.append(Use("slanted_flux", "read"))
    return (
        Kernel("push", HERE / "push.wgsl", tuple(push)),
        Kernel("work", HERE / "work.wgsl", tuple(work)),
        Kernel("carry", HERE / "carry.wgsl", tuple(carry)),
    )


class GpuBackend(Backend):
    """Steps the state on a graphics card; `largest_binding` holds bands of rows to so many bytes of a field.

    What was downloaded is kept until the next iteration, whole fields or the rows looked at last, so that whoever looks
    twice pays once.
    """

    def __init__(self, state: State, domain: Domain, *, largest_binding: int | None = None) -> None:
        super().__init__(state, domain)
        self._layered = bool(domain.strata)
        self._rocky = "bedrock_change" in self._given
        self._supplied = self._mapped = False
        unused = {"supply", "slanted_flux", "rock"}
        self._work = Workspace(
            domain.shape, {name: kind for name, kind in KINDS.items() if name not in unused},
            block=BLOCK, entries=tuple(ENTRIES), wraps_rows=domain.sides.wraps_rows,
            wraps_columns=domain.sides.wraps_columns, largest_binding=largest_binding,
        )  # fmt: skip
        self._summed = {name: int(self._scalars.get(f"device_{name}", 0)) for name in ENTRIES.values()}
        self._fresh: dict[str, Array] = {}
        self._rows: dict[str, tuple[int, Array]] = {}
        self._fresh_sums = False
        self._upload()

    def _upload(self) -> None:
        """Upload everything; heights become changes above the level, unless they are already."""
        host, fields = self.host, self._work.fields
        if "level" not in host:
            host["level"] = self._level()
        self._use_maps()
        self._upload_level(slice(0, self.domain.shape[0]))
        for height, change in HEIGHTS.items():
            if height in host:
                host[change] = self._above_level(host.pop(height), None)
        parts = [host.pop(name) for name in ("elevation_change", "water", "suspended", "erodibility")]
        fields["cell"].upload(np.stack(parts, axis=-1))
        self._upload_outflow(host.pop("outflow"))
        fields["flow"].upload(host.pop("flow"))
        if self._rocky or self._bedded:
            self._upload_rock()
        self._supply()

    @property
    def _bedded(self) -> bool:
        return not self._layered and all(name in self.host for name in MAPS)

    def _upload_rock(self) -> None:
        """Upload what is known of the rock; another model may know more of it than the one before."""
        host, fields = self.host, self._work.fields
        none = np.zeros(self.domain.shape, np.float32)
        known = np.array(self._read("rock", 0, None)) if "rock" in fields and self._rocky else none
        parts = [host.pop("bedrock_change", known)]
        if self._bedded:
            parts += [host["bed_phase"], host["rock_erodibility"], none]
        else:
            parts.append(self._above_level(host["strata_top"], None) if self._layered else none)
        kind = (WITH_BEDS if self._bedded else KINDS)["rock"]
        if "rock" in fields and fields["rock"].kind != kind:
            fields.pop("rock").close()
        if "rock" not in fields:
            self._work.add_field("rock", kind)
        fields["rock"].upload(np.stack(parts, axis=-1))
        self._fresh.pop("rock", None)
        self._rows.pop("rock", None)

    def _upload_outflow(self, outflow: Array) -> None:
        """Upload the flow through four or eight pipes; another model may have another number of them than before."""
        self._eight = len(outflow) > STRAIGHT
        if self._eight and "slanted_flux" not in self._work.fields:
            self._work.add_field("slanted_flux", KINDS["slanted_flux"])
        for k, buffer in enumerate(self._fluxes):
            self._work.fields[buffer].upload(np.moveaxis(outflow[k * STRAIGHT : (k + 1) * STRAIGHT], 0, -1))
            self._fresh.pop(buffer, None)
            self._rows.pop(buffer, None)

    @property
    def _fluxes(self) -> tuple[str, ...]:
        return ("flux", "slanted_flux") if self._eight else ("flux",)

    def _level(self) -> Array:
        """Elevations that changes are counted from; on open edges base level, which the border must not sink below."""
        level = np.array(self.host["start"])
        edges: dict[str, Any] = {"north": np.s_[0], "south": np.s_[-1], "west": np.s_[:, 0], "east": np.s_[:, -1]}
        for name, side in self.domain.sides.items():
            if side == "open":
                level[edges[name]] = self.host[f"base_{name}"]
        level[self.host["start"] >= IS_WALL] = WALL
        return level

    def _above_level(self, heights: Array, window: Window | None) -> NDArray[np.float32]:
        level = cut(self.host["level"], window)
        return np.where(level < IS_WALL, heights.astype(np.float64) - level, 0).astype(np.float32)

    def _supply(self, window: Window | None = None) -> None:
        """Upload rainfall and water sources, where they are uneven."""
        rain, source = self.host["rainfall"], self.host.get("source_rate")
        if not self._supplied and not self._mapped and source is None and (rain == 1).all():
            return
        if not self._supplied:
            self._work.add_field("supply", (WITH_MAPS if self._mapped else KINDS)["supply"])
            self._supplied, window = True, None
        rows = slice(0, len(rain)) if window is None else window[0]
        fed = np.zeros_like(rain[rows]) if source is None else source[rows]
        parts = [rain[rows], fed] + ([self._share("evaporation", rows), np.zeros_like(fed)] if self._mapped else [])
        self._work.fields["supply"].upload_rows(rows.start, np.stack(parts, axis=-1))

    def _use_maps(self) -> bool:
        """Make room for what multiplies parameters, once some of it is uneven; whether that is new."""
        given = [self.host[name] for name in SHARES if name in self.host]
        if self._mapped or all((share == 1).all() for share in given):
            return False
        self._mapped, self._supplied = True, False
        for name, kind in WITH_MAPS.items():
            if name in self._work.fields:
                self._work.fields.pop(name).close()
            if name != "supply":
                self._work.add_field(name, kind)
        return True

    def _share(self, name: str, rows: slice) -> Array:
        """What multiplies a parameter in some rows."""
        whole = np.ones((rows.stop - rows.start, self.domain.shape[1]), np.float32)
        return self.host[name][rows] if name in self.host else whole

    def _upload_level(self, rows: slice) -> None:
        """Upload rows of the level, and with it what multiplies parameters of the ground."""
        parts = [self.host["level"][rows]]
        if self._mapped:
            parts += [self._share(name, rows) for name in ("capacity", "talus", "sliding")]
        self._work.fields["level"].upload_rows(rows.start, np.stack(parts, axis=-1))

    def _upload_shares(self, window: Window | None) -> None:
        """Upload what multiplies parameters after an edit."""
        if self._use_maps():
            window = None
        if self._mapped:
            self._supply(window)
            self._upload_level(slice(0, self.domain.shape[0]) if window is None else window[0])

    @property
    def scalars(self) -> dict[str, float | int]:
        """Sums and counts; the device's own are whole numbers of 2⁻³² cells³."""
        if not self._fresh_sums:
            sums = dict(self._summed)
            for entry, units in self._work.sums.units().items():
                sums[ENTRIES[entry]] += units
            self._scalars.update({f"device_{name}": units for name, units in sums.items()})
            self._fresh_sums = True
        return self._scalars

    def scalar(self, name: str) -> float | int:
        """One of the sums and counts; only the device's own are downloaded."""
        return (self.scalars if name.startswith("device_") else self._scalars)[name]

    def stored(self, name: str) -> str:
        """Heights are stored as changes above the level."""
        return HEIGHTS.get(name, name)

    def kept(self, name: str) -> str:
        """Changes are kept with the level they are counted from."""
        return f"{HEIGHTS[name]}_and_level" if name in HEIGHTS else name

    def read(self, name: str, window: Window | None = None) -> Array:
        """Download a field, or the rows of part of it; heights in float64, as they are sums of two float32 fields."""
        if name in HEIGHTS:
            return self.read(HEIGHTS[name], window).astype(np.float64) + cut(self.host["level"], window)
        if name in WITH_LEVEL:
            return np.stack([self.read(WITH_LEVEL[name], window), cut(self.host["level"], window)])
        if name == "outflow":
            return np.concatenate([self._read(buffer, None, window) for buffer in self._fluxes])
        if name not in PARTS or name == "level":
            return super().read(name, window)
        return self._read(*PARTS[name], window)

    def _read(self, buffer: str, component: int | None, window: Window | None) -> Array:
        """Download one component of a buffer, or all."""
        if window is not None:
            return _component(self._download(buffer, window[0]), component)[..., :, window[1]]
        if buffer not in self._fresh:
            self._fresh[buffer] = self._work.fields[buffer].download()
        return _component(self._fresh[buffer], component)

    def _download(self, buffer: str, rows: slice) -> Array:
        """Some rows of a buffer."""
        if buffer in self._fresh:
            return self._fresh[buffer][rows]
        first, known = self._rows.get(buffer, (0, np.empty(0)))
        if not (first <= rows.start and rows.stop <= first + len(known)):
            first, known = rows.start, self._work.fields[buffer].download(rows.start, rows.stop)
            self._rows[buffer] = first, known
        return known[rows.start - first : rows.stop - first]

    def _replace(self, buffer: str, rows: slice, values: Array) -> None:
        """Upload some rows of a buffer."""
        self._work.fields[buffer].upload_rows(rows.start, values)
        self._fresh.pop(buffer, None)
        first, known = self._rows.get(buffer, (0, np.empty(0)))
        if first <= rows.start and rows.stop <= first + len(known):
            known = np.array(known)
            known[rows.start - first : rows.stop - first] = values
        else:
            first, known = rows.start, values
        self._rows[buffer] = first, known

    def write(self, name: str, values: Array, window: Window | None = None) -> None:
        """Replace a field, or part of it: no more than its rows are moved."""
        if name in HEIGHTS:
            self.write(HEIGHTS[name], self._above_level(values, window), window)
        elif name in WITH_LEVEL:
            change, level = values
            moved = level != cut(self.host["level"], window)
            heights = self._above_level(change.astype(np.float64) + level, window)
            self.write(WITH_LEVEL[name], np.where(moved, heights, change), window)
        elif name == "outflow" and window is None:
            self._upload_outflow(values)
        elif name == "outflow":
            for buffer, through in zip(self._fluxes, np.split(values, len(self._fluxes)), strict=True):
                self._write(buffer, None, through, window)
        elif name == "bedrock_change" and not self._rocky:  # another model sets loose cover apart
            self._rocky, self._given, self.host[name] = True, (*self._given, name), np.array(values)
            self._upload_rock()
        elif name in PARTS and name != "level":
            self._write(*PARTS[name], values, window)
        else:
            super().write(name, values, window)
            if name in BASES:
                self._move_level()
            elif name in ("rainfall", "source_rate"):
                self._supply(window)
            elif name in SHARES:
                self._upload_shares(window)
            elif name in MAPS and self._bedded:
                self._upload_rock() if window is None else self._write("rock", MAPS[name], values, window)

    def _write(self, buffer: str, component: int | None, values: Array, window: Window | None) -> None:
        """Replace one component of a buffer, or all, in the rows of a window."""
        rows = slice(0, self.domain.shape[0]) if window is None else window[0]
        whole = np.array(self._download(buffer, rows))
        part = _component(whole, component)
        part[..., :, slice(None) if window is None else window[1]] = values
        self._replace(buffer, rows, whole)

    def _move_level(self) -> None:
        """Count changes from another base level; heights stay."""
        before, level = self.host["level"], self._level()
        moved = np.argwhere(level != before)
        if len(moved) == 0:
            return
        rows = slice(int(moved[:, 0].min()), int(moved[:, 0].max()) + 1)
        window = (rows, slice(0, self.domain.shape[1]))
        same = level[rows] == before[rows]
        changes = {}
        for height, change in HEIGHTS.items():
            if height == "elevation" or self._rocky:
                old, heights = np.array(self.read(change, window)), self.read(height, window)
                changes[change] = np.where(same, old, (heights - level[rows]).astype(np.float32))
        self.host["level"] = level
        self._upload_level(rows)
        for change, values in changes.items():
            self.write(change, values, window)
        if self._layered:
            rock = np.array(self._download("rock", rows))
            rock[..., 1] = self._above_level(cut(self.host["strata_top"], window), window)
            self._replace("rock", rows, rock)

    def advance(self, coefficients: Coefficients, iterations: int) -> None:
        """Take the state through some iterations; nothing is read back in between."""
        layers, sides = beds(self.domain), self.domain.sides
        constants: dict[str, Constant] = CONSTANTS | {
            **{f"open_{name}": side == "open" for name, side in sides.items()},
            "supplied": self._supplied,
            "mapped": self._mapped,
            "unmapped": not self._mapped,
            "levelled": coefficients.semi_lagrangian or coefficients.sea,
            "layered": self._layered,
            "rocky": self._rocky,
            "LAYERS": len(layers.R),
            "BEGINS": tuple(layers.depths.tolist()),
            "OWN": tuple(layers.R.tolist()),
            **counted_on_device(self.domain),
        }
        self._work.use(coefficients, kernels=self._kernels(coefficients), constants=constants)
        self.forget()
        self._fresh_sums = False
        self._work.run(iterations)
        self._scalars["iterations"] += iterations

    def _kernels(self, c: Coefficients) -> tuple[Kernel, ...]:
        return kernels(c, supplied=self._supplied, rocky=self._rocky)

    def forget(self) -> None:
        """Drop what was downloaded."""
        self._fresh.clear()
        self._rows.clear()

    def traffic(self, coefficients: Coefficients) -> dict[str, int]:
        """Bytes per cell that each kernel of one iteration must move."""
        return self._work.traffic(self._kernels(coefficients))

    def close(self) -> None:
        """Free the device's memory."""
        self._work.close()


def _component(field: Array, component: Any) -> Array:
    """One component of a field as `[row, column]`, or all as `[component, row, column]`."""
    if component is not None:
        return field[..., component]
    return field if field.ndim == 2 else np.moveaxis(field, -1, 0)
