"""Keeps the run of a studio on disk, so that a server that is started again continues it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

# Before Python 3.12, pydantic reads only the TypedDict of typing_extensions.
from typing_extensions import TypedDict

import slopewash as sw
from slopewash.drafts import write_beside
from slopewash.errors import CheckpointError, ForeignCheckpoint
from slopewash.paths import make_folder, open_regular
from slopewash.seals import state_folder
from slopewash.studio import finish_files
from slopewash.studio.kept_keyframes import KeptKeyframes
from slopewash.studio.keyframes import Timeline
from slopewash.studio.messages import SavedView
from slopewash.studio.run import Run

AT_REST = 2.0
"""Seconds after the last change at which a paused run is saved."""
WHILE_RUNNING = 60.0
"""Longest time in seconds that a change stays unsaved, and shortest between two checkpoints of a run that plays."""
AFTER_EDIT, BETWEEN_EDITS = 5.0, 20.0
"""Seconds after which an edit is saved while the run plays, and shortest time between two checkpoints for edits.

Steps that a crash costs can be taken again; nobody remembers every stroke."""
VIEW = "view.json"
LARGEST_VIEW = 1 << 20
"""Bytes of it."""
NEXT_TRY = 60.0
"""Seconds until the next try after a checkpoint could not be written, and first after keyframes could not."""
LONGEST_WAIT = 3600.0
"""Longest time until keyframes are tried again: each try that fails doubles it, for a quota may last."""

Parts = tuple[dict[str, Any], dict[str, Any]]


class _Named(TypedDict):
    name: str


class _Sized(TypedDict):
    shape: tuple[int, int]


class _Shown(TypedDict, total=False):
    name: str
    shape: tuple[int, int]
    step: int


class _Stage(TypedDict, total=False):
    preset: str | None


class _Stages(TypedDict, total=False):
    stages: list[_Stage]


class _Part(TypedDict, total=False):
    studio: bool
    shown: _Shown
    recipe: _Stages


class _Described(TypedDict):
    """What the terminal shows of a run before it is opened: of somebody else's, too."""

    step: int
    backend: str
    model: _Named
    domain: _Sized
    recipe: _Part


DESCRIBED = TypeAdapter(_Described)


def default_folder() -> Path:
    """Where a studio keeps its run if no folder is named."""
    return state_folder() / "studio"


class Keeper:
    """Decides when to save, and writes in a thread of its own: the simulation waits only while its arrays are copied.

    Only one server at a time keeps its run in a folder: `CheckpointError` if another one does, if nothing can be
    written, or if files of others are in the place of a finish. A run that another one replaces is kept in `previous/`,
    without its keyframes.
    """

    def __init__(self, folder: Path, *, trust: bool = False) -> None:
        self.folder = folder
        self.trust = trust
        """Whether to continue what another user, machine or version kept."""
        finish_files.check_places(folder)
        if folder == default_folder() or not folder.exists():
            with suppress(OSError):  # which the lock reports
                make_folder(folder, private=True)
        self._lock = sw.FolderLock(folder, alone=True)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="slopewash-keeper")
        self._writing: Future[None] | None = None
        self._keyframes = KeptKeyframes(folder)
        self._first = self._last = math.inf
        """Moments of the first and the last change that is not saved; infinite if there is none."""
        self._edit = math.inf
        """Moment of the first edit that is not saved."""
        self._saved = -math.inf
        self._earliest = 0.0
        self.failure: str | None = None
        """Why the last checkpoint could not be written."""
        self._keyframe_failure: str | None = None
        self._without_first = False
        """Whether a checkpoint failed for which keyframes were written."""
        self._keyframe_wait, self._keyframes_again = 0.0, -math.inf
        """Seconds that keyframes wait after they could not be written, and when they are tried again."""

    @property
    def has_run(self) -> bool:
        """Whether there is a run to continue, perhaps a damaged one."""
        return bool(sw.find_checkpoints(self.folder))

    @property
    def kept(self) -> dict[str, Any] | None:
        """Facts of the run that is kept; None if there is none, or it cannot be read."""
        try:
            facts = sw.newest_manifest(self.folder)
            if facts is not None:
                DESCRIBED.validate_python(facts)
        except (CheckpointError, ValueError):
            return None
        return facts

    @property
    def is_own(self) -> bool:
        """Whether the run that is kept carries the user's seal, if there is one."""
        try:
            sw.newest_manifest(self.folder, own=True)
        except ForeignCheckpoint:
            return False
        except CheckpointError:
            pass
        return True

    def check_own(self) -> None:
        """Refuse to open a run that another user, machine or version kept, or to replace it."""
        if not self.trust:
            sw.newest_manifest(self.folder, own=True)

    def resume(self, notice: Callable[[str], None], report: Callable[[str], None]) -> Run:
        """The run that is kept, with its keyframes and its view; `report` is called with what is missing."""
        facts, arrays = sw.read_checkpoint(self.folder, trust=self.trust)
        run = Run.from_checkpoint(facts, arrays, str(self.folder), notice)
        if "timeline" in facts:
            run.timeline = self._keyframes.read(facts["timeline"], report)
        run.view = self.kept_view(run.identity)
        return run

    def keeps(self, identity: str | None) -> bool:
        """Whether the run that is kept is this one."""
        kept = self.kept
        return kept is not None and identity is not None and kept.get("run") == identity

    def keep_view(self, identity: str | None, view: SavedView | None) -> None:
        """Keep where a page looks from, beside the checkpoints: it changes more often than they are written."""
        noted = {"run": identity, "view": None if view is None else view.model_dump()}
        with suppress(OSError):  # the run matters more, and whether that is kept is reported
            write_beside(self.folder / VIEW, json.dumps(noted), private=True)

    def kept_view(self, identity: str | None) -> SavedView | None:
        """Where a page last looked at this run from."""
        try:
            with open_regular(self.folder / VIEW) as file:
                noted = json.loads(file.read(LARGEST_VIEW))
            return SavedView.model_validate(noted["view"]) if noted["run"] == identity else None
        except (OSError, ValueError, KeyError, TypeError):  # none was kept, or not of this run
            return None

    def note_change(self) -> None:
        """Remember that the run is no longer the one on disk."""
        self._last = time.monotonic()
        self._first = min(self._first, self._last)

    def note_edit(self) -> None:
        """Remember that a person did something to the run."""
        self.note_change()
        self._edit = min(self._edit, self._last)

    def due_at(self, *, running: bool) -> float:
        """Moment of the next checkpoint; infinite while none is needed, or one is being written."""
        if self._writing is not None:
            return math.inf
        at_rest = math.inf if running else self._last + AT_REST
        edited = max(self._edit + AFTER_EDIT, self._saved + BETWEEN_EDITS)
        return max(min(at_rest, edited, self._first + WHILE_RUNNING), self._earliest)

    def save(
        self,
        take_parts: Callable[[], Parts],
        then: Callable[[], None],
        timeline: Timeline | None = None,
        *,
        in_haste: bool = False,
    ) -> None:
        """Write a checkpoint of the parts in the background, and call `then`, from any thread, when that is over."""
        self._first = self._last = self._edit = math.inf
        self._saved = time.monotonic()
        try:
            facts, arrays = take_parts()
        except Exception as error:  # such as too little memory for a copy: the run must go on
            self._writing = Future()
            self._writing.set_exception(error)
        else:
            noted = None if timeline is None else timeline.copy()
            self._writing = self._writer.submit(self._write, facts, arrays, noted, in_haste=in_haste)
        self._writing.add_done_callback(lambda _: then())

    def _write(
        self, facts: dict[str, Any], arrays: dict[str, Any], timeline: Timeline | None, *, in_haste: bool = False
    ) -> None:
        """Write a checkpoint with its keyframes; in haste, and after one failed with them, first without new ones.

        While new ones wait because they could not be written, they are left out; the last chance, in haste, is taken.
        """
        if timeline is None:
            self._write_checkpoint(facts, arrays)
            return
        sw.newest_manifest(self.folder)  # `CheckpointError` where nothing may be written, before anything is
        waits = not in_haste and time.monotonic() < self._keyframes_again
        if not in_haste and not self._without_first and not waits:
            self._write_with_keyframes(facts, arrays, timeline, new=True)
            self._plan_next_keyframes()
            return
        failure = self._keyframes.failure
        self._write_with_keyframes(facts, arrays, timeline, new=False)
        if not self._keyframes.is_complete:
            if waits:
                self._keyframes.failure = failure  # it was reported, and lasts
                return
            try:
                self._write_with_keyframes(facts, arrays, timeline, new=True)
            except CheckpointError as error:  # the run itself is on disk
                self._keyframes.failure = str(error)
                self._plan_next_keyframes()
                return
        self._without_first = False
        self._plan_next_keyframes()

    def _plan_next_keyframes(self) -> None:
        """Wait, ever longer, if keyframes could not be written."""
        failed = self._keyframes.failure is not None
        self._keyframe_wait = min(max(2 * self._keyframe_wait, NEXT_TRY), LONGEST_WAIT) if failed else 0.0
        self._keyframes_again = time.monotonic() + self._keyframe_wait

    def _write_with_keyframes(
        self, facts: dict[str, Any], arrays: dict[str, Any], timeline: Timeline, *, new: bool
    ) -> None:
        try:
            noted = self._keyframes.write(timeline, sum(array.nbytes for array in arrays.values()), new=new)
            self._write_checkpoint({**facts, "timeline": noted}, arrays)
        except BaseException:
            if self._keyframes.take_back():  # they may be what it had no room for
                self._without_first = True
            raise
        self._keyframes.confirm(noted)

    def _write_checkpoint(self, facts: dict[str, Any], arrays: dict[str, Any]) -> None:
        step = facts["step"] + facts["settled"]
        sw.write_checkpoint(self.folder, step, facts, arrays, replace=True, private=True)

    def new_keyframe_failure(self) -> str | None:
        """Why keyframes are not kept on disk, if the checkpoint is, and those of the one before were."""
        if self._writing is not None or self.failure is not None:
            return None
        before, self._keyframe_failure = self._keyframe_failure, self._keyframes.failure
        return self._keyframe_failure if before is None else None

    def new_failure(self) -> str | None:
        """Look after the checkpoint being written; return what went wrong, if the one before was written."""
        if self._writing is None or not self._writing.done():
            return None
        error, before = self._writing.exception(), self.failure
        self._writing = None
        if error is None:
            self.failure = None
            return None
        self.failure = str(error) or type(error).__name__
        self.note_change()
        self._earliest = time.monotonic() + NEXT_TRY
        return self.failure if before is None else None

    def finish(self, take_parts: Callable[[], Parts], timeline: Timeline | None = None) -> None:
        """Save what is not saved yet, and return when it is on disk: whoever waits may not wait for all keyframes."""
        self._writer.submit(lambda: None).result()  # after what is being written
        self.new_failure()
        if self._first < math.inf:
            self.save(take_parts, lambda: None, timeline, in_haste=True)
            self._writer.submit(lambda: None).result()
            self.new_failure()

    def hand_over(self) -> None:
        """Release the folder for the process of the run, which keeps it from now on."""
        self._lock.close()

    def close(self) -> None:
        """Release the folder for other servers."""
        self._writer.shutdown()
        self._lock.close()
