"""The simulation in its own thread: jobs are done between steps, and it never waits for a page."""

from __future__ import annotations

import functools
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

import slopewash as sw
from slopewash.errors import SlopewashError
from slopewash.studio import protocol
from slopewash.studio.earlier import EarlierRuns
from slopewash.studio.keeping import Keeper
from slopewash.studio.keyframes import SHOWN, DamagedKeyframe, Timeline
from slopewash.studio.pace import SLOW_LAYERS_SECONDS, FrameClock, Pace, StateClock
from slopewash.studio.run import Run
from slopewash.studio.side_by_side import Panes
from slopewash.studio.snapshot import Beside, Demand, Snapshot

T = TypeVar("T")

JOBS_AT_ONCE = 64
SLOW = {"cell": "following the water", "survey": "measuring the terrain"}
"""Questions that take long on a large terrain, and compile kernels when they are first asked."""


class SimulationLoop:
    """Steps the run that pages show, does jobs between steps, makes frames on demand, and saves the run now and then.

    `run` is the current one, for the simulation's thread only. `on_snapshot`, `on_state`, `on_message` and `on_run`, of
    another run, are called in that thread and must return at once.
    """

    def __init__(
        self,
        recipe: sw.Recipe | None,
        simulation: sw.Simulation | None = None,
        keeper: Keeper | None = None,
        version: int = 1,
    ) -> None:
        self._keeper = keeper
        self.resumed = recipe is None
        """Whether it continued a run that was kept on disk."""
        self.on_snapshot: Callable[[Snapshot], None] = lambda snapshot: None
        self.on_state: Callable[[dict[str, Any]], None] = lambda state: None
        self.on_message: Callable[[protocol.Notice | protocol.Failure], None] = lambda message: None
        self.on_run: Callable[[Run], None] = lambda run: None
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._demand: Demand | None = None
        self._closing = self._closed = False
        self._looked, self._waiting = time.monotonic(), True
        self._playing = False
        self._target: int | None = None
        self._settling = False
        self._busy: str | None = None
        self._pace, self._frames, self._states = Pace(), FrameClock(), StateClock()
        self._compiled: set[tuple[str, str]] = set()
        self._version = version
        self._whole: tuple[float, tuple[int, ...]] = (0.0, ())
        """Moment of the last frame with all layers, and its runs."""
        self._abridged = False
        """Whether the last frame for pages that want these lacked some."""
        self._dirty = True
        self._unreported: list[str] = []
        """What is missing of a run that was kept, for the first page that is opened."""
        if recipe is not None:
            self.run = Run(recipe, simulation, shared=simulation is not None, notice=self._notice)
        elif keeper is not None:
            self.run = keeper.resume(self._notice, self._unreported.append)
            if not keeper.is_own:  # but trusted: from now on it is
                keeper.note_change()
        else:
            raise ValueError("a session needs a recipe, or a run that was kept")
        self._left = EarlierRuns()
        self._panes: Panes | None = None
        """Several runs side by side; `run` is then the one that is chosen among them."""
        self._without_keyframes = False
        """Whether a keyframe could not be kept, which is reported once."""
        if recipe is not None and keeper is not None and keeper.has_run:
            with suppress(Exception):  # a run that cannot be continued is none to offer; opening says why
                self._left.put(keeper.resume(self._notice, self._unreported.append))
        self._shown = self.run.step
        self._thread = threading.Thread(target=self._loop, name="slopewash-simulation", daemon=True)

    def start(self) -> None:
        """Start to execute commands."""
        for sentence in self._unreported:
            self.on_message({"type": "error", "message": sentence})
        self._thread.start()

    def close(self) -> None:
        """Stop after the current steps, and save the run."""
        self._closing = True
        self._jobs.put(None)
        if self._thread.ident is not None:
            self._thread.join()
        self._closed = True
        self._refuse_jobs()
        if self._keeper is not None and not self._lasting.shared:
            self._keeper.finish(self._parts_to_keep, self._lasting.timeline)

    def submit(self, job: Callable[[], Any]) -> Future[Any]:
        """Run a job between two steps."""
        future: Future[Any] = Future()
        self._jobs.put((job, future))
        if self._closed:
            self._refuse_jobs()
        return future

    def _refuse_jobs(self) -> None:
        """Answer what came too late: somebody may wait for it."""
        with suppress(queue.Empty):
            while True:
                item = self._jobs.get_nowait()
                if item is not None and item[1].set_running_or_notify_cancel():
                    item[1].set_exception(SlopewashError("the studio is closing"))

    def find(self, what: str, *arguments: Any) -> Future[Any]:
        """Ask the run between two steps for one of its methods, such as "script", "terrain" or "check_layer"."""
        return self.submit(lambda: self._find(what, *arguments))

    @property
    def silent_for(self) -> float:
        """Seconds since commands were last looked for, while there is something to do."""
        return 0.0 if self._waiting or not self._thread.is_alive() else time.monotonic() - self._looked

    @property
    def busy(self) -> str | None:
        """What takes long at the moment, in words."""
        return self._busy

    def want(self, demand: Demand | None) -> None:
        """Set which frame is wanted next; frames are made only on demand."""
        if demand != self._demand:
            self._demand = demand
            self._jobs.put(None)

    def spend(self, seconds: float) -> None:
        """Count CPU time spent on the current frame, in any thread."""
        self._frames.spend(seconds)

    # What follows runs in the simulation's thread.

    def _find(self, what: str, *arguments: Any) -> Any:
        def find() -> Any:
            return self._from_keyframes(self.run.timeline, lambda: getattr(self.run, what)(*arguments))

        if what not in SLOW:
            return find()
        with self._at_work(SLOW[what]):
            return find()

    def _from_keyframes(self, timeline: Timeline, read: Callable[[], T]) -> T:
        """What `read` makes of a timeline; keyframes that it cannot read are dropped, and reported."""
        while True:
            try:
                return read()
            except DamagedKeyframe as error:
                timeline.forget(error.keyframe)
                self._note_change()
                self.on_message({"type": "error", "message": f"{error}, and is dropped"})

    def terrain(self) -> sw.Terrain:
        """The terrain as it is now."""
        return self.run.terrain()

    def _notice(self, sentence: str) -> None:
        self.on_message({"type": "notice", "message": sentence})

    def _changed(self) -> None:
        """Show the run again, and keep it."""
        self._version += 1
        self._note_change()

    def _note_change(self) -> None:
        self._dirty = True
        if self._keeper is not None and self._panes is None:
            self._keeper.note_change()

    def _note_edit(self) -> None:
        if self._keeper is not None and self._panes is None:
            self._keeper.note_edit()

    @property
    def _lasting(self) -> Run:
        """The run that is kept on disk; side by side, the one before."""
        return self.run if self._panes is None else self._panes.home

    def _loop(self) -> None:
        while not self._closing:
            self._take_jobs()
            if self._closing:
                return
            try:
                if self._playing and time.monotonic() >= self._pace.due:
                    self._advance()
                self._publish()
                self._keep()
            except SlopewashError as error:
                self._stop(str(error))
            except Exception as error:
                self._stop(f"the run failed: {type(error).__name__}: {error}")

    def _keep(self) -> None:
        """Save the run from time to time, so that a server that is started later can continue it."""
        keeper = self._keeper
        if keeper is None or self._lasting.shared:
            return
        failure = keeper.new_failure()
        if failure is not None:
            self._notice(f"The run is not kept on disk at the moment: {failure}.")
        failure = keeper.new_keyframe_failure()
        if failure is not None:
            self._notice(f"Some keyframes are not kept on disk: {failure}.")
        if time.monotonic() >= keeper.due_at(running=self._playing or self._settling):
            keeper.save(self._parts_to_keep, lambda: self._jobs.put(None), self._lasting.timeline)

    def _parts_to_keep(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The run as it is; while a keyframe of the past is looked at, the end of the branch."""
        timeline = self._lasting.timeline

        def read() -> tuple[dict[str, Any], dict[str, Any]]:
            if timeline.at is None or timeline.branch.tip is None:
                return self._lasting.parts()
            facts, arrays = timeline.branch.tip.parts()
            return facts, {name: array for name, array in arrays.items() if name != SHOWN}

        return self._from_keyframes(timeline, read)

    def _go_on(self, *, edited: bool = False) -> None:
        """Note that the run changes, by steps or otherwise: one that was taken back grows a branch."""
        if edited:
            self.run.timeline.note_edit()
        if not self.run.shared and self.run.timeline.go_on():
            self.run.branch_off()
            if self._keeper is not None:
                self._keeper.keep_view(self.run.identity, self.run.view)
            self.on_run(self.run)
            self._notice(f"This is branch {self.run.timeline.current}; the branch before it is kept.")

    def _stop(self, sentence: str) -> None:
        self._rest()
        self._playing, self._target, self._dirty = False, None, True
        self.on_message({"type": "error", "message": sentence})

    def _take_jobs(self) -> None:
        """Do the jobs that wait; wait for one only if there is nothing to run."""
        wait = self._idle_for()
        for _ in range(JOBS_AT_ONCE):
            self._looked, self._waiting = time.monotonic(), wait > 0
            try:
                item = self._jobs.get(timeout=wait) if wait > 0 else self._jobs.get_nowait()
            except queue.Empty:
                return
            finally:
                self._looked, self._waiting = time.monotonic(), False
            wait = 0.0
            if item is not None:
                job, future = item
                if future.set_running_or_notify_cancel():
                    try:
                        future.set_result(job())
                    except Exception as error:
                        future.set_exception(error)
            if self._closing:
                return

    def _idle_for(self) -> float:
        now = time.monotonic()
        # A run that a notebook holds too may advance by itself.
        wait = self._pace.due - now if self._playing else 0.1 if self.run.shared else 60.0
        if self._dirty:
            wait = min(wait, 0.0 if not self._playing else self._states.next - now)
        if self._demand is not None and self._version > self._demand.newer_than:
            wait = min(wait, self._frames.next - now)
        if self._keeper is not None and not self._lasting.shared:
            wait = min(wait, self._keeper.due_at(running=self._playing) - now)
        return max(0.0, wait)

    def _advance(self) -> None:
        if self._panes is not None:
            self._advance_panes(self._panes)
            return
        run, steps = self.run, self._pace.chunk()
        if self._target is not None:
            steps = min(steps, self._target - run.step)
        if steps > 0:  # a notebook cell may have passed the target
            self._report_compiling(run)
            self._go_on()
            if not run.shared:
                steps = min(steps, self._note_steps())
            begin = time.monotonic()
            before, number = run.step, run.number
            run.advance(steps, stop=lambda: self._closing or not self._jobs.empty())
            if run.step > before:
                self._pace.took(run.step - before, time.monotonic() - begin)
            if run.number != number:
                self._pace.forget()  # of another model, or on another grid
            self._rest()
        if run.finished:
            self._notice(f"The recipe is complete after {run.step} steps.")
            self._playing, self._target = False, None
        elif self._target is not None and run.step >= self._target:
            if self._target == run.usual_steps:
                preset = run.recipe.stage.preset
                end = f"the end of {preset}" if run.sliders.steps is None else "the age that is set"
                self._notice(f"Paused at step {self._target}, {end}. Press play to continue.")
            self._playing, self._target = False, None
        self._changed()

    def _advance_panes(self, panes: Panes) -> None:
        """Take the turn of one pane; commands are looked for after each."""
        pane = panes.next_round(self._pace.chunk())
        compiles = pane is not None and self._report_compiling(pane.run)
        done = panes.advance(lambda: self._closing or not self._jobs.empty(), timed=not compiles)
        self._rest()
        if done is not None and done[0] > 0 and not compiles:
            self._pace.took(*done)
        if panes.is_over:
            self._playing, panes.leg = False, None
        self._changed()

    def _note_steps(self) -> int:
        """Take a keyframe if one is due; returns how many steps there are to the next."""
        try:
            if self.run.timeline.note_steps(self.run):
                self._left.trim_keyframes(self.run)
        except (OSError, MemoryError) as error:
            if not self._without_keyframes:
                self._without_keyframes = True
                self._notice(f"The run has no further keyframes: {error}.")
        return self.run.timeline.until_next(self.run.moment)

    def _report_compiling(self, run: Run) -> bool:
        """The first steps of a model on a backend may take a minute: kernels are compiled once per machine."""
        kernels = (run.simulation.model.name, run.simulation.backend)
        new = kernels not in self._compiled
        if new:
            self._compiled.add(kernels)
            self._busy = "compiling kernels (first run only)"
            self.on_state(self.state())
            adapter = next((text for name, _, text in sw.describe_backends() if name == kernels[1] == "gpu"), "")
            if "(software" in adapter:
                self._notice(f"The gpu backend has no card here and runs on {adapter}, which is slow; cpu is faster.")
        return new

    def _publish(self) -> None:
        if self.run.step != self._shown:
            self._shown = self.run.step
            self._changed()
        running = self._playing or self._settling
        if self._dirty and (not running or time.monotonic() >= self._states.next):
            self._dirty = False
            begin = time.thread_time()
            state = self.state()
            self._states.took(time.thread_time() - begin)
            self.on_state(state)
        if self._abridged and not running:
            self._abridged = False
            self._version += 1  # pages wait for the rest of it
        demand = self._demand
        if demand is not None and self._version > demand.newer_than and self._frames.is_due(running=running):
            self._demand = None
            self._frames.begin()
            begin = time.thread_time()
            self.on_snapshot(self._snapshot(demand, running=running))
            self._frames.spend(time.thread_time() - begin)

    def _snapshot(self, demand: Demand, *, running: bool) -> Snapshot:
        """What a frame is made of; during a run, some lack layers that change slowly."""
        now, (last, of) = time.monotonic(), self._whole
        runs = (self.run.number,) if self._panes is None else self._panes.numbers
        abridged = running and of == runs and now - last < SLOW_LAYERS_SECONDS and bool(demand.now_and_then)
        if demand.now_and_then:  # else the frame is for other pages, and nothing has come to these
            self._abridged = abridged
            self._whole = self._whole if abridged else (now, runs)
        layers = demand.layers if abridged else demand.layers | demand.now_and_then
        if self._panes is not None:
            snapshot = self._panes.snapshot(self._version, layers)
        else:
            snapshot = self.run.snapshot(self._version, layers, self._beside(demand.against))
        return snapshot.each(lambda pane: replace(pane, abridged=abridged))

    def _beside(self, branches: frozenset[int]) -> dict[int, Beside | None]:
        """Keyframes of other branches to compare with."""
        run = self.run

        def read(number: int) -> Beside | None:
            beside = run.timeline.beside(number, run.moment, run.start.shape)
            return None if beside is None else Beside(beside[0].number, number, beside[0].moment, beside[1])

        return {n: self._from_keyframes(run.timeline, functools.partial(read, n)) for n in branches}

    def state(self) -> dict[str, Any]:
        """The `state` message for the pages."""
        left = self._left.last if self._panes is None else self._panes.home
        return {
            "type": "state",
            **self.run.facts(),
            "playing": self._playing,
            "target": self._target if self._panes is None or not self._playing else self._panes.target,
            "settling": self._settling,
            "busy": self._busy,
            "steps_per_second": self._pace.measured() if self._playing else 0.0,
            "speed": self._pace.speed,
            "left": None if left is None else {
                "run": left.number, "name": left.recipe.source.name, "step": left.step,
            },
            "side_by_side": None if self._panes is None else self._panes.facts(),
        }  # fmt: skip

    def _show(self, run: Run) -> None:
        """Show another run, paused, without a word about what is kept on disk."""
        self.run, self._shown = run, run.step
        self._playing, self._target, self._dirty = False, None, True
        self._pace.forget()
        self._pace.begin()
        self._version += 1

    @contextmanager
    def _at_work(self, words: str) -> Iterator[None]:
        """Show the pages what takes long."""
        self._busy = words
        self.on_state(self.state())
        try:
            yield
        finally:
            self._rest()
            self._dirty = True

    def _rest(self) -> None:
        """Note that what takes long is over, and with it the silence: without an excuse it would count as stuck."""
        self._looked = time.monotonic()
        self._busy = None
