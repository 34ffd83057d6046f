"""A run: one terrain, one model, one backend, and whoever watches."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from slopewash.backends import choose_backend
from slopewash.errors import BackendUnavailable, InvalidParameter, NotFinite, StabilityWarning
from slopewash.models.base import EDGES, Edges, Model
from slopewash.simulation.brushes import BRUSHES, Stroke, make_stroke
from slopewash.simulation.budget import Budget
from slopewash.simulation.history import Emitters, History, Overwritten, Springs
from slopewash.simulation.interrupts import whole_steps
from slopewash.terrain import Emitter, Layer, Terrain, TriangleMesh, WaterSource

CHECK_EVERY = 200
"""Steps between two looks for NaN and infinity: often enough to name the place, rare enough to cost nothing."""

LONGEST_CHUNK = 20
"""Steps taken in one go: Ctrl-C waits for no more."""
FADE_PARTS = 20
"""Equal parts in which the power to erode fades while a run settles."""


class Observer(Protocol):
    """Watches a run: reads, never changes anything."""

    every: int
    """Steps between two calls of `observe`, counted by the simulation's `steps_taken`."""

    def start(self, simulation: Simulation, steps: int, *, label: str = "eroding") -> None:
        """A phase of `steps` steps begins."""

    def observe(self, simulation: Simulation) -> None:
        """Called when `steps_taken` is a multiple of `every`, and at the end of the phase."""

    def finish(self, simulation: Simulation) -> None:
        """Called when the phase is over, or broken off."""


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
        "open" (water and load leave), "closed" or "periodic".
    seed
        For whatever the model draws at random, such as erodibility where the terrain has none.
    substeps
        Parts each time step is split into; "auto" takes as many as stability needs, and says so.

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
        edges: Edges = "open",
        seed: int = 0,
        substeps: int | Literal["auto"] = "auto",
    ) -> None:
        if not isinstance(model, Model):
            raise InvalidParameter(f'model is {model!r}; pass a model, such as VirtualPipes() or preset("landscape")')
        if edges not in EDGES:
            raise InvalidParameter(f"edges is {edges!r}; it must be one of {', '.join(EDGES)}")
        if edges not in model.edges:
            raise InvalidParameter(f"{model.name} runs with edges {' or '.join(model.edges)}; edges is {edges!r}")
        if not isinstance(terrain, Terrain):
            raise InvalidParameter(
                f"terrain is a {type(terrain).__name__}; wrap heights as Terrain(heights, cell_size=...)"
            )
        self.edges: Edges = edges
        self.backend = choose_backend(backend, model.backends)
        self.step = 0
        self.settled = 0
        """Steps of settling so far, which do not count as `step`."""
        self._time = 0.0
        self._model = model
        self._substeps_wanted = substeps
        self._observers: list[Observer] = []
        self._sources = terrain.sources
        self._cell_size = terrain.cell_size
        self._relief = terrain.relief or terrain.cell_size  # flat ground has none to measure brushes by
        self._history = History()
        # A notebook and the studio may hold the same run: each takes whole steps and whole edits.
        self._turn = threading.RLock()
        self._level = 0.0
        self._engine = model.engine(
            terrain, backend=self.backend, edges=edges, substeps=self._substeps(model), seed=seed
        )

    def _substeps(self, model: Model) -> int:
        if self._substeps_wanted != "auto":
            if not _is_whole(self._substeps_wanted) or self._substeps_wanted < 1:
                raise InvalidParameter(f'substeps is {self._substeps_wanted!r}; it must be "auto" or 1 or more')
            return self._substeps_wanted
        worst = max(model.limits(), key=lambda limit: limit.substeps, default=None)
        if worst is None or worst.substeps == 1:
            return 1
        warnings.warn(
            f"{worst.name} is {worst.value:.3g}, above the stability limit {worst.bound:.3g}: "
            f"each step is taken in {worst.substeps} parts",
            StabilityWarning,
            stacklevel=3,
        )
        return worst.substeps

    @property
    def model(self) -> Model:
        """Parameters in force; assign other values of the same model between steps."""
        return self._model

    @model.setter
    def model(self, model: Model) -> None:
        if type(model) is not type(self._model):
            raise InvalidParameter(f"the run is of {self._model.name}; start another Simulation for {model.name}")
        with self._turn:
            self._engine.set_model(model, self._substeps(model))
            self._model = model

    @property
    def steps_taken(self) -> int:
        """Steps of runs and of settling so far: what observers count by."""
        return self.step + self.settled

    @property
    def time(self) -> float:
        """Model time that has passed."""
        return self._time

    @property
    def terrain(self) -> Terrain:
        """The terrain as it is now, with every layer the model yields."""
        with self._turn:
            return self._engine.terrain()

    @property
    def mesh(self) -> TriangleMesh:
        """The ground as triangles, for models that erode a mesh."""
        with self._turn:
            mesh = self._engine.mesh()
        if mesh is None:
            raise InvalidParameter(
                f"{self._model.name} runs on a grid and has no mesh; use TriangleMesh.from_terrain(simulation.terrain)"
            )
        return mesh

    @property
    def particles(self) -> NDArray[np.float32]:
        """Particles as rows of x (east), y (south) and z (up) in metres and place in the flow, 0 newest .. 1 oldest."""
        with self._turn:
            particles = self._engine.particles()
        if particles is None:
            raise InvalidParameter(f"{self._model.name} has no particles to show; mesh_particles has")
        return particles

    @property
    def emitters(self) -> tuple[Emitter, ...]:
        """Where particles start, for models that have them."""
        return tuple(getattr(self._engine, "emitters", ()))

    def set_emitters(self, *emitters: Emitter, join: bool = False) -> None:
        """Replace all emitters between two steps, which `undo` takes back; with `join` as part of the edit before."""
        with self._turn:
            self._history.add(self._restore(Emitters(emitters)), join=join)

    @property
    def budget(self) -> Budget:
        """Where water and solids are and where they went."""
        with self._turn:
            return Budget.of(self._engine.ledger())

    def layers(self, *names: str) -> dict[str, Layer]:
        """Return some layers as they are now, without working out the others.

        >>> import slopewash as sw
        >>> simulation = sw.Simulation(sw.generate("hill", size=16), sw.VirtualPipes(), backend="reference")
        >>> sorted(simulation.layers("water", "elevation"))
        ['elevation', 'water']
        """
        with self._turn:
            return self._engine.layers(names)

    @property
    def sources(self) -> tuple[WaterSource, ...]:
        """Springs in force; assign others between steps. That is an edit, which `undo` takes back."""
        return self._sources

    @sources.setter
    def sources(self, sources: Sequence[WaterSource]) -> None:
        self.set_sources(*sources)

    def set_sources(self, *sources: WaterSource, join: bool = False) -> None:
        """Replace all springs between two steps; with `join` as part of the edit before, as while one is moved."""
        with self._turn:
            self._history.add(self._restore(Springs(sources)), join=join)

    def _restore(self, edited: Overwritten) -> Overwritten:
        """Put something in force, and return what it replaces."""
        before: Overwritten
        if isinstance(edited, Springs):
            self._engine.set_sources(edited.sources)
            before, self._sources = Springs(self._sources), edited.sources
        elif isinstance(edited, Emitters):
            before = Emitters(self.emitters)
            self._engine.set_emitters(edited.emitters)
        else:
            before = self._engine.restore(edited)
        return before

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
        """Change a layer by hand between two steps: one edit of one dab per point, which `undo` takes back.

        What is added or taken is in the budget as `water_edited` and `solids_edited`. False where no dab touches the
        terrain: then there is nothing to undo.

        Parameters
        ----------
        tool
            One of `slopewash.brushes()`: raise, lower, smooth, flatten, add_water, remove_water, rain, harden, soften.
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
        >>> simulation.paint("raise", points=[(80.0, 80.0)], radius=30.0, strength=10.0)
        True
        >>> simulation.budget.solids_edited > 0
        True
        >>> simulation.undo()
        True
        """
        stroke = make_stroke(tool, points, radius, strength, falloff, relief=self._relief)
        layer = stroke.brush.layer
        if layer not in self._model.editable:
            usable = [brush.name for brush in BRUSHES.values() if brush.layer in self._model.editable]
            remedy = f"its tools are {', '.join(usable)}" if usable else "it takes no edits"
            raise InvalidParameter(f"{self._model.name} has no {layer} to paint with {tool}; {remedy}")
        with self._turn:
            return self._apply(stroke, join=join)

    def _apply(self, stroke: Stroke, *, join: bool) -> bool:
        layer = stroke.brush.layer
        row, column, rows, columns = stroke.window(self._engine.shape, self._cell_size)
        if rows == 0 or columns == 0:
            return False
        values = self._engine.block(layer, row, column, (rows, columns)).astype(np.float64)
        if not join:
            x, y = (int(p // self._cell_size) for p in stroke.points[0])
            self._level = float(values[min(max(y - row, 0), rows - 1), min(max(x - column, 0), columns - 1)])
        new = stroke.apply(values, row, column, self._cell_size, self._level)
        self._history.add(self._engine.edit(layer, row, column, new), join=join)
        return True

    def undo(self) -> bool:
        """Take the last edit back: what it overwrote is as it was, to the bit. False if there is none."""
        with self._turn:
            return self._history.undo(self._restore)

    def redo(self) -> bool:
        """Do the last edit taken back again. False if there is none."""
        with self._turn:
            return self._history.redo(self._restore)

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to take back."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit to do again."""
        return self._history.can_redo

    def view(self, *, height: int = 640) -> Any:
        """Show this run live in a notebook's output cell; play, change and paint it there (needs the studio extra).

        Parameters
        ----------
        height
            Of the cell, in pixels.
        """
        show = type(self).viewer
        if show is None:
            raise BackendUnavailable("nothing is there to show a run; import slopewash first")
        return show(self, height=height)

    @property
    def traffic(self) -> dict[str, int]:
        """Bytes per cell that each kernel of one iteration must move, where the backend can tell: the gpu does."""
        return self._engine.traffic()

    def close(self) -> None:
        """Give back the device's memory, where the backend holds any; ends the simulation.

        >>> import slopewash as sw
        >>> with sw.Simulation(sw.generate("cone", size=8), sw.SteepestTalus(), backend="reference") as simulation:
        ...     simulation.run(3)
        """
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, *observers: Observer) -> Self:
        """Let observers watch the run; returns the simulation."""
        self._observers += observers
        return self

    def remove(self, *observers: Observer) -> Self:
        """Let observers that were added watch no more; returns the simulation."""
        self._observers = [kept for kept in self._observers if not any(kept is gone for gone in observers)]
        return self

    def run(self, steps: int) -> None:
        """Advance by `steps` whole time steps. Interrupted, it stops after a whole number of them."""
        _check_steps(steps)
        self._watched(steps, "eroding", self._advance)

    def settle(self, steps: int = 600, *, dry: bool = False, stop_after: int | None = None) -> None:
        """End a run: while it still rains, the water's power to erode fades over `steps`; then the load is laid down.

        Fading water still wears the ground, about as much as half as many steps of the run would: stopping erosion at
        once leaves uneven deposits in the stream beds. Settling steps do not count as `step` or `time`. Nothing carried
        is thrown away; `settle(0)` only lays the load down. Lakes stay unless `dry`. With `stop_after` it is broken off
        after so many of the steps and the load stays in the water, as when it is interrupted.
        """
        _check_steps(steps)
        if stop_after is not None:
            _check_steps(stop_after, "stop_after")
        ends = stop_after is None or stop_after > steps

        def advance(done: int, chunk: int) -> None:
            self._fade(done, chunk, steps)
            if ends and done + chunk == steps:  # observers see the ground with the load laid down
                self._engine.lay_down(dry=dry)

        if ends and steps == 0:
            with whole_steps(), self._turn:
                self._engine.lay_down(dry=dry)
            self._check_finite()
        self._watched(steps if stop_after is None else min(stop_after, steps), "settling", advance)

    def _fade(self, done: int, chunk: int, steps: int) -> None:
        """Take `chunk` settling steps after `done` of `steps`; strength depends on the step alone and ends at 0."""
        parts = min(FADE_PARTS, steps)
        while chunk > 0:
            part = done * parts // steps
            next_part = -(-(part + 1) * steps // parts)
            length = min(chunk, next_part - done)
            self._engine.carry(length, strength=1 - (part + 1) / parts)
            self.settled += length
            done += length
            chunk -= length

    def _advance(self, done: int, steps: int) -> None:
        self._engine.advance(steps)
        self.step += steps
        self._time += steps * float(getattr(self._model, "time_step", 1.0))

    def _watched(self, steps: int, label: str, advance: Callable[[int, int], None]) -> None:
        done = 0
        try:
            with self._turn:
                for observer in self._observers:
                    observer.start(self, steps, label=label)
            while done < steps:
                # Observers look before anybody else may step: a notebook and the studio may share the run.
                with self._turn:
                    everys = [LONGEST_CHUNK, *(observer.every for observer in self._observers)]
                    chunk = min(steps - done, *(every - self.steps_taken % every for every in everys))
                    with whole_steps():
                        advance(done, chunk)
                    done += chunk
                    if self.steps_taken % CHECK_EVERY == 0 or done == steps:
                        self._check_finite()
                    for observer in self._observers:
                        if self.steps_taken % observer.every == 0 or done == steps:
                            observer.observe(self)
        finally:
            with self._turn:
                for observer in self._observers:
                    observer.finish(self)

    def _check_finite(self) -> None:
        bad = self._engine.first_bad_cell()
        if bad is not None:
            layer, row, column = bad
            raise NotFinite(
                f"{layer} is no longer finite at row {row}, column {column} by step {self.step}; "
                "use a smaller time_step, or leave substeps at auto"
            )

    def __repr__(self) -> str:
        rows, columns = self._engine.shape
        return (
            f"Simulation of {self._model.name} on {columns} x {rows} cells, backend {self.backend}, "
            f"edges {self.edges}, step {self.step}"
        )


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_steps(steps: int, name: str = "steps") -> None:
    if not _is_whole(steps) or steps < 0:
        raise InvalidParameter(f"{name} is {steps!r}; it must be a whole number, zero or more")


def erode(
    terrain: Terrain,
    model: Model,
    *,
    steps: int,
    backend: str = "auto",
    edges: Edges = "open",
    seed: int = 0,
    settle: int = 0,
) -> Terrain:
    """Erode a terrain in one line and return the result; `settle` more steps lay down what the water carries.

    >>> import slopewash as sw
    >>> sw.erode(sw.generate("cone", size=16), sw.VirtualPipes(), steps=2, backend="reference")["elevation"].shape
    (16, 16)
    """
    with Simulation(terrain, model, backend=backend, edges=edges, seed=seed) as simulation:
        simulation.run(steps)
        if settle:
            simulation.settle(settle)
        return simulation.terrain
