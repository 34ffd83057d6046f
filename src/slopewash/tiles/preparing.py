"""From a terrain in the store to the state that a stage begins with, tile by tile."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.models import Model
from slopewash.models.maps import Shares, with_shares
from slopewash.models.state import Domain, Sides, State, Window, with_margin
from slopewash.terrain import Place, Terrain
from slopewash.terrain.erodibility import DEVIATION, random_fields
from slopewash.tiles.arrays import Field
from slopewash.tiles.grid import TileGrid, widened
from slopewash.tiles.ground import Ground
from slopewash.tiles.reach import field_at
from slopewash.tiles.rounds import Report
from slopewash.tiles.sea import COVERED
from slopewash.tiles.store import Store
from slopewash.tiles.turns import computing_seconds
from slopewash.tiles.work import INPUTS, Work, laid_out

Array = NDArray[Any]
MARGIN = int(np.ceil(4 * DEVIATION))
"""Cells around a tile that its state depends on: as far as erodibility is blurred."""
PROBE = 4
"""Cells along a part that is prepared only to see which fields there are."""


def begin_work(
    store: Store,
    ground: Ground,
    border: Mapping[str, Array],
    model: Model,
    shares: Sequence[Shares],
    *,
    sides: Sides,
    seed: int,
    backend: str,
) -> Work:
    """Find out which fields a stage has, and make room for them."""
    if model.halo is None:
        raise InvalidParameter(
            f"{model.name} runs on one machine alone: what moves in it may cross the whole terrain; leave out the tiles"
        )
    corner: Window = np.s_[0 : min(PROBE, ground.shape[0]), 0 : min(PROBE, ground.shape[1])]
    place = _place(ground, corner, corner, ())
    drawn = tuple(np.zeros(place_shape(corner)) for _ in range(draws(model, ground)))
    probe = with_shares(ground.part(corner), shares)
    domain, state = model.prepare_part(
        probe, dataclasses.replace(place, drawn=drawn), sides=Sides.of("closed"), seed=seed
    )
    whole = dataclasses.replace(domain, shape=ground.grid.shape, origin=(0, 0), margins=(0, 0, 0, 0), sides=sides)
    work = Work(store=store, model=model, domain=whole, grid=ground.grid, backend=backend)
    sea = model.sea(whole)
    if sea is not None:
        sea.check(ground.high)
    lines = model.border_fields(border, whole)
    work = laid_out(work, _on_device(work, _completed(state, domain, ground, _cut(lines, corner, model)), domain))
    work.create("state/round-000000", inputs=True)
    for name, values in lines.items():
        store.write_line(f"{INPUTS}/{name}", values)
    return work


def place_shape(window: Window) -> tuple[int, int]:
    """Rows and columns of a window."""
    return window[0].stop - window[0].start, window[1].stop - window[1].start


def draws(model: Model, ground: Ground) -> int:
    """Random fields of one sequence over the whole that a stage needs."""
    return model.draws(ground.layers, layered=ground.strata is not None)


def drawn_field(number: int) -> Field:
    """Array of random numbers."""
    return Field(path=f"state/drawn/{number}", dtype="float64")


def draw_numbers(store: Store, grid: TileGrid, seed: int, count: int) -> None:
    """Draw the random numbers of all cells; they are one sequence, row by row, so that one task draws them all."""
    random = random_fields(seed, (1, grid.shape[1]))
    for number in range(count):
        store.create(drawn_field(number), grid)
        for row in range(grid.counts[0]):
            strip = grid.window(row * grid.counts[1])[0]
            values = np.concatenate([next(random) for _ in range(strip.stop - strip.start)])
            for column in range(grid.counts[1]):
                tile = row * grid.counts[1] + column
                store.write(drawn_field(number), grid, tile, values[:, grid.window(tile)[1]])


def prepare_tile(work: Work, ground: Ground, shares: Sequence[Shares], count: int, group: str, number: int) -> Report:
    """Prepare one tile; `count` random fields were drawn, and what the sea covers was found."""
    begin = computing_seconds()
    load_kernels(type(work.model), work.backend)
    core = work.grid.window(number)
    if ground.strata is not None:  # what lies bare depends on the neighbours, also across periodic sides
        wide, sides = with_margin(core, 1, work.domain)
    else:
        wide = widened(core, MARGIN, work.grid.shape)
        sides = _cut_sides(wide, work.domain)
    drawn = tuple(work.store.read(drawn_field(k), work.grid, wide) for k in range(count))
    sea = None if work.model.sea(work.domain) is None else work.store.read(field_at(COVERED), work.grid, wide)
    place = dataclasses.replace(_place(ground, wide, core, drawn), sea=sea)
    domain, state = work.model.prepare_part(
        with_shares(ground.part(wide), shares), place, sides=sides, seed=work.domain.seed
    )
    lines = {name: work.line(name) for name in work.lines}
    state = _completed(state, domain, ground, _cut(lines, wide, work.model))
    own = State(
        {
            name: array if name in work.lists else array[..., domain.own[0], domain.own[1]]
            for name, array in state.arrays.items()
            if name not in work.lines
        },
        state.scalars,
    )
    amounts = dict(work.model.amounts(own, domain))
    written = work.write(group, number, _on_device(work, state, domain), domain.own, inputs=True)
    return Report(amounts=amounts, bad=None, written=written, seconds=computing_seconds() - begin)


@functools.cache
def load_kernels(model: type[Model], backend: str) -> None:
    """Load or compile the kernels in this process, so that no round waits for them."""
    made = model()
    domain, state = made.prepare(Terrain(np.eye(8)), sides=Sides.of("closed"), seed=0)
    device = made.backend(backend)(state, domain)
    device.advance(made.coefficients(domain, substeps=1), 1)
    device.close()


def _place(ground: Ground, window: Window, core: Window, drawn: tuple[Array, ...]) -> Place:
    rows, columns = window
    return Place(
        shape=ground.grid.shape, low=ground.low, high=ground.high, origin=(rows.start, columns.start),
        margins=(
            core[0].start - rows.start, rows.stop - core[0].stop,
            core[1].start - columns.start, columns.stop - core[1].stop,
        ),
        sources=ground.sources, drawn=drawn,
    )  # fmt: skip


def _cut_sides(window: Window, domain: Domain) -> Sides:
    """Sides of a window that ends at the border: a periodic grid is not continued beyond it here."""
    (rows, columns), (height, width) = window, domain.shape
    at_border = (rows.start == 0, rows.stop == height, columns.start == 0, columns.stop == width)
    names = ("north", "south", "west", "east")
    beyond = {name: getattr(domain.sides, name) for name in names}
    return Sides(
        **{
            name: beyond[name] if here and beyond[name] != "periodic" else "halo"
            for name, here in zip(names, at_border, strict=True)
        }
    )


def _completed(state: State, domain: Domain, ground: Ground, lines: Mapping[str, Array]) -> State:
    """The state of a part with all fields that other parts have."""
    if ground.has_nodata and "nodata" not in state:
        state["nodata"] = np.zeros(domain.shape, bool)
    for name, values in lines.items():
        state[name] = values
    return state


def _cut(lines: Mapping[str, Array], window: Window, model: Model) -> dict[str, Array]:
    places = {spec.name: spec.place for spec in model.fields}
    spans = {name: window[0] if places[name] == "rows" else window[1] for name in lines}
    return {name: line[np.arange(spans[name].start, spans[name].stop) % len(line)] for name, line in lines.items()}


def _on_device(work: Work, state: State, domain: Domain) -> State:
    """The state as the backend stores it, which on a device may be in other fields."""
    if work.backend != "gpu":
        return state
    device = work.model.backend(work.backend)(state, domain)
    try:
        return device.state.copy()
    finally:
        device.close()
