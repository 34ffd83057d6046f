"""Does again what was done to a run: for projects that were saved elsewhere, and for the same run on more cells."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from slopewash.studio import messages
from slopewash.studio.pace import Pace

if TYPE_CHECKING:
    from slopewash.studio.run import Run

VIEWER = "replay"
"""Who the strokes are of."""


class Replay:
    """Recorded actions, done again on a run.

    `place` is what `parts` of an earlier one returned, where the run is a checkpoint of that moment.
    """

    def __init__(self, run: Run, actions: Sequence[Any], place: Mapping[str, Any] | None = None) -> None:
        self._run, self._actions, self._pace = run, actions, Pace()
        noted = {"action": 0, "since": None, "stroke": 0, "open": None, **(place or {})}
        self._action: int = noted["action"]
        """Number of the action under way."""
        self._since: int | None = noted["since"]
        """Steps, or steps of settling, that the run had when it began; None before it begins."""
        self._stroke: int = noted["stroke"]
        if noted["open"] is not None:
            run.stroke = (VIEWER, noted["open"])  # which edits may still join

    def parts(self) -> dict[str, Any]:
        """How far it is, for a checkpoint."""
        viewer, number = self._run.stroke or (None, None)
        return {
            "action": self._action, "since": self._since, "stroke": self._stroke,
            "open": number if viewer == VIEWER else None,
        }  # fmt: skip

    @property
    def settles(self) -> bool:
        """Whether a settling is under way."""
        return self._since is not None and self._actions[self._action][0] == "settle"

    def do(self, *, look: Callable[[], None], stop: Callable[[], bool]) -> None:
        """Do what is left; `look` is called a few times a second, and it ends early when `stop` returns true."""
        while self._action < len(self._actions):
            kind, *rest = self._actions[self._action]
            if kind == "run":
                self._advance(rest[0], look, stop)
            elif kind == "settle":
                self._settle(*rest, look=look, stop=stop)
            else:
                self._change(kind, rest)
            if self._since is not None and stop():
                return
            self._action, self._since = self._action + 1, None
            if stop():
                return

    def _advance(self, steps: int, look: Callable[[], None], stop: Callable[[], bool]) -> None:
        """Take steps, in portions of a fraction of a second."""
        run, pace = self._run, self._pace
        if self._since is None:
            self._since = run.step
        end = self._since + steps
        while run.step < end and not run.finished and not stop():
            begin, before, number = time.monotonic(), run.step, run.number
            run.advance(min(pace.chunk(), end - run.step), stop=stop)
            if run.number != number:
                pace.forget()  # of another model, or on another grid
            elif run.step > before:
                pace.took(run.step - before, time.monotonic() - begin)
            look()

    def _settle(
        self, steps: int, dry: bool, stop_after: int | None, *, look: Callable[[], None], stop: Callable[[], bool]
    ) -> None:
        run = self._run
        run.check_can_settle()
        settled = run.simulation.settled
        if self._since is None:
            self._since = settled
        done = settled - self._since
        if done < steps:  # else the sediment is deposited, too
            left = None if stop_after is None else stop_after - done
            run.settle(steps, dry=dry, look=look, stop=stop, stop_after=left, done=done)

    def _change(self, kind: str, rest: list[Any]) -> None:
        run = self._run
        if kind == "interrupted":
            run.interrupt(rest[0])
        elif kind == "model":
            run.change_parameters(rest[0])
            self._pace.forget()
        else:
            joins = kind in ("paint", "sources", "emitters") and rest[1]
            self._stroke += 0 if joins else 1
            run.edit(_edit(kind, rest, self._stroke), VIEWER)


def _edit(kind: str, rest: list[Any], stroke: int) -> Any:
    """The message that an edit was made by; those of one stroke join."""
    if kind == "paint":
        return messages.Paint(type="paint", **rest[0], stroke=stroke)
    if kind == "sources":
        return messages.Sources(type="sources", sources=rest[0], stroke=stroke)
    if kind == "emitters":
        return messages.Emitters(type="emitters", emitters=rest[0], stroke=stroke)
    return messages.Undo(type="undo") if kind == "undo" else messages.Redo(type="redo")
