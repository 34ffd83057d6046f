"""What messages of pages do to the run: each is a job between two steps."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any, Protocol

import slopewash as sw
from slopewash.errors import CheckpointError, InvalidParameter, SlopewashError
from slopewash.studio import messages
from slopewash.studio.keeping import Keeper
from slopewash.studio.keyframes import DamagedKeyframe
from slopewash.studio.loop import SimulationLoop
from slopewash.studio.projects import Project
from slopewash.studio.recipes import next_recipe, untyped
from slopewash.studio.replay import Replay
from slopewash.studio.run import Cancelled, Edit, RecipeComplete, Run
from slopewash.studio.side_by_side import Panes, filled_up

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


class Session(SimulationLoop):
    """The run that all pages of one server show, and the runs before it.

    It lives in the run's own process (`worker.py`), or in the caller's if a notebook holds the simulation too.
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
        super().__init__(recipe, simulation, keeper, version)
        self.uploads = uploads
        self._cancels = self._cancels_before = 0

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

    # Commands, each named as its message type, in the simulation's thread.

    def _do(self, message: Any, viewer: object, cancels_before: int) -> None:
        self._cancels_before = cancels_before
        try:
            self._do_here(message, viewer)
        except RecipeComplete:
            if self._panes is None:
                raise
            raise InvalidParameter("the recipe of this pane is complete; reset all panes, or keep this one") from None

    def _do_here(self, message: Any, viewer: object) -> None:
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
        panes = self._panes
        with self._at_work(f"preparing {message.panes} panes"):
            recipes = filled_up([home.next_recipe] if panes is None else panes.recipes, message.panes)
            usual = filled_up([home.usual_recipe] if panes is None else panes.usual_recipes, message.panes)
            if panes is None:
                self._panes = panes = Panes(home, recipes, self._notice, usual)
            else:
                panes.begin_again(recipes, usual=usual)
            self._show(panes.run)

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
        elif message.type == "start" and message.look is not None:
            raise InvalidParameter("a landscape is for one run; leave side by side, or keep a pane, first")
        elif message.type in ("reset", "start", "copy_pane"):
            with self._at_work("preparing all panes"):
                panes.begin_again_with(message, self.uploads)
                self._show(panes.run)
        else:
            panes.go(message)
            if not self._playing:
                self._pace.begin()
            self._playing, self._dirty = True, True

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
        self._begin(self.run.next_recipe, self.run.usual_recipe)

    def _do_start(self, message: messages.Start) -> None:
        recipe = next_recipe(self.run.next_recipe, message, self.uploads)
        self._begin(recipe, next_recipe(self.run.usual_recipe, untyped(message), self.uploads))

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
        recipe = self.run.following()
        self._begin(recipe, recipe.replace(stages=(self.run.usual_recipe.stages[-1].on_one_grid(),)))

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

    def _begin(self, recipe: sw.Recipe, usual: sw.Recipe) -> None:
        """Start a new run; the pages are notified first, because it may take a while."""
        with self._at_work(f"preparing {recipe.source.name}"):
            run = Run(recipe, notice=self._notice, usual=usual)
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
        except (OSError, MemoryError) as error:
            raise InvalidParameter(f"the run cannot be kept as a keyframe ({error}), and stays where it is") from error
        if branch is timeline.branch and keyframe is (before or branch.tip):
            return
        try:
            parts = keyframe.parts()
        except DamagedKeyframe as error:
            timeline.forget(keyframe)
            self._note_change()
            raise InvalidParameter(f"{error}, and is dropped; the run stays where it is") from error
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
