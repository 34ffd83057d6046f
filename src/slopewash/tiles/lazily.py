"""Layers of a finished run in xarray: what is asked for is read, and checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core import indexing

from slopewash.tiles.arrays import Field
from slopewash.tiles.digests import loaded, using
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.store import Store


class TileLayer(BackendArray):
    """An array of a store; it holds no handles, so that it can be sent to workers."""

    def __init__(self, store: Store, field: Field, grid: TileGrid, sha: str) -> None:
        self.store, self.field, self.grid, self.sha = store, field, grid, sha
        self.shape, self.dtype = grid.shape, np.dtype(field.dtype)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._window)

    def _window(self, key: tuple[int | slice, ...]) -> NDArray[Any]:
        window: list[slice] = []
        inner: list[int | slice] = []
        for part, cells in zip(key, self.shape, strict=True):
            if isinstance(part, slice):
                chosen = range(cells)[part]
                low, high = (min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1]) + 1) if chosen else (0, 0)
                window.append(slice(low, high))
                inner.append(slice(None, None, chosen.step))
            else:
                at = range(cells)[part]
                window.append(slice(at, at + 1))
                inner.append(0)
        with using(loaded(self.store, "", self.sha)):
            read = self.store.read(self.field, self.grid, (window[0], window[1]))
        return read[inner[0], inner[1]]
