"""One run of the studio: with its recipe, a recording of what was done, and what pages show of it.

A recipe of several stages or levels runs to its end as `slopewash run` does, one simulation after another; any other
is one simulation that goes on for as long as the user likes.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import slopewash as sw
from slopewash.errors import CheckpointError, InvalidParameter, NodataWarning, StabilityWarning, UnusualWarning
from slopewash.plain import plain
from slopewash.recipes.writing import recipe_text
from slopewash.studio import messages, protocol
from slopewash.studio.inspecting import cell_facts, survey_facts
from slopewash.studio.keyframes import Timeline
from slopewash.studio.projects import TERRAIN, Saved
from slopewash.studio.recipes import check_size, resized
from slopewash.studio.sliders import AGED, Place, Sliders
from slopewash.studio.snapshot import Beside, Snapshot

ALWAYS = ("elevation", "water", "suspended")
"""Layers of every frame, where the model has them."""
MOST_PAINTED = 2**28
"""Cells that the dabs of one message may touch, counted for each dab: about ten seconds of work."""

_numbers = itertools.count(1)

Edit = messages.Paint | messages.Sources | messages.Emitters | messages.Undo | messages.Redo


def count_from(number: int) -> None:
    """Number runs from here on: pages tell those of an earlier process apart by it."""
    global _numbers
    _numbers = itertools.count(number)


class Interlude(sw.Observer):
    """Calls a function every 20 steps of settling."""

    def __init__(self, look: Callable[[], None]) -> None:
        super().__init__(every=20)
        self._look = look
        self._thread = threading.get_ident()

    def observe(self, simulation: sw.Simulation) -> None:
        """Call it, unless a notebook cell advances a run that both hold."""
        if threading.get_ident() == self._thread:
            self._look()


class RecipeComplete(InvalidParameter):
    """What was asked for needs a run that goes on."""


class Cancelled(Exception):
    """The settling was cancelled."""


@dataclass(frozen=True)
class Plan:
    """A run to be repeated on other cells."""

    name: str
    recipe: sw.Recipe
    size: int
    actions: list[list[Any]]
    layout: list[tuple[int, int, int]]
    """Stage, cells and steps of each level of the run as it is; none where it has one grid."""
    usual_steps: int
    """Where nothing was run yet on one grid: the steps that the age slider asks for, or the recipe."""


class Run:
    """A simulation, made from a recipe or given by the caller.

    `notice` is called with warnings that a person should see; `largest` None takes terrains of any size.
    """

    def __init__(
        self,
        recipe: sw.Recipe,
        simulation: sw.Simulation | None = None,
        *,
        shared: bool = False,
        notice: Callable[[str], None] = lambda _: None,
        largest: int | None = messages.SIZES[1],
        usual: sw.Recipe | None = None,
    ) -> None:
        self.number = next(_numbers)
        self.shared = shared
        """Whether a notebook holds the simulation too."""
        self.recipe, self._notice = recipe, notice
        if simulation is None:
            recipe.check_memory()
        with self._notices():
            origin = recipe.terrain() if simulation is None else simulation.start
        if largest is not None:
            check_size(origin, recipe.source.name)
        self._alone = simulation
        self.running: sw.Running | None = None
        """The recipe under way, if it has stages or levels."""
        if simulation is None:
            with self._notices():
                self._open(origin)
        self._show_from(origin)
        self._recording = sw.Recording(recipe, self.simulation.backend)
        self._interrupted = 0
        """Sub-steps of an interrupted step that are recorded."""
        self._settling: tuple[int, bool, int] | None = None
        """Steps of the settling under way, whether it dries, and steps of settling before it."""
        self.sliders = Sliders(recipe, self.running, usual)
        self.timeline = Timeline(self.usual_steps)
        self.stroke: tuple[object, int | str] | None = None
        """Viewer and number of the last stroke, which messages of the same one join."""
        self.view: messages.SavedView | None = None
        """Where a page last looked from."""
        self._triangles = np.zeros((0, 3), np.uint32)
        self._triangulation = 0

    def _open(self, origin: sw.Terrain) -> None:
        recipe, stage = self.recipe, self.recipe.stage
        if recipe.is_staged:
            self.running = sw.Running(recipe, origin)
        else:
            self._alone = sw.Simulation(
                origin, stage.model, backend=recipe.backend, edges=stage.edges, seed=recipe.seed
            )

    @property
    def simulation(self) -> sw.Simulation:
        """The simulation under way."""
        if self.running is not None:
            return self.running.simulation
        assert self._alone is not None
        return self._alone

    def _show_from(self, origin: sw.Terrain) -> None:
        """Note what the run began with, and how it would look on the grid of the simulation under way."""
        self.origin = origin
        self._start_range = origin.range("elevation")
        self._made: sw.Terrain | None = None
        """What a recipe of stages has made of it, once it is complete."""
        self._follow()

    def _follow(self) -> None:
        """Show the simulation under way, which another stage or level may have begun."""
        shape = self.simulation.start.shape
        self.start = self.origin if shape == self.origin.shape else self.origin.resampled(max(shape))
        if self.running is not None and self.running.finished and self._made is None:
            self._made = self.running.result().terrain

    @classmethod
    def from_checkpoint(
        cls,
        facts: dict[str, Any],
        arrays: dict[str, Any],
        shown: str,
        notice: Callable[[str], None],
        largest: int | None = messages.SIZES[1],
    ) -> Run:
        """Continue a run from what `parts` returned; errors call it `shown`."""
        noted = facts["recipe"]
        try:
            simulation = sw.Simulation.from_parts(facts, arrays)
            origin, running = simulation.start, None
            if "running" in noted:
                running = sw.Running.from_parts(facts, noted["running"], arrays)
                origin = running.origin
            recording = sw.Recording.from_parts(noted, arrays, origin)
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{shown} does not hold a run of a studio of this version ({error})") from error
        run = cls(recording.recipe, simulation, notice=notice, largest=largest)
        if running is not None:
            simulation.close()
            run.running = running
            run._show_from(origin)
        run.sliders.take(noted.get("sliders"), running)
        run._recording = recording
        run._interrupted = noted.get("interrupted", 0)
        return run

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Everything that a checkpoint needs for `from_checkpoint`, as facts and arrays that change no more."""
        under_way = []
        if self._settling is not None:
            under_way = [self._settled(*self._settling)]
        kept, recorded = self._recording.parts(self.origin, then=under_way)
        if self.running is not None:
            running, terrains = self.running.parts()
            kept, recorded = {**kept, "running": running}, {**recorded, **terrains}
        shown = {"name": self.recipe.source.name, "shape": self.origin.shape, "step": self.step}
        noted = {**kept, "studio": True, "shown": shown, "interrupted": self._interrupted}
        noted["sliders"] = self.sliders.parts()
        facts, arrays = self.simulation.parts(recipe=noted)
        return facts, {**arrays, **recorded}

    @property
    def step(self) -> int:
        """Steps so far; of a recipe, those of all stages and their settling."""
        return self.simulation.step if self.running is None else self.running.steps_taken

    @property
    def moment(self) -> int:
        """Steps so far, of running and settling."""
        return self.simulation.steps_taken if self.running is None else self.running.steps_taken

    @property
    def usual_steps(self) -> int | None:
        """Where playing pauses: at the steps that the preset is made for, or at the end of a recipe."""
        if self.running is not None:
            return self.running.steps_in_all
        return self.sliders.steps or self.recipe.stage.usual_steps

    @property
    def finished(self) -> bool:
        """Whether it is a recipe of stages, and complete."""
        return self.running is not None and self.running.finished

    def check_unfinished(self) -> None:
        """Refuse to go on with a recipe that is complete."""
        if self.finished:
            raise RecipeComplete("the recipe is complete; reset it, or go on from here on one grid")

    def following(self) -> sw.Recipe:
        """Recipe of a run on one grid that begins with what a complete recipe has made."""
        if not self.finished:
            raise InvalidParameter("the recipe is not complete; play it to its end first")
        terrain = self.terrain().replace(mask=None)  # which has done its work
        return self.going_on(sw.FromTerrain(name=self.recipe.source.name, terrain=terrain))

    def going_on(self, source: sw.FromTerrain) -> sw.Recipe:
        """Recipe of a run on one grid, with the model as it is now, that begins with what this one has made."""
        return sw.Recipe(
            source=source,
            stages=(self.next_recipe.stages[-1].on_one_grid(),),
            seed=self.recipe.seed,
            backend=self.recipe.backend,
        )

    @property
    def cells(self) -> int:
        """Cells of all grids that it holds: a recipe on a coarse level also has its start, on the finest one."""
        held = [self.simulation.start, self.start, self.origin, self._made]
        if self.running is not None:
            held.append(self.running.start)
        grids = [terrain["elevation"] for terrain in held if terrain is not None]
        return sum(grid.size for grid in {id(grid): grid for grid in grids}.values())

    @property
    def identity(self) -> str | None:
        """What its checkpoints are known by, in every process."""
        return self.simulation.run_id

    def branch_off(self) -> None:
        """Become a run of its own: its checkpoints are no longer those of the run that it comes from."""
        self.be_known_by(secrets.token_hex(8))

    def be_known_by(self, identity: str | None) -> None:
        """Take another identity."""
        self.simulation.run_id = identity
        if self.running is not None:
            self.running.run_id = identity

    @property
    def next_recipe(self) -> sw.Recipe:
        """The recipe with the parameters as they are now."""
        if self.running is not None:
            return self.recipe.replace(stages=self.running.recipe.stages)
        return self.recipe.replace(model=self.simulation.model)

    @property
    def usual_recipe(self) -> sw.Recipe:
        """The recipe with the parameters as it had them before somebody changed them."""
        return self.next_recipe.replace(stages=self.sliders.given)

    @property
    def is_worth_keeping(self) -> bool:
        """Whether it has steps, edits or branches; a value that is set before them is in the next recipe."""
        done = self.step > 0 or self.simulation.steps_taken > 0 or self._recording.has_edits
        return self.shared or done or self.timeline.at is not None or len(self.timeline.branches) > 1

    def close(self) -> None:
        """Free the device's memory, unless a notebook still uses it."""
        if not self.shared:
            self.simulation.close()

    @contextmanager
    def _notices(self) -> Iterator[None]:
        """Turn warnings about what was given into notices, each once."""
        with warnings.catch_warnings(record=True) as caught:
            for category in (NodataWarning, StabilityWarning, UnusualWarning):
                warnings.simplefilter("always", category)
            yield
        for sentence in dict.fromkeys(str(warning.message) for warning in caught):
            self._notice(sentence)

    def advance(self, steps: int, stop: Callable[[], bool] | None = None) -> None:
        """Take steps until `stop` returns true; those taken before a failure count."""
        before, simulation = self.step, self.simulation
        try:
            if self.running is None:
                simulation.run(steps, stop=stop)
            else:
                with self._notices():  # also of a level that begins
                    self.running.advance(steps, stop=stop)
        finally:
            done = self.step - before
            if done:
                self._recording.add("run", done)
                self._interrupted = 0
            if self.simulation is not simulation:
                self.number = next(_numbers)  # pages see another grid, or another model
                self.stroke = None
            if self.simulation is not simulation or self.finished:
                self._follow()

    def _record_interruption(self) -> None:
        """Record how far an interrupted step has got, before something else happens to the run."""
        done = self.simulation.substeps_done
        if done > self._interrupted:
            self._recording.add("interrupted", done - self._interrupted)
        self._interrupted = done

    def change_parameters(self, values: dict[str, Any]) -> None:
        """Continue with other values."""
        self.check_unfinished()
        changed = self.simulation.model.replace(**values)
        self._record_interruption()
        with self._notices():
            if self.running is None:
                self.simulation.model = changed
            else:
                self.running.set_parameters(**values)
        self._interrupted = 0
        self._recording.add("model", {name: getattr(changed, name) for name in values})

    def _slider_states(self) -> dict[str, float | str]:
        states = self.sliders.states(self.simulation.model, self._place)
        aged = self.sliders.strength is not None and self.is_worth_keeping
        return states | {"age": AGED} if aged else states

    def slide(self, name: str, position: float) -> None:
        """Continue with what a slider stands for at a position."""
        if name == "age" and self.sliders.strength is not None and self.is_worth_keeping:
            raise InvalidParameter(f"age cannot be moved: {AGED}")
        values = self.sliders.values(name, position, self.simulation.model, self._place)
        if values:
            self.change_parameters(values)
        elif self.sliders.strength is not None:
            self._begin_again(self.next_recipe.replace(strength=self.sliders.strength))

    def _begin_again(self, recipe: sw.Recipe) -> None:
        """Begin with another recipe on the same ground, where nothing has happened yet."""
        self.simulation.close()
        self.recipe, self.number = recipe, next(_numbers)
        with self._notices():
            self._open(self.origin)
        self._show_from(self.origin)
        self._recording = sw.Recording(recipe, self.simulation.backend)
        self.timeline = Timeline(self.usual_steps)

    @property
    def _place(self) -> Place:
        """Where in its recipe the run is."""
        return Place(0, low_water=False) if self.running is None else Place(self.running.number, self.running.low_water)

    def check_can_settle(self) -> None:
        """Refuse to settle what settles by itself."""
        if self.running is not None:
            raise InvalidParameter("this run is a recipe of stages, which settle by themselves; play it to its end")

    def settle(
        self,
        steps: int,
        *,
        dry: bool,
        look: Callable[[], None],
        stop: Callable[[], bool] | None = None,
        stop_after: int | None = None,
        done: int = 0,
    ) -> None:
        """Settle; `look` is called every 20 steps and may raise `Cancelled`, `stop` is asked at least every second.

        With `stop_after`, it is cancelled after so many steps. `done` of its steps were taken before the checkpoint
        that the run goes on from, which recorded them as a settling that was cancelled.
        """
        self._record_interruption()
        if done and self._recording.actions:  # none are recorded any more once there are too many
            self._recording.actions.pop()
        interlude, before = Interlude(look), self.simulation.settled - done
        self._settling = (steps, dry, before)
        self.simulation.add(interlude)
        try:
            with suppress(Cancelled):
                self.simulation.settle(steps, dry=dry, stop=stop, stop_after=stop_after, done=done)
        finally:
            self.simulation.remove(interlude)
            self._settling = None
            self._recording.add(*self._settled(steps, dry, before))

    def _settled(self, steps: int, dry: bool, before: int) -> list[Any]:
        """A settling as far as it is: after its last step the sediment is deposited, so it was not stopped."""
        done = self.simulation.settled - before
        return ["settle", steps, dry, done if done < steps else None]

    def edit(self, message: Edit, viewer: object) -> None:
        """Paint, replace water sources or emitters, undo or redo; messages of one stroke of a page make one edit."""
        self.check_unfinished()
        simulation, key = self.simulation, getattr(message, "stroke", None)
        stroke = None if key is None else (viewer, key)
        join = stroke is not None and stroke == self.stroke and simulation.can_undo
        self._record_interruption()
        if isinstance(message, messages.Paint):
            self._check_work(message)
            dabs = message.model_dump(include={"tool", "points", "radius", "strength", "falloff"})
            if not simulation.paint(**dabs, join=join):
                return
            self._recording.add("paint", dabs, join)
        elif isinstance(message, messages.Sources):
            sources = [sw.WaterSource(**source.model_dump()) for source in message.sources]
            simulation.set_sources(*sources, join=join)
            self._recording.add("sources", plain(sources), join)
        elif isinstance(message, messages.Emitters):
            emitters = [sw.Emitter(**emitter.model_dump()) for emitter in message.emitters]
            simulation.set_emitters(*emitters, join=join)
            self._recording.add("emitters", plain(emitters), join)
        else:
            if not (simulation.undo() if message.type == "undo" else simulation.redo()):
                raise InvalidParameter(f"there is no edit to {message.type}")
            self._recording.add(message.type)
        self.stroke = stroke

    def _check_work(self, message: messages.Paint) -> None:
        across = 2 * message.radius / self.start.cell_size + 3
        rows, columns = self.start.shape
        cells = len(message.points) * min(rows, across) * min(columns, across)
        if cells > MOST_PAINTED:
            raise InvalidParameter(
                f"{len(message.points)} dabs of radius {message.radius:g} m touch {cells:.2g} cells; one message may "
                f"touch {MOST_PAINTED:.2g}, so send fewer at a time"
            )

    def interrupt(self, substeps: int) -> None:
        """Take some sub-steps of the next step, as a pause during a long step leaves it."""
        if self.running is None:
            self.simulation.run(1, stop_after=substeps)
        else:
            self.running.advance(1, stop_after=substeps)

    def plan(self, size: int) -> Plan:
        """What a finish on so many cells along the longer side has to do."""
        if self.shared:
            raise InvalidParameter("this run belongs to your own program; start another run here to finish it")
        if self._recording.full:
            raise InvalidParameter("too much was done to this run to be repeated on other cells; reset it first")
        actions = [list(action) for action in self._recording.actions]
        layout = [] if self.running is None else self.running.layout
        steps = self.sliders.steps or self.recipe.stage.steps
        return Plan(self.recipe.source.name, resized(self.recipe, size), size, actions, layout, steps)

    def saved(self) -> Saved:
        """The run as a project file."""
        if self.shared:
            raise InvalidParameter("this run belongs to your own program; save its terrain, or start another run here")
        self._record_interruption()
        recipe, source = self.recipe, self.recipe.source
        terrain = None
        read = [name for name, layer in recipe.layers.items() if isinstance(layer, sw.LayerFile)]
        if read or not isinstance(source, sw.Generated):
            # With its layers, so that the project needs no other files. Those of layers may be gone by now.
            held = {name: self.origin[name] for name in read if name in self.origin}
            others = {name: layer for name, layer in recipe.layers.items() if name not in held}
            bare = recipe.replace(strata=None, water_sources=(), emitters=(), layers=others)
            terrain = bare.terrain().replace(**held)
            recipe = recipe.replace(source=sw.FromFile(path=Path(TERRAIN)), layers={})
        recipe = recipe.replace(backend=self.simulation.backend, outputs=())
        return Saved(
            name=source.name,
            step=self.step,
            view=self.view,
            recipe_text=f"# What a project of the slopewash studio began with.\n\n{recipe_text(recipe, None)}",
            actions=self._recording.lines(),
            terrain=terrain,
            checkpoint=self.parts(),
        )

    def cell(self, x: float, y: float) -> protocol.CellFacts:
        """What there is to know of the cell at a place."""
        return cell_facts(self, x, y)

    def survey(self) -> protocol.SurveyFacts:
        """The terrain beside real ones."""
        return survey_facts(self)

    def script(self) -> str:
        """The Python script that repeats the run."""
        self._record_interruption()
        return self._recording.script()

    def recipe_text(self) -> str:
        """The recipe file of the run, as far as one can hold it; uploads are to lie beside it."""
        return self._recording.recipe_text(self.next_recipe)

    def terrain(self) -> sw.Terrain:
        """The terrain as it is now; of a recipe, on the grid of its start."""
        return self.simulation.terrain if self.running is None else self.running.result().terrain

    @property
    def shown(self) -> sw.Terrain:
        """The terrain that pages show, on the grid of the simulation under way."""
        return self.simulation.terrain if self._made is None else self._made

    def shown_layers(self, *names: str) -> dict[str, Any]:
        """Layers of it: gullies and masks of a complete recipe come after the last step."""
        layers: dict[str, Any] = dict(self.simulation.layers(*names))
        if self._made is not None:
            layers |= {name: self._made[name] for name in names if name in self._made}
        return layers

    def ground(self) -> Any:
        """The ground for files of triangles: the model's own mesh, if it has one."""
        return self.simulation.mesh if self.simulation.has_mesh else self.terrain()

    @property
    def layer_names(self) -> set[str]:
        """What an overlay can show."""
        names = set(self.simulation.model.layers())
        return names if self.simulation.has_bedrock else names - {"bedrock"}

    def check_layer(self, name: str | None) -> None:
        """Refuse an overlay the model does not yield."""
        if name is not None and name not in self.layer_names:
            known = ", ".join(sorted(self.layer_names))
            raise InvalidParameter(f'{self.simulation.model.name} has no layer "{name}"; it yields {known}')

    def facts(self) -> dict[str, Any]:
        """What a `state` message holds of it."""
        simulation, source, running = self.simulation, self.recipe.source, self.running
        stage = self.recipe.stage if running is None else running.stage
        rows, columns = self.start.shape
        model = simulation.model
        return {
            "run": self.number,
            "step": self.step,
            "time": simulation.time,
            "model": model.name,
            "preset": stage.preset,
            "stage": None if running is None else running.place or "one stage",
            "levels": bool(self.recipe.stage.levels),
            "cells": max(self.origin.shape),
            "usual_steps": self.usual_steps,
            "usual_settling": None if running is not None else stage.usual_settling(simulation.step),
            "parameters": plain(model.values()),
            "usual": plain(self.sliders.usual_values(model, self._place)),
            "sliders": self._slider_states(),
            "edges": simulation.edges if isinstance(simulation.edges, str) else dict(simulation.edges.items()),
            "backend": simulation.backend,
            "generator": None if not isinstance(source, sw.Generated) else {
                "kind": source.kind, "size": source.size, "extent": source.side, "seed": source.seed,
                "relief": source.relief, "options": plain(source.options),
            },
            "name": source.name,
            "rows": rows,
            "columns": columns,
            "cell_size": self.start.cell_size,
            "relief": self.start.relief,
            "layers": sorted(self.layer_names),
            "sources": plain(simulation.sources),
            "emitters": plain(simulation.emitters),
            "view": None if self.view is None else self.view.model_dump(),
            "can_undo": simulation.can_undo and not self.finished,
            "can_redo": simulation.can_redo and not self.finished,
            "budget": plain(simulation.budget.as_dict()),
            "timeline": self.timeline.facts(self.moment),
        }  # fmt: skip

    def snapshot(
        self, version: int, wanted: frozenset[str], beside: dict[int, Beside | None] | None = None
    ) -> Snapshot:
        """What a frame is made of."""
        simulation, known = self.simulation, self.layer_names
        names = [name for name in ALWAYS if name in known]
        names += sorted(name for name in wanted if name in known and name not in names)
        mesh = simulation.mesh if simulation.has_mesh else None
        if mesh is not None and not np.array_equal(mesh.triangles, self._triangles):
            self._triangles, self._triangulation = np.array(mesh.triangles), next(_numbers)
        layers = self.shown_layers(*names)
        return Snapshot(
            version=version,
            run=self.number,
            step=self.step,
            time=simulation.time,
            cell_size=self.start.cell_size,
            layers=layers,
            units={name: simulation.model.layer(name).units for name in names},
            start=self.start,
            start_range=self._start_range,
            asked=wanted,
            particles=simulation.particles if simulation.model.particles else None,
            vertices=None if mesh is None else mesh.vertices,
            triangles=None if mesh is None else self._triangles,
            triangulation=self._triangulation,
            beside=beside or {},
        )
