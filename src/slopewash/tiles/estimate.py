"""What a run on tiles will need, said beforehand: memory and time."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from slopewash.errors import InvalidParameter, NotEnoughMemory
from slopewash.remedies import by_place
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.watching import words
from slopewash.tiles.work import Work

PROCESS = 300e6
"""Bytes of a process before it holds a tile: Python, Numba, Dask."""
COPIES = 3.2
"""Times that a backend holds what rounds change: as it was read, as it is and as it will be, and some rows more."""
COPIES_ASIDE = 2.2
"""The same of a task that is at its files while another computes; it keeps what it has computed until it is written."""
PACE = {"virtual_pipes": 60e6, "steepest_talus": 300e6}
"""Cells times iterations per second and core, exchange included, on a server core of 2023 that does nothing else."""
WORTH_SAYING = 5.0
"""Seconds: what is over sooner needs no estimate."""
SMALLEST_TILE = 16
"""Cells along the smallest tile that is proposed; commands take none smaller."""


PER_ITERATION = 2e-4
"""Seconds that starting the threads of an iteration takes, however few the cells."""
PER_TASK = 0.03
"""Seconds that a task takes besides its cells: opening files, and the scheduler."""


def seconds_of(model: str, grid: TileGrid, iterations: int, *, workers: int, between: int) -> float:
    """Seconds for so many iterations on tiles, about, with an exchange after each `between` of them."""
    at_once = min(workers, len(grid))
    cells = float(grid.shape[0] * grid.shape[1]) * iterations / PACE.get(model, 60e6)
    rounds = -(-iterations // between)
    return (cells + len(grid) * (iterations * PER_ITERATION + rounds * PER_TASK)) / at_once


def memory_of(work: Work, workers: int, iterations: int) -> float:
    """Bytes that all processes need together, about."""
    halo = work.model.halo or 0
    cells = 1.0
    for side, count, whole in zip(work.grid.tile, work.grid.counts, work.grid.shape, strict=True):
        cells *= min(whole, side + (0 if count == 1 else 2 * halo * iterations))
    stepped = sum(4 * c.planes for c in work.cells if c.stepped)
    rest = sum(4 * c.planes for c in work.cells if not c.stepped)
    copies = COPIES + (COPIES_ASIDE if len(work.grid) > workers else 0)
    return PROCESS + workers * (PROCESS + cells * (copies * stepped + 2 * rest))


def sentence(
    work: Work, seconds: float, steps: int, *, workers: int, iterations: Callable[[TileGrid], int],
    memory: float | None, cut: bool = False,
) -> str:  # fmt: skip
    """What a run of so many steps needs, `iterations` between two exchanges. Too little memory is an error.

    How fast a machine is that other work may share, nobody knows beforehand: the time is what it takes at the least.

    Parameters
    ----------
    cut
        Whether the terrain is cut into these tiles already, so that no others can be taken.
    """
    grid, needed = work.grid, memory_of(work, workers, iterations(work.grid))
    if memory is not None and needed > memory:
        raise _too_much(work, workers, iterations, memory, cut=cut)
    at_least = words(seconds) if seconds >= 1 else "a second"
    return (
        f"{_size(grid.shape)}: {len(grid)} tile{'s' * (len(grid) > 1)} of {_size(grid.tile)}, "
        f"about {needed / 1e9:.1f} GB, at least {at_least} for {steps} steps on {workers} "
        f"{'worker with a core to itself' if workers == 1 else 'workers with a core each'}; the first rounds will show"
    )


def _too_much(
    work: Work, workers: int, iterations: Callable[[TileGrid], int], memory: float, *, cut: bool
) -> NotEnoughMemory:
    """The error of a run that needs more than it may take, with what fits, or else with the least that is enough."""

    def needed(tile: tuple[int, int], workers: int) -> float:
        grid = TileGrid.of(work.grid.shape, tile)
        return memory_of(dataclasses.replace(work, grid=grid), workers, iterations(grid))

    tile = work.grid.tile
    sides = [] if cut else [2**n for n in range(20, 0, -1) if SMALLEST_TILE <= 2**n < max(tile)]
    ways = [(tile, n) for n in range(workers, 0, -1)] + [((side, side), n) for side in sides for n in (workers, 1)]
    least = math.ceil(min(needed(*way) for way in ways) / 1e8) * 1e8
    enough = max(memory, least)
    (sides_of, count) = next(way for way in ways if needed(*way) <= enough)
    changes = [by_place(python=f"workers={count}", command=f"--workers {count}")] * (count != workers)
    changes += [by_place(python=f"tile={sides_of[0]}", command=f"--tiles {sides_of[0]}")] * (sides_of != tile)
    given = f"{enough / 1e9:g}GB"
    changes += [by_place(python=f'memory="{given}"', command=f"--memory {given}")] * (enough > memory)
    at_least = ", which is the least that works" if enough > memory else ""
    return NotEnoughMemory(
        f"{_workers(workers)} with tiles of {_size(tile)} need{'s' * (workers == 1)} about "
        f"{_bytes(needed(tile, workers))}, and {_bytes(memory)} may be taken; give {' and '.join(changes)}{at_least}"
    )


def _workers(count: int) -> str:
    return "one worker" if count == 1 else f"{count} workers"


def _bytes(amount: float) -> str:
    return f"{amount / 1e9:.1f} GB" if amount >= 5e7 else f"{amount / 1e6:.0f} MB"


def measured(took: float, expected: float, left: float) -> str | None:
    """What a round shows that took so many seconds where others were expected, of the rest with its own.

    Kernels, files and whatever else the machine does are all in it.

    >>> measured(6.0, 2.0, 1200.0)
    'a round took 6 s; at this pace, the rest takes about 60 min'
    >>> measured(0.1, 0.1, 2.0) is None
    True
    """
    seconds = left * took / max(expected, 1e-9)
    if seconds < WORTH_SAYING:
        return None
    return f"a round took {words(took)}; at this pace, the rest takes about {words(seconds)}"


def _size(shape: tuple[int, int]) -> str:
    return f"{shape[0]}²" if shape[0] == shape[1] else f"{shape[1]} x {shape[0]}"


def parse_memory(text: str | float | None) -> float | None:
    """Read bytes, such as "6GB".

    >>> parse_memory("6GB"), parse_memory("500 MB"), parse_memory(None)
    (6000000000.0, 500000000.0, None)
    """
    if text is None or isinstance(text, int | float):
        return text
    units = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "": 1.0}
    word = text.strip().upper()
    number, unit = word.rstrip("KMGTB").strip(), word[len(word.rstrip("KMGTB")) :]
    try:
        return float(number) * units[unit]
    except (ValueError, KeyError):
        raise InvalidParameter(f"memory is {text}; it must be bytes, such as 6GB or 500MB") from None
