"""The process that finishes a run: what was done to a draft, done again on more cells, behind everything else.

It draws no attention to itself: the lowest priority, so that the run that is shown keeps its pace, and an end with the
server.
"""

from __future__ import annotations

import math
import os
import shutil
import signal
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import slopewash as sw
from slopewash.processes import stand_back
from slopewash.studio.messages import SIZES
from slopewash.studio.pipe import Pipe
from slopewash.studio.projects import SUFFIX, write_project
from slopewash.studio.replay import replay
from slopewash.studio.run import Plan, Run
from slopewash.studio.worker import sendable

REPORT_SECONDS = 0.5
PREVIEW = 320
"""Pixels along the longer side of the picture of a level."""
TERRAIN_FILE, PROJECT_FILE, PREVIEW_FILE = "terrain.npz", f"project{SUFFIX}", "preview.png"

Layout = Sequence[tuple[int, int, int]]


@dataclass(frozen=True)
class Task:
    """What to finish, and where the results go."""

    plan: Plan
    folder: Path
    secret: bytes
    adapter: str | None
    niceness: int


def main() -> None:
    """Finish one run for the server; it is ended by killing it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pipe = Pipe(FileIO(os.dup(0)), FileIO(os.dup(1), "wb"))
    os.dup2(2, 1)  # what libraries print is not for the server
    try:
        task = pipe.receive()
        stand_back(task.niceness)
        threading.Thread(target=_end_with_the_server, args=(pipe, task.folder), daemon=True).start()
        sw.use_adapter(task.adapter)
        Finisher(task, pipe).work()
    except EOFError:  # the server is gone
        pass
    except BaseException as error:
        if not isinstance(error, sw.SlopewashError):
            traceback.print_exc()
        pipe.send(("failed", str(sendable(error)) or type(error).__name__))
    pipe.finish()
    os._exit(0)  # threads of kernels and drivers may not end by themselves


def _end_with_the_server(pipe: Pipe, folder: Path) -> None:
    try:
        pipe.receive()
    except EOFError:
        shutil.rmtree(folder, ignore_errors=True)  # a server that was killed could not
        os._exit(1)


class Finisher:
    """One run under way, and what is reported of it."""

    def __init__(self, task: Task, pipe: Pipe) -> None:
        self._task, self._pipe = task, pipe
        plan = task.plan
        self._run = Run(plan.recipe, notice=lambda sentence: pipe.send(("notice", sentence)), largest=None)
        running = self._run.running
        if running is None:
            self._actions = on_one_grid(plan)
            steps = sum(action[1] for action in self._actions if action[0] in ("run", "settle"))
            self._layout: Layout = [(1, plan.size, steps)]
        else:
            self._layout = running.layout
            self._actions = on_levels(plan.actions, plan.layout, self._layout)
        self._began = time.monotonic()
        self._first_share: float | None = None
        self._reported = 0.0
        self._shown: Any = None

    def work(self) -> None:
        """Do everything, and write what comes of it."""
        self._report()
        replay(self._run, self._actions, look=self._look, stop=lambda: False)
        self._report()
        self._show(None)
        folder, run = self._task.folder, self._run
        sw.write(run.terrain(), folder / TERRAIN_FILE)
        if self._task.plan.size <= SIZES[1]:
            write_project(run.saved(), folder / PROJECT_FILE, self._task.secret, compressed=False)
        self._pipe.send(("done", run.step))

    def _look(self) -> None:
        if self._run.number != self._shown:
            self._show(self._run.number)
        if time.monotonic() - self._reported >= REPORT_SECONDS:
            self._report()

    def _show(self, number: Any) -> None:
        """Draw the ground where a level begins: the page shows it while the next one is under way."""
        self._shown = number
        temporary = self._task.folder / f"new-{PREVIEW_FILE}"
        sw.hillshade(self._run.simulation.terrain, temporary, width=PREVIEW)
        temporary.replace(self._task.folder / PREVIEW_FILE)
        self._pipe.send(("preview",))

    def _report(self) -> None:
        self._reported = now = time.monotonic()
        run = self._run
        settled = run.simulation.settled if run.running is None else 0
        step, steps = run.step + settled, sum(length for _, _, length in self._layout)
        share = work_share(step, self._layout)
        if self._first_share is None and share > 0:  # kernels are compiled, and measuring begins
            self._first_share, self._began = share, now
        left = None
        if self._first_share is not None and share > self._first_share:
            left = (now - self._began) * (1 - share) / (share - self._first_share)
        place = "" if run.running is None else run.running.place
        self._pipe.send(("progress", {
            "words": place, "step": step, "steps": steps, "share": share, "seconds_left": left,
        }))  # fmt: skip


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
