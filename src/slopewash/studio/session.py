"""One simulation in its own thread: commands are applied between steps, and it never waits for whoever watches."""

from __future__ import annotations

import queue
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import slopewash as sw
from slopewash.errors import InvalidParameter, SlopewashError, StabilityWarning
from slopewash.studio import messages
from slopewash.studio.catalogue import plain
from slopewash.studio.plan import Generated, Plan, check_size, next_plan
from slopewash.studio.recording import Recording
from slopewash.studio.uploads import Uploads

CHUNK_SECONDS = 0.015
"""Time a run goes on before it looks for commands."""
LONGEST_CHUNK = 400
GROUP = 4
"""Steps that kernels take at once: one by one each would cost up to twice as much."""
FRAME_SECONDS = 0.03
"""Shortest time between two frames."""
FRAME_SHARE = 0.1
"""Largest share of this process's CPU time that frames take from a run."""
LONGEST_WAIT = 0.25
"""A frame comes after this many seconds whatever it costs."""
STATE_SECONDS = 0.25
"""Shortest time between two states while it runs."""
STATE_SHARE = 0.02
"""Largest share of the time spent on summing up the books."""
JOBS_AT_ONCE = 64
MOST_PAINTED = 2**28
"""Cells that the dabs of one message may touch, counted for each dab: about ten seconds of work."""
ALWAYS = ("elevation", "water", "suspended")
"""Layers of every frame, where the model has them."""


@dataclass(frozen=True)
class Snapshot:
    """The state at one moment, as copies that nobody changes any more."""

    version: int
    run: int
    step: int
    time: float
    cell_size: float
    layers: dict[str, Any]
    start: sw.Terrain
    particles: Any = None
    vertices: Any = None
    triangles: Any = None
    triangulation: int = 0
    """Changes whenever the triangles do."""


@dataclass(frozen=True)
class Demand:
    """What viewers wait for: these layers, newer than that version."""

    layers: frozenset[str] = frozenset()
    newer_than: int = 0


class Closing(Exception):
    """The server ends while the simulation is at work."""


class Interlude:
    """Looks in after every stretch that a run takes in one go, which costs it nothing."""

    every = 20

    def __init__(self, session: Session) -> None:
        self._session = session

    def start(self, simulation: sw.Simulation, steps: int, *, label: str = "eroding") -> None:
        """Nothing to prepare."""

    def observe(self, simulation: sw.Simulation) -> None:
        """Let the session look up."""
        self._session.interlude()

    def finish(self, simulation: sw.Simulation) -> None:
        """Nothing to end."""


class Session:
    """The simulation that all pages of one server look at.

    `on_snapshot`, `on_state` and `on_trouble` are called in the simulation's thread and must return at once.
    """

    def __init__(self, plan: Plan, uploads: Uploads, simulation: sw.Simulation | None = None) -> None:
        self.uploads = uploads
        self.on_snapshot: Callable[[Snapshot], None] = lambda snapshot: None
        self.on_state: Callable[[dict[str, Any]], None] = lambda state: None
        self.on_trouble: Callable[[str, str], None] = lambda kind, sentence: None
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._demand: Demand | None = None
        self._closing = False
        self._playing = False
        self._target: int | None = None
        self._speed: float | None = None
        self._due = 0.0
        self._seconds_per_step = 0.0
        self._progress: deque[tuple[float, int]] = deque(maxlen=64)
        self._compiled: set[tuple[str, str]] = set()
        self._version = 1
        self._run = 0
        self._stroke: Any = None
        self._busy: str | None = None
        self._settling = False
        self._last_frame = self._last_state = 0.0
        self._state_cost = 0.0
        self._frame_cost = self._spent = self._cpu_at_frame = 0.0
        self._dirty = True
        self._triangles = np.zeros((0, 3), np.uint32)
        self._triangulation = 0
        self._plan = plan
        self._begin(plan, simulation)
        self._thread = threading.Thread(target=self._loop, name="slopewash-simulation", daemon=True)

    def start(self) -> None:
        """Begin to take commands."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the steps in hand."""
        self._closing = True
        self._jobs.put(None)
        self._thread.join()

    def submit(self, job: Callable[[], Any]) -> Future[Any]:
        """Have something done between two steps."""
        future: Future[Any] = Future()
        self._jobs.put((job, future))
        return future

    def want(self, demand: Demand | None) -> None:
        """Say what frame is wanted next; nothing is made that nobody waits for."""
        if demand != self._demand:
            self._demand = demand
            self._jobs.put(None)

    # What follows runs in the simulation's thread.

    def _begin(self, plan: Plan, simulation: sw.Simulation | None = None) -> None:
        shared = simulation is not None
        terrain = plan.terrain() if simulation is None else simulation.terrain
        check_size(terrain, plan.source.name)
        if simulation is None:
            with self._notices():
                simulation = sw.Simulation(terrain, plan.model, backend=plan.backend, edges=plan.edges, seed=plan.seed)
            simulation.add(Interlude(self))
        self._plan, self._simulation, self._terrain, self._shared = plan, simulation, terrain, shared
        self._recording = Recording(plan, simulation.backend, simulation.model)
        self._shown = simulation.step
        self._playing, self._target, self._stroke = False, None, None
        self._seconds_per_step = 0.0
        self._progress.clear()
        self._run += 1
        self._changed()

    @contextmanager
    def _notices(self) -> Iterator[None]:
        """Pass warnings of sub-stepping on to the pages."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", StabilityWarning)
            yield
        for warning in caught:
            self.on_trouble("notice", str(warning.message))

    def _changed(self) -> None:
        self._version += 1
        self._dirty = True

    def _loop(self) -> None:
        while not self._closing:
            self._take_jobs()
            if self._closing:
                return
            try:
                if self._playing and time.monotonic() >= self._due:
                    self._advance()
                self._publish()
            except Closing:
                return
            except SlopewashError as error:
                self._stop(str(error))
            except Exception as error:
                self._stop(f"the run broke off: {type(error).__name__}: {error}")

    def _stop(self, sentence: str) -> None:
        self._playing, self._target, self._busy, self._dirty = False, None, None, True
        self.on_trouble("error", sentence)

    def _take_jobs(self) -> None:
        """Do what was asked for; wait only while there is nothing to run."""
        wait = self._idle_for()
        for _ in range(JOBS_AT_ONCE):
            try:
                item = self._jobs.get(timeout=wait) if wait > 0 else self._jobs.get_nowait()
            except queue.Empty:
                return
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
        # A run that somebody else holds too may go on without our doing.
        wait = self._due - now if self._playing else 0.1 if self._shared else 60.0
        if self._dirty:
            wait = min(wait, 0.0 if not self._playing else self._next_state() - now)
        if self._demand is not None and self._version > self._demand.newer_than:
            wait = min(wait, self._last_frame + FRAME_SECONDS - now)
        return max(0.0, wait)

    def _advance(self) -> None:
        steps = self._chunk()
        self._tell_compiling()
        begin = time.monotonic()
        self._take_steps(steps)
        end = time.monotonic()
        self._busy = None
        each = (end - begin) / steps
        self._seconds_per_step = each if self._seconds_per_step == 0 else 0.7 * self._seconds_per_step + 0.3 * each
        self._due = max(self._due + steps / self._speed, end - 0.25) if self._speed else end
        self._progress.append((end, steps))
        if self._target is not None and self._simulation.step >= self._target:
            self._playing, self._target = False, None
        self._changed()

    def _tell_compiling(self) -> None:
        """The first steps of a model on a backend may take a minute: kernels are compiled once per machine."""
        kernels = (self._simulation.model.name, self._simulation.backend)
        if kernels not in self._compiled:
            self._compiled.add(kernels)
            self._busy = "compiling for this machine, once"
            self.on_state(self.state())

    def _chunk(self) -> int:
        """Steps that take about `CHUNK_SECONDS`, in whole groups if they can be had."""
        known = self._seconds_per_step > 0
        steps = min(int(CHUNK_SECONDS / self._seconds_per_step), LONGEST_CHUNK) if known else 1
        if steps < GROUP and known and GROUP * self._seconds_per_step < 4 * CHUNK_SECONDS:
            steps = GROUP
        if self._speed:
            steps = min(steps, int(self._speed * CHUNK_SECONDS))
        steps = max(1, steps - steps % GROUP if steps > GROUP else steps)
        return steps if self._target is None else min(steps, self._target - self._simulation.step)

    def _take_steps(self, steps: int) -> None:
        before = self._simulation.step
        try:
            self._simulation.run(steps)
        finally:
            done = self._simulation.step - before
            if done:
                self._recording.add("run", done)

    def _publish(self) -> None:
        now = time.monotonic()
        if self._simulation.step != self._shown:
            self._shown = self._simulation.step
            self._changed()
        if self._dirty and (not self._playing or now >= self._next_state()):
            self._dirty, self._last_state = False, now
            begin = time.thread_time()
            state = self.state()
            self._state_cost = time.thread_time() - begin
            self.on_state(state)
        demand = self._demand
        if demand is not None and self._version > demand.newer_than and self._frame_is_due(now):
            self._demand, self._last_frame, self._cpu_at_frame = None, now, time.process_time()
            self._frame_cost = 0.7 * self._frame_cost + 0.3 * self._spent
            begin = time.thread_time()
            snapshot = self._snapshot(demand.layers)
            self._spent = time.thread_time() - begin
            self.on_snapshot(snapshot)

    def _frame_is_due(self, now: float) -> bool:
        """Frames wait for each other, and while it runs until the run had its share; not for ever."""
        waited = now - self._last_frame
        had_share = time.process_time() - self._cpu_at_frame >= self._frame_cost / FRAME_SHARE
        return waited >= FRAME_SECONDS and (not self._playing or had_share or waited >= LONGEST_WAIT)

    def spend(self, seconds: float) -> None:
        """Count CPU time that went into the frame under way, in any thread."""
        self._spent += seconds

    def _next_state(self) -> float:
        return self._last_state + max(STATE_SECONDS, self._state_cost / STATE_SHARE)

    def _snapshot(self, wanted: frozenset[str]) -> Snapshot:
        simulation = self._simulation
        names = [name for name in ALWAYS if name in simulation.model.layers]
        names += sorted(name for name in wanted if name in self._layer_names() and name not in names)
        mesh = _optional(simulation, "mesh")
        if mesh is not None and not np.array_equal(mesh.triangles, self._triangles):
            self._triangles, self._triangulation = np.array(mesh.triangles), self._triangulation + 1
        return Snapshot(
            version=self._version,
            run=self._run,
            step=simulation.step,
            time=simulation.time,
            cell_size=self._terrain.cell_size,
            layers=simulation.layers(*names),
            start=self._terrain,
            particles=_optional(simulation, "particles"),
            vertices=None if mesh is None else mesh.vertices,
            triangles=None if mesh is None else self._triangles,
            triangulation=self._triangulation,
        )

    def _layer_names(self) -> set[str]:
        model = self._simulation.model
        return {*model.layers, *model.editable}

    def state(self) -> dict[str, Any]:
        """What the pages are told."""
        simulation, plan, source = self._simulation, self._plan, self._plan.source
        rows, columns = self._terrain.shape
        model = simulation.model
        return {
            "type": "state",
            "run": self._run,
            "step": simulation.step,
            "time": simulation.time,
            "playing": self._playing,
            "target": self._target,
            "busy": self._busy,
            "steps_per_second": self._measured_speed(),
            "speed": self._speed,
            "model": model.name,
            "preset": plan.preset,
            "parameters": plain({p.name: getattr(model, p.name) for p in model.parameters()}),
            "edges": simulation.edges,
            "backend": simulation.backend,
            "generator": None if not isinstance(source, Generated) else {
                "kind": source.kind, "size": source.size, "cell_size": source.cell_size, "seed": source.seed,
                "relief": source.relief, "options": plain(source.options),
            },
            "name": source.name,
            "rows": rows,
            "columns": columns,
            "cell_size": self._terrain.cell_size,
            "layers": sorted(self._layer_names()),
            "sources": [{"x": s.x, "y": s.y, "radius": s.radius, "rate": s.rate} for s in simulation.sources],
            "emitters": [asdict(emitter) for emitter in self._simulation.emitters],
            "can_undo": simulation.can_undo,
            "can_redo": simulation.can_redo,
            "budget": plain(simulation.budget.as_dict()),
        }  # fmt: skip

    def _measured_speed(self) -> float:
        if not self._playing:
            return 0.0
        horizon = time.monotonic() - 2.0
        while self._progress and self._progress[0][0] < horizon:
            self._progress.popleft()
        if len(self._progress) < 2:
            return 0.0 if self._seconds_per_step == 0 else 1 / self._seconds_per_step
        span = self._progress[-1][0] - self._progress[0][0]
        return sum(steps for _, steps in list(self._progress)[1:]) / max(span, 1e-6)

    # Commands, each named as its message type.

    def do(self, message: Any, viewer: object = None) -> None:
        """Carry one message out."""
        getattr(self, f"_do_{message.type}")(message, viewer)

    def _do_play(self, message: messages.Play, viewer: object) -> None:
        self._go(None)

    def _do_pause(self, message: messages.Pause, viewer: object) -> None:
        self._playing, self._target, self._dirty = False, None, True

    def _do_step(self, message: messages.Step, viewer: object) -> None:
        self._go(self._simulation.step + message.count)

    def _do_run_to(self, message: messages.RunTo, viewer: object) -> None:
        if message.step <= self._simulation.step:
            raise InvalidParameter(
                f"step is {message.step}; the run is at {self._simulation.step} already, reset it to go back"
            )
        self._go(message.step)

    def _go(self, target: int | None) -> None:
        if not self._playing:
            self._progress.clear()
            self._due = time.monotonic()
        self._playing, self._target, self._dirty = True, target, True

    def _do_speed(self, message: messages.Speed, viewer: object) -> None:
        self._speed, self._due, self._dirty = message.steps_per_second, time.monotonic(), True

    def _do_reset(self, message: messages.Reset, viewer: object) -> None:
        self._prepare(Plan(**{**vars(self._plan), "model": self._simulation.model}))

    def _do_start(self, message: messages.Start, viewer: object) -> None:
        plan = Plan(**{**vars(self._plan), "model": self._simulation.model})
        self._prepare(next_plan(plan, message, self.uploads))

    def _prepare(self, plan: Plan) -> None:
        """Begin anew; the pages hear of it first, for it may take a while."""
        self._busy = f"preparing {plan.source.name}"
        self.on_state(self.state())
        try:
            self._begin(plan)
        finally:
            self._busy, self._dirty = None, True

    def _do_parameters(self, message: messages.Parameters, viewer: object) -> None:
        model = self._simulation.model
        changed = model.replace(**message.values)
        with self._notices():
            self._simulation.model = changed
        self._recording.add("model", {name: getattr(changed, name) for name in message.values})
        self._seconds_per_step = 0.0
        self._dirty = True

    def interlude(self) -> None:
        """Between two stretches of a long command: keep the pages up to date, and leave if the server ends."""
        if self._closing:
            raise Closing
        if self._settling:
            self._version += 1
            self._publish()

    def _do_settle(self, message: messages.Settle, viewer: object) -> None:
        self._playing, self._target = False, None
        self._busy = f"settling over {message.steps} steps"
        self.on_state(self.state())
        self._settling = True
        try:
            self._simulation.settle(message.steps, dry=message.dry)
        finally:
            self._settling = False
            self._busy = None
            self._changed()
        self._recording.add("settle", message.steps, message.dry)

    def _do_paint(self, message: messages.Paint, viewer: object) -> None:
        self._check_work(message)
        stroke, join = self._joined(message, viewer)
        painted = self._simulation.paint(
            message.tool,
            points=message.points,
            radius=message.radius,
            strength=message.strength,
            falloff=message.falloff,
            join=join,
        )
        if not painted:
            return
        self._stroke = stroke
        self._recording.add("paint", message, join)
        self._changed()

    def _check_work(self, message: messages.Paint) -> None:
        across = 2 * message.radius / self._terrain.cell_size + 3
        rows, columns = self._terrain.shape
        cells = len(message.points) * min(rows, across) * min(columns, across)
        if cells > MOST_PAINTED:
            raise InvalidParameter(
                f"{len(message.points)} dabs of radius {message.radius:g} m touch {cells:.2g} cells; one message may "
                f"touch {MOST_PAINTED:.2g}, so send fewer at a time"
            )

    def _joined(self, message: messages.Paint | messages.Sources, viewer: object) -> tuple[Any, bool]:
        """The stroke a message is a piece of, and whether it goes on with the edit before."""
        stroke = None if message.stroke is None else (viewer, message.stroke)
        return stroke, stroke is not None and stroke == self._stroke and self._simulation.can_undo

    def _do_sources(self, message: messages.Sources, viewer: object) -> None:
        stroke, join = self._joined(message, viewer)
        springs = tuple(sw.WaterSource(**source.model_dump()) for source in message.sources)
        self._simulation.set_sources(*springs, join=join)
        self._stroke = stroke
        self._recording.add("sources", springs, join)
        self._changed()

    def _do_emitters(self, message: messages.Emitters, viewer: object) -> None:
        if not self._simulation.model.emits:
            raise InvalidParameter(f"{self._simulation.model.name} has no emitters; choose a model of particles")
        emitters = tuple(sw.Emitter(**emitter.model_dump()) for emitter in message.emitters)
        self._simulation.set_emitters(*emitters)
        self._recording.add("emitters", emitters)
        self._changed()

    def _do_undo(self, message: messages.Undo, viewer: object) -> None:
        if not self._simulation.undo():
            raise InvalidParameter("there is no edit to take back")
        self._stroke = None
        self._recording.add("undo")
        self._changed()

    def _do_redo(self, message: messages.Redo, viewer: object) -> None:
        if not self._simulation.redo():
            raise InvalidParameter("there is no edit to do again")
        self._stroke = None
        self._recording.add("redo")
        self._changed()

    def script(self) -> str:
        """The session as Python."""
        return self._recording.script()

    def terrain(self) -> sw.Terrain:
        """The terrain as it is now."""
        return self._simulation.terrain

    def ground(self) -> Any:
        """The ground for files of triangles: the model's own mesh, if it has one."""
        mesh = _optional(self._simulation, "mesh")
        return self.terrain() if mesh is None else mesh

    def check_layer(self, name: str) -> None:
        """Refuse an overlay the model does not yield."""
        if name not in self._layer_names():
            known = ", ".join(sorted(self._layer_names()))
            raise InvalidParameter(f'{self._simulation.model.name} has no layer "{name}"; it yields {known}')


def _optional(simulation: sw.Simulation, name: str) -> Any:
    """What only some models have: their mesh, their particles."""
    try:
        return getattr(simulation, name)
    except (AttributeError, InvalidParameter):
        return None
