"""How long a picture and a film take.

    python benchmarks/pictures.py                       # a still, a map and a turntable of 1024² cells: minutes
    python benchmarks/pictures.py --size 256 --seconds 1 --quick

A still is drawn once before it is timed, since kernels are compiled on first use. CPU time is the sum over all
threads; other processes on the machine disturb it less than wall time.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import slopewash as sw

MOST_STILL, MOST_MAP, MOST_FILM = 4.0, 1.0, 180.0
"""CPU seconds of a still of 1920 x 1080 and of a map, and wall seconds of a turntable of ten seconds at 1280 x 720."""


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def best_of(rounds: int, draw: Callable[[], object]) -> tuple[float, float]:
    """Best CPU and wall seconds of a picture, after one that is not timed."""
    draw()
    best = []
    for _ in range(rounds):
        cpu, wall = cpu_seconds(), time.perf_counter()
        draw()
        best.append((cpu_seconds() - cpu, time.perf_counter() - wall))
    return min(best)


def turntable(terrain: sw.Terrain, seconds: float) -> tuple[float, float, int]:
    """CPU and wall seconds of a turntable, and its bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "turntable.webm"
        cpu, wall = cpu_seconds(), time.perf_counter()
        sw.film(terrain, path, kind="turntable", seconds=seconds, size=(1280, 720))
        return cpu_seconds() - cpu, time.perf_counter() - wall, path.stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--quick", action="store_true", help="one round only")
    options = parser.parse_args()
    terrain = sw.add_water(sw.generate("range", size=options.size, seed=3))
    rounds = 1 if options.quick else 3
    cpu, wall = best_of(rounds, lambda: sw.render_view(terrain, size=(1920, 1080)))
    print(f"still of {options.size}² cells at 1920 x 1080: {cpu:.2f} CPU-s (at most {MOST_STILL:g}), {wall:.2f} s")
    cpu, wall = best_of(rounds, lambda: sw.render(terrain))
    print(f"map of {options.size}² cells: {cpu:.2f} CPU-s (at most {MOST_MAP:g}), {wall:.2f} s")
    cpu, wall, size = turntable(terrain, options.seconds)
    print(
        f"turntable of {options.seconds:g} s at 1280 x 720: {wall:.1f} s (at most {MOST_FILM:g}), {cpu:.1f} CPU-s, "
        f"{size / 1e6:.1f} MB"
    )


if __name__ == "__main__":
    main()
