"""Running a recipe, stage by stage, with checkpoints that it can go on from."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slopewash.errors import CheckpointError, ForeignCheckpoint, InvalidParameter
from slopewash.interrupts import whole_steps
from slopewash.jobs.plan import Erode, Lower, Position, Recede, Settle, Step, first_level, levels_of, steps_of_level
from slopewash.models.maps import map_layers, mapped, maps_of, without_maps
from slopewash.models.sea import Sea
from slopewash.models.unusual import asked, question
from slopewash.observers import Checkpoints, Progress
from slopewash.recipes.definition import Recipe, Stage
from slopewash.recipes.levels import expanded, terrain_of
from slopewash.recipes.manifest import CHECKPOINTS, MANIFEST, RECIPE, checksums, input_files
from slopewash.recipes.maps import carry_maps, check_maps, place_maps
from slopewash.recipes.masking import MASK, blended
from slopewash.recipes.painting import Painted, painted
from slopewash.recipes.painting import repainted as repaint
from slopewash.recipes.plausibility import question_parts
from slopewash.recipes.results import Result
from slopewash.recipes.seas import check_dry, handed_on, holds_water, inherited, sea_after
from slopewash.recipes.whereabouts import check_changes, check_foreign, check_noted, outputs_within
from slopewash.remedies import by_place
from slopewash.simulation import Budget, Simulation
from slopewash.simulation.checkpoints import (
    check_kind,
    check_owner,
    is_checkpoint,
    load_checkpoint,
    newest_manifest,
    remove_checkpoints,
)
from slopewash.simulation.locks import FolderLock
from slopewash.simulation.parts import of_this_version
from slopewash.terrain import Terrain, add_gullies
from slopewash.terrain.parts import put_together, take_apart

START, ORIGIN, PAINTED = "start.", "origin.", "painted."
"""Begin the names of the arrays that a checkpoint keeps of the start of a stage with levels, of the recipe, and of what
was painted on levels."""


@dataclass(frozen=True)
class Begun:
    """A stage that was made: its simulation, and what the recipe under way keeps with it."""

    simulation: Simulation
    start: Terrain
    budgets: list[Budget]
    painted: Painted


class Running:
    """A recipe under way. `run` may be interrupted, and called again to continue.

    Parameters
    ----------
    recipe
        What to do.
    terrain
        What it starts from, where that was made already.
    checkpoint
        Folder to write checkpoints to, the first before the first step; none are written without.
    every
        Steps between two checkpoints.
    folder
        Where outputs go, with the recipe and a manifest; without one, each goes to its own path.

    >>> import slopewash as sw
    >>> running = sw.Running(sw.recipe("jako2011", size=16, steps=2, backend="reference"))
    >>> running.run()
    >>> running.finished, running.result().steps
    (True, 2)
    """

    def __init__(
        self,
        recipe: Recipe,
        terrain: Terrain | None = None,
        *,
        checkpoint: str | Path | None = None,
        every: int = 500,
        folder: str | Path | None = None,
    ) -> None:
        check_every(every)
        self.recipe = recipe
        self.folder = None if folder is None else Path(folder)
        self.checkpoint, self.every = None if checkpoint is None else Path(checkpoint), every
        if self.checkpoint is not None:
            check_kind(self.checkpoint)
            check_owner(self.checkpoint, None)  # before the terrain is made, which may take long
        (recipe if terrain is None else recipe.replace(source=terrain, layers={})).check_memory()
        self.run_id: str | None = None
        """Which run this is, for the folder of checkpoints; its stages share it."""
        self.inputs = checksums(input_files(recipe)) if self.folder is not None else {}
        """Of the files that it reads, for the manifest: they may change while it runs."""
        self.number = 0
        """Of the stage under way."""
        self.start = self.origin = recipe.terrain() if terrain is None else terrain
        """What the stage under way started from, if it has levels, and what the recipe did."""
        _check_mask(recipe, self.start)
        stages, self.start = place_maps(recipe.stages, self.start)
        check_maps(stages, self.start, self.start.range)
        check_dry(stages, self.start)
        ground = self.start.range("elevation")
        self.stages = [level for stage in stages for level in expanded(stage.anchored(ground[0]), self.start)]
        """Stages of the recipe, each level one of its own."""
        self._painted: Painted = {}
        """What was painted on the levels before the one under way."""
        self._budgets: list[Budget] = []
        """Of the levels before the one under way, after what the first of them began with."""
        ranges = self.start.range
        self._take_over(0, self._prepared(0, self.start))
        question([stage.model for stage in self.stages], ground, ranges)
        question_parts(recipe)
        self._seconds = 0.0
        self._begin: float | None = None
        """Moment at which `run` was called, while it is at work."""
        self._finished = self._has_checkpoint = False
        self.foreign = False
        """Whether it was begun by another user or machine."""

    @classmethod
    def resumed(
        cls,
        folder: str | Path,
        *,
        every: int | None = None,
        trust: bool = False,
        out: str | Path | None = None,
        force: bool = False,
    ) -> Running:
        """Continue from a folder of checkpoints that a recipe wrote, from one of them, or from its output folder.

        Parameters
        ----------
        folder
            Where they are.
        every
            Steps between two checkpoints; as before if not given.
        trust
            Continue what another user or machine wrote; its outputs go into `out`, and nowhere else.
        out
            Folder for all outputs, in place of where they went: an absolute one goes there by its last part.
        force
            Let outputs overwrite an input there, and those of others any file.
        """
        if every is not None:
            check_every(every)
        folder = checkpoints_of(folder)
        if (folder / RECIPE).is_file() and (folder / MANIFEST).is_file():
            raise CheckpointError(f"the run in {folder} is complete; to make it again: slopewash run {folder / RECIPE}")
        try:
            loaded = load_checkpoint(folder, trust=trust)
        except ForeignCheckpoint as error:
            if out is not None or "stage" not in (newest_manifest(folder) or {}).get("recipe", {}):
                raise
            named = by_place(python="out=...", command="--out DIR")
            raise ForeignCheckpoint(f"{error} and {named}, a folder for its outputs") from None
        facts, arrays = loaded.facts, loaded.arrays
        noted = facts.get("recipe", {})
        if noted.get("studio"):
            raise CheckpointError(
                f"{folder} holds the run of a studio; continue it with slopewash studio --keep {folder}"
            )
        if "stage" not in noted:
            raise CheckpointError(
                f"{folder} was written by a simulation without a recipe; continue in Python with Simulation.resume"
            )
        running = cls.from_parts(facts, noted, arrays)
        running.checkpoint, running._has_checkpoint = folder.parent if is_checkpoint(folder) else folder, True
        running.foreign |= not loaded.own
        place, outputs = None if out is None else Path(out), noted.get("folder")
        if place is not None:
            running.recipe = outputs_within(running.recipe, place, folder)
        if not loaded.own:
            check_foreign(running.recipe, place, folder, records=outputs is not None, force=force)
        if outputs is not None:
            running.folder = Path(os.path.normpath(running.checkpoint / outputs)) if place is None else place
        elif place is not None:
            placed = running.recipe.outputs_in(place.absolute())
            running.recipe = running.recipe.replace(outputs=placed, outputs_anywhere=True)
        running.every = noted["every"] if every is None else every
        return running

    @classmethod
    def from_parts(cls, facts: Mapping[str, Any], noted: Mapping[str, Any], arrays: Mapping[str, Any]) -> Running:
        """Make a recipe under way of what `parts` returned: facts and arrays of its simulation, and what it noted."""
        running = cls.__new__(cls)
        running.checkpoint = running.folder = None
        running._begin, running._has_checkpoint = None, False
        start, origin, changes = (
            {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            for prefix in (START, ORIGIN, PAINTED)
        )
        with of_this_version(facts):
            check_noted(noted)
            check_changes(changes)
            anywhere = noted.get("outputs_anywhere", True)
            running.recipe = Recipe.from_dict(noted["recipe"]).replace(outputs_anywhere=anywhere)
            running.stages = [Stage.from_dict(stage) for stage in noted["stages"]]
            running._budgets = [Budget(**budget) for budget in noted["budgets"]]
            running._painted, running.foreign = changes, noted.get("foreign", False)
            running.inputs = noted.get("inputs", {})
            running.every = noted["every"]
            running.number, running._seconds, running._finished = noted["stage"], noted["seconds"], noted["finished"]
            running.simulation = Simulation.from_parts(facts, arrays)
            running.start = put_together(noted["start"], start) if start else running.simulation.start
            running.origin = put_together(noted["origin"], origin) if origin else running.start
            if type(running.simulation.model) is not type(running.stage.model):
                raise InvalidParameter(
                    f"the simulation is of {running.simulation.model.name}, but stage {running.number + 1} is of "
                    f"{running.stage.model.name}"
                )
            running._reached = _reached(noted, running._plan, running.simulation)
        running.run_id = running.simulation.run_id
        return running

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a checkpoint of its simulation needs besides, as facts and arrays, with what the recipe started from."""
        facts, arrays = take_apart(self.origin)
        origin = {ORIGIN + name: array for name, array in arrays.items()}
        return {**self._noted(), "origin": facts}, {**self._start_arrays(), **origin}

    def _prepared(self, number: int, terrain: Terrain) -> Begun:
        """The stage of that number, made from a terrain; an interrupt meanwhile leaves the one before."""
        stage = self.stages[number]
        terrain = carry_maps(terrain, self.start)
        start, budgets, painted = self.start, self._budgets, self._painted
        if stage.cells is not None:
            first = self._first_level(number) == number
            if first:
                start, budgets, painted = terrain, [_contents(terrain)], {}
            terrain = terrain_of(stage, start, None if first else terrain, seed=self.recipe.seed)
        model, terrain = mapped(stage.model, terrain)

        def simulate(ground: Terrain) -> Simulation:
            with asked():  # of all stages, when the recipe began
                return Simulation(ground, model, backend=self.recipe.backend, edges=stage.edges, seed=self.recipe.seed)

        simulation = simulate(without_maps(terrain))
        if stage.cells is not None and painted:
            repainted = repaint(simulation, without_maps(terrain), painted)
            simulation.close()
            simulation = simulate(repainted)
        return Begun(simulation, start, budgets, painted)

    def _take_over(self, number: int, begun: Begun) -> None:
        """Go on with a stage that was made: not before, as a map may be refused."""
        self.start, self._budgets, self._painted = begun.start, begun.budgets, begun.painted
        if number == 0:
            self.run_id = begun.simulation.run_id
        begun.simulation.run_id = self.run_id
        self.number, self.simulation, self._reached = number, begun.simulation, 0

    def _first_level(self, number: int) -> int:
        return first_level(self.stages, number)

    def _levels(self) -> Sequence[Stage]:
        """The levels of the stage under way; itself alone where it has none."""
        return levels_of(self.stages, self.number)

    @property
    def stage(self) -> Stage:
        """The stage under way, or the level of it."""
        return self.stages[self.number]

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self._finished

    def run(self, *observers: Any) -> None:
        """Run what is left, then ask for `result()`; Ctrl-C interrupts it within a second. Writes no outputs."""
        if self._finished:
            return
        with contextlib.nullcontext() if self.checkpoint is None else FolderLock(self.checkpoint):
            self._run(observers)

    def _run(self, observers: Sequence[Any]) -> None:
        self._begin = time.perf_counter()
        saving = (
            []
            if self.checkpoint is None
            else [Checkpoints(self.checkpoint, every=self.every, recipe=self._noted, arrays=self._start_arrays)]
        )
        try:
            if self.checkpoint is not None and not self._has_checkpoint:
                self.write_checkpoint()  # from here on it can be resumed; a finished run before it cannot
                self._has_checkpoint = True
            taken, before = self.steps_taken, sum(map(self._length, self.stages[: self.number]))
            watching = [output.observer(taken, before) for output in self.recipe.outputs_in(self.folder)]
            observers = [*observers, *(observer for observer in watching if observer is not None)]
            while not self._finished:
                self._run_stage([*observers, *saving])
                self._end_stage()
            for checkpoints in saving:
                checkpoints.observe(self.simulation)  # which notes that nothing is left to do
        finally:
            self._seconds, self._begin = self._elapsed, None

    def _end_stage(self) -> None:
        if self.number + 1 == len(self.stages):
            if self.stage.cells is not None:
                self._budget_of_levels().check(self.simulation.conserved, step=self.simulation.step)
            self._finished = True
            return
        following = self.number + 1
        in_levels = self._first_level(following) != following
        ended, terrain = self._budget(), self._levelled(self._carved())
        before = self.stages, self.start, self._painted
        try:
            if in_levels:
                with asked():
                    self._hand_on_edits()
            else:
                self.stages = inherited(self.stages, following, following + len(levels_of(self.stages, following)))
                terrain = handed_on(terrain, self._sea, self.stages[following])
            begun = self._prepared(following, terrain)
        except BaseException:  # an interrupt finds the stage that has ended, which may be resumed
            self.stages, self.start, self._painted = before
            raise
        with whole_steps():  # and after it the next, with its own simulation
            over = self.simulation
            self._take_over(following, begun)
            if in_levels:
                self._budgets.append(ended)
            over.close()

    def _hand_on_edits(self) -> None:
        """Keep for the finer levels what they would take from the start: painted layers, sources and emitters."""
        simulation, before = self.simulation, self.simulation.start
        self._painted = painted(simulation, self._painted)
        if simulation.sources != before.sources:
            self.start = self.start.replace(sources=simulation.sources)
        if simulation.model.particles and simulation.emitters != before.emitters:
            self.start = self.start.replace(emitters=simulation.emitters)

    @property
    def _elapsed(self) -> float:
        return self._seconds + (0.0 if self._begin is None else time.perf_counter() - self._begin)

    def _run_stage(self, observers: Sequence[Any]) -> None:
        simulation = self.simulation
        for observer in observers:
            if isinstance(observer, Progress):
                observer.title = self.place
        simulation.add(*observers)
        try:
            while (step := self._next()) is not None:
                self._take(step, step.steps - self.at.done)
        finally:
            simulation.remove(*observers)

    @property
    def _plan(self) -> tuple[Step, ...]:
        """What the stage under way does."""
        return steps_of_level(self.stage, self.simulation.start.shape)

    @property
    def at(self) -> Position:
        """How far the stage under way has come: steps of its plan, and what the simulation has taken of the next."""
        plan, simulation = self._plan, self.simulation
        over = sum(step.steps for step in plan[: self._reached] if not isinstance(step, Settle))
        for number, step in enumerate(plan[self._reached :], self._reached):
            if isinstance(step, Settle):  # which is over once the load is laid down
                return Position(number, simulation.settled)
            if isinstance(step, Lower) or simulation.step - over < step.steps:
                return Position(number, simulation.step - over)
            over += step.steps
        return Position(len(plan))

    def _next(self) -> Step | None:
        """The step that comes next in the stage under way; None at its end."""
        return next(iter(self._plan[self.at.step :]), None)

    def _take(
        self, step: Step, steps: int, *, stop: Callable[[], bool] | None = None, stop_after: int | None = None
    ) -> None:
        """Take so many steps of what comes next."""
        simulation, at = self.simulation, self.at
        if isinstance(step, Lower):
            simulation.model = self.stage.receding(simulation.model)
            self._reached = at.step + 1
        elif isinstance(step, Settle):
            last = at.done + steps == step.steps
            simulation.settle(step.steps, dry=step.dry, done=at.done, stop_after=None if last else steps)
            self._reached = at.step + last
        else:
            label = "receding" if isinstance(step, Recede) else "eroding"
            simulation.run(steps, stop=stop, stop_after=stop_after, label=label)

    def advance(self, steps: int, *, stop: Callable[[], bool] | None = None, stop_after: int | None = None) -> None:
        """Take so many steps, also of settling; where a stage ends, the next begins. Nothing is done after the last.

        Parameters
        ----------
        steps
            Steps to take, in whatever portions: the result is the same, and that of `run`.
        stop
            Asked at least every second while it erodes; the run is interrupted when it returns true.
        stop_after
            Interrupt it after so many sub-steps.
        """
        while not self._finished:
            step = self._next()
            if step is None:
                self._end_stage()
                continue
            left = step.steps - self.at.done
            wanted, before = min(steps, left), self.steps_taken
            if left and not wanted:
                return
            self._take(step, wanted, stop=stop, stop_after=stop_after)
            steps -= self.steps_taken - before
            if self.steps_taken - before < wanted:
                return

    def set_parameters(self, **values: Any) -> None:
        """Change parameters between two steps: on this level of the stage under way, and on those to come."""
        for name in maps_of(self.stage.model):
            if name in values:
                raise InvalidParameter(f"{name} is a map in this stage; change its file, and run the recipe again")
        self.simulation.model = self.simulation.model.replace(**values)
        first, levels = self._first_level(self.number), self._levels()
        for number in range(self.number, first + len(levels)):
            self.stages[number] = self.stages[number].with_parameters(**values)
        changed = self.stage_number - 1
        stages = [s.with_parameters(**values) if i == changed else s for i, s in enumerate(self.recipe.stages)]
        self.recipe = self.recipe.replace(stages=tuple(stages))

    @property
    def stage_number(self) -> int:
        """Of the stage under way in the recipe, from 1."""
        return sum(self._first_level(number) == number for number in range(self.number + 1))

    @property
    def steps_taken(self) -> int:
        """Steps so far, of all stages and their settling."""
        return sum(map(self._length, self.stages[: self.number])) + self.simulation.steps_taken

    @property
    def steps_in_all(self) -> int:
        """Steps of the whole recipe, settling included."""
        return sum(map(self._length, self.stages))

    def _length(self, stage: Stage) -> int:
        return stage.steps_in_all(self.start.shape)

    @property
    def layout(self) -> list[tuple[int, int, int]]:
        """Stage from 1, cells along the longer side and steps of each level, in order."""
        numbers = list(itertools.accumulate(self._first_level(n) == n for n in range(len(self.stages))))
        own = max(self.start.shape)
        return [
            (int(number), stage.cells or own, self._length(stage))
            for number, stage in zip(numbers, self.stages, strict=True)
        ]

    @property
    def low_water(self) -> bool:
        """Whether the last level is done and its flood has begun to recede."""
        return any(isinstance(step, Lower) for step in self._plan[: self.at.step])

    @property
    def place(self) -> str:
        """Stage and level under way, in words, where there is more than one."""
        stages, levels, words = len(self.recipe.stages), self._levels(), []
        if stages > 1:
            name = self.stage.name or self.stage.preset or self.stage.model.name
            words.append(f"stage {self.stage_number} of {stages} ({name})")
        if len(levels) > 1:
            rows, columns = self.simulation.start.shape
            reached = self.number - self._first_level(self.number) + 1
            words.append(f"level {reached} of {len(levels)} ({columns} x {rows})")
        return ", ".join(words)

    def _noted(self) -> Mapping[str, Any]:
        """What a checkpoint needs besides the simulation."""
        return {
            "recipe": self.recipe.as_dict(), "stage": self.number, "every": self.every, "seconds": self._elapsed,
            "finished": self._finished, "at": [self.at.step, self.at.done], "foreign": self.foreign,
            "outputs_anywhere": self.recipe.outputs_anywhere, "inputs": self.inputs,
            "stages": [stage.as_dict() for stage in self.stages],
            "budgets": [budget.as_dict() for budget in self._budgets], "start": take_apart(self.start)[0],
            # As seen from the checkpoints, so that the folder can be moved.
            "folder": None if self.folder is None or self.checkpoint is None
            else os.path.relpath(self.folder, self.checkpoint),
        }  # fmt: skip

    def _start_arrays(self) -> Mapping[str, Any]:
        """The start, where levels or maps of stages to come need it."""
        if all(stage.cells is None for stage in self.stages) and without_maps(self.start) is self.start:
            return {}
        start = {START + name: array for name, array in take_apart(self.start)[1].items()}
        return {**start, **{PAINTED + name: change for name, change in self._painted.items()}}

    def _carved(self) -> Terrain:
        """The ground of the stage under way after its end: gullies are drawn into what the simulation leaves.

        A mask keeps of that what it asks for; of a stage with levels, it does so after the last.
        """
        terrain = without_maps(self.simulation.terrain, map_layers(self.stage.model))
        terrain = add_gullies(terrain, depth=self.stage.gullies, seed=self.recipe.seed)
        return self._masked(terrain) if self.stages[self.number] is self._levels()[-1] else terrain

    @property
    def _sea(self) -> Sea | None:
        """The sea as it stands now, also where the flood has not receded yet."""
        now = dataclasses.replace(self.stage, model=self.simulation.model, low_water={})
        return sea_after([*self.stages[: self.number], now])

    def _with_level_sea(self, budget: Budget, ended: Terrain) -> Budget:
        """The budget after the sea has risen or sunk to its level in what a stage has left."""
        counted = holds_water(self.stage.model)
        lying = ended if counted else ended.replace(water=self.simulation.start.get("water"))
        before = volume_of(lying, "water")
        return budget.levelled(volume_of(self._levelled(lying), "water") - before, standing=0.0 if counted else before)

    def _levelled(self, terrain: Terrain) -> Terrain:
        """The same with a level sea."""
        return terrain if self._sea is None else self._sea.levelled(terrain)

    def _masked(self, terrain: Terrain) -> Terrain:
        start = self.simulation.start if self.stage.cells is None else self.start
        return blended(terrain, start) if MASK in start else terrain

    def _budget(self) -> Budget:
        """Mass budget of the stage under way; solids count from the datum of the first."""
        simulation = self.simulation
        return simulation.budget.raised((simulation.datum - self.start.range("elevation")[0]) * simulation.start.area)

    def _budget_of_levels(self) -> Budget:
        """Mass budget of a stage with levels, up to the one under way."""
        return Budget.joined([*self._budgets, self._budget()])

    def write_checkpoint(self) -> Path:
        """Write one now."""
        if self.checkpoint is None:
            raise CheckpointError("this run has no folder for checkpoints; give it one")
        return self.simulation.checkpoint(self.checkpoint, recipe=self._noted(), arrays=self._start_arrays())

    def remove_checkpoints(self) -> None:
        """Remove those of a complete run from its output folder: they are not what was asked for."""
        if self._finished and self.folder is not None and self.checkpoint == self.folder / CHECKPOINTS:
            remove_checkpoints(self.checkpoint)

    def result(self) -> Result:
        """The result so far."""
        simulation, stage, levels = self.simulation, self.stage, self._levels()
        before = self.stages[self._first_level(self.number) : self.number]
        budget = simulation.budget if stage.cells is None else self._budget_of_levels()
        ran = simulation.terrain
        ended = self._carved() if self._finished else ran
        terrain = self._terrain(ended)
        if self._finished and (stage.gullies or MASK in ended):
            budget = budget.reshaped(*volumes_between(ran, ended))
        if self._finished and self._sea is not None:
            budget = self._with_level_sea(budget, ended)
        return Result(
            recipe=self.recipe,
            stage=stage,
            terrain=terrain,
            mesh=simulation.mesh if simulation.has_mesh else None,
            budget=budget,
            backend=simulation.backend,
            steps=sum(level.steps for level in before) + min(simulation.step, stage.steps),
            steps_wanted=sum(level.steps for level in levels),
            level=None if stage.cells is None else (len(before) + 1, len(levels)),
            settling_steps=simulation.settled,
            settled=self._finished and stage.settle is not None,
            interrupted=not self._finished,
            seconds=self._elapsed,
            resumable=not self._finished and self.checkpoint is not None,
            foreign=self.foreign,
            inputs=self.inputs,
        )

    def _terrain(self, ended: Terrain) -> Terrain:
        """The terrain as it is now, on the grid of the start; what levels changed is counted from there."""
        terrain = without_maps(ended, map_layers(self.stage.model))
        if self.stage.cells is None:
            return self._levelled(terrain if self._finished else self._masked(terrain))
        if terrain.shape != self.start.shape:  # interrupted on a coarse level
            finest = self._levels()[-1]
            terrain = without_maps(terrain_of(finest, self.start, terrain, seed=self.recipe.seed, last=True))
        terrain = self._levelled(terrain if self._finished else self._masked(terrain))
        change = terrain["elevation"] - self.start["elevation"]
        return terrain.replace(difference=change, wear=np.maximum(-change, 0), deposit=np.maximum(change, 0))

    def close(self) -> None:
        """Free the device's memory."""
        self.simulation.close()

    def __repr__(self) -> str:
        stages = "" if len(self.stages) == 1 else f"stage or level {self.number + 1} of {len(self.stages)}, "
        settling = f" and {self.simulation.settled} of settling" if self.simulation.settled else ""
        state = "finished" if self._finished else f"step {self.simulation.step} of {self.stage.steps}{settling}"
        return f"Running {self.stage.model.name}, {stages}{state}"


def _contents(terrain: Terrain) -> Budget:
    """What a terrain holds before anything happens to it: what is done to it on the way to a first level counts too."""
    low = terrain.range("elevation")[0]
    ground = float((terrain["elevation"].astype(np.float64) - low).sum(where=_present(terrain)))
    carried, water = (
        float(terrain[name].sum(dtype=np.float64)) if name in terrain else 0.0 for name in ("suspended", "water")
    )
    solids, water = ((ground + carried) * terrain.cell_size**2, water * terrain.cell_size**2)
    return Budget(water_start=water, water_now=water, solids_start=solids, solids_now=solids)


def _reached(noted: Mapping[str, Any], plan: Sequence[Step], simulation: Simulation) -> int:
    """Steps of its plan that a checkpoint says are done."""
    if "at" in noted:
        step, done = noted["at"]
        if step > len(plan) or done > (plan[step].steps if step < len(plan) else 0):
            raise InvalidParameter(f"at is {[step, done]}, beyond the end of its stage")
        return int(step)
    # What version 0.2 noted, and before it nothing but the steps of the simulation.
    eroding = sum(step.steps for step in plan if isinstance(step, Erode))
    receding = simulation.step > eroding
    over = {
        Erode: simulation.step >= eroding,
        Settle: noted.get("laid_down", receding),
        Lower: noted.get("low_water", receding),
    }
    return len(list(itertools.takewhile(lambda step: over.get(type(step), False), plan)))


def volumes_between(before: Terrain, after: Terrain) -> tuple[float, float]:
    """Solids and water that were added between two terrains, in cubic metres."""
    added = {
        name: float((after[name].astype(np.float64) - before[name]).sum()) * after.cell_size**2
        for name in ("elevation", "suspended", "water")
        if name in after and name in before
    }
    return added["elevation"] + added.get("suspended", 0.0), added.get("water", 0.0)


def volume_of(terrain: Terrain, name: str) -> float:
    """Cubic metres of water or sediment in a layer."""
    return float(terrain[name].sum(dtype=np.float64)) * terrain.cell_size**2 if name in terrain else 0.0


def _present(terrain: Terrain) -> Any:
    return True if terrain.nodata is None else ~terrain.nodata


def checkpoints_of(folder: str | Path) -> Path:
    """Folder of the checkpoints of a run, given that or the folder of its outputs."""
    within = Path(folder) / CHECKPOINTS
    return within if within.is_dir() else Path(folder)


def _check_mask(recipe: Recipe, start: Terrain) -> None:
    """Refuse a mask for models whose result is a mesh: its vertices are not cells."""
    meshed = [stage.model.name for stage in recipe.stages if stage.model.meshed]
    if MASK in start and meshed:
        raise InvalidParameter(f"the terrain has a mask, but {meshed[0]} erodes a mesh; leave out the mask")


def check_every(every: int) -> None:
    """Refuse a number of steps between checkpoints that is not positive."""
    if every < 1:
        raise InvalidParameter(f"every is {every}; it must be 1 or more")
