"""A terrain in the store, of which no process ever holds more than a part."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import unknown_name
from slopewash.io.meaning import Meaning
from slopewash.models.state import Window
from slopewash.terrain import Terrain, TerrainPart, WaterSource
from slopewash.terrain.arrays import handed_over
from slopewash.terrain.parts import strata_from
from slopewash.tiles.arrays import Field
from slopewash.tiles.facts import check_ground
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.store import Store

Array = NDArray[Any]
SOURCE = "state/source"
"""Group of what a run begins with."""
SIDES = ("north", "south", "west", "east")


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What the whole must know of one tile: ranges, and the ground along the border, NaN where there is none."""

    ranges: Mapping[str, tuple[float, float]]
    """Lowest and highest value of each layer, nodata left out; NaN if there is no ground."""
    ground: tuple[float, float] | None
    """Lowest and highest ground; None if there is none."""
    solids: float
    """Sum of the ground above 0 m and of what is suspended, in metres."""
    water: float
    cells: int
    """Cells with ground."""
    border: Mapping[str, tuple[int, Array]]
    """First cell along each side that it touches, and the ground there."""
    added: tuple[float, float] = (0.0, 0.0)
    """Solids and water in m³ that were added to what a run has left."""


def survey(terrain: Terrain, core: Window, shape: tuple[int, int]) -> Survey:
    """Look at a tile of a whole of that shape."""
    present = np.ones(terrain.shape, bool) if terrain.nodata is None else ~terrain.nodata
    z = terrain["elevation"]
    bare = np.where(present, z, np.float32(np.nan))
    (rows, columns), values = core, z[present]
    touched = {
        "north": (rows.start == 0, columns.start, bare[0]), "south": (rows.stop == shape[0], columns.start, bare[-1]),
        "west": (columns.start == 0, rows.start, bare[:, 0]),
        "east": (columns.stop == shape[1], rows.start, bare[:, -1]),
    }  # fmt: skip
    total = {name: float(terrain[name].sum(dtype=np.float64)) for name in ("suspended", "water") if name in terrain}
    return Survey(
        ranges={name: terrain.range(name) for name in terrain},
        ground=(float(values.min()), float(values.max())) if values.size else None,
        solids=float(values.sum(dtype=np.float64)) + total.get("suspended", 0.0),
        water=total.get("water", 0.0),
        cells=int(values.size),
        border={name: (first, strip.copy()) for name, (here, first, strip) in touched.items() if here},
    )


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Layers in metres on a grid of tiles, and what is known of the whole."""

    store: Store
    path: str
    grid: TileGrid
    cell_size: float
    layers: tuple[str, ...] = ("elevation",)
    own: tuple[str, ...] = ()
    has_nodata: bool = False
    strata: Mapping[str, Any] | None = None
    """Facts of its strata; their top is an array."""
    sources: tuple[WaterSource, ...] = ()
    crs: str | None = None
    transform: tuple[float, ...] | None = None
    low: float = 0.0
    high: float = 0.0
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    solids: float = 0.0
    water: float = 0.0
    cells: int = 0

    def field(self, name: str) -> Field:
        """Array of a layer."""
        return Field(path=f"{self.path}/{name}".lstrip("/"), dtype="bool" if name == "nodata" else "float32")

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that is stored."""
        return (*self.layers, *(["nodata"] if self.has_nodata else []), *(["strata_top"] if self.strata else []))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.grid.shape

    @property
    def width(self) -> float:
        """Extent from west to east in metres."""
        return self.shape[1] * self.cell_size

    @property
    def height(self) -> float:
        """Extent from north to south in metres."""
        return self.shape[0] * self.cell_size

    @property
    def relief(self) -> float:
        """Difference between the highest and the lowest ground in metres."""
        return self.high - self.low

    @property
    def area(self) -> float:
        """Ground in square metres, nodata left out."""
        return self.cells * self.cell_size**2

    def range_of(self, name: str) -> tuple[float, float]:
        """Lowest and highest value of a layer, nodata left out."""
        if name not in self.ranges:
            raise unknown_name("layer", name, self.ranges)
        return self.ranges[name]

    def create(self) -> None:
        """Make its arrays."""
        for name in self.names:
            self.store.create(self.field(name), self.grid)

    def part(self, window: Window, only: Iterable[str] | None = None) -> Terrain:
        """Part of it as a terrain, without its water sources."""
        read: dict[str, Any] = {
            name: self.store.read(self.field(name), self.grid, window)
            for name in (self.names if only is None else [name for name in self.names if name in {*only, "nodata"}])
        }
        nodata, top = read.pop("nodata", None), read.pop("strata_top", None)
        strata = None if top is None or self.strata is None else strata_from(dict(self.strata), top.astype(np.float64))
        read = {name: handed_over(layer) for name, layer in read.items()}
        own = {name: read.pop(name) for name in self.own if name in read}
        return TerrainPart(**read, own_layers=own, nodata=nodata, cell_size=self.cell_size, strata=strata)

    def write(self, number: int, terrain: Terrain, core: Window | None = None) -> Survey:
        """Write a tile: a terrain, or the core of one that has a margin around it."""
        window = self.grid.window(number)
        part: Window = np.s_[:, :] if core is None else core
        for name in self.names:
            if name == "nodata":
                values = np.zeros(terrain.shape, bool) if terrain.nodata is None else terrain.nodata
            elif name == "strata_top":
                assert terrain.strata is not None
                assert terrain.strata.top is not None
                values = terrain.strata.top.astype(np.float32)
            else:
                values = terrain[name]
            self.store.write(self.field(name), self.grid, number, values[part])
        return survey(terrain if core is None else cropped(terrain, core), window, self.grid.shape)

    def known(self, surveys: Iterable[Survey]) -> tuple[Ground, dict[str, Array]]:
        """Return the same with what the tiles found, in the order of the tiles, and the ground along its border."""
        looked = list(surveys)
        grounds = [found.ground for found in looked if found.ground is not None]
        names, cells = looked[0].ranges, sum(found.cells for found in looked)
        border = {name: np.full(self.grid.shape[name in ("north", "south")], np.nan, np.float32) for name in SIDES}
        for found in looked:
            for name, (first, strip) in found.border.items():
                border[name][first : first + len(strip)] = strip
        return dataclasses.replace(
            self,
            low=min(low for low, _ in grounds),
            high=max(high for _, high in grounds),
            ranges={name: span_of(found.ranges[name] for found in looked) for name in names},
            solids=sum(found.solids for found in looked),
            water=sum(found.water for found in looked),
            cells=cells,
            has_nodata=self.has_nodata and cells < self.shape[0] * self.shape[1],
        ), border

    def as_dict(self) -> dict[str, Any]:
        """Facts that JSON can hold."""
        facts = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "store"}
        return {**facts, "sources": [dataclasses.astuple(source) for source in self.sources]}

    @classmethod
    def of_file(cls, meaning: Meaning, store: Store, path: str, tile: int | tuple[int, int]) -> Ground:
        """What is known of a file before it is read."""
        return cls(
            store=store, path=path, grid=TileGrid.of(meaning.shape, tile), cell_size=meaning.cell_size or 1.0,
            layers=tuple(band.layer for band in meaning.bands), own=meaning.own_layers,
            has_nodata=meaning.may_lack_data, crs=meaning.crs, transform=meaning.transform,
        )  # fmt: skip

    @classmethod
    def from_dict(cls, store: Store, facts: Mapping[str, Any]) -> Ground:
        """Return what `as_dict` described."""
        values = {**facts, "grid": check_ground(facts)}
        values["sources"] = tuple(
            WaterSource(x=x, y=y, radius=radius, rate=rate) for x, y, radius, rate in facts["sources"]
        )
        for name in ("layers", "own", "transform"):
            values[name] = None if facts[name] is None else tuple(facts[name])
        values["ranges"] = {name: tuple(span) for name, span in facts["ranges"].items()}
        if facts["strata"] is not None:
            strata_from(facts["strata"], None)
        return cls(store=store, **values)


def span_of(ranges: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Lowest and highest value of a layer, given those of its tiles, of which some may have no ground.

    >>> span_of([(2.0, 3.0), (math.nan, math.nan), (1.0, 2.0)])
    (1.0, 3.0)
    """
    known = [span for span in ranges if not math.isnan(span[0])]
    return min(low for low, _ in known), max(high for _, high in known)


def cropped(terrain: Terrain, core: Window) -> Terrain:
    """Part of a terrain, without water sources."""
    strata = terrain.strata
    if strata is not None and strata.top is not None:
        strata = strata.replace(top=strata.top[core])
    layers: dict[str, Any] = {name: layer[core] for name, layer in terrain.items()}
    own = {name: layers.pop(name) for name in terrain.own_layers}
    nodata = None if terrain.nodata is None else terrain.nodata[core]
    return TerrainPart(**layers, own_layers=own, nodata=nodata, cell_size=terrain.cell_size, strata=strata)
