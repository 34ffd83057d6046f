"""Does again what was done to a run: for projects that were saved elsewhere, and for the same run on more cells."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from slopewash.studio import messages
from slopewash.studio.pace import Pace

if TYPE_CHECKING:
    from slopewash.studio.run import Run


def replay(run: Run, actions: Iterable[Any], *, look: Callable[[], None], stop: Callable[[], bool]) -> None:
    """Do recorded actions; `look` is called a few times a second, and it ends early when `stop` returns true."""
    pace, stroke = Pace(), 0
    for kind, *rest in actions:
        if kind == "run":
            advance(run, run.step + rest[0], pace, look=look, stop=stop)
        elif kind == "interrupted":
            run.interrupt(rest[0])
        elif kind == "model":
            run.change_parameters(rest[0])
            pace.forget()
        elif kind == "settle":
            run.check_can_settle()
            run.settle(rest[0], dry=rest[1], look=look, stop=stop, stop_after=rest[2])
        else:
            joins = kind in ("paint", "sources", "emitters") and rest[1]
            stroke += 0 if joins else 1
            run.edit(_edit(kind, rest, stroke), "replay")
        if stop():
            return


def advance(run: Run, end: int, pace: Pace, *, look: Callable[[], None], stop: Callable[[], bool]) -> None:
    """Take steps up to a number, in portions of a fraction of a second."""
    while run.step < end and not run.finished and not stop():
        begin, before, number = time.monotonic(), run.step, run.number
        run.advance(min(pace.chunk(), end - run.step), stop=stop)
        if run.number != number:
            pace.forget()  # of another model, or on another grid
        elif run.step > before:
            pace.took(run.step - before, time.monotonic() - begin)
        look()


def _edit(kind: str, rest: list[Any], stroke: int) -> Any:
    """The message that an edit was made by; those of one stroke join."""
    if kind == "paint":
        return messages.Paint(type="paint", **rest[0], stroke=stroke)
    if kind == "sources":
        return messages.Sources(type="sources", sources=rest[0], stroke=stroke)
    if kind == "emitters":
        return messages.Emitters(type="emitters", emitters=rest[0], stroke=stroke)
    return messages.Undo(type="undo") if kind == "undo" else messages.Redo(type="redo")
