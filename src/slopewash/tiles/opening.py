"""The result of a run on tiles as others read it: lazily in xarray, or as a terrain."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.jobs.plan import Position
from slopewash.memory import check_memory
from slopewash.recipes.definition import Stage
from slopewash.remedies import by_place
from slopewash.terrain import Terrain
from slopewash.terrain.fields import layer_spec
from slopewash.terrain.parts import strata_from
from slopewash.tiles.facts import as_facts, check_manifest, check_version
from slopewash.tiles.finished import Finished, finished
from slopewash.tiles.ground import Ground
from slopewash.tiles.inputs import estimated
from slopewash.tiles.output import attributes_of, overview_field, overviews_of, placed, projected, transform_of
from slopewash.tiles.program import program_of, steps_of
from slopewash.tiles.run import MANIFEST
from slopewash.tiles.store import Store

if TYPE_CHECKING:
    import xarray


def open_result(url: str | Path) -> xarray.Dataset:
    """Open the result of a run on tiles as an xarray Dataset that reads what is asked for, with coordinates.

    Coordinates are those of cell centres, in metres from the south-west corner where the terrain has no place of its
    own. Cells without ground are NaN.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> cone, store = sw.generate("cone", size=32), f"{folder.name}/out.zarr"
    >>> made = sw.erode_tiled(cone, sw.SteepestTalus(), steps=3, tile=16, out=store, workers=0, backend="reference")
    >>> sw.open(store)["elevation"].shape
    (32, 32)
    >>> folder.cleanup()
    """
    try:
        import xarray
        from xarray.core import indexing

        from slopewash.tiles.lazily import TileLayer
    except ImportError:
        raise InvalidParameter('sw.open needs the tiles extra: pip install "slopewash[tiles]"') from None
    result = result_of(Store(str(url), is_source=True))
    ground, sha = result.ground, result.facts["digests"]
    result.check_present()
    layers = {}
    for name in ground.names:
        tiles = TileLayer(ground.store, ground.field(name), ground.grid, sha)
        lazy = indexing.LazilyIndexedArray(tiles)
        layer = xarray.Variable(("y", "x"), lazy, attributes_of(ground, name))
        layers[name] = layer.chunk(dict(zip("yx", ground.grid.tile, strict=True))) if find_spec("dask") else layer
    data = xarray.Dataset(layers)
    a, b, c, d, e, f = transform_of(ground)
    rows, columns = ground.shape
    # Attributes stay when a window of it is taken, or other layers are, and go into what xarray writes.
    data.attrs = {**projected(ground), "cell_size": ground.cell_size}
    if b != 0 or d != 0:
        data.attrs |= {"spatial:dimensions": ["y", "x"], **placed(ground, 1)}
    else:
        data = data.assign_coords(y=f + e * (np.arange(rows) + 0.5), x=c + a * (np.arange(columns) + 0.5))
    if "nodata" in data:
        nodata = data["nodata"]
        data = data.drop_vars("nodata")
        data = data.where(~nodata)
    return data


def result_of(store: Store) -> Finished:
    """What is known of a finished run, or say that there is none."""
    result = finished(store)
    if result is None:
        under_way = store.read_json(MANIFEST)
        if under_way is not None:
            number = under_way.facts.get("round")
            raise InvalidFile(f"{store.url} holds a run at round {number}; finish it with slopewash resume")
        raise InvalidFile(
            f"{store.url} holds no result of a run on tiles; as a Zarr group of others it is ground for "
            + by_place(python="sw.erode_tiled", command="slopewash erode --tiles 2048 -o OUT.zarr")
        )
    return result


def read_tiled(url: str | Path, *, most: int | None = None) -> Terrain:
    """Read the result of a run on tiles as a terrain.

    Parameters
    ----------
    url
        The store.
    most
        Cells along the longer side, at most: then the finest overview is read that has no more, if there is one. By
        default the whole is read, or refused where it does not fit into memory.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> cone, store = sw.generate("cone", size=32), f"{folder.name}/out.zarr"
    >>> made = sw.erode_tiled(cone, sw.SteepestTalus(), steps=3, tile=16, out=store, workers=0, backend="reference")
    >>> sw.read_tiled(store).shape
    (32, 32)
    >>> folder.cleanup()
    """
    result = result_of(Store(str(url), is_source=True))
    ground = result.ground
    factor, grid = 1, ground.grid
    for coarser, tiles in overviews_of(ground.grid):
        if most is not None and max(grid.shape) > most:
            factor, grid = coarser, tiles
    rows, columns = grid.shape
    check_memory(
        f"{url} with {columns} x {rows} cells and {len(ground.layers)} layers",
        rows * columns * 4.0 * (len(ground.layers) + 2),
        "read an overview with sw.read_tiled(url, most=4096), or a window with sw.open(url)",
    )
    whole = (slice(0, rows), slice(0, columns))
    with result.reading():
        read: dict[str, Any] = {
            name: ground.store.read(overview_field(ground, name, factor), grid, whole) for name in ground.names
        }
    own = {name: read.pop(name) for name in ground.own if name in read}
    nodata, top = read.pop("nodata", None), read.pop("strata_top", None)
    strata = None if top is None or ground.strata is None else strata_from(dict(ground.strata), top.astype(np.float64))
    transform = None if ground.transform is None else tuple(placed(ground, factor)["spatial:transform"])
    return Terrain(
        **read, own_layers=own, nodata=nodata, strata=strata, cell_size=ground.cell_size * factor, crs=ground.crs,
        transform=transform,
    )  # fmt: skip


def tiled_facts(url: str | Path) -> dict[str, Any] | None:
    """What is known of a run on tiles, finished or under way; None if there is none.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> cone, store = sw.generate("cone", size=32), f"{folder.name}/out.zarr"
    >>> made = sw.erode_tiled(cone, sw.SteepestTalus(), steps=3, tile=16, out=store, workers=0, backend="reference")
    >>> sw.tiled_facts(store) is not None, sw.tiled_facts("elsewhere")
    (True, None)
    >>> folder.cleanup()
    """
    store = Store(str(url), is_source=True)
    result = finished(store)
    if result is not None:
        facts = result.facts
        units = {name: layer_spec(name).units for name in facts["layers"]}
        return {
            "finished": True,
            "units": units,
            **{name: value for name, value in facts.items() if name not in ("recipe", "digests")},
        }
    under_way = store.read_json(MANIFEST)
    if under_way is None:
        return None
    with as_facts(f"{store.url}/{MANIFEST}"):
        return _under_way(store, under_way.facts)


def _under_way(store: Store, facts: dict[str, Any]) -> dict[str, Any]:
    """What is known of a run that is not finished."""
    check_version(facts, store.url)
    check_manifest(facts)
    ground = Ground.from_dict(store, facts["ground"] or facts["start"])
    shape, number = ground.shape, facts["number"]
    stage = estimated(Stage.from_dict(facts["stages"][number]), ground)
    program = program_of(stage, shape)
    return {
        "finished": False, "slopewash": facts["slopewash"], "shape": shape, "tile": ground.grid.tile,
        "stage": number + 1, "stages": len(facts["stages"]), "cells": stage.cells, "model": stage.model.name,
        "preset": stage.preset, "round": facts["round"],
        "step": steps_of(program, Position(*facts["at"])), "steps_wanted": steps_of(program),
        "backend": facts["backend"], "seconds": facts["spent"]["seconds"],
    }  # fmt: skip
