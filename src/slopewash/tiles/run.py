"""A recipe on tiles: stage after stage, round after round, each committed by a manifest before the next begins."""

from __future__ import annotations

import dataclasses
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from slopewash.backends import choose_backend
from slopewash.errors import CheckpointError, InvalidParameter, NotEnoughMemory, UnknownName, unknown_name
from slopewash.interrupts import whole_steps
from slopewash.jobs.plan import Position, first_level, grid_of, levels_of
from slopewash.models import Model
from slopewash.models.maps import HIDDEN, map_layers, resolved
from slopewash.models.state import Sides
from slopewash.models.unusual import question
from slopewash.recipes.definition import Recipe, Stage
from slopewash.recipes.levels import expanded
from slopewash.recipes.maps import check_maps
from slopewash.recipes.masking import MASK
from slopewash.recipes.plausibility import question_parts
from slopewash.recipes.seas import brings_sea, check_dry, holds_water, inherited, sea_after
from slopewash.simulation.budget import Budget
from slopewash.simulation.checkpoints import foreign
from slopewash.simulation.locks import FolderLock, in_use
from slopewash.simulation.pacing import not_finite
from slopewash.tiles import levels, output
from slopewash.tiles.digests import Digests, loaded, using
from slopewash.tiles.estimate import measured, seconds_of, sentence
from slopewash.tiles.executors import Executor
from slopewash.tiles.facts import SCHEMA, as_facts, check_manifest, check_version
from slopewash.tiles.fill import fill, outline
from slopewash.tiles.finished import is_finished, record
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.ground import SIDES, Ground, Survey
from slopewash.tiles.gullies import draw_gullies, remove_gullies
from slopewash.tiles.inputs import check_inputs, estimated, with_layers, with_maps
from slopewash.tiles.lakes import LAKE, with_lakes
from slopewash.tiles.levelling import Levelled, level_sea, uneven
from slopewash.tiles.memory import release
from slopewash.tiles.preparing import begin_work, draw_numbers, draws, prepare_tile
from slopewash.tiles.program import (
    Program,
    SeaDoes,
    best_iterations,
    iterations_of,
    next_round,
    program_of,
    steps_of,
)
from slopewash.tiles.reach import find_reached
from slopewash.tiles.results import CHANGES, layers_of, result_tile
from slopewash.tiles.rounds import Piece, Report, advance_tile
from slopewash.tiles.sea import COVERED, LowGround, settle_sea, share_below
from slopewash.tiles.store import Store
from slopewash.tiles.tasks import Tasks
from slopewash.tiles.watching import Watching
from slopewash.tiles.work import Work

Array = NDArray[Any]
MANIFEST = "state/manifest.json"
MARK = "state/begun.json"
"""What a run writes first, with the user's seal: all in the store is its own."""
BORDER = "state/border"
SHARE_THAT_TELLS = 0.1
"""Of the work that is left: a level with less is too unlike the others to tell how long they take."""


@dataclass(frozen=True)
class GeoTiff:
    """A file that is asked for in place of the store."""

    name: str
    """In the folder that holds the store."""
    replace: bool
    """Whether whoever continues the run may overwrite what has this name by then."""


@dataclass(frozen=True, kw_only=True)
class TiledResult:
    """What a run on tiles has left in its store.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> cone, store = sw.generate("cone", size=32), f"{folder.name}/out.zarr"
    >>> made = sw.erode_tiled(cone, sw.SteepestTalus(), steps=3, tile=16, out=store, workers=0, backend="reference")
    >>> made.tiles, made.shape
    (4, (32, 32))
    >>> folder.cleanup()
    """

    url: str
    shape: tuple[int, int]
    cell_size: float
    layers: tuple[str, ...]
    tiles: int
    budget: Budget
    backend: str
    steps: int
    """Of erosion."""
    steps_in_all: int
    """With those of settling, and of the flood that recedes."""
    rounds: int
    seconds: float
    round_seconds: float
    """Wall time of the rounds alone, without the source and the result."""
    bytes_written: int
    """In all rounds."""
    cpu_seconds: float
    """Of the rounds, of all workers together."""
    kernel_seconds: float
    """CPU time of the iterations alone; the rest is reading, writing and preparing."""
    cell_iterations: float
    sea: tuple[float, float] | None = None
    """Share of the ground below sea level at the start and now; None where there is no sea."""

    def as_dict(self) -> dict[str, Any]:
        """Facts for a report."""
        return {**dataclasses.asdict(self), "budget": self.budget.as_dict()}


class TiledRun:
    """A recipe on tiles; `run` continues from the last manifest, if there is one.

    Parameters
    ----------
    store
        Where it is kept.
    recipe
        What to do.
    tile
        Rows and columns of a tile.
    iterations
        Between two exchanges; found by measuring if not given.
    layers
        To write at the end; all if not given.
    lakes
        Whether to add the layer `lake`; so does naming it among the layers.
    geotiff
        What is to be made of the store, if anything.
    """

    def __init__(
        self,
        store: Store,
        recipe: Recipe,
        *,
        tile: int | tuple[int, int],
        iterations: int | None = None,
        layers: Sequence[str] | None = None,
        lakes: bool = False,
        geotiff: GeoTiff | None = None,
    ) -> None:
        for stage in recipe.stages:
            stage.check_tiles()
        _check_layers(layers)
        self.store, self.recipe, self.tile, self.iterations = store, recipe, tile, iterations
        self.geotiff = geotiff
        self.layers = None if layers is None else tuple(name for name in layers if name != LAKE)
        self.lakes = lakes or (layers is not None and LAKE in layers)
        self.backend = choose_backend(recipe.backend, recipe.stages[0].model.backends)
        self.id = secrets.token_hex(8)
        self.start: Ground | None = None
        """What it started from."""
        self.stages: list[Stage] = []
        self.number = 0
        """Of the stage under way, each level counted as one."""
        self.ground: Ground | None = None
        """What the stage under way began with."""
        self.work: Work | None = None
        self.at = Position()
        self.round = 0
        self.done = 0
        """Iterations of the stage under way."""
        self.amounts: dict[str, float] = {}
        self.budgets: list[Budget] = []
        self.spent: dict[str, float] = dict.fromkeys(
            ("seconds", "round_seconds", "cpu", "kernel", "bytes", "cell_iterations", "rounds"), 0.0
        )
        self.finished = False
        self.watching = Watching()
        self._tasks = Tasks(store, Digests(), where=self._where)
        self.memory: float | None = None
        """Bytes that all processes may need together."""
        self._exchange: float | None = None
        self._measured = self._warm = False
        self._manifest: list[Any] | None = None
        """What tells the manifest that it goes on from: run, stage and table of tiles."""

    # From the store, and to it

    @classmethod
    def resumed(cls, store: Store, *, trust: bool = False) -> TiledRun:
        """Continue the run that a store holds; one of another user or machine only with `trust`."""
        read = store.read_json(MANIFEST)
        if read is None:
            if is_finished(store):
                raise CheckpointError(f"{store.url} is finished; there is nothing to continue")
            raise CheckpointError(f"{store.url} holds no run on tiles; start one with erode --tiles")
        check_version(read.facts, store.url)
        if not (read.own or trust):
            raise foreign(store.url)
        with as_facts(f"{store.url}/{MANIFEST}"):
            run = cls._from_facts(store, read.facts)
        if not read.own:  # nobody else says where files go
            run.geotiff = None
        return run

    @classmethod
    def _from_facts(cls, store: Store, facts: Mapping[str, Any]) -> TiledRun:
        check_manifest(facts)
        tile = facts["tile"]
        run = cls(
            store, Recipe.from_dict(facts["recipe"]), tile=tile if isinstance(tile, int) else tuple(tile),
            iterations=facts["iterations_wanted"],
            layers=facts["layers"], lakes=facts["lakes"],
            geotiff=None if facts["geotiff"] is None else GeoTiff(**facts["geotiff"]),
        )  # fmt: skip
        run.backend, run.id = facts["backend"], facts["run"]
        run.start, run.ground = (
            None if facts[name] is None else Ground.from_dict(store, facts[name]) for name in ("start", "ground")
        )
        run.stages = [Stage.from_dict(stage) for stage in facts["stages"]]
        run.number, run.at = facts["number"], Position(*facts["at"])
        run.round, run.done, run.amounts = facts["round"], facts["done"], facts["amounts"]
        run.work = None if facts["work"] is None else Work.from_dict(store, facts["work"])
        run.budgets = [Budget(**budget) for budget in facts["budgets"]]
        run.spent = dict(facts["spent"])
        run._manifest = [run.id, run.number, facts["digests"]]
        run._check_place()
        with store.checked("state", "the table of tiles"):
            digests = loaded(store, "state/", facts["digests"]).copy()
        run._tasks = Tasks(store, digests, committed=facts["digests"], where=run._where)
        return run

    def _check_place(self) -> None:
        """Refuse a position that the program has not, and grounds that do not belong together."""
        assert self.start is not None
        choose_backend(self.backend, self.stages[0].model.backends)
        if self.work is None:
            return
        ended = self.at.step >= len(self.program)
        item = None if ended else self.program[self.at.step]
        most = item.iterations if isinstance(item, Piece) else 0
        if self.at.step > len(self.program) or (self.at.done > most if most else self.at.done):
            raise InvalidParameter(f"at is {[self.at.step, self.at.done]}, beyond the end of its stage")
        assert self.ground is not None
        if self.work.grid != self.ground.grid or self.work.backend != self.backend:
            raise InvalidParameter("the work in progress is on another grid")
        if type(self.work.model) is not type(self.stages[self.number].model):
            raise InvalidParameter("the work in progress is of another model")

    def _commit(self) -> None:
        from slopewash import __version__

        digests = self._tasks.save()
        self.store.write_json(
            MANIFEST,
            {
                "schema": SCHEMA, "slopewash": __version__, "run": self.id, "recipe": self.recipe.as_dict(),
                "tile": self.tile, "iterations_wanted": self.iterations, "layers": self.layers, "lakes": self.lakes,
                "geotiff": None if self.geotiff is None else dataclasses.asdict(self.geotiff),
                "backend": self.backend,
                "start": None if self.start is None else self.start.as_dict(),
                "ground": None if self.ground is None else self.ground.as_dict(),
                "stages": [stage.as_dict() for stage in self.stages], "number": self.number,
                "at": [self.at.step, self.at.done], "round": self.round, "done": self.done, "amounts": self.amounts,
                "work": None if self.work is None else self.work.as_dict(),
                "budgets": [budget.as_dict() for budget in self.budgets], "spent": self.spent,
                "digests": digests,
            },
        )  # fmt: skip
        self._tasks.committed(digests)
        self._manifest = [self.id, self.number, digests]

    # Running

    def run(self, executor: Executor) -> TiledResult:
        """Run what is left; Ctrl-C ends it after the round under way is committed."""
        self._executor = executor
        self._tasks.executor, self._tasks.watching = executor, self.watching
        with using(self._tasks.digests):
            return self._run()

    def _run(self) -> TiledResult:
        folder = self.store.folder
        fresh = self.start is None
        new = folder is not None and fresh and not folder.exists()
        lock = None if folder is None else FolderLock(folder, alone=True)
        begin, before, marked = time.monotonic(), self.spent["seconds"], False
        try:
            self._check_unchanged()
            if fresh:
                self.store.write_json(MARK, {"run": self.id})
                marked = True
            self.store.create_group("")
            self.store.create_group("state")
            if self.start is None:
                self._fill()
            while True:
                if self.work is None:
                    self._begin_stage()
                    self._say_what_it_needs(cut=not fresh)
                while self.at.step < len(self.program):
                    with whole_steps():  # an interrupt finds the round committed
                        self._round()
                        self.spent["seconds"] = before + time.monotonic() - begin
                        self._commit()
                    self.store.remove(f"state/{_group(self.round - 1)}")
                if self.number + 1 == len(self.stages):
                    break
                self._next_stage()
            self.spent["seconds"] = before + time.monotonic() - begin
            return self._finish()
        except BaseException as error:
            refused = isinstance(error, InvalidParameter | NotEnoughMemory | UnknownName) and not self.spent["rounds"]
            if marked and (refused or not self.store.exists(MANIFEST)):  # the next attempt must find nothing
                self._forget(new=new)
            raise
        finally:
            self.watching.close()
            release()
            if lock is not None:
                lock.close()

    def _forget(self, *, new: bool) -> None:
        """Remove what a run has written that ended before anything of it counts."""
        if new:
            self.store.remove_all()
            return
        self.store.remove("state")
        if not is_finished(self.store):
            self.store.remove_file("zarr.json")

    def _check_unchanged(self) -> None:
        """Refuse to go on from a manifest that another process has replaced before this one locked the store."""
        found = self.store.read_json(MANIFEST)
        if (None if found is None else [found.facts.get(k) for k in ("run", "number", "digests")]) != self._manifest:
            raise in_use(self.store.url)

    def _where(self) -> str:
        if len(self.stages) < 2:
            return ""
        cells = self.stages[self.number].cells
        size = "" if cells is None else f" ({cells} cells)"
        return f"{'stage' if cells is None else 'level'} {self.number + 1} of {len(self.stages)}{size}: "

    def _fill(self) -> None:
        with whole_steps():
            self.store.remove("state/source")
            ground = outline(self.store, self.recipe.source, self.tile)
            if ground is not None:
                check_inputs(ground, self.recipe.layers, self.recipe.stages)
            start, border = fill(self.store, self.recipe.source, self.tile, self._tasks)
            start, border = levels.with_strata(start, border, self.recipe.strata, self._tasks)
            self._keep_border(border)
            start = with_layers(start, self.recipe.layers, self._tasks)
            start, stages = with_maps(start, self.recipe.stages, self._tasks)
            check_maps(stages, start.layers, start.range_of)
            check_dry(stages, start.layers)
            self._check_known(start)
            self.start = start
            self.stages = [part for stage in stages for part in expanded(stage.anchored(start.low), start)]
            question([stage.model for stage in self.stages], (start.low, start.high), start.range_of)
            question_parts(self.recipe)
            self._commit()

    def _check_known(self, start: Ground) -> None:
        """Refuse a layer that is not there at the end, before anything is eroded."""
        known = dict.fromkeys([*start.layers, *self.recipe.stages[-1].model.layers(), *CHANGES, LAKE])
        for name in self.layers or ():
            if name not in known:
                raise unknown_name("layer", name, known)

    def _begin_stage(self) -> None:
        """Make the ground that a stage begins with, and its state."""
        assert self.start is not None
        stage = self.stages[self.number]
        with whole_steps():
            if stage.cells is not None:
                first = first_level(self.stages, self.number) == self.number
                if first:
                    self.budgets = [levels.contents(self.start)]
                ground, border = levels.ground_of(
                    stage, self.start, None if first else self.ground, seed=self.recipe.seed, number=self.number,
                    run=self._tasks,
                )  # fmt: skip
            elif self.ground is None:
                ground, border = self.start, self._border()
            else:
                ground, border = self.ground, self._border()
            model, shares = resolved(stage.model, ground.range_of)
            work = begin_work(
                self.store, ground, border, model, shares, sides=Sides.of(stage.edges), seed=self.recipe.seed,
                backend=self.backend,
            )  # fmt: skip
            sea = model.sea(work.domain)
            if sea is not None:
                find_reached(LowGround(ground, sea, work.domain), COVERED, self._tasks, "finding the sea")
            count = draws(model, ground)
            if count:
                self._tasks(draw_numbers, [(self.store, ground.grid, self.recipe.seed, count)], "drawing numbers")
            group = f"state/{_group(0)}"
            reports = self._tasks(
                prepare_tile, [(work, ground, shares, count, group, n) for n in range(len(work.grid))], "preparing"
            )
            self.store.remove("state/drawn")
            self.store.remove(COVERED)
            before = self.ground
            self.ground, self.work, self.at, self.round, self.done = ground, work, Position(), 0, 0
            self.amounts = _summed({}, reports)
            self._commit()
            if before is not None and before.path not in (ground.path, self.start.path):
                self.store.remove(before.path)

    def _say_what_it_needs(self, *, cut: bool) -> None:
        """Say it once, for the finest grid."""
        work, start = self.work, self.start
        assert work is not None
        assert start is not None
        if self.number:
            return
        finest = dataclasses.replace(work, grid=TileGrid.of(start.shape, self.tile))
        longest, halo = max(map(iterations_of, self._programs(start))), work.model.halo or 1

        def iterations(grid: TileGrid) -> int:
            return min(self.iterations or best_iterations(grid.tile, grid.counts, halo), longest)

        self.watching.say(
            sentence(
                finest, self._seconds_left(), self._steps_in_all(start), workers=self._executor.workers,
                iterations=iterations, memory=self.memory, cut=cut,
            )
        )  # fmt: skip

    def _programs(self, start: Ground) -> list[Program]:
        """What every stage does."""
        shapes = [grid_of(stage, start.shape) for stage in self.stages]
        numbered = [estimated(stage, start) for stage in self.stages]
        return [program_of(*both) for both in zip(numbered, shapes, strict=True)]

    def _steps_in_all(self, start: Ground) -> int:
        """Steps of all stages."""
        return sum(stage.steps_in_all(grid_of(stage, start.shape)) for stage in self.stages)

    @property
    def program(self) -> Program:
        """Everything the stage under way does."""
        assert self.work is not None
        stage = dataclasses.replace(self.stages[self.number], model=self.work.model)
        return program_of(stage, self.work.grid.shape)

    def _round(self) -> None:
        work, program = self.work, self.program
        assert work is not None
        assert work.model.halo is not None
        grid = work.grid
        most = self.iterations if self.iterations is not None and len(grid) > 1 else None
        if most is None:
            cost = () if self._exchange is None else (self._exchange,)
            most = best_iterations(grid.tile, grid.counts, work.model.halo, *cost)
        begin = time.monotonic()
        source, target = (f"state/{_group(number)}" for number in (self.round, self.round + 1))
        item, iterations = program[self.at.step], 0
        if isinstance(item, SeaDoes):
            at = Position(self.at.step + 1)
            reports: list[Report] = settle_sea(work, item.deed, source, target, self.done, self._tasks)
        else:
            step, at = next_round(program, self.at, most, source=source, target=target, before=self.done)
            iterations = step.iterations
            work.create(target)
            label = f"{steps_of(program, at)} of {steps_of(program)} steps"
            reports = self._tasks(advance_tile, [(work, step, n) for n in range(len(grid))], label)
        bad = next((report.bad for report in reports if report.bad is not None), None)
        if bad is not None:
            raise not_finite(*bad, step=self._steps(at))
        amounts = _summed(self.amounts, reports)
        Budget.of(amounts).check(work.model.conserved, step=self._steps(at))
        cells_moved = float(grid.shape[0] * grid.shape[1]) * iterations
        self.amounts = amounts
        self.at, self.round, self.done = at, self.round + 1, self.done + iterations
        self.spent["round_seconds"] += time.monotonic() - begin
        self.spent["cpu"] += sum(report.seconds for report in reports)
        self.spent["kernel"] += sum(report.kernel for report in reports)
        self.spent["bytes"] += sum(report.written for report in reports)
        self.spent["cell_iterations"] += cells_moved
        self.spent["rounds"] += 1
        if iterations:
            self._measure(reports, iterations)
            expected, left = self._expected(grid, work.model, iterations), self._seconds_left()
            self.watching.moved(expected, left)
            self._say_what_it_took(time.monotonic() - begin, expected, left)

    def _say_what_it_took(self, took: float, expected: float, left: float) -> None:
        """Report once what the second round shows of the rest; that of a level with little work shows nothing."""
        assert self.work is not None
        of_stage = self._expected(self.work.grid, self.work.model, iterations_of(self.program) - self.done)
        first, self._warm = not self._warm, True  # workers load kernels, and files come into the cache
        if first or self._measured or of_stage < SHARE_THAT_TELLS * left:
            return
        self._measured = True
        text = measured(took, expected, left)
        if text is not None:
            self.watching.say(text)

    def _measure(self, reports: Sequence[Report], iterations: int) -> None:
        """What an exchange costs in iterations, from what the kernels took and what the rest took."""
        kernel, rest = (sum(getattr(report, name) for report in reports) for name in ("kernel", "rest"))
        if kernel > 0 and self.spent["rounds"] > 1:  # the first round may compile kernels
            self._exchange = rest / (kernel / iterations)

    def _expected(self, grid: TileGrid, model: Model, iterations: int) -> float:
        """Seconds that iterations on a grid would take on a usual machine."""
        best = best_iterations(grid.tile, grid.counts, model.halo or 1)
        between = best if self.iterations is None or len(grid) == 1 else self.iterations
        return seconds_of(model.name, grid, iterations, workers=self._executor.workers, between=between)

    def _seconds_left(self) -> float:
        """Seconds that all iterations still to come would take on a usual machine."""
        assert self.work is not None
        assert self.start is not None
        left = self._expected(self.work.grid, self.work.model, iterations_of(self.program) - self.done)
        for stage in self.stages[self.number + 1 :]:
            shape, numbered = grid_of(stage, self.start.shape), estimated(stage, self.start)
            grid = TileGrid.of(shape, self.tile)
            left += self._expected(grid, numbered.model, iterations_of(program_of(numbered, shape)))
        return left

    def _steps(self, at: Position) -> int:
        """Whole steps of the run, not of its settling, up to a position."""
        first = self.program[0]
        if not isinstance(first, Piece):
            return 0
        return (first.iterations if at.step else at.done) // first.substeps

    def _after(self, path: str, names: tuple[str, ...], *, compressed: bool = False) -> Ground:
        assert self.ground is not None
        kind = output.Compressed if compressed else Ground
        facts = {f.name: getattr(self.ground, f.name) for f in dataclasses.fields(Ground)}
        own = tuple(name for name in self.ground.own if name in names)
        return kind(**{**facts, "path": path, "layers": names, "own": own})

    def _left_by(self, stage: Stage) -> tuple[str, ...]:
        """Layers of the terrain that a stage leaves: its maps are no part of it."""
        assert self.work is not None
        assert self.ground is not None
        maps = map_layers(stage.model)
        return tuple(name for name in layers_of(self.work, self.ground) if name not in maps)

    def _next_stage(self) -> None:
        """Leave a terrain for the stage that follows."""
        assert self.work is not None
        assert self.ground is not None
        with whole_steps():
            in_levels = first_level(self.stages, self.number + 1) != self.number + 1
            if not in_levels:
                begin = self.number + 1
                self.stages = inherited(self.stages, begin, begin + len(levels_of(self.stages, begin)))
            following = self.stages[self.number + 1]
            ended = self._budget()
            names = self._left_by(self.stages[self.number])
            if in_levels:
                names = tuple(name for name in names if name in ("elevation", "water", "suspended", "bedrock"))
            after = self._after(f"state/after-{self.number}", names)
            after.create()
            after, border, *_ = self._write_results(
                after, None, ends=not in_levels, following=None if in_levels else following
            )
            self._keep_border(border)
            if in_levels:
                self.budgets.append(ended)
            elif following.cells is not None:
                self.start = after
            before = self.ground
            self.ground, self.work, self.number = after, None, self.number + 1
            self._commit()
            self.store.remove(f"state/{_group(self.round)}")
            self.store.remove("state/inputs")
            if before.path not in (after.path, self.start.path if self.start else ""):
                self.store.remove(before.path)

    def _write_results(
        self, after: Ground, start: Ground | None, *, ends: bool, following: Stage | None = None
    ) -> tuple[Ground, dict[str, Array], list[tuple[float, float]], list[Levelled]]:
        """Write the layers that a stage leaves; where it `ends`, after its last level, a mask keeps its share.

        The sea is level then, or gone where the `following` stage brings its own.
        """
        work, ground = self.work, self.ground
        assert work is not None
        assert ground is not None
        began = ground if self.stages[self.number].cells is None else self.start
        masked = began if ends and began is not None and MASK in began.layers else None
        last = [item.model for item in self.program if isinstance(item, Piece)]
        model, group = last[-1] if last else work.model, f"state/{_group(self.round)}"
        gullied, depth = None, self.stages[self.number].gullies
        if depth:
            gullied = draw_gullies(
                work, ground, group, self.done, model, self._tasks, depth=depth, seed=self.recipe.seed
            )
        sea = sea_after(self.stages[: self.number + 1]) if "water" in after.layers else None
        written = after if sea is None else uneven(after)
        if sea is not None:
            written.store.create(written.field("water"), written.grid)
        calls = [
            (work, ground, written, group, self.done, model, start, masked, gullied, n) for n in range(len(work.grid))
        ]
        surveys: list[Survey] = self._tasks(result_tile, calls, "writing layers")
        if depth:
            remove_gullies(work)
        after, border = after.known(surveys)
        levelled: list[Levelled] = []
        if sea is not None:
            gone = following is not None and brings_sea(following)
            after, levelled = level_sea(after, sea, gone=gone, run=self._tasks)
        return after, border, [found.added for found in surveys], levelled

    def _budget(self) -> Budget:
        """Budget of the stage under way; solids count from the datum of the first."""
        assert self.work is not None
        assert self.ground is not None
        assert self.start is not None
        budget = Budget.of(self.amounts)
        if self.stages[self.number].cells is None:
            return budget
        return budget.raised((self.work.domain.datum - self.start.low) * self.ground.area)

    def _finish(self) -> TiledResult:
        """Write the layers, overviews and attributes, and remove the state."""
        assert self.work is not None
        assert self.ground is not None
        assert self.start is not None
        stage = self.stages[self.number]
        names = tuple(name for name in self._left_by(stage) if not name.startswith(HIDDEN))
        from_levels = stage.cells is not None
        if from_levels:
            names = tuple(dict.fromkeys([*names, *CHANGES]))
        if self.layers is not None:
            for name in self.layers:
                if name not in names:
                    raise unknown_name("layer", name, names)
            needed = ("elevation", "water") if self.lakes else ("elevation",)  # how high the water of a lake stands
            names = tuple(name for name in names if name in needed or name in self.layers)
        budget = self._budget() if not from_levels else Budget.joined([*self.budgets, self._budget()])
        budget.check(self.work.model.conserved, step=stage.steps)  # what a manifest holds was not looked at yet
        after = self._after("", names, compressed=True)
        with whole_steps():
            after.create()
            after, _, added, levelled = self._write_results(after, self.start if from_levels else None, ends=True)
            budget = budget.reshaped(sum(solids for solids, _ in added), sum(water for _, water in added))
            if levelled:
                before, now = sum(tile.before for tile in levelled), sum(tile.after for tile in levelled)
                budget = budget.levelled(now - before, standing=0.0 if holds_water(stage.model) else before)
            if self.lakes:
                after = with_lakes(after, self._tasks)
            output.add_overviews(after, self._tasks)
            output.describe(after)
            result = TiledResult(
                url=self.store.url, shape=after.grid.shape, cell_size=after.cell_size, layers=after.layers,
                tiles=len(after.grid), budget=budget, backend=self.backend,
                steps=sum(stage.steps for stage in self.stages),
                steps_in_all=self._steps_in_all(self.start), rounds=int(self.spent["rounds"]),
                seconds=self.spent["seconds"], round_seconds=self.spent["round_seconds"],
                bytes_written=int(self.spent["bytes"]), cpu_seconds=self.spent["cpu"],
                kernel_seconds=self.spent["kernel"],
                cell_iterations=self.spent["cell_iterations"],
                sea=self._shares_of_sea(after),
            )  # fmt: skip
            from slopewash import __version__

            facts = {
                "schema": SCHEMA, "slopewash": __version__, **result.as_dict(), "ground": after.as_dict(),
                "recipe": self.recipe.as_dict(),
            }  # fmt: skip
            record(self.store, self._tasks.digests, facts)
            self.store.remove("state")
            self.store.tidy()
            self.finished = True
        return result

    def _shares_of_sea(self, after: Ground) -> tuple[float, float] | None:
        """Share of the ground below sea level at the start and in the result."""
        assert self.start is not None
        level = self.stages[self.number].sea_left
        if level is None:
            return None
        return share_below(self.start, level, self._tasks), share_below(after, level, self._tasks)

    # The border, which a stage needs that continues on the same ground

    def _keep_border(self, border: Mapping[str, Array]) -> None:
        for name, values in border.items():
            self.store.write_line(f"{BORDER}/{name}", values)

    def _border(self) -> dict[str, Array]:
        assert self.start is not None
        shape = (self.ground or self.start).shape
        return {
            name: self.store.read_line(f"{BORDER}/{name}", "float32", shape[name in ("north", "south")])
            for name in SIDES
        }


def _check_layers(layers: Sequence[str] | None) -> None:
    """Refuse layers that no run on tiles can give: which way water takes depends on how the whole is flooded."""
    remedies = {"river": "add_water", "drainage": "analysis.drainage_area"}
    for name in layers or ():
        if name in remedies:
            raise InvalidParameter(
                f"layer {name} needs the whole terrain; leave it out, and take it from an overview: "
                f"sw.{remedies[name]}(sw.read_tiled(url, most=4096))"
            )


def _group(number: int) -> str:
    return f"round-{number:06d}"


def _summed(before: Mapping[str, float], reports: Sequence[Report]) -> dict[str, float]:
    """Amounts of the budget, tile after tile: what happened adds to what happened before, what is there does not."""
    names = reports[0].amounts
    summed = {name: sum(report.amounts[name] for report in reports) for name in names}
    return {
        name: amount if name.endswith("_now") or name not in before
        else before[name] if name.endswith("_start")
        else before[name] + amount
        for name, amount in summed.items()
    }  # fmt: skip
