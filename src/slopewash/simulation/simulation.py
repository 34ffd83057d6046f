"""A run: one terrain, one model, one backend, and whoever watches."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from slopewash.backends import choose_backend
from slopewash.errors import BackendUnavailable, InvalidParameter, SimulationClosed
from slopewash.interrupts import Stopped, should_stop, stopping, whole_steps
from slopewash.models.backend import Backend
from slopewash.models.base import Model
from slopewash.models.catalogue import Preset
from slopewash.models.maps import map_layers, mapped
from slopewash.models.parameters import MOST_SUBSTEPS
from slopewash.models.state import Array, Domain, Edges, Patch, Sides, State
from slopewash.models.unusual import question, question_change
from slopewash.needs import Needs, Part
from slopewash.pieces import Pieces
from slopewash.simulation.brush import BRUSHES, Stroke, make_stroke
from slopewash.simulation.budget import Budget
from slopewash.simulation.checkpoints import read_checkpoint, write_checkpoint
from slopewash.simulation.editing import Editor
from slopewash.simulation.history import History
from slopewash.simulation.observing import LONGEST_CHUNK, Function, Observer, as_observer
from slopewash.simulation.pacing import fading, needed_substeps, not_finite
from slopewash.simulation.parts import of_this_version, put_together, take_apart, warn_of_version
from slopewash.terrain import (
    Emitter,
    Layer,
    Terrain,
    TriangleMesh,
    WaterSource,
    check_terrain,
    emitter_table,
    emitters_of,
    source_table,
    sources_of,
)
from slopewash.terrain.arrays import handed_over

CHECK_EVERY = 200
"""Steps between two looks for NaN, infinity and lost mass: often enough to name the place,
rare enough to cost nothing."""

MOST_CELLS_HIGH = 1e7
"""Relief and depth of water in cells, above which results would be rounding."""


class Simulation:
    """A terrain being eroded.

    Parameters
    ----------
    terrain
        Where it starts; never changed.
    model
        Parameters and physics, such as `VirtualPipes()` or `preset("landscape")`.
    backend
        "gpu", "cpu", "reference", or "auto" for the fastest this machine has.
    edges
        "open" (water and sediment leave), "closed" or "periodic", or `Sides` with a word for each.
    seed
        Random seed for whatever the model draws, such as erodibility where the terrain has none.
    substeps
        Sub-steps each time step is split into, at most 100; "auto" takes as many as stability needs, and warns.

    >>> import slopewash as sw
    >>> simulation = sw.Simulation(sw.generate("hill", size=16), sw.VirtualPipes(), backend="reference")
    >>> simulation.run(steps=5)
    >>> simulation
    Simulation of virtual_pipes on 16 x 16 cells, backend reference, edges open, step 5
    >>> simulation.budget.water_drift < 1e-5
    True
    """

    viewer: ClassVar[Callable[..., Any] | None] = None
    """Shows a run in a notebook; registered by the studio package."""

    def __init__(
        self,
        terrain: Terrain,
        model: Model,
        *,
        backend: str = "auto",
        edges: Edges | Sides | Mapping[str, Any] = "open",
        seed: int = 0,
        substeps: int | Literal["auto"] = "auto",
    ) -> None:
        _check_model(model)
        sides = Sides.of(edges)
        model.check_sides(sides)
        check_terrain(terrain)
        given = model
        model, terrain = mapped(given, terrain)
        self.backend = choose_backend(backend, model.backends)
        _check_memory(terrain, model, self.backend)
        _check_heights(terrain)
        self.step = 0
        self.settled = 0
        """Steps of settling so far, which do not count as `step`."""
        self.substeps_done = 0
        """Sub-steps of the current step that were taken before it was interrupted."""
        self._since = (0, 0.0)
        """Step and time from which on the parameters in force count."""
        self._model = model
        self._substeps_wanted = substeps
        self._start = terrain
        self._relief = terrain.relief or terrain.cell_size  # flat ground has none to measure brushes by
        self._history = History()
        self._conserved = model.conserved
        self._level = 0.0
        self.run_id: str | None = secrets.token_hex(8)
        """Which run this is, for folders of checkpoints; copies and resumed simulations keep it."""
        self._begin(*model.prepare(terrain, sides=sides, seed=seed))
        question([given, model], terrain.range("elevation"), terrain.range)

    def _begin(self, domain: Domain, state: State) -> None:
        """Bring a state to the backend; everything else is known."""
        # A notebook and the studio may hold the same run: each takes whole steps and whole edits.
        self._turn = threading.RLock()
        self._observers: list[Observer] = []
        self._sub_steps_left: int | None = None
        self._observed_by: int | None = None
        self._domain = domain
        self._pieces = Pieces()
        self._substeps = 1
        self._substeps = self._find_substeps(self._model, state)
        self._coefficients()  # raises where the model cannot run on this terrain
        self._opened: Backend | None = self._model.backend(self.backend)(state, domain)

    @property
    def _device(self) -> Backend:
        return self._check_open()

    def _check_can_run(self) -> None:
        if self._opened is None:
            raise SimulationClosed("this simulation is closed; it cannot run any more")
        if self._observed_by == threading.get_ident():
            raise InvalidParameter("an observer tried to advance the run that it observes; observers only read")

    def _check_open(self) -> Backend:
        if self._opened is None:
            raise SimulationClosed(
                "this simulation is closed; ask for its terrain, budget or layers before close() or the end of `with`"
            )
        return self._opened

    @property
    def _state(self) -> State:
        return self._device.state

    def _find_substeps(self, model: Model, state: State) -> int:
        """Split steps as wanted, or as stability needs; warn when that is more than before."""
        if self._substeps_wanted != "auto":
            if not _is_whole(self._substeps_wanted) or not 1 <= self._substeps_wanted <= MOST_SUBSTEPS:
                raise InvalidParameter(
                    f'substeps is {self._substeps_wanted!r}; it must be "auto" or 1 .. {MOST_SUBSTEPS}'
                )
            return int(self._substeps_wanted)
        return needed_substeps(model.limits_in(state), self._substeps, stacklevel=5)

    @property
    def model(self) -> Model:
        """Parameters in force; assign other values of the same model between steps."""
        return self._model

    @model.setter
    def model(self, model: Model) -> None:
        _check_model(model)
        if type(model) is not type(self._model):
            raise InvalidParameter(f"this run uses {self._model.name}; start another Simulation for {model.name}")
        with self._turn:
            given = model
            model, here = mapped(given, self._start)
            model.coefficients(self._domain, substeps=1)  # raises where it cannot run on this terrain
            substeps = self._find_substeps(model, self._state)
            model.adopt(self._model, self._state, self._domain)
            for name in map_layers(given):
                self._state[name] = here[name]
            self._since = (self.step, self.time)
            self._conserved &= model.conserved
            question_change(self._model, model, self._start.range("elevation"))
            self._model = model
            self._substeps, self.substeps_done = substeps, 0  # a step that was interrupted begins anew
            self._pieces = Pieces()

    @property
    def edges(self) -> Edges | Sides:
        """What lies beyond the border: one word if all four sides are alike."""
        sides = self._domain.sides
        return sides if sides.word is None or sides.word == "halo" else sides.word

    @property
    def start(self) -> Terrain:
        """The terrain the run began with."""
        return self._start

    @property
    def datum(self) -> float:
        """Elevation in metres from which the budget counts solids."""
        return self._domain.datum

    @property
    def seed(self) -> int:
        """Random seed the run began with."""
        return self._domain.seed

    @property
    def steps_taken(self) -> int:
        """Steps of runs and of settling so far: what observers count by."""
        return self.step + self.settled

    @property
    def time(self) -> float:
        """Model time that has passed."""
        step, time = self._since
        return time + (self.step - step) * self._model.step_time

    @property
    def terrain(self) -> Terrain:
        """The terrain as it is now, with every layer the model yields."""
        with self._turn:
            state = self._state
            names = [name for name in self._model.yields(state) if not self._is_default(name, state)]
            layers = {name: handed_over(layer) for name, layer in self.layers(*names).items()}
            return self._start.replace(**layers, sources=self.sources, emitters=self.emitters or self._start.emitters)

    @property
    def has_bedrock(self) -> bool:
        """Whether the run knows what is loose soil and what is the bedrock below it."""
        with self._turn:
            return "bedrock" in self._model.yields(self._state)

    def _is_default(self, name: str, state: State) -> bool:
        """Whether a layer was never given and never changed: then the terrain needs none."""
        spec = self._model.layer(name)
        return (
            spec.role == "input" and spec.default is not None and name not in self._start and name in state
            and bool((state[name] == spec.default).all())
        )  # fmt: skip

    @property
    def has_mesh(self) -> bool:
        """Whether the model erodes triangles."""
        return self._model.meshed

    @property
    def mesh(self) -> TriangleMesh:
        """The ground as triangles, for models that erode a mesh."""
        with self._turn:
            mesh = self._model.mesh(self._state, self._domain)
        if mesh is None:
            raise InvalidParameter(
                f"{self._model.name} runs on a grid and has no mesh; use TriangleMesh.from_terrain(simulation.terrain)"
            )
        return mesh

    @property
    def particles(self) -> NDArray[np.float32]:
        """Particles as rows of x (east), y (south) and z (up) in metres and place in the flow, 0 newest .. 1 oldest."""
        with self._turn:
            particles = self._model.positions(self._state, self._domain)
        if particles is None:
            raise InvalidParameter(f"{self._model.name} has no particles to show")
        return particles

    @property
    def budget(self) -> Budget:
        """Where water and solids are and where they went."""
        with self._turn:
            return Budget.of(self._model.amounts(self._state, self._domain))

    def layers(self, *names: str) -> dict[str, Layer]:
        """Return some layers as they are now, without working out the others.

        >>> import slopewash as sw
        >>> simulation = sw.Simulation(sw.generate("hill", size=16), sw.VirtualPipes(), backend="reference")
        >>> sorted(simulation.layers("water", "elevation"))
        ['elevation', 'water']
        """
        for name in names:
            self._model.layer(name)
        with self._turn:
            device = self._device
            state = device.state
            shares = {p.mappable.layer for p in self._model.parameters() if p.mappable is not None}
            even = {n: np.ones(self._domain.shape, np.float32) for n in names if n in shares and n not in state}
            layers = dict(self._model.derive_all([name for name in names if name not in even], state, self._domain))
            return {name: _copied(layers.pop(name), device) for name in [*layers]} | even

    # Edits between steps

    @property
    def sources(self) -> tuple[WaterSource, ...]:
        """Water sources; assign others between steps. That is an edit, which `undo` reverts."""
        return sources_of(self._state["sources"]) if self._model.has_sources() else self._start.sources

    @sources.setter
    def sources(self, sources: WaterSource | Sequence[WaterSource]) -> None:
        self.set_sources(*([sources] if isinstance(sources, WaterSource) else sources))

    def set_sources(self, *sources: WaterSource, join: bool = False) -> None:
        """Replace all water sources between two steps; with `join` as part of the edit before."""
        if not self._model.has_sources():
            raise InvalidParameter(
                f"{len(sources)} water sources were given; {self._model.name} has none, leave them out"
            )
        placed = self._start.replace(sources=sources).sources
        with self._turn:
            self._history.add(self._editor.swap([Patch("sources", source_table(placed))]), join=join)

    @property
    def emitters(self) -> tuple[Emitter, ...]:
        """Where particles start, for models that have them."""
        return emitters_of(self._state["emitters"]) if self._model.particles else ()

    def set_emitters(self, *emitters: Emitter, join: bool = False) -> None:
        """Replace all emitters between two steps, which `undo` reverts; with `join` as part of the edit before."""
        if not self._model.particles:
            raise InvalidParameter(f"{self._model.name} has no particles, and so no emitters")
        placed = self._start.replace(emitters=emitters).emitters
        with self._turn:
            self._history.add(self._editor.swap([Patch("emitters", emitter_table(placed))]), join=join)

    @property
    def _editor(self) -> Editor:
        return Editor(self._device, self._model, self._domain)

    def paint(
        self,
        tool: str,
        *,
        points: Iterable[Sequence[float]],
        radius: float,
        strength: float | None = None,
        falloff: float = 0.5,
        join: bool = False,
    ) -> bool:
        """Change a layer by hand between two steps: one edit of one dab per point, which `undo` reverts.

        What is added or taken is in the budget as `water_edited` and `solids_edited`. False where no dab touches the
        terrain: then there is nothing to undo.

        Parameters
        ----------
        tool
            One of `slopewash.brushes()`: raise, lower, smooth, flatten, add_water, remove_water, rain, harden, soften,
            evaporation, capacity, talus, sliding.
        points
            Positions x, y in metres from the north-west corner.
        radius
            Of a dab, in metres.
        strength
            Of a dab, in the tool's unit; what is usual if not given: metres follow the relief at the start.
        falloff
            0 for a hard rim .. 1 for a dab that fades from its centre.
        join
            Make this part of the edit before, as the next piece of one stroke.

        >>> import slopewash as sw
        >>> simulation = sw.Simulation(sw.generate("cone", size=16), sw.VirtualPipes(), backend="reference")
        >>> simulation.paint("raise", points=[(2560.0, 2560.0)], radius=960.0, strength=10.0)
        True
        >>> simulation.budget.solids_edited > 0
        True
        >>> simulation.undo()
        True
        """
        stroke = make_stroke(tool, points, radius, strength, falloff, relief=self._relief)
        layer = stroke.brush.layer
        if layer not in self._model.editable():
            usable = [brush.name for brush in BRUSHES.values() if brush.layer in self._model.editable()]
            remedy = f"its tools are {', '.join(usable)}" if usable else "it takes no edits"
            raise InvalidParameter(f"{self._model.name} has no {layer} to paint with {tool}; {remedy}")
        with self._turn:
            self._check_open()
            return self._apply(stroke, join=join)

    def _apply(self, stroke: Stroke, *, join: bool) -> bool:
        layer, size = stroke.brush.layer, self._domain.cell_size
        row, column, rows, columns = stroke.window(self._domain.shape, size)
        if rows == 0 or columns == 0:
            return False
        window = (slice(row, row + rows), slice(column, column + columns))
        values = self._editor.in_metres(layer, window).astype(np.float64)
        if not join:
            x, y = (int(p // size) for p in stroke.points[0])
            self._level = float(values[min(max(y - row, 0), rows - 1), min(max(x - column, 0), columns - 1)])
        new = stroke.apply(values, row, column, size, self._level)
        self._history.add(self._editor.overwrite(layer, window, new), join=join)
        return True

    def undo(self) -> bool:
        """Undo the last edit: what it overwrote is as it was, to the bit. False if there is none."""
        with self._turn:
            return self._history.undo(self._editor.swap)

    def redo(self) -> bool:
        """Redo the last edit undone. False if there is none."""
        with self._turn:
            return self._history.redo(self._editor.swap)

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return self._history.can_undo

    @property
    def edited(self) -> bool:
        """Whether it was ever edited; copies and resumed simulations know too, even without what they could undo."""
        return self._history.edited

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit to redo."""
        return self._history.can_redo

    def view(self, *, height: int = 640) -> Any:
        """Show this run live in a notebook's output cell; play, change and paint it there (needs the studio extra).

        Parameters
        ----------
        height
            Of the cell, in pixels.
        """
        self._check_open()
        show = type(self).viewer
        if show is None:
            raise BackendUnavailable("nothing is there to show a run; import slopewash first")
        return show(self, height=height)

    @property
    def traffic(self) -> dict[str, int]:
        """Bytes per cell that each kernel of one iteration must move, where the backend knows: the gpu does."""
        return self._device.traffic(self._coefficients())

    def close(self) -> None:
        """Free the device's memory; afterwards the simulation cannot run, and its state cannot be read.

        >>> import slopewash as sw
        >>> with sw.Simulation(sw.generate("cone", size=8), sw.SteepestTalus(), backend="reference") as simulation:
        ...     simulation.run(3)
        """
        with self._turn:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, *observers: Observer | Callable[[Simulation], object]) -> Self:
        """Let observers watch the run; returns the simulation. Copies of it and resumed runs have none.

        An observer may be a plain function of the simulation: it is called about every 20 steps, and at the end.
        """
        self._observers += [as_observer(given) for given in observers]
        return self

    def remove(self, *observers: Observer | Callable[[Simulation], object]) -> Self:
        """Stop observers that were added from watching; returns the simulation."""
        self._observers = [
            kept for kept in self._observers
            if not any(kept is gone or (isinstance(kept, Function) and kept.function is gone) for gone in observers)
        ]  # fmt: skip
        return self

    def run(
        self,
        steps: int,
        *,
        stop: Callable[[], bool] | None = None,
        stop_after: int | None = None,
        label: str = "eroding",
    ) -> None:
        """Advance by `steps` whole time steps.

        Interrupted, it stops after a whole number of sub-steps, within a second; the next `run` completes the step.

        Parameters
        ----------
        steps
            Time steps to take.
        stop
            Asked at least every second; the run is interrupted when it returns true.
        stop_after
            Interrupt it after so many sub-steps, as Ctrl-C did.
        label
            What observers call these steps, such as the progress bar.
        """
        _check_steps(steps)
        if stop_after is not None:
            _check_steps(stop_after, "stop_after")
        self._check_can_run()
        self._sub_steps_left = stop_after
        with stopping(stop):
            self._watched(steps, label, self._advance)

    def settle(
        self,
        steps: int = 600,
        *,
        dry: bool = False,
        done: int = 0,
        stop_after: int | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """End a run: while it still rains, the water's power to erode fades over `steps`; then all sediment settles.

        Fading water still erodes, about as much as half as many steps of the run would: stopping erosion at once leaves
        uneven deposits in the stream beds. Settling steps do not count as `step` or `time`. Nothing carried is thrown
        away; `settle(0)` only deposits the sediment. Lakes stay unless `dry`.

        Parameters
        ----------
        steps
            Over which the power to erode fades.
        dry
            Whether the water evaporates at the end.
        done
            Steps of these that were taken before, where a settling goes on that was interrupted.
        stop_after
            Interrupt it after so many of the steps: the sediment stays in the water, as after Ctrl-C.
        stop
            Asked at least every second; the settling is interrupted when it returns true.
        """
        _check_steps(steps)
        _check_steps(done, "done")
        self._check_can_run()
        if stop_after is not None:
            _check_steps(stop_after, "stop_after")
        if done > steps:
            raise InvalidParameter(f"done is {done}; the settling has {steps} steps")
        ends = stop_after is None or stop_after > steps - done
        last = steps if stop_after is None else min(done + stop_after, steps)

        def advance(taken: int, chunk: int) -> bool:
            if not self._fade(done + taken, chunk, steps):
                return False
            if ends and done + taken + chunk == steps:  # observers see the ground with the sediment deposited
                with whole_steps():
                    self._lay_down(dry=dry)
            return True

        if ends and done == steps:
            with whole_steps(), self._turn:
                self._lay_down(dry=dry)
            self._check_sound()
        elif done == 0:
            with whole_steps(), self._turn:
                self._model.begin_settling(self._state, self._domain)
        self._sub_steps_left = None
        with stopping(stop):
            self._watched(last - done, "settling", advance)

    def _lay_down(self, *, dry: bool) -> None:
        self._model.lay_down(self._state, self._domain, dry=dry)

    def _fade(self, done: int, chunk: int, steps: int) -> bool:
        """Take `chunk` settling steps after `done` of `steps`; strength depends on the step alone and ends at 0."""
        return all(self._take(length, strength, "settled") for strength, length in fading(done, chunk, steps))

    def _coefficients(self, strength: float = 1.0) -> Any:
        return self._model.coefficients(self._domain, substeps=self._substeps, strength=strength)

    def _advance(self, done: int, steps: int) -> bool:
        return self._take(steps, 1.0, "step")

    def _take(self, steps: int, strength: float, counter: str) -> bool:
        """Take steps in pieces, between which signals arrive; false where the run was asked to stop before the end."""
        coefficients, unit = self._coefficients(strength), 1 if self._model.divisible else self._substeps
        left = wanted = steps * self._substeps - self.substeps_done
        if self._sub_steps_left is not None:
            left = min(wanted, self._sub_steps_left) // unit * unit
        while left > 0:
            stopped, done = False, self._pieces.next(left, unit)
            with whole_steps():
                try:
                    with self._pieces:
                        self._device.advance(coefficients, done)
                except Stopped as early:
                    stopped, done = True, early.done
                whole, self.substeps_done = divmod(self.substeps_done + done, self._substeps)
                setattr(self, counter, getattr(self, counter) + whole)
            left, wanted = left - done, wanted - done
            if self._sub_steps_left is not None:
                self._sub_steps_left -= done
            if stopped or (wanted > 0 and should_stop()):
                return False
        return wanted <= 0

    def _watched(self, steps: int, label: str, advance: Callable[[int, int], bool]) -> None:
        done = 0
        try:
            with self._turn, self._observing():
                for observer in self._observers:
                    observer.start(self, steps, label=label)
            while done < steps:
                # Observers look before anybody else may step: a notebook and the studio may share the run.
                with self._turn:
                    everys = [LONGEST_CHUNK, *(observer.every for observer in self._observers)]
                    chunk = min(steps - done, *(every - self.steps_taken % every for every in everys))
                    if not advance(done, chunk):
                        return
                    done += chunk
                    stopped = done < steps and should_stop()
                    if self.steps_taken % CHECK_EVERY == 0 or done == steps:
                        self._check_sound()
                    with self._observing():
                        for observer in self._observers:
                            if self.steps_taken % observer.every == 0 or done == steps:
                                observer.observe(self)
                    if stopped:
                        return
        finally:
            with self._turn, self._observing():
                for observer in self._observers:
                    observer.finish(self)

    @contextmanager
    def _observing(self) -> Iterator[None]:
        """Note which thread's observers are called: they may not advance the run."""
        self._observed_by = threading.get_ident()
        try:
            yield
        finally:
            self._observed_by = None

    @property
    def conserved(self) -> frozenset[str]:
        """Which of "water" and "solids" every model in force so far conserves."""
        return self._conserved

    def _check_sound(self) -> None:
        """End a run that is not finite any more, or whose mass budget does not close."""
        amounts, bad = self._model.balance(self._state, self._domain)
        if bad is not None:
            raise not_finite(*bad, step=self.step)
        Budget.of(amounts).check(self._conserved, step=self.step)

    # Checkpoints and copies

    def checkpoint(
        self,
        folder: str | Path,
        *,
        recipe: Mapping[str, Any] | None = None,
        arrays: Mapping[str, Array] | None = None,
    ) -> Path:
        """Write everything the run needs to go on into a folder; returns the checkpoint, `step-000123` inside it.

        The newest two are kept. A run resumed from one is bit-identical to one that never stopped. A folder belongs to
        one run: `CheckpointError` is raised if it holds another that is not finished. Signals wait until it is written.

        Parameters
        ----------
        folder
            Where this run's checkpoints are; created if missing.
        recipe
            What the run is part of, stored in the manifest.
        arrays
            What the recipe needs besides, by name.

        >>> import tempfile
        >>> import slopewash as sw
        >>> simulation = sw.Simulation(sw.generate("hill", size=16), sw.VirtualPipes(), backend="reference")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     simulation.run(3)
        ...     _ = simulation.checkpoint(folder)
        ...     sw.Simulation.resume(folder)
        Simulation of virtual_pipes on 16 x 16 cells, backend reference, edges open, step 3
        """
        if self._opened is None:
            raise SimulationClosed("this simulation is closed; it cannot be written to a checkpoint any more")
        with whole_steps(), self._turn:
            self._check_sound()  # nothing goes on from a state that is not
            facts, own = self.parts(recipe=recipe)
            return write_checkpoint(Path(folder), self.steps_taken, facts, {**own, **(arrays or {})})

    def parts(self, *, recipe: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Array]]:
        """What a checkpoint holds: facts for JSON, and arrays that stay as they are while the run goes on."""
        with self._turn:
            facts, arrays = take_apart(self)
            self._device.forget()  # as much memory again as the arrays
        return {**facts, "recipe": dict(recipe or {})}, arrays

    @classmethod
    def resume(cls, folder: str | Path, *, trust: bool = False) -> Simulation:
        """Continue from the newest undamaged checkpoint in a folder, on the same backend; it has no observers yet.

        A checkpoint that another user or machine wrote is refused, unless you `trust` whoever did.
        """
        return cls.from_parts(*read_checkpoint(Path(folder), trust=trust))

    @classmethod
    def from_parts(cls, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Simulation:
        """Make a simulation of what `parts` or `read_checkpoint` returned."""
        simulation = cls.__new__(cls)
        with of_this_version(facts):
            put_together(simulation, dict(facts), dict(arrays))
            warn_of_version(facts)
        return simulation

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the observers, for copies and pickles."""
        facts, arrays = self.parts()
        return {"facts": facts, "arrays": arrays}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        put_together(self, parts["facts"], parts["arrays"])

    def __repr__(self) -> str:
        rows, columns = self._domain.shape
        return (
            f"Simulation of {self._model.name} on {columns} x {rows} cells, backend {self.backend}, "
            f"edges {self._domain.sides}, step {self.step}" + (", closed" if self._opened is None else "")
        )


def _check_heights(terrain: Terrain) -> None:
    """Refuse heights at which single precision, in which models count in cells, loses all detail."""
    water = terrain.range("water")[1] if "water" in terrain else 0.0
    for what, metres in (("relief", terrain.relief), ("water", water)):
        if metres > MOST_CELLS_HIGH * terrain.cell_size:
            raise InvalidParameter(
                f"the terrain's {what} is {metres:.3g} m, more than {MOST_CELLS_HIGH:.0e} cells of "
                f"{terrain.cell_size:g} m; check its units, or use a larger cell_size"
            )


def _check_memory(terrain: Terrain, model: Model, backend: str) -> None:
    rows, columns = terrain.shape
    tiles = "" if model.halo is None else ", or erode it on tiles"
    needs = Needs([Part("the run", rows * columns * model.footprint(backend).peak, compiled=backend == "cpu")])
    needs.check(f"a run of {model.name} on {columns} x {rows} cells", f"resample it to fewer cells{tiles}")


def _check_model(model: object) -> None:
    if isinstance(model, Preset):
        raise InvalidParameter(f'model is the preset "{model.name}"; pass its model, preset("{model.name}")')
    if not isinstance(model, Model):
        raise InvalidParameter(f'model is {model!r}; pass a model, such as VirtualPipes() or preset("landscape")')


def _copied(layer: Array, device: Backend) -> Layer:
    """A layer that shares no memory with the state: a copy, unless it was worked out for the caller alone."""
    return np.array(layer, dtype=np.float32, order="C", copy=True if device.owns(layer) else None)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_steps(steps: int, name: str = "steps") -> None:
    if not _is_whole(steps) or steps < 0:
        raise InvalidParameter(f"{name} is {steps!r}; it must be a whole number, zero or more")
