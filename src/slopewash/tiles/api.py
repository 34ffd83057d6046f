"""Erode what no memory holds: the public face of tiles."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slopewash.claims import Claim, overwritten
from slopewash.drafts import draft_folder
from slopewash.errors import CheckpointError, InvalidFile, InvalidParameter, SlopewashError
from slopewash.io.gdal import rasterio_for
from slopewash.memory import available_memory
from slopewash.models import Model, Preset
from slopewash.models.state import Edges, Sides
from slopewash.recipes.definition import Recipe, Stage, preset_beds, usual_preset_of
from slopewash.recipes.manifest import input_files
from slopewash.recipes.sources import FromFile, FromTerrain, Generated, as_source
from slopewash.remedies import by_place
from slopewash.terrain import Terrain
from slopewash.tiles.estimate import parse_memory
from slopewash.tiles.executors import Executor, InProcess, connected
from slopewash.tiles.facts import GEOTIFF_SUFFIXES
from slopewash.tiles.finished import is_finished, remove_result
from slopewash.tiles.geotiff import write_tiled_geotiff
from slopewash.tiles.run import MANIFEST, MARK, GeoTiff, TiledResult, TiledRun
from slopewash.tiles.store import Store
from slopewash.tiles.watching import TileProgress
from slopewash.urls import is_local, plain_url

if TYPE_CHECKING:
    from distributed import Client

TILE = 2048
"""Usual cells along a tile."""
USUAL_BACKEND = "cpu"
UNCOMMITTED = {"state", "zarr.json"}
"""What a run leaves that ended before its first manifest, for instance because a map was refused."""


def erode_tiled(
    source: Terrain | Generated | FromFile | FromTerrain | str | Path | None,
    recipe: Recipe | Model | Preset | str | None = None,
    *,
    out: str | Path,
    steps: int | None = None,
    tile: int | tuple[int, int] = TILE,
    edges: Edges | Sides | None = None,
    seed: int | None = None,
    backend: str | None = None,
    client: Client | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    iterations: int | None = None,
    layers: Sequence[str] | None = None,
    lakes: bool = False,
    memory: str | float | None = None,
    force: bool = False,
    progress: bool = False,
) -> TiledResult:
    """Erode a terrain tile by tile on a Dask cluster, bit-identical to a run in one piece, whatever its size.

    The store is a Zarr group; `sw.open(out)` reads the result lazily. It is also the checkpoint: what was interrupted
    goes on with `sw.resume_tiled(out)`. A GeoTIFF is made in a hidden store beside it, which is removed in the end.

    Parameters
    ----------
    source
        A terrain, a file (GeoTIFF and Zarr are read by windows), or `Generated(...)`, which is made tile by tile; None
        for the recipe's own.
    recipe
        A recipe, a model, or the name of a preset; `VirtualPipes` and `SteepestTalus` run on tiles.
    out
        Folder or fsspec URL to write to, which all workers must reach; or a GeoTIFF.
    steps, edges, seed
        As for `erode`; a recipe has its own.
    tile
        Cells along a tile, or rows and columns.
    backend
        Of every worker: "cpu", "gpu" or "reference"; that of the recipe if not given, "cpu" where it names none.
    client, scheduler, workers
        A Dask client, the address of a scheduler, or the number of processes of this machine; 0 for this process alone.
    iterations
        Between two exchanges with the neighbours; by default what costs least.
    layers
        To write; all of them if not given. The elevation is always written. `lake` asks for lakes.
    lakes
        Whether to add the layer `lake`, as `add_water` gives it for the whole; `water` is written with it.
    memory
        Bytes that all processes may need together, such as "6GB"; more is an error before the first round. What is
        available on this machine if not given and no cluster is either.
    force
        Whether the GeoTIFF may replace what has its name when an interrupted run goes on.
    progress
        Whether to show a bar, and beforehand what the run needs.

    >>> import tempfile, slopewash as sw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = sw.erode_tiled(
    ...         sw.generate("cone", size=32), sw.SteepestTalus(), steps=3, tile=16, out=f"{folder}/out.zarr",
    ...         workers=0, backend="reference",
    ...     )
    >>> result.tiles
    4
    """
    made = _recipe(source, recipe, steps=steps, edges=edges, seed=seed, backend=backend)
    file = _geotiff(str(out))
    store = Store(str(out if file is None else draft_folder(file)))
    check_free(store, draft_of=file)
    _check_not_read(made, store, None if force else file)
    wanted = None if file is None else GeoTiff(file.name, force)
    run = TiledRun(store, made, tile=tile, iterations=iterations, layers=layers, lakes=lakes, geotiff=wanted)
    run.memory = parse_memory(memory)
    result = _run(run, client=client, scheduler=scheduler, workers=workers, progress=progress)
    return result if file is None else _as_geotiff(result, store, file)


def resume_tiled(
    out: str | Path,
    *,
    client: Client | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    memory: str | float | None = None,
    progress: bool = False,
    trust: bool = False,
    force: bool = False,
) -> TiledResult:
    """Continue a run on tiles from its last round; the result is bit-identical to that of a run that never stopped.

    One that another user or machine wrote is refused, unless you `trust` whoever did; its result stays in the store.
    Where a GeoTIFF was asked for, and something has its name by now, `force` lets it be replaced.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> cone, store = sw.generate("cone", size=32), f"{folder.name}/out.zarr"
    >>> made = sw.erode_tiled(cone, sw.SteepestTalus(), steps=3, tile=16, out=store, workers=0, backend="reference")
    >>> sw.resume_tiled(store, workers=0)
    Traceback (most recent call last):
        ...
    slopewash.errors.CheckpointError: ... is finished; there is nothing to continue
    >>> folder.cleanup()
    """
    store = Store(str(out))
    run = TiledRun.resumed(store, trust=trust)
    run.memory = parse_memory(memory)
    file = _file_of(run)
    replace = force or run.geotiff is None or run.geotiff.replace
    if file is not None:
        _check_place(file, replace=replace)
    result = _run(run, client=client, scheduler=scheduler, workers=workers, progress=progress)
    return result if file is None else _as_geotiff(result, store, file, replace=replace)


def _run(
    run: TiledRun, *, client: Client | None, scheduler: str | None, workers: int | None, progress: bool
) -> TiledResult:
    if run.memory is None and client is None and scheduler is None:
        run.memory = available_memory()
    if progress:
        run.watching = TileProgress()
    if workers == 0:
        executor: Executor = InProcess()
        return run.run(executor)
    with connected(client=client, scheduler=scheduler, workers=workers, say=run.watching.say) as cluster:
        cluster.say = run.watching.say
        if cluster.dashboard:
            run.watching.say(f"dashboard: {cluster.dashboard}")
        return run.run(cluster)


def _geotiff(out: str) -> Path | None:
    """The GeoTIFF that is asked for, if it is one, in a place where it can be written."""
    if not out.lower().endswith(GEOTIFF_SUFFIXES):
        return None
    if not is_local(plain_url(out)):
        raise InvalidParameter(f"out is {out}; a GeoTIFF must be on this machine, so name a .zarr and convert it")
    file = Path(plain_url(out))
    _check_place(file, replace=True)
    return file


def _file_of(run: TiledRun) -> Path | None:
    """The GeoTIFF that a run is to become; none if somebody has given its store another name."""
    folder = run.store.folder
    if run.geotiff is None or folder is None:
        return None
    if not folder.name:  # "." has none
        folder = folder.absolute()
    file = folder.with_name(run.geotiff.name)
    return file if draft_folder(file) == folder else None


def _check_place(file: Path, *, replace: bool) -> None:
    """Refuse what a GeoTIFF cannot be written to, before hours are spent on it."""
    rasterio_for(f"writing {file} by windows")
    if file.is_dir() or not file.parent.is_dir():
        raise InvalidFile(f"cannot write {file}: it is a folder, or there is none that holds it")
    if not replace and os.path.lexists(file):
        raise InvalidFile(
            f"{file} is there, which the run did not write; move it, or replace it with "
            + by_place(python="force=True", command="--force")
        )


def _as_geotiff(result: TiledResult, store: Store, file: Path, *, replace: bool = True) -> TiledResult:
    """Make a GeoTIFF of a result, and remove of its store what the run has written."""
    try:
        _check_place(file, replace=replace)
        write_tiled_geotiff(store.url, file)
    except SlopewashError as error:
        raise InvalidFile(f"{error}; the result is in {store.url}, which slopewash convert makes files of") from error
    remove_result(store)
    return dataclasses.replace(result, url=str(file))


def check_free(store: Store, *, draft_of: Path | None = None) -> None:
    """Refuse to write over a run that is not finished, or over something else; a draft may hold no result either."""
    under_way = store.read_json(MANIFEST)
    if under_way is not None:
        raise CheckpointError(
            f"{store.url} holds a run on tiles at round {under_way.facts.get('round')}; continue it with slopewash "
            "resume, or remove it"
        )
    folder = store.folder
    if folder is None and store.storage.exists("elevation") and not is_finished(store):
        raise InvalidParameter(f"{store.url} has an elevation and holds no run on tiles of yours; choose another URL")
    if folder is not None and folder.exists():
        if not folder.is_dir():
            raise InvalidParameter(f"{folder} is a file; a run on tiles writes a folder")
        names = {entry.name for entry in folder.iterdir()}
        mark, done = store.read_json(MARK), is_finished(store)
        if draft_of is not None and done:
            raise InvalidParameter(
                f"{folder} holds a result that did not become {draft_of} yet; make that of it with slopewash convert, "
                "or remove it"
            )
        if mark is not None and mark.own:
            names -= UNCOMMITTED
        if names and (not done or "state" in names):
            raise InvalidParameter(f"{folder} is not empty and holds no run on tiles of yours; choose another folder")


def _check_not_read(recipe: Recipe, store: Store, file: Path | None) -> None:
    """Refuse to write over a file or a store that the run reads."""
    places = [place for place in (store.folder, file) if place is not None]
    overlap = overwritten(input_files(recipe), map(Claim.of_file, places))
    if overlap is not None:
        claim, read = overlap
        raise InvalidParameter(f"{claim.path} would replace {read}, which the run reads; choose another name")


def _recipe(
    source: Any, given: Recipe | Model | Preset | str | None, *, steps: int | None, edges: Any, seed: int | None,
    backend: str | None,
) -> Recipe:  # fmt: skip
    if isinstance(given, Recipe):
        for name, value in {"steps": steps, "edges": edges, "seed": seed}.items():
            if value is not None:
                raise InvalidParameter(
                    f"{name} is {value!r}, but the recipe has its own; use recipe.replace({name}=...)"
                )
        changes: dict[str, Any] = {} if source is None else {"source": as_source(source)}
        own = USUAL_BACKEND if given.backend == "auto" else given.backend
        return given.replace(**changes, backend=own if backend is None else backend, outputs=())
    if source is None:
        raise InvalidParameter(
            "source is None; without a recipe of its own it must be a terrain, a file or Generated(...)"
        )
    made = as_source(source)
    stage = Stage.of(usual_preset_of(made) if given is None else given, steps=steps, edges=edges)
    return Recipe(
        source=made, strata=preset_beds(stage.preset), stages=(stage,), seed=0 if seed is None else seed,
        backend=USUAL_BACKEND if backend is None else backend,
    )  # fmt: skip
