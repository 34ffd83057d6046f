"""Runs a recipe with a progress bar, and keeps what is done if it is interrupted."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from slopewash.cli import INTERRUPTED
from slopewash.cli.console import note
from slopewash.errors import CheckpointError, InvalidParameter
from slopewash.interrupts import whole_steps

if TYPE_CHECKING:
    from slopewash import Observer, Result, Running

TERMINATED = 143
"""Exit code after SIGTERM, as shells report it."""


class Terminated(KeyboardInterrupt):
    """SIGTERM was received; batch systems send it before they kill a job."""

    code = TERMINATED


@contextmanager
def run_recipe(
    running: Running, *, threads: int | None = None, observers: Sequence[Observer] = ()
) -> Iterator[tuple[Result, int]]:
    """Run, and pass the result and the exit code to the block that writes them.

    Ctrl-C and SIGTERM, which batch systems send, interrupt the run within a second; a second one waits for the end of
    the block. With checkpoints, one is written then.
    """
    import slopewash as sw

    use_threads(threads)
    progress, code = sw.Progress(), 0
    with terminations():
        try:
            running.run(progress, *observers)
        except Terminated:
            code = TERMINATED
        except KeyboardInterrupt:
            code = INTERRUPTED
        with whole_steps():
            progress.close()
            try:
                if code and running.checkpoint is not None:
                    _write_last(running)
                yield running.result(), code
            finally:
                running.close()


def _write_last(running: Running) -> None:
    """Write the checkpoint of an interrupted run; if that fails, its outputs are still to be written."""
    try:
        running.write_checkpoint()
        if not running.finished:
            note("checkpoint written")
    except CheckpointError as error:
        note(f"note: {error}")


def resuming(running: Running) -> str:
    """Return the command that continues a run with checkpoints.

    >>> import slopewash as sw
    >>> resuming(sw.Running(sw.recipe("landscape", size=16), checkpoint="run.ckpt"))
    'slopewash resume run.ckpt'
    """
    from slopewash.recipes.manifest import CHECKPOINTS

    folder, checkpoint = running.folder, running.checkpoint
    together = folder is not None and checkpoint == folder / CHECKPOINTS  # unless outputs go to another folder by now
    return f"slopewash resume {shlex.quote(str(folder if together else checkpoint))}"


@contextmanager
def terminations() -> Iterator[None]:
    """Let SIGTERM interrupt the run once; a second one changes nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, lambda *_: None)
        raise Terminated

    usual = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)


def check_checkpoint(folder: Path, *, instead: str = "remove it") -> None:
    """Refuse to write over the checkpoints of a run that is not finished, and say what to do `instead`."""
    import slopewash as sw

    if folder.exists() and not folder.is_dir():
        raise InvalidParameter(f"{folder} is a file; --checkpoint needs a folder")
    manifest = sw.newest_manifest(folder)
    if manifest is None or manifest["recipe"].get("finished", False):
        return
    remedy = f"with slopewash resume {folder}"
    if manifest["recipe"].get("studio"):
        remedy = f"with slopewash studio --keep {folder}"
    elif "stage" not in manifest["recipe"]:
        remedy = "in Python with Simulation.resume"
    raise InvalidParameter(f"{folder} holds a run at step {manifest['step']}; continue it {remedy}, or {instead}")


def forget_run(folder: Path) -> None:
    """Remove checkpoints, if that is what the folder holds; other files stay."""
    import slopewash as sw

    if folder.is_dir() and sw.newest_manifest(folder) is not None:
        sw.remove_checkpoints(folder)


def use_adapter(adapter: str | None, backend: str) -> str:
    """Choose the GPU by name; naming one asks for the gpu backend, unless another was asked for."""
    import slopewash as sw

    if adapter is not None and backend not in ("auto", "gpu"):
        raise InvalidParameter(f"--adapter is {adapter}; backend {backend} has none, take --backend gpu")
    sw.use_adapter(adapter)
    return backend if adapter is None else "gpu"


def use_threads(threads: int | None) -> None:
    """Limit the kernels to a number of threads; the result is the same for any."""
    if threads is None:
        return
    if threads < 1:
        raise InvalidParameter(f"--threads is {threads}; it must be 1 or more")
    if "numba" not in sys.modules:
        os.environ["NUMBA_NUM_THREADS"] = str(threads)  # read once, when Numba is imported
        return
    import numba

    try:
        numba.set_num_threads(threads)
    except ValueError:
        raise InvalidParameter(f"--threads is {threads}; this process was started with fewer") from None
