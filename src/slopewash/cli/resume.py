"""`slopewash resume`: continue a run from its checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from slopewash.cli.console import note
from slopewash.cli.erode import finish
from slopewash.cli.options import Json
from slopewash.cli.outputs import check_output, check_picture

EXAMPLES = """Examples:
  slopewash erode raw.exr -o eroded.exr --checkpoint run.ckpt
      a run that writes a checkpoint every 500 steps
  slopewash info run.ckpt
      how far it is
  slopewash resume run.ckpt
      continue it, and write eroded.exr

The result is bit-identical to that of a run that was never interrupted.
Ctrl-C and SIGTERM write a checkpoint; the exit code is 130 or 143. A killed
run continues from its last checkpoint. A finished run only writes its
outputs again."""


def command(
    folder: Annotated[Path, Parameter(name="DIR")],
    /,
    *,
    every: int | None = None,
    threads: int | None = None,
    json: Json = False,
) -> int:
    """Continue a run that was interrupted or killed, and write its outputs.

    Parameters
    ----------
    folder
        Folder of checkpoints that `erode --checkpoint` wrote.
    every
        Steps between two checkpoints; as before if not given.
    threads
        Threads to use; the result is the same for any number.
    json
        Print the report as JSON.
    """
    import slopewash as sw

    running = sw.Running.resumed(folder, every=every)
    for output in running.recipe.outputs:
        (check_picture if output.kind == "picture" else check_output)(output.path)
    if running.finished:
        note("the run is finished; its outputs are written again")
    else:
        note(f"continuing after {running.result().progress}")
    return finish(running, threads=threads, json=json)
