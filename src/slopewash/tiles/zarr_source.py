"""Groups of layers in Zarr, read by windows: those of others by their metadata, results of runs by their tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slopewash.errors import InvalidParameter
from slopewash.io.options import ReadOptions
from slopewash.io.suspects import Look, Suspects
from slopewash.remedies import option
from slopewash.terrain import Terrain
from slopewash.terrain.fields import LAYERS
from slopewash.tiles.finished import Finished, finished
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.ground import SOURCE, Ground
from slopewash.tiles.store import Store
from slopewash.tiles.zarr_folder import check_folder
from slopewash.tiles.zarr_meaning import INPUTS, ZarrRaster, resolve

_OF_RESULTS = ("allow_8bit", "max_pixels")
"""Options that go with a result: it records what its numbers mean."""


@dataclass(frozen=True, kw_only=True)
class ZarrWindows:
    """A Zarr group of layers that is read by windows."""

    raster: ZarrRaster

    @property
    def path(self) -> str:
        """The group."""
        return str(self.raster.meaning.path)

    @property
    def suspects(self) -> Suspects:
        """Heights that may mark cells without data though nothing says so."""
        return self.raster.meaning.suspects(np.dtype(self.raster.dtypes["elevation"]))

    def ground(self, store: Store, tile: int | tuple[int, int]) -> Ground:
        """What is known of it before it is read."""
        return Ground.of_file(self.raster.meaning, store, SOURCE, tile)

    def read(self, ground: Ground, number: int) -> tuple[Terrain, Look]:
        """One tile of it, and what is to be asked about that."""
        window = ground.grid.window(number)
        return self.raster.meaning.part(
            lambda band: self.raster.samples(band, window), (window[0].start, window[1].start)
        )


@dataclass(frozen=True, kw_only=True)
class ResultWindows:
    """The result of a run on tiles, whose tiles are checked when they are read."""

    result: Finished

    @property
    def path(self) -> str:
        """The store."""
        return self.result.ground.store.url

    @property
    def suspects(self) -> Suspects:
        """None: its nodata are known."""
        return {}

    def ground(self, store: Store, tile: int | tuple[int, int]) -> Ground:
        """What is known of it: the layers that a run may begin with, strata and water sources."""
        whole = self.result.ground
        return Ground(
            store=store, path=SOURCE, grid=TileGrid.of(whole.shape, tile), cell_size=whole.cell_size,
            layers=tuple(name for name in whole.layers if name == "elevation" or name in INPUTS or name not in LAYERS),
            own=whole.own, has_nodata=whole.has_nodata, strata=whole.strata, sources=whole.sources, crs=whole.crs,
            transform=whole.transform,
        )  # fmt: skip

    def read(self, ground: Ground, number: int) -> tuple[Terrain, Look]:
        """One tile of it, and what is to be asked about that."""
        with self.result.reading() as whole:
            chosen = dataclasses.replace(whole, layers=ground.layers)
            return chosen.part(ground.grid.window(number)), Look()


def opened_zarr(path: Path, options: Mapping[str, Any], largest: int) -> ZarrWindows | ResultWindows:
    """Return a Zarr group that is read by windows; `largest` is the most cells unless `max_pixels` says less."""
    chosen = ReadOptions(**{"max_pixels": largest, **options})
    check_folder(path)
    result = finished(Store(str(path), is_source=True))
    if result is None:
        return ZarrWindows(raster=resolve(path, chosen))
    for name, value in options.items():
        if name not in _OF_RESULTS and value is not None:
            raise InvalidParameter(
                f"{path} is the result of a run and records what its numbers mean; leave out {option(name)}"
            )
    rows, columns = result.ground.shape
    if rows * columns > chosen.max_pixels:
        raise InvalidParameter(
            f"{path} has {columns} x {rows} cells, more than {chosen.max_pixels}; raise {option('max_pixels')} if this "
            "is intended"
        )
    return ResultWindows(result=result)
