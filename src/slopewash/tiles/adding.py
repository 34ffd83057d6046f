"""Layers that are worked out of a finished run on tiles."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from slopewash.errors import InvalidParameter
from slopewash.interrupts import whole_steps
from slopewash.simulation.locks import FolderLock
from slopewash.tiles import output
from slopewash.tiles.digests import Digests, using
from slopewash.tiles.executors import Executor, InProcess, connected
from slopewash.tiles.finished import Finished, record
from slopewash.tiles.ground import Ground, span_of
from slopewash.tiles.lakes import AREA, DEPTH, LAKE, Least, find_lakes
from slopewash.tiles.opening import result_of
from slopewash.tiles.store import Store
from slopewash.tiles.tasks import Tasks
from slopewash.tiles.watching import TileProgress, Watching

if TYPE_CHECKING:
    from distributed import Client


def add_lakes_tiled(
    url: str | Path,
    *,
    lake_depth: float = DEPTH,
    lake_area: float = AREA,
    sea_level: float | Literal["auto"] | None = "auto",
    client: Client | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> None:
    """Add the layer `lake` to the result of a run on tiles, to the bit as `add_water` gives it for the whole.

    Parameters
    ----------
    url
        The store.
    lake_depth, lake_area, sea_level
        As for `add_water`.
    client, scheduler, workers, progress
        As for `erode_tiled`.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> bowl, store = sw.generate("bowl", size=32), f"{folder.name}/out.zarr"
    >>> made = sw.erode_tiled(bowl, sw.VirtualPipes(), steps=3, tile=16, out=store, workers=0, backend="reference")
    >>> added = sw.add_lakes_tiled(store, workers=0)
    >>> "lake" in sw.open(store)
    True
    >>> folder.cleanup()
    """
    for name, value in (("lake_depth", lake_depth), ("lake_area", lake_area)):
        if not 0 <= value < float("inf"):
            raise InvalidParameter(f"{name} is {value}; it must be finite and not negative")
    store = Store(str(url))
    result = result_of(store)
    ground = result.ground
    after = dataclasses.replace(ground, layers=tuple(dict.fromkeys([*ground.layers, LAKE])))
    watching = TileProgress() if progress else Watching()
    with contextlib.ExitStack() as stack:
        if store.folder is not None:
            stack.callback(FolderLock(store.folder, alone=True).close)
        stack.callback(watching.close)
        executor: Executor = InProcess()
        if workers != 0:
            executor = stack.enter_context(connected(client=client, scheduler=scheduler, workers=workers))
        run = Tasks(store, result.digests.copy())
        run.executor, run.watching = executor, watching
        stack.enter_context(using(run.digests))
        store.create_group("state")
        stack.callback(store.remove, "state")
        made = dataclasses.replace(after, path="state")  # lakes of before stay until there are others
        store.create(made.field(LAKE), made.grid)
        ranges = find_lakes(ground, made, run, least=Least.of(ground, lake_depth, lake_area), sea_level=sea_level)
        after = dataclasses.replace(after, ranges={**ground.ranges, LAKE: span_of(ranges)})
        with whole_steps():
            _list_layers(result, run.digests, _without(ground, LAKE))  # should the process end here, none are there
            store.move(made.field(LAKE).path, after.field(LAKE).path)
            output.add_overviews(after, run, [LAKE])
            output.describe(after)
            _list_layers(result, run.digests, after)


def _without(ground: Ground, name: str) -> Ground:
    layers = tuple(layer for layer in ground.layers if layer != name)
    return dataclasses.replace(ground, layers=layers, ranges={layer: ground.ranges[layer] for layer in layers})


def _list_layers(result: Finished, digests: Digests, ground: Ground) -> None:
    """Note in the facts of a finished run which layers it has."""
    record(ground.store, digests, {**result.facts, "layers": ground.layers, "ground": ground.as_dict()})
