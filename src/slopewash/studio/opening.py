"""`sw.studio`: the one call that opens the studio."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import slopewash as sw
from slopewash import seals
from slopewash.errors import (
    BackendUnavailable,
    CheckpointError,
    ForeignCheckpoint,
    InvalidFile,
    InvalidParameter,
    printable,
)
from slopewash.paths import copy_file
from slopewash.recipes.sources import read_call
from slopewash.remedies import by_place
from slopewash.studio import built_page, finish_files, messages
from slopewash.studio.keeping import Keeper, default_folder
from slopewash.studio.projects import SUFFIX, Project, read_project
from slopewash.studio.recipes import check_side, first_recipe, fitted
from slopewash.studio.server import StudioServer


def studio(
    source: sw.Terrain | str | os.PathLike[str] | None = None,
    *,
    preset: str | None = None,
    model: str | None = None,
    size: int | None = None,
    extent: float | None = None,
    seed: int | None = None,
    backend: str = "auto",
    host: str = "127.0.0.1",
    port: int | None = None,
    browser: bool = True,
    allowed_hosts: Sequence[str] = (),
    keep: str | os.PathLike[str] | bool = True,
    new: bool = False,
    trust: bool = False,
    **read_options: Any,
) -> None:
    """Open the live 3-D studio in the browser, and serve it until Ctrl-C.

    The run is kept on disk, and a studio that is opened again continues it.

    Parameters
    ----------
    source
        A terrain, a file to read one from, a recipe file, which runs with all its stages and levels, or a project; by
        default a terrain is generated.
    preset, model
        What to run; the default is the landscape preset.
    size
        Cells along the longer side: more are the same ground, finer.
    extent
        Side of a generated terrain in metres.
    seed
        Of a generated terrain.
    backend
        As for `Simulation`.
    host, port
        Where to listen; the default port is the first free one from 8420.
    browser
        Whether to open the page.
    allowed_hosts
        Additional host names of the page, such as that of an HTTPS proxy in front of it.
    keep
        Folder to keep the run in; True for one in the user's home, False to keep nothing.
    new
        Start a new run instead of continuing the last one. Naming a source, preset, model, size, extent, seed or
        another backend does so too.
    trust
        Continue what another user or machine kept in the folder, or an older slopewash. Without, it is refused, and
        not replaced unless `new` asks for it.
    read_options
        What `slopewash.read` takes besides the file, such as `cell_size` or `height_range`.

    >>> import slopewash as sw
    >>> sw.studio(sw.generate("dome", size=256))  # doctest: +SKIP
    """
    with contextlib.ExitStack() as stack:
        keeper = _keeper(keep, trust=trust)
        if keeper is not None:
            stack.callback(keeper.close)
            seals.warn_if_unkept()
            if not new:
                _check_own(keeper)

        def serve(recipe: sw.Recipe | None) -> StudioServer:
            return StudioServer(recipe, host=host, port=port, allowed_hosts=allowed_hosts, keeper=keeper, apart=True)

        project: Project | None = None
        server, kept = None, None if keeper is None else keeper.kept
        named = new or any(given is not None for given in (source, preset, model, size, extent, seed))
        if keeper is not None and keeper.has_run and not named and backend in ("auto", kept and kept["backend"]):
            try:
                server = serve(None)
                _print(f"continuing the last run{_described(kept, sized=True)}; --new starts another")
            except CheckpointError as error:
                _print(f"note: the last run is lost, a new one is started: {error}")
                kept = None
            except BackendUnavailable as error:
                needed = kept and kept["backend"]
                raise BackendUnavailable(
                    f'the last run needs backend "{needed}", which is missing here: {error}; to start another '
                    "run, which replaces it, add --new"
                ) from error
        if server is None:
            if source is not None and extent is not None and not _is_recipe(source):
                raise InvalidParameter(
                    f"extent is {extent:g} m, but the terrain is not a generated one; set its size by cell_size"
                )
            if _is_project(source):
                others = (preset, model, size, extent, seed, *read_options.values())
                project = _read_project(Path(str(source)), alone=all(given is None for given in others))
                recipe = first_recipe(size=messages.SIZES[0])  # until the project takes its place
            elif _is_recipe(source):
                others = (preset, model, extent, seed, *read_options.values())
                recipe = _from_recipe(Path(str(source)), size, backend, alone=all(given is None for given in others))
            else:
                given = _given(source, size, read_options)
                recipe = first_recipe(
                    preset=preset,
                    model=model,
                    source=given,
                    size=size,
                    seed=seed,
                    extent=extent,
                    backend=backend,
                    levels=True,
                )
            server = serve(recipe)
            if project is not None:
                server.open_project(project).add_done_callback(_print_failure)
            if kept is not None:
                alone = "slopewash studio" if keep is True else f"slopewash studio --keep {keep}"
                alone += "" if keeper is None or keeper.is_own else " --trust"
                _print(
                    f"note: the last run{_described(kept)} is replaced once this one changes; "
                    f"`{alone}` alone continues it"
                )
        if keeper is not None:
            _print_finish(keeper.folder, trust=trust)
        if not built_page.is_built():
            _print(f"note: {built_page.HOW_TO_BUILD}")
        _print(f"slopewash studio: {server.url}")
        if server.reachable is not None:
            _print(f"from other machines: {server.reachable}")
        if not server.is_local:
            _print(
                "note: plain HTTP is not encrypted: whoever can read this network's traffic gets the access key; use "
                "an SSH tunnel or an HTTPS proxy where that matters"
            )
        _print("Press Ctrl-C to stop it")
        with contextlib.suppress(KeyboardInterrupt):  # the usual way to stop it
            server.run(ready=server.open_browser if browser else None)
        if keeper is not None and keeper.failure is not None:
            _print(f"note: the run as it was at the end is not kept: {keeper.failure}")


def _print(sentence: str) -> None:
    print(printable(sentence), file=sys.stderr, flush=True)


def _check_own(keeper: Keeper) -> None:
    """Refuse to open or replace a run of somebody else's, or of a version without seals, unless the user says so."""
    try:
        keeper.check_own()
    except ForeignCheckpoint as error:
        instead = f"start another one in its place with {by_place(python='new=True', command='--new')}"
        raise ForeignCheckpoint(f"the last run is left alone: {error}, or {instead}") from None
    except CheckpointError:  # which opening it reports
        pass


def _print_finish(folder: Path, *, trust: bool = False) -> None:
    left = None
    with contextlib.suppress(CheckpointError):  # which the page reports
        left = finish_files.read_state(folder / finish_files.FOLDER)
    if left is not None and left["status"] == "running":
        goes_on = "goes on in the background"
        if not (trust or finish_files.is_own(folder / finish_files.FOLDER)):
            goes_on = "does not carry your seal; the page asks whether to continue it"
        _print(f"note: the finish of {left['name']} on {left['size']} cells {goes_on}")


def _print_failure(answer: Future[Any]) -> None:
    if not answer.cancelled() and (error := answer.exception()) is not None:
        _print(f"note: the project was not opened: {error}")


def _keeper(keep: str | os.PathLike[str] | bool, *, trust: bool) -> Keeper | None:
    if keep is False:
        return None
    folder = default_folder() if keep is True else Path(keep)
    try:
        keeper = Keeper(folder, trust=trust)
    except CheckpointError as error:
        _print(f"note: this run is not kept: {error}")
    else:
        if keeper.kept is not None and not keeper.kept["recipe"].get("studio"):
            step = keeper.kept["step"]
            keeper.close()
            raise CheckpointError(
                f"{folder} holds a run at step {step} that is not a studio's; keep the studio's run in another folder"
            )
        return keeper
    return None


def _described(kept: dict[str, Any] | None, *, sized: bool = False) -> str:
    """Name, size and step of a run, in brackets."""
    if kept is None:
        return ""
    stages = kept["recipe"].get("recipe", {}).get("stages") or [{}]
    shown, preset = _shown(kept), stages[0].get("preset") or kept["model"]["name"]
    name, (rows, columns) = shown.get("name", preset).replace("_", " "), shown.get("shape", kept["domain"]["shape"])
    size = f"{columns} x {rows}, " if sized else ""
    return f" ({name}, {size}step {shown.get('step', kept['step'])})"


def _shown(kept: dict[str, Any]) -> dict[str, Any]:
    """Name, shape and step of all levels together, as pages show them; older checkpoints have none."""
    shown: dict[str, Any] = kept["recipe"].get("shown", {})
    return shown


def _is_recipe(source: Any) -> bool:
    return isinstance(source, str | os.PathLike) and Path(source).suffix.lower() == ".toml"


def _is_project(source: Any) -> bool:
    return isinstance(source, str | os.PathLike) and Path(source).suffix.lower() == SUFFIX


def _read_project(path: Path, *, alone: bool) -> Project:
    if not alone:
        raise InvalidParameter(f"{path} is a whole run; it takes no other options")
    if not path.is_file():
        raise InvalidFile(f"{path} does not exist")
    with tempfile.TemporaryDirectory(prefix="slopewash-studio-") as folder:
        copy = Path(folder) / f"project{SUFFIX}"
        copy_file(path, copy)
        return read_project(copy, str(path), seals.secret())


def _from_recipe(path: Path, size: int | None, backend: str, *, alone: bool) -> sw.Recipe:
    """The recipe of a file, with the terrain that it reads in memory; layers and maps are read again at every reset."""
    if not alone:
        raise InvalidParameter(f"{path} is a whole job; of the other options, it takes size and backend only")
    recipe = sw.Recipe.read(path)
    check_side(size)
    if isinstance(recipe.source, sw.FromFile):
        source = recipe.source
        recipe = recipe.replace(source=_given(source.path, size or source.size, dict(source.options)))
    elif size is not None:
        recipe = recipe.replace(size=size)
    return recipe.replace(backend=recipe.backend if backend == "auto" else backend)


def _given(source: Any, size: int | None, options: dict[str, Any]) -> sw.FromTerrain | None:
    if source is None:
        return None
    check_side(size)
    if isinstance(source, sw.Terrain):
        terrain, given = source, fitted("terrain", source, None, size)
    else:
        with sw.without_gdal():  # uploads come to this process too
            terrain = sw.read(source, **options)
        given = fitted(Path(source).name, terrain, read_call(str(Path(source).absolute()), options), size)
    if size is None and given.make() is not terrain:
        rows, columns = given.make().shape
        _print(f"note: {given.name} is resampled to {columns} x {rows} cells, the most that the studio takes")
    return given
