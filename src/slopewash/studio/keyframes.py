"""Keyframes of a run: moments that it can be taken back to, and the branches that it grew since.

A keyframe is what a checkpoint holds, in a file without a name that vanishes with the process; where the run is kept on
disk, the next checkpoint moves it there (`kept_keyframes.py`). A branch keeps at most `MOST_KEYFRAMES`: where there are
more, those of edits beside its interval are dropped; if there are none, those at odd multiples of it are, and the
interval doubles.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np

from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash.studio.run import Run

MOST_KEYFRAMES = 32
"""Of a branch."""
MOST_BYTES = 2**30
"""Of all keyframes, those of runs that were left included: 60 or more on 512 x 512 cells, 4 on 2048 x 2048."""
MOST_FILES = 128
"""Of the same: each is an open file, and a process may have few."""
MOST_BRANCHES = 8
FIRST_INTERVAL = 16
"""Fewest steps between two keyframes."""
SHARED = ("terrain.", "start.", "origin.", "recording.terrain.")
"""Arrays of the start, which never change and which all keyframes share with the run."""
SHOWN = "shown.elevation"

_numbers = itertools.count(1)

T = TypeVar("T")
Parts = tuple[dict[str, Any], dict[str, Any]]
Place = tuple[int, str, tuple[int, ...]]


class DamagedKeyframe(OSError):
    """A keyframe cannot be read."""

    def __init__(self, keyframe: Keyframe, error: OSError) -> None:
        super().__init__(f"keyframe {keyframe.moment} cannot be read ({error})")
        self.keyframe = keyframe


class ArrayFile:
    """Arrays in a file: one thread may move them to another file while another one reads them.

    `places` has place, type and shape of each.
    """

    def __init__(self, file: IO[bytes], places: dict[str, Place], digests: dict[str, str] | None = None) -> None:
        self._file, self._turn = file, threading.Lock()
        self.places = places
        self._digests = digests or {}
        """The sha256 of each, where it is known: it is checked whenever the array is read."""

    def read(self, name: str) -> Any:
        """One array; `OSError` if it is not what was written."""
        place, kind, shape = self.places[name]
        array = np.empty(shape, kind)
        data = array.reshape(-1).view(np.uint8).data if array.size else memoryview(bytearray())
        self._read_into(place, data)
        if name in self._digests and hashlib.sha256(data).hexdigest() != self._digests[name]:
            raise OSError(f"{name} is not what was written")
        return array

    def cell(self, name: str, row: int, column: int) -> float:
        """One cell of an array; reads no more than that, and checks nothing."""
        place, kind, (_, columns) = self.places[name]
        cell = np.empty(1, kind)
        self._read_into(place + cell.itemsize * (row * columns + column), cell.view(np.uint8).data)
        return float(cell[0])

    def move_to(self, file: IO[bytes], digests: dict[str, str]) -> None:
        """Read from another file from now on, which has the same arrays at the same places."""
        with self._turn:
            self._file.close()
            self._file, self._digests = file, digests

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._file.close()

    def _read_into(self, place: int, target: memoryview) -> None:
        with self._turn:
            self._file.seek(place)
            count = self._file.readinto(target)  # type: ignore[attr-defined]
        if count != target.nbytes:
            raise OSError(f"{target.nbytes - count} bytes are missing")


@dataclass(frozen=True, eq=False)
class Keyframe:
    """One moment of a run."""

    moment: int
    """Steps of running and settling until then."""
    step: int
    facts: dict[str, Any]
    shared: dict[str, Any]
    arrays: ArrayFile
    nbytes: int
    number: int = field(default_factory=lambda: next(_numbers))

    def __post_init__(self) -> None:
        weakref.finalize(self, self.arrays.close)  # branches share keyframes: the last to forget one frees its file

    @classmethod
    def of(cls, run: Run, *, undo: bool) -> Keyframe:
        """Keep the run as it is now, with or without its undo history, which may be large."""
        facts, arrays = run.parts()
        if not undo:
            facts = {**facts, "history": {**facts["history"], "undo": [], "redo": []}}
            arrays = {**arrays, "history.values": np.zeros(0, np.uint8)}
        arrays[SHOWN] = run.shown_layers("elevation")["elevation"]
        shared = {name: array for name, array in arrays.items() if name.startswith(SHARED)}
        places, end = dict[str, Place](), 0
        file = tempfile.TemporaryFile(prefix="slopewash-keyframe-")  # noqa: SIM115 (open as long as the keyframe lives)
        try:
            for name, array in arrays.items():
                if name not in shared:
                    array = np.ascontiguousarray(array)
                    places[name] = (end, array.dtype.str, array.shape)
                    file.write(array.data if array.size else b"")
                    end += array.nbytes
            file.flush()
        except BaseException:
            with suppress(OSError):  # it flushes what could not be written
                file.close()
            raise
        return cls(run.moment, run.step, facts, shared, ArrayFile(file, places), end)

    def parts(self) -> Parts:
        """What `Run.from_checkpoint` takes; a run may change these arrays. `DamagedKeyframe` if it cannot be read."""
        own = {name: self._read(self.arrays.read, name) for name in self.arrays.places}
        return copy.deepcopy(self.facts), {**self.shared, **own}

    @property
    def elevation(self) -> Any:
        """Heights in metres."""
        return self._read(self.arrays.read, SHOWN)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.arrays.places[SHOWN][2]

    def height(self, row: int, column: int) -> float:
        """Height of one cell in metres."""
        return self._read(self.arrays.cell, SHOWN, row, column)

    def _read(self, read: Callable[..., T], *where: Any) -> T:
        try:
            return read(*where)
        except OSError as error:
            raise DamagedKeyframe(self, error) from error


@dataclass(eq=False)
class Branch:
    """One course of a run."""

    number: int
    interval: int
    parent: int | None = None
    forked: int | None = None
    """Moment at which it left its parent."""
    keyframes: list[Keyframe] = field(default_factory=list)
    """From the start on, those before it forked included, which its parent has too."""
    tip: Keyframe | None = None
    """Its end, while it is not shown."""
    identity: str | None = None
    """Of its run, once it was left: keyframes before it forked have that of its parent."""

    @property
    def all(self) -> list[Keyframe]:
        """The keyframes and the tip, by their moments."""
        return [*self.keyframes, *([] if self.tip is None else [self.tip])]

    def nearest(self, moment: int) -> Keyframe | None:
        """The keyframe nearest to a moment; of two, the later."""
        return min(reversed(self.all), key=lambda k: abs(k.moment - moment), default=None)

    def add(self, keyframe: Keyframe) -> None:
        """Add the newest; it takes the place of one of the same moment, and of one of an edit just before it."""
        self.keyframes = [k for k in self.keyframes if k.moment < keyframe.moment]
        if self._is_of_a_close_edit(keyframe.moment):
            self.keyframes.pop()  # a stroke while the run plays would fill the branch
        self.keyframes.append(keyframe)
        while len(self.keyframes) > MOST_KEYFRAMES:
            self.thin()

    def _is_of_a_close_edit(self, moment: int) -> bool:
        """Whether the last keyframe is beside the interval, of an edit less than `FIRST_INTERVAL` steps ago."""
        if moment % self.interval == 0 or len(self.keyframes) < 2:
            return False
        last = self.keyframes[-1].moment
        own = self.forked is None or last > self.forked
        return own and last % self.interval != 0 and moment - last < FIRST_INTERVAL

    def thin(self) -> bool:
        """Drop keyframes beside the interval, or double it where there are none. False where nothing else is left.

        The first and the last stay.
        """
        if len(self.keyframes) <= 2:
            return False
        first, *others, last = self.keyframes
        if all(k.moment % self.interval == 0 for k in others):
            self.interval *= 2
        self.keyframes = [first, *(k for k in others if k.moment % self.interval == 0), last]
        return True


class Timeline:
    """The keyframes of a run and of its branches."""

    def __init__(self, usual_steps: int | None = None) -> None:
        interval = FIRST_INTERVAL
        while usual_steps is not None and interval * MOST_KEYFRAMES < usual_steps:
            interval *= 2
        self.branches = {1: Branch(1, interval)}
        self.current = 1
        self.at: Keyframe | None = None
        """The keyframe that is shown; None at the end of the branch."""
        self._edited = True
        self._beside: Keyframe | None = None
        self._elevation: Any = None

    @classmethod
    def restored(cls, branches: dict[int, Branch], current: int, *, edited: bool) -> Timeline:
        """The timeline that `copy` returned, at the end of its branch."""
        timeline = cls()
        timeline.branches, timeline.current, timeline._edited = branches, current, edited
        return timeline

    def copy(self) -> Timeline:
        """The timeline as it is now, with the same keyframes, for another thread."""
        branches = {number: replace(b, keyframes=[*b.keyframes]) for number, b in self.branches.items()}
        return Timeline.restored(branches, self.current, edited=self.edited)

    @property
    def edited(self) -> bool:
        """Whether something was done to the run since the last keyframe, besides steps: the next step takes one."""
        return self._edited

    def forget(self, keyframe: Keyframe) -> None:
        """Drop one that cannot be read; a branch that loses its end ends at its last keyframe."""
        for branch in self.branches.values():
            branch.keyframes = [k for k in branch.keyframes if k is not keyframe]
            if branch.tip is keyframe:
                at_end = branch is self.branch and self.at is None  # which the run is, then
                branch.tip = branch.keyframes[-1] if branch.keyframes and not at_end else None
        self.branches = {n: b for n, b in self.branches.items() if b.all or n == self.current}
        if self.at is self.branch.tip or not self.branch.all:
            self.at = None

    @property
    def branch(self) -> Branch:
        """The branch that is shown."""
        return self.branches[self.current]

    @property
    def nbytes(self) -> int:
        """Of all files."""
        return sum(keyframe.nbytes for keyframe in self.files)

    @property
    def files(self) -> set[Keyframe]:
        """All keyframes, those that branches share once."""
        return {keyframe for branch in self.branches.values() for keyframe in branch.all}

    def until_next(self, moment: int) -> int:
        """Steps until the next keyframe is due."""
        return self.branch.interval - moment % self.branch.interval

    def note_edit(self) -> None:
        """Remember that something is done to the run besides steps."""
        self._edited = True

    def note_steps(self, run: Run) -> bool:
        """Take a keyframe of what the run goes on from, where one is due: edits are in it. Returns whether."""
        branch, moment = self.branch, run.moment
        known = bool(branch.keyframes) and branch.keyframes[-1].moment == moment
        if not self._edited and (moment % branch.interval != 0 or known):
            return False
        self._edited = False
        branch.add(Keyframe.of(run, undo=False))
        self._keep_small()
        return True

    def go_on(self) -> bool:
        """Note that the run shown changes; from a keyframe of the past, a branch grows. Returns whether."""
        if self.at is None:
            self.branch.tip = None
            return False
        parent, at = self.branch, self.at
        keyframes = [k for k in parent.keyframes if k.moment <= at.moment]
        number = max(self.branches) + 1
        self.branches[number] = Branch(number, parent.interval, parent.number, at.moment, keyframes)
        self.current, self.at = number, None
        self._keep_small()
        return True

    def leave(self, run: Run) -> None:
        """Keep the end of the branch, which something else is shown instead of."""
        self.branch.identity = run.identity
        if self.at is None and self.branch.tip is None:
            self.branch.tip = Keyframe.of(run, undo=True)
            self._keep_small()

    def find(self, number: int, moment: int) -> tuple[Branch, Keyframe]:
        """Find the keyframe of a branch that is nearest to a moment."""
        branch = self.branches.get(number)
        if branch is None:
            known = ", ".join(map(str, self.branches))
            raise InvalidParameter(f"there is no branch {number} any more; there are {known}")
        keyframe = branch.nearest(moment)
        if keyframe is None:
            raise InvalidParameter("this run has no keyframes yet; play it")
        return branch, keyframe

    def show(self, branch: Branch, keyframe: Keyframe) -> None:
        """Note which keyframe is shown; the end of a branch continues it."""
        self.current, self.at = branch.number, None if keyframe is branch.tip else keyframe
        self._edited = False

    def before(self, run: Run) -> list[Keyframe]:
        """Keyframes of the branch shown that are older than the run is now."""
        return [keyframe for keyframe in self.branch.keyframes if keyframe.moment < run.moment]

    def beside(self, number: int, moment: int, shape: tuple[int, ...]) -> tuple[Keyframe, Any] | None:
        """The keyframe of a branch nearest to a moment and its heights, to compare with; None on another grid."""
        branch = self.branches.get(number)
        keyframe = None if branch is None else branch.nearest(moment)
        if keyframe is None or keyframe.shape != shape:
            return None
        if keyframe is not self._beside:
            self._beside, self._elevation = keyframe, keyframe.elevation
        return keyframe, self._elevation

    def facts(self, moment: int) -> dict[str, Any]:
        """What a `state` message holds of it."""
        return {
            "branch": self.current,
            "at": moment,
            "at_end": self.at is None,
            "branches": [
                {
                    "branch": b.number, "parent": b.parent, "forked": b.forked,
                    "keyframes": [k.moment for k in b.keyframes],
                    "end": moment if b.number == self.current and self.at is None else b.all[-1].moment,
                }
                for b in self.branches.values()
                if b.all or b.number == self.current
            ],
        }  # fmt: skip

    def shrink(self) -> None:
        """Forget all keyframes but the ends of the branches."""
        self._beside = self._elevation = None
        for branch in self.branches.values():
            branch.keyframes.clear()

    def forget_branches(self) -> None:
        """Forget all branches but the one shown."""
        self.branches = {self.current: self.branch}

    def drop_some(self) -> bool:
        """Thin out the fullest branch, or drop the oldest. False where nothing can be dropped."""
        fullest = max(self.branches.values(), key=lambda branch: len(branch.keyframes))
        return fullest.thin() or self._drop_oldest()

    def _drop_oldest(self) -> bool:
        others = [number for number in self.branches if number != self.current]
        if others:
            del self.branches[others[0]]
        return bool(others)

    def _keep_small(self) -> None:
        while len(self.branches) > MOST_BRANCHES:
            self._drop_oldest()
        keep_together([], self)


def keep_together(left: Sequence[Timeline], shown: Timeline) -> None:
    """Keep all keyframes within their bounds: runs that were left give way, in their order, then the one shown."""

    def too_much() -> bool:
        files = [keyframe for timeline in [*left, shown] for keyframe in timeline.files]
        return len(files) > MOST_FILES or sum(keyframe.nbytes for keyframe in files) > MOST_BYTES

    for give_way in (Timeline.shrink, Timeline.forget_branches):
        for timeline in left:
            if too_much():
                give_way(timeline)
    while too_much() and shown.drop_some():
        pass
