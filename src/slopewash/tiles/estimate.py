"""What a run on tiles will need, said beforehand: memory and time."""

from __future__ import annotations

from collections.abc import Sequence

from slopewash.errors import InvalidParameter
from slopewash.tiles.watching import words
from slopewash.tiles.work import Work

PROCESS = 300e6
"""Bytes of a process before it holds a tile: Python, Numba, Dask."""
COPIES = 3.2
"""Times that a backend holds what rounds change: as it was read, as it is and as it will be, and some rows more."""
PACE = {"virtual_pipes": 60e6, "steepest_talus": 300e6}
"""Cells times iterations per second and core, exchange included, on a server core of 2023; a start for the estimate."""


def memory_of(work: Work, workers: int, iterations: int) -> float:
    """Bytes that all processes need together, about."""
    halo = work.model.halo or 0
    cells = 1.0
    for side, count, whole in zip(work.grid.tile, work.grid.counts, work.grid.shape, strict=True):
        cells *= min(whole, side + (0 if count == 1 else 2 * halo * iterations))
    stepped = sum(4 * c.planes for c in work.cells if c.stepped)
    rest = sum(4 * c.planes for c in work.cells if not c.stepped)
    return PROCESS + workers * (PROCESS + cells * (COPIES * stepped + 2 * rest))


def sentence(
    work: Work, total: Sequence[tuple[tuple[int, int], int]], *, workers: int, iterations: int, memory: float | None
) -> str:
    """What a run needs; `total` is the shape and the iterations of each stage. Too little memory is an error."""
    grid, needed = work.grid, memory_of(work, workers, iterations)
    if memory is not None and needed > memory:
        raise InvalidParameter(
            f"{workers} workers with tiles of {_size(grid.tile)} need about {needed / 1e9:.1f} GB, and memory is "
            f"{memory / 1e9:.1f} GB; take fewer workers or smaller tiles"
        )
    work_left = sum(float(shape[0] * shape[1]) * count for shape, count in total)
    seconds = work_left / (PACE.get(work.model.name, 60e6) * workers)
    count = sum(count for _, count in total)
    return (
        f"{_size(grid.shape)}: {len(grid)} tiles of {_size(grid.tile)}, about {needed / 1e9:.1f} GB, {words(seconds)} "
        f"for {count} iterations on {workers} {'worker' if workers == 1 else 'workers'}"
    )


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
