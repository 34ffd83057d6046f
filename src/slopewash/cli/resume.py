"""`slopewash resume`: go on with a run from its checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from slopewash.cli.console import note
from slopewash.cli.erode import finish
from slopewash.cli.options import Json

EXAMPLES = """Examples:
  slopewash erode raw.exr -o eroded.exr --checkpoint run.ckpt
  slopewash info run.ckpt                     how far it is
  slopewash resume run.ckpt                   go on to the end

The result is bit-identical to that of a run which never stopped."""


def command(
    folder: Annotated[Path, Parameter(name="DIR")],
    /,
    *,
    every: int | None = None,
    threads: int | None = None,
    json: Json = False,
) -> int:
    """Go on with a run that was interrupted or killed, and write what it was to write.

    Parameters
    ----------
    folder
        What `erode --checkpoint` was given.
    every
        Steps between two checkpoints; as before if not given.
    threads
        Threads to use; the result is the same for any number.
    json
        Print the report as JSON.
    """
    import slopewash as sw

    running = sw.Running.resumed(folder, every=every)
    simulation = running.simulation
    note(f"going on from step {simulation.step} of {running.stage.steps}")
    return finish(running, threads=threads, json=json)
