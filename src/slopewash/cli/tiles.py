"""Runs on tiles: what `erode --tiles`, `resume` and `info` have in common."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from slopewash import urls
from slopewash.cli import INTERRUPTED
from slopewash.cli.console import add_row, console, make_table, note, print_json, show
from slopewash.cli.finishing import note_silted
from slopewash.cli.outputs import make_folder
from slopewash.cli.running import Terminated, terminations
from slopewash.drafts import draft_folder
from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash import Recipe, Terrain, TiledResult

Tiles = Annotated[
    int | None, Parameter(help="Cells along a tile, such as 2048: erode on a Dask cluster, -o OUT.zarr or OUT.tif.")
]
SMALLEST_TILE = 16
Scheduler = Annotated[str | None, Parameter(help="Address of a Dask scheduler, such as tcp://host:8786.")]
Workers = Annotated[int | None, Parameter(help="Processes on this machine; one for each core if not given.")]
Memory = Annotated[
    str | None,
    Parameter(
        help="Most memory of all processes, such as 6GB; a run that needs more is refused. If not given, what is "
        "available on this machine; no limit with --scheduler."
    ),
]


def check_tiled_output(out: Path, tile: int) -> None:
    """Refuse what a run on tiles cannot write, and tiles so small that margins would be all the work."""
    if tile < SMALLEST_TILE:
        raise InvalidParameter(f"--tiles is {tile}; it must be {SMALLEST_TILE} cells or more; take 2048")
    if out.suffix.lower() not in (".zarr", ".tif", ".tiff"):
        raise InvalidParameter(f"--out is {out}; with --tiles it must end in .zarr or .tif")
    if is_local(out):
        make_folder(out.absolute().parent)


def tiled_output(out: Path) -> Path:
    """Path of a run on tiles; one that begins with `file:` is a path like others."""
    return Path(urls.plain_url(str(out)))


def is_local(out: Path) -> bool:
    """Whether the store of a run on tiles is a folder, and not at a URL."""
    return urls.is_local(urls.plain_url(str(out)))


def check_needs_tiles(**given: object) -> None:
    """Refuse options of runs on tiles where there are none."""
    for name, value in given.items():
        if value is not None:
            raise InvalidParameter(f"--{name} is {value}; it is for runs on tiles, so give --tiles 2048 too")


IN_MEMORY = {
    "picture": "needs the whole terrain in memory; leave it out with --tiles",
    "checkpoint": "is not needed with --tiles: the output is the checkpoint",
    "record": "needs the whole terrain in memory; leave it out with --tiles",
    "record_every": "is for --record, which needs the whole terrain in memory; leave it out with --tiles",
    "cog": "is for a run in memory; of the output of --tiles slopewash convert makes a cloud-optimised GeoTIFF",
    "out_height_range": "is for 16-bit files, which --tiles does not write; leave it out",
    "emitter": "is for models with particles, which do not run on tiles; leave out --tiles",
    "adapter": "is for a run in memory; on tiles each process takes the best GPU, so leave it out",
    "threads": "is for a run in memory; for one on tiles give --workers",
    "every": "is for a run in memory; one on tiles keeps each of its rounds, so leave it out",
}
"""Options that would change nothing on tiles, and why."""


def check_on_tiles(**given: object) -> None:
    """Refuse options that only a run in memory heeds."""
    for name, value in given.items():
        if value is not None and value is not False and value != ():
            words = " ".join(map(str, value)) if isinstance(value, tuple) else "" if value is True else str(value)
            raise InvalidParameter(f"--{name.replace('_', '-')} {words}".rstrip() + f" {IN_MEMORY[name]}")


def check_grid(file: Path, options: dict[str, Any], *, work: tuple[str, ...]) -> None:
    """Refuse to read a file for work that does not fit into memory with it."""
    from slopewash.recipes.needs import check_reading

    check_reading(file, options, *work)


def read_grid(file: Path, options: dict[str, Any], *, work: tuple[str, ...] = (), most: int | None = None) -> Terrain:
    """Read a file of heights for some work, or what a run on tiles has left: all, or an overview of at most `most`."""
    import slopewash as sw

    if file.suffix.lower() != ".zarr":
        check_grid(file, options, work=work)
        return sw.read(file, **options)
    check_recorded(file, options)
    terrain = sw.read_tiled(file, most=most)
    cells, largest = terrain.shape[0] * terrain.shape[1], options.get("max_pixels")
    if largest is not None and cells > largest:
        raise InvalidParameter(
            f"{file} has {cells} cells, more than --max-pixels {largest}; raise it if this is intended"
        )
    facts = sw.tiled_facts(file)
    if facts is not None and tuple(facts["shape"]) != terrain.shape:
        rows, columns = terrain.shape
        note(f"note: taken from the overview with {columns} x {rows} cells")
    return terrain


def check_recorded(file: Path, options: Iterable[str], *, but: Collection[str] = ("allow_8bit", "max_pixels")) -> None:
    """Refuse options of reading for a file that records what its numbers mean."""
    for name in options:
        if name not in but:
            word = name.replace("_", "-")
            raise InvalidParameter(f"{file} records what its numbers mean; leave out --{word}")


def print_tiled(file: Path, facts: dict[str, Any]) -> None:
    """Print what is known of a run on tiles."""
    rows, columns = facts["shape"]
    tile = facts["tile"] if "tile" in facts else facts["ground"]["grid"]["tile"]
    count = -(-rows // tile[0]) * -(-columns // tile[1])
    shown = {
        "file": file, "written by": f"slopewash {facts['slopewash']}",
        "cells": f"{columns} x {rows}, in {count} {'tile' if count == 1 else 'tiles'} of {tile[1]} x {tile[0]}",
    }  # fmt: skip
    if not facts["finished"]:
        kind = "stage" if facts["cells"] is None else "level"
        model = facts["preset"] or facts["model"]
        shown |= {
            "run": f"{model} on {facts['backend']}, {kind} {facts['stage']} of {facts['stages']}",
            "steps": f"{facts['step']} of {facts['steps_wanted']} on this {kind}",
            "rounds": facts["round"], "so far": f"{facts['seconds']:.0f} s",
            "next": f"continue with slopewash resume {file}",
        }  # fmt: skip
    else:
        steps = facts.get("steps_in_all", facts["steps"])
        shown |= {
            "cell size": f"{facts['cell_size']:g} m", "crs": facts["ground"]["crs"],
            "run": f"{steps} steps, {facts['rounds']} rounds on {facts['backend']}, {facts['seconds']:.0f} s",
        }  # fmt: skip
    for name, value in shown.items():
        if value is not None:
            show(f"{name:<20} {value}")
    if facts["finished"]:
        table = make_table("layer", "units", "lowest", "highest")
        for name in facts["layers"]:
            low, high = facts["ground"]["ranges"][name]
            add_row(table, name, facts["units"][name], f"{low:.6g}", f"{high:.6g}")
        console().print(table)


def erode_on_tiles(
    recipe: Recipe,
    out: Path,
    *,
    tiles: int,
    scheduler: str | None,
    workers: int | None,
    memory: str | None,
    json: bool,
    layers: tuple[str, ...] | None = None,
    lakes: bool = False,
    force: bool = False,
) -> int:
    """Run a recipe on tiles, and report."""
    import slopewash as sw

    return _report(
        out if out.suffix.lower() == ".zarr" else draft_folder(out), json=json,
        run=lambda: sw.erode_tiled(
            None, recipe, out=out, tile=tiles, backend=recipe.backend, scheduler=scheduler, workers=workers,
            memory=memory, layers=layers, lakes=lakes, force=force, progress=True,
        ),
    )  # fmt: skip


def resume_on_tiles(
    folder: Path, *, trust: bool, force: bool, scheduler: str | None, workers: int | None, memory: str | None,
    json: bool,
) -> int:  # fmt: skip
    """Continue a run on tiles, and report."""
    import slopewash as sw

    return _report(
        folder, json=json,
        run=lambda: sw.resume_tiled(
            folder, scheduler=scheduler, workers=workers, memory=memory, progress=True, trust=trust, force=force
        ),
    )  # fmt: skip


def _report(store: Path, *, json: bool, run: Any) -> int:
    import slopewash as sw

    with terminations():
        try:
            result: TiledResult = run()
        except KeyboardInterrupt as interrupt:
            facts, place = sw.tiled_facts(store), shlex.quote(str(store))
            if facts is None:
                note("interrupted before the first step; nothing is kept")
            elif facts["finished"]:
                note(f"interrupted; the result is whole, and slopewash convert {place} makes files of it")
            else:
                note(f"interrupted; what is done is kept, and slopewash resume {place} continues it")
            return int(getattr(interrupt, "code", INTERRUPTED)) if isinstance(interrupt, Terminated) else INTERRUPTED
    if json:
        print_json({"output": result.url, **result.as_dict()})
    else:
        show(result.budget)
        show(result.budget.summary)
        show(
            f"{result.steps_in_all} steps in {result.rounds} rounds on {result.tiles} tiles, {result.backend}, in "
            f"{result.seconds:.1f} s: {result.url}"
        )
    if result.sea is not None:
        note_silted(*result.sea)
    return 0
