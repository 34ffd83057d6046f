"""The simulation in its own thread: commands are applied between steps, and it never waits for a page."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import slopewash as sw
from slopewash.errors import CheckpointError, InvalidParameter, SlopewashError
from slopewash.studio import messages, protocol
from slopewash.studio.earlier import EarlierRuns
from slopewash.studio.keeping import Keeper
from slopewash.studio.keyframes import SHOWN
from slopewash.studio.pace import FrameClock, Pace, StateClock
from slopewash.studio.projects import Project
from slopewash.studio.recipes import next_recipe
from slopewash.studio.replay import Replay
from slopewash.studio.run import Cancelled, Edit, Run
from slopewash.studio.side_by_side import Panes, filled_up
from slopewash.studio.snapshot import Beside, Demand, Snapshot

JOBS_AT_ONCE = 64
SLOW = {"cell": "following the water", "survey": "measuring the terrain"}
"""Questions that take long on a large terrain, and compile kernels when they are first asked."""
CANCELLING = ("pause", "reset", "start", "bring_back", "open", "leave_side_by_side")
"""Messages that cancel settling, or the repetition of a project, instead of waiting for its end."""
FOR_ALL_PANES = ("play", "pause", "step", "run_to", "reset", "start", "copy_pane")
"""Messages that drive all panes together."""
FOR_ONE_RUN = ("settle", "scrub", "go_on")
"""Messages that make no sense side by side."""


class Closing(Exception):
    """The server stops while the simulation is at work."""


class OpeningCancelled(SlopewashError):
    """A project is open only as far as it was repeated."""


class Finder(Protocol):
    """Finds uploads by their id; `InvalidParameter` if there is none."""

    def find(self, key: str) -> sw.FromTerrain:
        """Find a terrain."""
        ...

    def find_project(self, key: str) -> Project:
        """Find a project."""
        ...

    def forget_project(self, key: str) -> None:
        """Release a project that was opened."""
        ...


class Session:
    """The run that all pages of one server show, and the runs before it.

    It lives in the run's own process (`worker.py`), or in the caller's if a notebook holds the simulation too.

    `run` is the current one, for the simulation's thread only. `on_snapshot`, `on_state`, `on_message` and `on_run`, of
    another run, are called in that thread and must return at once.
    """

    remedy = "The page stays usable."
    """What to do about a run that does not answer."""

    def __init__(
        self,
        recipe: sw.Recipe | None,
        uploads: Finder,
        simulation: sw.Simulation | None = None,
        keeper: Keeper | None = None,
        version: int = 1,
    ) -> None:
        self.uploads = uploads
        self._keeper = keeper
        self.resumed = recipe is None
        """Whether it continued a run that was kept on disk."""
        self.on_snapshot: Callable[[Snapshot], None] = lambda snapshot: None
        self.on_state: Callable[[dict[str, Any]], None] = lambda state: None
        self.on_message: Callable[[protocol.Notice | protocol.Failure], None] = lambda message: None
        self.on_run: Callable[[Run], None] = lambda run: None
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._demand: Demand | None = None
        self._closing = False
        self._looked, self._waiting = time.monotonic(), True
        self._playing = False
        self._target: int | None = None
        self._settling = False
        self._cancels = self._cancels_before = 0
        self._busy: str | None = None
        self._pace, self._frames, self._states = Pace(), FrameClock(), StateClock()
        self._compiled: set[tuple[str, str]] = set()
        self._version = version
        self._dirty = True
        if recipe is not None:
            self.run = Run(recipe, simulation, shared=simulation is not None, notice=self._notice)
        elif keeper is not None:
            self.run = Run.resumed(keeper.folder, self._notice)
            self.run.view = keeper.kept_view(self.run.identity)
        else:
            raise ValueError("a session needs a recipe, or a run that was kept")
        self._left = EarlierRuns()
        self._panes: Panes | None = None
        """Several runs side by side; `run` is then the one that is chosen among them."""
        self._without_keyframes = False
        """Whether a keyframe could not be kept, which is reported once."""
        if recipe is not None and keeper is not None and keeper.has_run:
            with suppress(Exception):  # a run that cannot be continued is none to offer; opening says why
                kept = Run.resumed(keeper.folder, self._notice)
                kept.view = keeper.kept_view(kept.identity)
                self._left.put(kept)
        self._shown = self.run.step
        self._thread = threading.Thread(target=self._loop, name="slopewash-simulation", daemon=True)

    def start(self) -> None:
        """Start to execute commands."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the current steps, and save the run."""
        self._closing = True
        self._jobs.put(None)
        self._thread.join()
        if self._keeper is not None and not self._lasting.shared:
            self._keeper.finish(self._parts_to_keep)

    def submit(self, job: Callable[[], Any]) -> Future[Any]:
        """Run a job between two steps."""
        future: Future[Any] = Future()
        self._jobs.put((job, future))
        return future

    def find(self, what: str, *arguments: Any) -> Future[Any]:
        """Ask the run between two steps for one of its methods, such as "script", "terrain" or "check_layer"."""
        return self.submit(lambda: self._find(what, *arguments))

    def execute(self, message: Any, viewer: object = None) -> Future[Any]:
        """Execute a message between two steps; some cancel the settlings asked for before them."""
        if message.type in CANCELLING and self._can(message):
            self._cancels += 1
        cancels_before = self._cancels
        return self.submit(lambda: self._do(message, viewer, cancels_before))

    def _can(self, message: Any) -> bool:
        """Whether a message will be accepted."""
        try:
            if message.type == "start":
                next_recipe(self.run.next_recipe, message, self.uploads)
            if message.type == "open":
                self.uploads.find_project(message.upload)
        except SlopewashError:
            return False
        return message.type != "bring_back" or bool(self._left) or self._panes is not None

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
        if what not in SLOW:
            return getattr(self.run, what)(*arguments)
        with self._at_work(SLOW[what]):
            return getattr(self.run, what)(*arguments)

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
        if time.monotonic() >= keeper.due_at(running=self._playing or self._settling):
            keeper.save(self._parts_to_keep, lambda: self._jobs.put(None))

    def _parts_to_keep(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The run as it is; while a keyframe of the past is looked at, the end of the branch."""
        timeline = self._lasting.timeline
        if timeline.at is None or timeline.branch.tip is None:
            return self._lasting.parts()
        facts, arrays = timeline.branch.tip.parts()
        return facts, {name: array for name, array in arrays.items() if name != SHOWN}

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
        demand = self._demand
        if demand is not None and self._version > demand.newer_than and self._frames.is_due(running=running):
            self._demand = None
            self._frames.begin()
            begin = time.thread_time()
            if self._panes is not None:
                snapshot = self._panes.snapshot(self._version, demand.layers)
            else:
                snapshot = self.run.snapshot(self._version, demand.layers, self._beside(demand.against))
            self._frames.spend(time.thread_time() - begin)
            self.on_snapshot(snapshot)

    def _beside(self, branches: frozenset[int]) -> dict[int, Beside | None]:
        """Keyframes of other branches to compare with."""
        run, found = self.run, dict[int, Beside | None]()
        for number in branches:
            beside = run.timeline.beside(number, run.moment, run.start.shape)
            found[number] = None if beside is None else Beside(beside[0].number, number, beside[0].moment, beside[1])
        return found

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

    # Commands, each named as its message type.

    def _do(self, message: Any, viewer: object, cancels_before: int) -> None:
        self._cancels_before = cancels_before
        if isinstance(message, Edit):
            self.run.edit(message, viewer)
            self._go_on(edited=True)
            self._changed()
            self._note_edit()
        elif self._panes is None or message.type not in (*FOR_ALL_PANES, *FOR_ONE_RUN):
            getattr(self, f"_do_{message.type}")(message)
        elif message.type in FOR_ONE_RUN:
            raise InvalidParameter(f"{message.type} is for one run; leave side by side, or keep a pane, first")
        else:
            self._do_in_all_panes(self._panes, message)

    # Side by side.

    def _do_side_by_side(self, message: messages.SideBySide) -> None:
        home = self._lasting
        if home.shared:
            raise InvalidParameter("this run belongs to your own program; start another run here to compare models")
        if self._panes is not None and len(self._panes) == message.panes:
            return
        there = [home.next_recipe] if self._panes is None else self._panes.recipes
        with self._at_work(f"preparing {message.panes} panes"):
            recipes = filled_up(there, message.panes)
            if self._panes is None:
                self._panes = Panes(home, recipes, self._notice)
            else:
                self._panes.begin_again(recipes)
            self._show(self._panes.run)

    def _do_choose_pane(self, message: messages.ChoosePane) -> None:
        if self._panes is None:
            raise InvalidParameter("there are no panes to choose from; show several side by side first")
        self._panes.choose(message.pane)
        self.run, self._shown = self._panes.run, self._panes.run.step
        self._changed()

    def _do_copy_pane(self, message: messages.CopyPane) -> None:
        raise InvalidParameter("there are no panes to copy; show several side by side first")

    def _do_leave_side_by_side(self, message: messages.LeaveSideBySide) -> None:
        """Also where there are no panes any more, because their process was ended."""
        panes, kept = self._panes, self.run
        if panes is None:
            return
        panes.close(keep=kept if message.keep else None)
        self._panes = None
        self._show(panes.home)
        if message.keep:
            self._replace(kept)

    def _do_in_all_panes(self, panes: Panes, message: Any) -> None:
        if message.type == "pause":
            self._playing, self._dirty = not panes.pause() and self._playing, True
        elif message.type in ("reset", "start", "copy_pane"):
            with self._at_work("preparing all panes"):
                panes.begin_again_with(message, self.uploads)
                self._show(panes.run)
        else:
            panes.go(message)
            if not self._playing:
                self._pace.begin()
            self._playing, self._dirty = True, True

    def _show(self, run: Run) -> None:
        """Show another run, paused, without a word about what is kept on disk."""
        self.run, self._shown = run, run.step
        self._playing, self._target, self._dirty = False, None, True
        self._pace.forget()
        self._pace.begin()
        self._version += 1

    # One run.

    def _do_play(self, message: messages.Play) -> None:
        usual = self.run.usual_steps
        self._go(usual if usual is not None and self.run.step < usual else None)

    def _do_pause(self, message: messages.Pause) -> None:
        self._playing, self._target, self._dirty = False, None, True

    def _do_step(self, message: messages.Step) -> None:
        self._go(self.run.step + message.count)

    def _do_run_to(self, message: messages.RunTo) -> None:
        step = self.run.step
        if message.step <= step:
            raise InvalidParameter(f"step is {message.step}; the run is at {step} already, reset it to go back")
        self._go(message.step)

    def _go(self, target: int | None) -> None:
        self.run.check_unfinished()
        if not self._playing:
            self._pace.begin()
        self._playing, self._target, self._dirty = True, target, True

    def _do_speed(self, message: messages.Speed) -> None:
        self._pace.speed, self._dirty = message.steps_per_second, True

    def _do_reset(self, message: messages.Reset) -> None:
        self._begin(self.run.next_recipe)

    def _do_start(self, message: messages.Start) -> None:
        self._begin(next_recipe(self.run.next_recipe, message, self.uploads))

    def _do_bring_back(self, message: messages.BringBack) -> None:
        if self._panes is not None:
            self._do_leave_side_by_side(messages.LeaveSideBySide(type="leave_side_by_side"))
            return
        if not self._left:
            raise InvalidParameter("there is no earlier run to restore; one is kept whenever another is started")
        # The current run becomes the oldest: asked for repeatedly, all have their turn.
        run, shown = self._left.take_last(), self.run
        self._change_over(run)
        self._left.add(shown, oldest=True)
        self._left.trim_keyframes(self.run)

    def _do_go_on(self, message: messages.GoOn) -> None:
        self._begin(self.run.following())

    def _do_look(self, message: messages.Look) -> None:
        self.run.view, self._dirty = message.view, True
        if self._keeper is not None and not self.run.shared and self._panes is None:
            self._keeper.keep_view(self.run.identity, message.view)

    def _do_open(self, message: messages.Open) -> None:
        project, cancels_before = self.uploads.find_project(message.upload), self._cancels_before
        with self._at_work(f"opening {project.name}"):
            run = self._continued(project)
            repeats = run is None
            if run is None:
                assert project.recipe is not None
                run = Run(project.recipe, notice=self._notice)
            run.view = project.view
            self._do_leave_side_by_side(messages.LeaveSideBySide(type="leave_side_by_side"))
            self._replace(run)
            self.uploads.forget_project(message.upload)
            if repeats:
                self._repeat(run, project, cancels_before)

    def _continued(self, project: Project) -> Run | None:
        """The run of a project's checkpoint; None if it is to be done again from its recipe."""
        if project.checkpoint is None:
            return None
        try:
            run = Run.from_checkpoint(*project.checkpoint, project.name, self._notice)
        except CheckpointError as error:
            if project.recipe is None:
                raise
            self._notice(f"Repeating the {project.step} steps of {project.name}: {error}.")
            return None
        run.branch_off()  # from here on it is another run than the one saved
        return run

    def _repeat(self, run: Run, project: Project, cancels_before: int) -> None:
        """Do again what a project holds, unless it is cancelled."""

        def stop() -> bool:
            return self._closing or self._cancels != cancels_before

        def look() -> None:
            self._looked = time.monotonic()
            self._busy = f"repeating {project.name}, step {run.step} of {project.step}"
            self._changed()
            self._publish()
            self._keep()

        Replay(run, project.actions).do(look=look, stop=stop)
        self._changed()
        self._note_edit()
        if project.actions and stop():
            raise OpeningCancelled(f"opening {project.name} was cancelled at step {run.step} of {project.step}")

    def _begin(self, recipe: sw.Recipe) -> None:
        """Start a new run; the pages are notified first, because it may take a while."""
        with self._at_work(f"preparing {recipe.source.name}"):
            run = Run(recipe, notice=self._notice)
            run.sliders.follow(self.run.sliders)
            self._replace(run)

    def _replace(self, run: Run) -> None:
        """Show another run; the one before can be restored."""
        shown = self.run
        self._change_over(run)
        self._left.add(shown)
        self._left.trim_keyframes(self.run)

    def _change_over(self, run: Run) -> None:
        self._show(run)
        self._note_change()
        self._note_edit()  # one that is brought back has work in it that is not on disk
        self.on_run(run)

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

    def _do_parameters(self, message: messages.Parameters) -> None:
        self.run.change_parameters(message.values)
        self._go_on(edited=True)
        self._pace.forget()
        self._note_change()
        self._note_edit()

    def _do_slide(self, message: messages.Slide) -> None:
        before, number = self.run.usual_steps, self.run.number
        self.run.slide(message.name, message.position)
        if self.run.number != number:  # it begins anew, before its first step
            if self._panes is None:
                self._change_over(self.run)
            else:
                self._changed()
        if message.name != "age":
            self._go_on(edited=True)
        if self._target is not None and self._target == before != self.run.usual_steps:
            self._do_play(messages.Play(type="play"))  # to where the age ends now
        self._pace.forget()
        self._note_change()
        self._note_edit()

    def _do_scrub(self, message: messages.Scrub) -> None:
        shown, timeline = self.run, self.run.timeline
        if shown.shared:
            raise InvalidParameter("a run of your own program has no keyframes; keep checkpoints there")
        self._playing, self._target, self._dirty = False, None, True
        before = timeline.at
        try:
            timeline.leave(shown)
            branch, keyframe = timeline.find(message.branch, message.moment)
            if branch is timeline.branch and keyframe is (before or branch.tip):
                return
            parts = keyframe.parts()
        except (OSError, MemoryError) as error:
            raise InvalidParameter(f"keyframes cannot be kept or read ({error}); the run stays where it is") from error
        run = Run.from_checkpoint(*parts, f"keyframe {keyframe.moment}", self._notice)
        run.timeline, run.view = timeline, shown.view
        run.be_known_by(branch.identity)
        if run.start.shape == shown.start.shape:
            run.number = shown.number  # pages keep their view, and what they know of the start
        timeline.show(branch, keyframe)
        self.run, self._shown = run, run.step
        self._left.trim_keyframes(self.run)  # the end that was left is one more
        shown.close()
        self._pace.forget()
        self._changed()
        self.on_run(run)

    def _do_settle(self, message: messages.Settle) -> None:
        self.run.check_can_settle()
        self._playing, self._target = False, None
        self._go_on(edited=True)
        if not self.run.shared:
            self._note_steps()
        first, cancels_before = self.run.simulation.settled, self._cancels_before

        def look() -> None:
            """Update the pages, and stop if settling was cancelled."""
            if self._closing:
                raise Closing
            if self._cancels != cancels_before:
                raise Cancelled
            self._looked = time.monotonic()
            self._busy = f"settling, {self.run.simulation.settled - first} of {message.steps} steps"
            self._changed()
            self._publish()
            self._keep()

        def stop() -> bool:
            return self._closing or self._cancels != cancels_before

        self._settling = True
        try:
            with self._at_work(f"settling over {message.steps} steps"):
                self.run.settle(message.steps, dry=message.dry, look=look, stop=stop)
        finally:
            self._settling = False
            self._changed()
            self.run.timeline.note_edit()
        done = self.run.simulation.settled - first
        if done < message.steps:
            self._notice(
                f"Settling was cancelled after {done} of {message.steps} steps; the sediment stays in the water."
            )
