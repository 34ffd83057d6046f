"""`slopewash resume`: continue a run from its checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from slopewash.cli.console import note
from slopewash.cli.finishing import finish
from slopewash.cli.options import Adapter, Flag, Json, Threads
from slopewash.cli.tiles import Memory, Scheduler, Workers, check_on_tiles, resume_on_tiles, tiled_output
from slopewash.errors import InvalidParameter

EXAMPLES = """Examples:
  slopewash erode raw.exr -o eroded.exr --checkpoint run.ckpt
      a run that writes a checkpoint every 500 steps
  slopewash info run.ckpt
      how far it has got
  slopewash resume run.ckpt
      continue it, and write eroded.exr
  slopewash resume out/my
      continue `slopewash run my.toml`, and write its outputs
  slopewash resume theirs.ckpt --trust --out out/theirs
      continue what another user or machine wrote

The result is bit-identical to that of a run that was never interrupted.
Ctrl-C and SIGTERM write a checkpoint; the exit code is 130 or 143. A killed
run continues from its last checkpoint. A finished run only writes its
outputs again."""


def command(
    folder: Annotated[Path, Parameter(name="DIR")],
    /,
    *,
    every: int | None = None,
    trust: Annotated[bool, Parameter(negative="")] = False,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    force: Flag = False,
    adapter: Adapter = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    memory: Memory = None,
    threads: Threads = None,
    json: Json = False,
) -> int:
    """Continue a run that was interrupted or killed, and write its outputs.

    Parameters
    ----------
    folder
        Output folder of `slopewash run`, the folder of checkpoints that `erode --checkpoint` wrote, or the output of
        `erode --tiles`.
    every
        Steps between two checkpoints; as before if not given.
    trust
        Continue what another user or machine wrote, or what was changed since; outputs go into --out alone.
    out
        Folder for all outputs, in place of where they went: an absolute one goes there by its last part.
    force
        Let outputs overwrite an input in --out, those of others any file there, and a GeoTIFF of a run on tiles what
        has its name by now.
    """
    import slopewash as sw
    from slopewash.recipes.results import check_outputs, make_folders
    from slopewash.recipes.running import checkpoints_of

    folder = tiled_output(folder)
    if sw.tiled_facts(folder) is not None:
        if out is not None:
            raise InvalidParameter(f"{folder} is a run on tiles, which goes on in its own place; leave out --out")
        check_on_tiles(every=every, adapter=adapter, threads=threads)
        return resume_on_tiles(
            folder, trust=trust, force=force, scheduler=scheduler, workers=workers, memory=memory, json=json
        )
    folder = checkpoints_of(folder)
    if adapter is not None:
        _use_adapter(folder, adapter)
    running = sw.Running.resumed(folder, every=every, trust=trust, out=out, force=force)
    place = running.folder if out is None else out
    if place is not None:
        make_folders(running.recipe, place)
    check_outputs(running.recipe, running.folder, force=force or out is None)
    if running.finished:
        again = "its outputs are written again" if running.recipe.outputs else "its recipe has no outputs to write"
        note(f"the run is finished; {again}")
    else:
        note(f"continuing after {running.result().progress}")
        if not running.recipe.outputs:
            note("note: its recipe has no outputs to write; the result is in its last checkpoint")
    return finish(running, threads=threads, json=json)


def _use_adapter(folder: Path, adapter: str) -> None:
    import slopewash as sw

    manifest = sw.newest_manifest(folder)
    backend = None if manifest is None else manifest.get("backend")
    if backend not in (None, "gpu"):
        raise InvalidParameter(f"--adapter is {adapter}; the run is on backend {backend}, which has none; leave it out")
    sw.use_adapter(adapter)
