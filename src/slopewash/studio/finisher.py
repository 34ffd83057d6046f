"""The process that finishes a run: what was done to a draft, done again on more cells, behind everything else.

It draws no attention to itself: the lowest priority, so that the run that is shown keeps its pace, and an end with the
server. Where the server keeps its run on disk, the finish has checkpoints there, and goes on from the last one.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import slopewash as sw
from slopewash import seals
from slopewash.drafts import written_beside
from slopewash.errors import CheckpointError, SlopewashError
from slopewash.paths import make_folder, remove_folder, rename
from slopewash.processes import stand_back
from slopewash.remedies import read_in
from slopewash.studio import protocol
from slopewash.studio.finish_files import (
    PREVIEW_FILE,
    PROJECT_FILE,
    RUN_FOLDER,
    SHOWN_FILE,
    TERRAIN_FILE,
    WRITING_FOLDER,
    beginning,
    identity,
    read_end,
    read_plan,
    remove_work,
    set_checkpoints_aside,
    write_end,
)
from slopewash.studio.keeping import Keeper
from slopewash.studio.pipe import Pipe
from slopewash.studio.projects import write_project
from slopewash.studio.recipes import fitted
from slopewash.studio.replay import Replay
from slopewash.studio.run import Plan, Run
from slopewash.studio.worker import sendable

REPORT_SECONDS = 0.5
PREVIEW = 320
"""Pixels along the longer side of the picture of a level."""
ENDING_SECONDS = 20.0
"""Longest time for the last checkpoint, once the server stops."""
LOCKED_SECONDS = 2 * ENDING_SECONDS
"""Longest wait for the process of a server before, which may write its last checkpoint."""

Layout = Sequence[tuple[int, int, int]]


@dataclass(frozen=True)
class Task:
    """Where the plan is and the results go, and how to work."""

    folder: Path
    kept: bool
    """Whether the folder outlives the server: then the finish has checkpoints."""
    secret: bytes
    """The user's, or that of the server where none can be kept."""
    trust: bool
    """Whether to go on with what another user, machine or version began."""
    adapter: str | None
    niceness: int
    largest: int
    """Most cells per side that the studio shows."""


def main() -> None:
    """Finish one run for the server; it is ended by killing it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pipe = Pipe(FileIO(os.dup(0)), FileIO(os.dup(1), "wb"))
    os.dup2(2, 1)  # what libraries print is not for the server
    try:
        task = pipe.receive()
        stand_back(task.niceness)
        stop = threading.Event()
        threading.Thread(target=end_with_the_server, args=(pipe, task, stop), daemon=True).start()
        seals.adopt(task.secret)
        sw.use_adapter(task.adapter)
        with read_in("page"):
            finish(task, pipe, stop)
    except EOFError:  # the server is gone
        pass
    except BaseException as error:
        if not isinstance(error, sw.SlopewashError):
            traceback.print_exc()
        pipe.send(("failed", str(sendable(error)) or type(error).__name__))
    pipe.finish()
    os._exit(0)  # threads of kernels and drivers may not end by themselves


def end_with_the_server(pipe: Pipe, task: Task, stop: threading.Event) -> None:
    """Stop when the server does; what is not kept is removed, for a server that was killed could not."""
    with suppress(EOFError):
        pipe.receive()
    if task.kept:
        stop.set()
        time.sleep(ENDING_SECONDS)
    else:
        remove_folder(task.folder)
    os._exit(1)


def finish(task: Task, pipe: Pipe, stop: threading.Event) -> None:
    """Do what the folder asks for, unless the process of a server that was stopped has completed it meanwhile."""
    keeper = keeper_of(task, stop)
    end = None if keeper is None else read_end(task.folder)
    if keeper is not None and end is not None and end["status"] == "done":
        keeper.close()
        remove_work(task.folder)
        pipe.send(("done", {**end, "resumed": True}))
    else:
        Finisher(task, pipe, stop, keeper).work()


def keeper_of(task: Task, stop: threading.Event) -> Keeper | None:
    """What writes checkpoints, if the folder is kept; it waits for the process of a server that was stopped."""
    end = time.monotonic() + LOCKED_SECONDS
    while task.kept:
        try:
            return Keeper(task.folder / RUN_FOLDER)
        except CheckpointError:
            if stop.is_set() or time.monotonic() > end:
                raise
        time.sleep(0.1)
    return None


class Finisher:
    """One run under way, and what is reported of it."""

    def __init__(self, task: Task, pipe: Pipe, stop: threading.Event, keeper: Keeper | None) -> None:
        self._task, self._pipe, self._stop, self._keeper = task, pipe, stop, keeper
        if task.folder.is_dir():
            make_folder(task.folder, private=True)  # and so is all that this process makes in it
        self._id = identity(task.folder)
        self._plan = plan = read_plan(task.folder, trust=task.trust)
        self._run, place = self._begun(plan)
        running = self._run.running
        if running is None:
            actions = on_one_grid(plan)
            steps = sum(action[1] for action in actions if action[0] in ("run", "settle"))
            self._layout: Layout = [(1, plan.size, steps)]
        else:
            self._layout = running.layout
            actions = on_levels(plan.actions, plan.layout, self._layout)
        self._replay = Replay(self._run, actions, place)
        self._began = time.monotonic()
        self._first_share: float | None = None
        self._reported = 0.0
        self._shown: Any = None

    def _begun(self, plan: Plan) -> tuple[Run, dict[str, Any] | None]:
        """The run where the last checkpoint has it, and how far in the actions that was; else at its beginning."""
        if self._keeper is not None and self._keeper.has_run:
            folder = self._keeper.folder
            try:
                facts, arrays = sw.read_checkpoint(folder, trust=self._task.trust)
                if facts.get("finish", {}).get("id") != self._id:
                    raise CheckpointError(f"{folder} holds checkpoints of another finish")
                return Run.from_checkpoint(facts, arrays, str(folder), self._notice, largest=None), facts["finish"]
            except CheckpointError as error:
                aside = set_checkpoints_aside(self._task.folder)
                self._notice(
                    f"it begins again, because it cannot be continued: {error}; its checkpoints are in {aside}"
                )
        return Run(plan.recipe, notice=self._notice, largest=None), None

    def _notice(self, sentence: str) -> None:
        self._pipe.send(("notice", sentence))

    def work(self) -> None:
        """Do everything, and write what comes of it."""
        self._report()
        self._replay.do(look=self._look, stop=self._stop.is_set)
        if self._stop.is_set():
            # A settling ends between two of its steps only where it is looked at; the checkpoint before it counts.
            if self._keeper is not None and not self._replay.settles:
                self._check_place()
                self._keeper.note_change()
                self._keeper.finish(self._parts)
            return
        self._report()
        self._show(None)
        self._write_results()
        end = {**self._progress(), "status": "done", "step": self._run.step, "share": 1.0, "seconds_left": None}
        self._check_place()
        write_end(protocol.FINISH.validate_python({**beginning(self._plan), **end, "preview": 1}), self._task.folder)
        if self._keeper is not None:  # not before: a process that waits for the folder would begin again
            self._keeper.close()
        remove_work(self._task.folder)
        self._pipe.send(("done", end))

    def _check_place(self) -> None:
        """End, without writing anything more, where the folder is of another finish by now."""
        if identity(self._task.folder) != self._id:
            raise CheckpointError("its plan is gone from the disk")

    def _write_results(self) -> None:
        self._check_place()
        folder, run, largest = self._task.folder, self._run, self._task.largest
        terrain = run.terrain()
        with written_beside(folder / TERRAIN_FILE, private=True) as file:
            sw.write(terrain, file)
        if self._plan.size <= largest:
            self._write_project(run, folder / PROJECT_FILE)
            return
        code = f"sw.read({TERRAIN_FILE!r}).replace(mask=None)"  # the mask has done its work
        try:
            source = fitted(self._plan.name, terrain.replace(mask=None), code, largest)
        except SlopewashError as error:
            self._notice(f"it can be saved, but not shown: {error}")
            return
        self._write_project(Run(run.going_on(source), notice=self._notice), folder / SHOWN_FILE)

    def _write_project(self, run: Run, file: Path) -> None:
        aside = file.parent / WRITING_FOLDER  # a project with a terrain writes that beside itself
        remove_folder(aside)
        make_folder(aside, private=True)
        write_project(run.saved(), aside / file.name, self._task.secret, compressed=False)
        rename(aside / file.name, file)
        remove_folder(aside)

    def _look(self) -> None:
        if self._run.number != self._shown:
            self._show(self._run.number)
        if time.monotonic() - self._reported >= REPORT_SECONDS:
            self._report()
        self._keep()

    def _keep(self) -> None:
        """Write a checkpoint from time to time."""
        keeper = self._keeper
        if keeper is None:
            return
        keeper.note_change()
        failure = keeper.new_failure()
        if failure is not None:
            self._notice(f"it is not kept on disk at the moment: {failure}")
        if time.monotonic() >= keeper.due_at(running=True):
            self._check_place()
            keeper.save(self._parts, lambda: None)

    def _parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        facts, arrays = self._run.parts()
        return {**facts, "finish": {**self._replay.parts(), "id": self._id}}, arrays

    def _show(self, number: Any) -> None:
        """Draw the ground where a level begins: the page shows it while the next one is under way."""
        self._shown = number
        ground = self._run.simulation.terrain
        self._check_place()
        try:
            with written_beside(self._task.folder / PREVIEW_FILE, private=True) as file:
                sw.hillshade(ground, file, width=PREVIEW)
        except Exception as error:  # such as a full disk: the finish needs no picture
            self._notice(f"its picture cannot be written: {error}")
        else:
            self._pipe.send(("preview",))

    def _progress(self) -> dict[str, Any]:
        run = self._run
        settled = run.simulation.settled if run.running is None else 0
        step, steps = run.step + settled, sum(length for _, _, length in self._layout)
        place = "" if run.running is None else run.running.place
        return {"words": place, "step": step, "steps": steps, "share": work_share(step, self._layout)}

    def _report(self) -> None:
        self._reported = now = time.monotonic()
        progress = self._progress()
        share = progress["share"]
        if self._first_share is None and share > 0:  # kernels are compiled, and measuring begins
            self._first_share, self._began = share, now
        left = None
        if self._first_share is not None and share > self._first_share:
            left = (now - self._began) * (1 - share) / (share - self._first_share)
        self._pipe.send(("progress", {**progress, "seconds_left": left}))


def work_share(step: int, layout: Layout) -> float:
    """Share of the work done after so many steps: a step costs as much as it has cells.

    >>> work_share(10, [(1, 64, 10), (1, 128, 10)])
    0.2
    """
    done = whole = 0.0
    for _, cells, length in layout:
        done += cells**2 * min(max(step, 0), length)
        whole += cells**2 * length
        step -= length
    return done / whole if whole else 1.0


def on_one_grid(plan: Plan) -> list[list[Any]]:
    """What to do on one grid: the same again, or everything the preset asks for if nothing was done yet."""
    actions = [action for action in plan.actions if action[0] != "interrupted"]
    if not any(action[0] == "run" for action in actions):
        settling = plan.recipe.stage.usual_settling(plan.usual_steps) or 0
        actions += [["run", plan.usual_steps], ["settle", settling, False, None]]
    return actions


def on_levels(actions: Sequence[Any], draft: Layout, finish: Layout) -> list[list[Any]]:
    """What to do on the levels of a finish: edits on the level with the most similar cells, as far into it.

    >>> on_levels([["run", 15], ["undo"]], [(1, 64, 10), (1, 128, 10)], [(1, 64, 20), (1, 128, 20), (1, 256, 20)])
    [['run', 30], ['undo'], ['run', 30]]
    """
    made: list[list[Any]] = []
    at = reached = 0
    for kind, *rest in actions:
        if kind == "run":
            at += rest[0]
        elif kind != "interrupted":  # sub-steps of another grid mean nothing
            step = max(reached, matching_step(at, draft, finish))
            made += [["run", step - reached]] if step > reached else []
            made.append([kind, *rest])
            reached = step
    steps = sum(length for _, _, length in finish)
    return [*made, ["run", steps - reached]]


def matching_step(step: int, draft: Layout, finish: Layout) -> int:
    """Step of the finish that a step of the draft stands for."""
    index = 0
    while index < len(draft) - 1 and step >= draft[index][2]:
        step -= draft[index][2]
        index += 1
    stage, cells, length = draft[index]
    same = [number for number, (of_stage, _, _) in enumerate(finish) if of_stage == stage]
    nearest = min(same, key=lambda number: abs(math.log2(finish[number][1] / cells)))
    before = sum(finish[number][2] for number in range(nearest))
    within = min(step * finish[nearest][2] // max(length, 1), max(finish[nearest][2] - 1, 0))
    return before + within
