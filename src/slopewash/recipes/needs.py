"""What a recipe, or a command that reads a file, needs of memory and time: known from declarations and headers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slopewash.backends import choose_backend
from slopewash.generators.registry import generator_cost
from slopewash.io.costs import reading_cost, writing_cost
from slopewash.io.files import inspect
from slopewash.io.mesh_files import is_mesh_file
from slopewash.io.options import ReadOptions
from slopewash.jobs.plan import Blend, Carve, Lower, Planned, Prepare, first_level, plan
from slopewash.models.base import Footprint, Model
from slopewash.models.maps import maps_of
from slopewash.needs import LAYER, Needs, Part, threads
from slopewash.recipes.layers import LayerFile, options_of, wanted
from slopewash.recipes.levels import USUAL_RELIEF, expanded
from slopewash.recipes.masking import MASK
from slopewash.recipes.sources import FromFile, FromTerrain, Generated, Source, check_size
from slopewash.remedies import by_place, read_for

if TYPE_CHECKING:
    from slopewash.recipes.definition import Recipe, Stage
    from slopewash.recipes.outputs import Output

WARPED, WARPED_TIME = 16.0, 80e-9
"""Bytes and seconds per cell of a grid that is brought into another CRS, beside the layers."""
SAMPLED_TIME = 140e-9
"""Seconds per cell to take a layer from where a file has it, on another grid."""
RESAMPLED = 24.0
"""Bytes per cell of a grid that is resampled, the new cells and the old ones alike."""
LEVEL, LEVEL_TIME = 155.0, 1100e-9
"""Bytes and seconds per cell for the start of a level, which follows from the level before."""
PREPARED, DERIVED = 280e-9, 95e-9
"""Seconds per cell to prepare a state, and to work its layers out."""
GULLIES, GULLIES_TIME = 70.0, 1300e-9
"""Of gullies, which are drawn into the result."""


@dataclass(frozen=True)
class Work:
    """Something done to a terrain that is there already."""

    memory: float
    """Bytes per cell beside the terrain."""
    time: float
    """Seconds per cell."""
    most: float = math.inf
    """Cells or pixels that it is done to at most."""
    least: float = 0.0
    fixed: float = 0.0
    """Bytes, whatever the terrain."""
    start: float = 0.0
    """Seconds, whatever the terrain."""

    def part(self, name: str, cells: float, held: float) -> Part:
        """The same as a part of a job that holds `held` bytes already."""
        done = min(max(cells, self.least), self.most)
        return Part(name, held + self.fixed + done * self.memory, self.start + done * self.time, compiled=True)


WATER = Work(165, 1800e-9)
WORK: Mapping[str, Work] = {
    "map": Work(150, 550e-9, most=4096**2, least=768**2, fixed=150e6, start=0.6),
    "block": Work(60, 60e-9, fixed=430e6, start=2.0),
    "inside": Work(60, 60e-9, fixed=430e6, start=2.0),
    "overlay": Work(85, 370e-9, most=4096**2, least=768**2, fixed=100e6, start=0.3),
    "analyse": Work(135, 2000e-9, fixed=30e6, start=0.5),
    "export": Work(185, 2300e-9, fixed=15e6, start=0.5),
    "report": Work(180, 2500e-9, fixed=150e6, start=1.0),
}
"""What is done besides eroding, as measured; `benchmarks/estimates.py` compares."""


def needs_of(recipe: Recipe) -> Needs:
    """Memory and time of a recipe, from its source to its outputs.

    >>> import slopewash as sw
    >>> small, large = (needs_of(sw.recipe("landscape", size=size)) for size in (1024, 2048))
    >>> 3 < large.widest.memory / small.widest.memory < 5
    True
    """
    shape = shape_of(recipe.source)
    source, held = _source_parts(recipe, shape)
    cells = float(shape[0]) * shape[1]
    parts = list(source)
    last = recipe.stages[-1]
    parts += [part for _, part in _stage_parts(recipe, shape, held)]
    footprint = last.model.footprint(_backend(recipe, last.model))
    result = LAYER * result_layers(last.model) * cells
    parts += [_output_part(output, cells, last, held, footprint.held * cells, result) for output in recipe.outputs]
    return Needs(parts)


def _source_parts(recipe: Recipe, shape: tuple[int, int]) -> tuple[list[Part], float]:
    """Parts in which the start is made, and the bytes that are held of it."""
    source, cells = recipe.source, float(shape[0]) * shape[1]
    parts, held = [], 0.0
    if isinstance(source, Generated):
        parts, held = [generator_cost(source.kind).part(f"generating {source.kind}", cells)], LAYER * cells
    elif isinstance(source, FromFile):
        reading = reading_part(source.path, source.options)
        parts, held = [reading.part], reading.held
        if source.size is not None:
            before = reading.part.memory
            parts.append(Part("resampling", reading.held + RESAMPLED * cells, 100e-9 * cells))
            held = reading.held * cells / max(reading.cells, 1.0) if before else held
    elif source.size is not None:
        parts, held = [Part("resampling", RESAMPLED * cells, 100e-9 * cells)], LAYER * cells
    for name, layer in recipe.layers.items():
        if isinstance(layer, LayerFile):
            with read_for(wanted(name)):
                read = reading_part(layer.path, options_of(name)).part
            memory = held + max(read.memory, 5 * LAYER * cells)
            parts.append(Part(f"reading {name}", memory, read.seconds + SAMPLED_TIME * cells))
        held += LAYER * cells
    return parts, held


def planned(recipe: Recipe) -> list[tuple[Planned, Part]]:
    """The steps of its stages, and what each needs.

    >>> import slopewash as sw
    >>> [step.step.words for step, _ in planned(sw.recipe("jako2011", size=64, steps=5))]
    ['erode', 'settle']
    """
    shape = shape_of(recipe.source)
    return list(_stage_parts(recipe, shape, _source_parts(recipe, shape)[1]))


def _stage_parts(recipe: Recipe, shape: tuple[int, int], held: float) -> Iterator[tuple[Planned, Part]]:
    """Steps of all stages: each level is prepared while the run before it is still there."""
    ground = _Ground(shape, recipe.source)
    levels = [level for stage in recipe.stages for level in expanded(stage, ground)]
    run = before = math.nan
    model, footprint, name, number = recipe.stages[0].model, Footprint(0, 0), "", -1
    for item in plan(levels, shape, masked=MASK in recipe.layers):
        step, level, here = item.step, item.stage, float(item.shape[0]) * item.shape[1]
        if item.number != number:
            first = first_level(levels, item.number) == item.number
            before = 0.0 if first else footprint.held * run
            number, run, seconds = item.number, here, here * (PREPARED + DERIVED)
            model, footprint = level.model, level.model.footprint(_backend(recipe, level.model))
            name = level.name or level.preset or level.model.name
        own = held if level.cells is not None and item.shape != shape else 0.0
        if isinstance(step, Prepare):
            part = Part(f"preparing {name}", held + before + LEVEL * here, LEVEL_TIME * here if before else 0.0)
        elif isinstance(step, Carve):
            part = Part("drawing gullies", held + footprint.held * here + GULLIES * here, GULLIES_TIME * here)
        elif isinstance(step, Blend):
            part = Part("blending by the mask", held + footprint.held * here)
        else:
            if isinstance(step, Lower):
                model = level.receding(level.model)
            seconds += step.steps * substeps(model) * footprint.step(item.shape, threads())
            part = Part(f"running {name}", own + before + footprint.peak * here, seconds)
            seconds = 0.0
        yield item, replace(part, compiled=True)


def substeps(model: Model) -> int:
    """Sub-steps that a step is taken in, as far as parameters tell; of a map, its highest value or the default."""
    numbers = {
        name: model.parameter(name).default if given.high is None else given.high
        for name, given in maps_of(model).items()
    }
    model = model.replace(**numbers) if numbers else model
    return max((limit.substeps for limit in model.limits()), default=1)


def _output_part(output: Output, cells: float, stage: Stage, start: float, run: float, result: float) -> Part:
    """Data are written while the run is still there, pictures after it was closed."""
    name, options = f"writing {output.path.name}", output.options
    if output.declared.drawn:
        held = start + result
        drawn = WORK["overlay" if output.kind == "overlay" else str(options.get("view", "map"))]
        part = drawn.part(name, cells, held)
        if options.get("water") == "rivers":
            part = Part(name, max(part.memory, held + WATER.memory * cells), part.seconds + WATER.time * cells, True)
        return part
    if output.kind == "export":
        return WORK["export"].part(name, cells, run + result)
    layers = len(options.get("layers", ())) or result_layers(stage.model)
    cost = writing_cost(output.path)
    return Part(name, run + result + cost.memory * cells, cost.time * cells * layers, compiled=True)


def _backend(recipe: Recipe, model: Model) -> str:
    return choose_backend(recipe.backend, model.backends)


def result_layers(model: Model) -> int:
    """Layers that a run yields."""
    return len(model.layers())


@dataclass(frozen=True)
class ReadingNeeds:
    """How a file is read, and what is held then."""

    part: Part
    held: float
    cells: float


def reading_part(path: Path, options: Mapping[str, Any] | ReadOptions) -> ReadingNeeds:
    """What a file needs while it is read, by its header."""
    if is_mesh_file(path):
        size = float(path.stat().st_size) if path.is_file() else 0.0
        return ReadingNeeds(Part(f"reading {path}", 8 * size, 1e-8 * size), 4 * size, 0.0)
    given = options if isinstance(options, ReadOptions) else ReadOptions(**options)
    info = inspect(path, given)
    cells = float(info.width) * info.height
    layers = max(1, info.channels) if given.band is None else 1
    held = (LAYER * layers + 1) * cells
    part = reading_cost(path, info).part(f"reading {path}", cells * layers)
    if given.reproject is not None:
        part = replace(part, memory=held + WARPED * cells, seconds=part.seconds + WARPED_TIME * cells * layers)
    return ReadingNeeds(part, held, cells)


def needs_to_read(path: Path, options: Mapping[str, Any], *work: str, shape: tuple[int, int] | None = None) -> Needs:
    """What it needs to read a file and to do something to it: names of `WORK`, "water" and ".suffix" for writing."""
    reading = reading_part(path, options)
    parts, cells, held = [reading.part], reading.cells, reading.held
    for name in work:
        if name.startswith("."):
            cost = writing_cost(Path(f"x{name}"))
            parts.append(Part(f"writing {name}", held + cost.memory * cells, cost.time * held / LAYER))
            continue
        parts.append((WATER if name == "water" else WORK[name]).part(name, cells, held))
        held += 2 * LAYER * cells * (name == "water")
    return Needs(parts)


def check_needs(recipe: Recipe) -> Needs:
    """Refuse a recipe that does not fit into memory, before anything is made."""
    needs = needs_of(recipe)
    rows, columns = shape_of(recipe.source)
    names = list(dict.fromkeys(stage.model.name for stage in recipe.stages))
    tiles = all(stage.model.halo is not None for stage in recipe.stages)
    needs.check(f"a run of {' and '.join(names)} on {columns} x {rows} cells", smaller(tiles=tiles))
    return needs


def check_reading(path: Path, options: Mapping[str, Any], *work: str) -> None:
    """Refuse to read a file for something that would not fit into memory with it."""
    if path.suffix.lower() == ".zarr":  # which says itself how much of it fits
        return
    needs = needs_to_read(path, options, *work)
    needs.check(f"{needs.widest.name}, with {_size(path, options)},", "use a file with fewer cells")


def _size(path: Path, options: Mapping[str, Any]) -> str:
    info = inspect(path, ReadOptions(**options))
    return f"{info.width} x {info.height} cells"


def smaller(*, tiles: bool) -> str:
    """How to make do with less memory."""
    if not tiles:
        return "use fewer cells"
    way = by_place(python="erode it on tiles with sw.erode_tiled", command="give --tiles 2048")
    return f"use fewer cells, or {way}"


def shape_of(source: Source) -> tuple[int, int]:
    """Rows and columns of a source, known before it is made."""
    if source.size is not None:
        check_size(source.size)
    if isinstance(source, Generated):
        return source.size, source.size
    if isinstance(source, FromTerrain):
        shape = (1, 1) if source.terrain is None else source.terrain.shape
    else:
        info = inspect(source.path, ReadOptions(**source.options))
        shape = info.height, info.width
    if source.size is None:
        return shape
    return tuple(max(1, math.ceil(side * source.size / max(shape))) for side in shape)  # type: ignore[return-value]


@dataclass(frozen=True)
class _Ground:
    """What levels depend on, of a terrain that is not there yet."""

    shape: tuple[int, int]
    source: Source

    @property
    def width(self) -> float:
        return float(self.shape[1])

    @property
    def height(self) -> float:
        return float(self.shape[0])

    @property
    def relief(self) -> float:
        """In cells, as the sides are: that of the source, or the usual one."""
        side = float(max(self.shape))
        if isinstance(self.source, Generated):
            own = 0.25 if self.source.relief is None else self.source.relief / self.source.side
            return own * side
        terrain = self.source.terrain if isinstance(self.source, FromTerrain) else None
        return USUAL_RELIEF * side if terrain is None else terrain.relief / terrain.cell_size
