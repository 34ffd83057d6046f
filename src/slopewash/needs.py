"""What a job needs of memory and time, worked out from what is declared before anything is made."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from slopewash.memory import available_memory, check_memory, gib

PLAIN, COMPILED = 80e6, 190e6
"""Bytes of a process before it holds a cell: Python, NumPy and a command; with Numba and loaded kernels."""
START, LOADING = 0.5, 0.7
"""Seconds in which a process starts, and loads its kernels."""
REFERENCE, SAMPLES = 5.65e-4, 40
"""Seconds that `_timed` took on the machine whose figures are declared, a server core of 2023, at the shortest of so
many samples: short ones, of which some meet no other program's work in the caches."""
LAYER = 4.0
"""Bytes of a cell in a layer of a terrain."""


@dataclass(frozen=True)
class Part:
    """One part of a job: the bytes that the job holds meanwhile, the process apart, and how long it takes.

    >>> Part("reading dem.tif", 4e6, seconds=0.2).compiled
    False
    """

    name: str
    memory: float
    seconds: float = 0.0
    """On the machine whose figures are declared, all cores at work that can be."""
    compiled: bool = False
    """Whether kernels are loaded for it, which stay."""


@dataclass(frozen=True)
class Needs:
    """What a job needs: its parts, one after the other.

    >>> Needs([Part("reading", 8e9), Part("drawing", 2e9, compiled=True)]).widest.name
    'reading'
    """

    parts: tuple[Part, ...]

    def __init__(self, parts: Iterable[Part]) -> None:
        object.__setattr__(self, "parts", tuple(parts))

    @property
    def memory(self) -> float:
        """Bytes of the whole process at its largest."""
        return max((self._process(number) + part.memory for number, part in enumerate(self.parts)), default=PLAIN)

    def _process(self, number: int) -> float:
        return COMPILED if any(part.compiled for part in self.parts[: number + 1]) else PLAIN

    @property
    def widest(self) -> Part:
        """The part that needs most memory."""
        return max(self.parts, key=lambda part: part.memory)

    @property
    def seconds(self) -> float:
        """Seconds on this machine, if nothing else is at work on it; compiling kernels for the first time apart."""
        start = START + (LOADING if any(part.compiled for part in self.parts) else 0.0)
        return slowness() * (start + sum(part.seconds for part in self.parts))

    def __str__(self) -> str:
        available = available_memory()
        left = "" if available is None else f" ({gib(available)} is available)"
        return f"it needs about {gib(self.memory)} of memory{left} and {duration(self.seconds)} on {_cores()}"

    def as_dict(self) -> dict[str, float | None]:
        """Bytes and seconds for a report; seconds that nobody knows beforehand are None."""
        seconds = self.seconds
        return {"memory": round(self.memory), "seconds": None if seconds != seconds else float(f"{seconds:.2g}")}

    def check(self, what: str, remedy: str) -> None:
        """Refuse a job that does not fit into what is left of memory.

        >>> Needs([Part("reading", 1e3)]).check("a small file", "leave it out")
        >>> Needs([Part("reading", 1e18)]).check("a large file", "leave it out")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        slopewash.errors.NotEnoughMemory: a large file needs about 931,322,575 GiB of memory, and ...; leave it out
        """
        check_memory(what, self.memory, remedy, held=_own_size())


@dataclass(frozen=True)
class Cost:
    """What a piece of work takes for each cell, or each value where there are several layers."""

    memory: float
    """Bytes at its peak."""
    time: float
    """Seconds."""
    fixed: float = 0.0
    """Bytes besides, however few cells there are."""

    def part(self, name: str, values: float) -> Part:
        """The same as a part of a job."""
        return Part(name, self.fixed + self.memory * values, self.time * values)


def duration(seconds: float) -> str:
    """Seconds in words, no finer than an estimate is.

    >>> duration(0.4), duration(100), duration(5000), duration(float("nan"))
    ('a few seconds', 'about 1.5 min', 'about 1.5 h', 'a time that the first steps will show')
    """
    if seconds != seconds:
        return "a time that the first steps will show"
    if seconds < 5:
        return "a few seconds"
    if seconds < 60:
        return f"about {seconds:.0f} s"
    amount, unit = (seconds / 60, "min") if seconds < 3600 else (seconds / 3600, "h")
    return f"about {round(2 * amount) / 2:g} {unit}" if amount < 10 else f"about {amount:.0f} {unit}"


def _cores() -> str:
    count = threads()
    return "one core" if count == 1 else f"{count} cores"


def threads() -> int:
    """Threads that kernels run on."""
    wanted = os.environ.get("NUMBA_NUM_THREADS", "").strip()
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slowness() -> float:
    """How many times longer this machine takes than the one whose figures are declared: a short measurement."""
    global _slowness
    if _slowness is None:
        _slowness = min(_timed() for _ in range(SAMPLES)) / REFERENCE
    return _slowness


_slowness: float | None = None


def _timed() -> float:
    """CPU seconds of some arithmetic on arrays, as kernels do it."""
    begin = time.thread_time()
    values = np.linspace(0.0, 1.0, 1 << 18, dtype=np.float32)
    for _ in range(4):
        values = np.sqrt(values * values + np.float32(0.5))
    return time.thread_time() - begin


def _own_size() -> float:
    """Bytes that this process holds already of what any job needs."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return min(pages * os.sysconf("SC_PAGE_SIZE"), PLAIN)
    except (OSError, ValueError, AttributeError):
        return 0.0
