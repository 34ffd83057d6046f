"""Tiles against memory: throughput, memory, bytes per round, and how two workers compare to one.

    python benchmarks/tiles.py                        # 16384², 16 iterations, two workers; 30 GB of disk
    python benchmarks/tiles.py --size 4096 --scaling  # the same ground on one worker and on two
    python benchmarks/tiles.py --size 4096 --weak     # one worker, and two on twice the ground

Throughput is in cells times iterations per CPU-second, which other work on the machine disturbs less than wall time.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

import slopewash as sw


class Watcher(threading.Thread):
    """Looks at this process and all its children: resident memory and CPU time."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self._over = 0, threading.Event()
        self._seen: dict[int, float] = {}

    def run(self) -> None:
        """Look five times a second."""
        me = psutil.Process()
        while not self._over.wait(0.2):
            resident = 0
            for process in (me, *me.children(recursive=True)):
                try:
                    resident += process.memory_info().rss
                    times = process.cpu_times()
                    self._seen[process.pid] = times.user + times.system
                except psutil.Error:
                    continue
            self.peak = max(self.peak, resident)

    def close(self) -> dict[str, float]:
        """Stop; returns the peak in bytes and the CPU time of all."""
        self._over.set()
        self.join()
        return {"peak_bytes": self.peak, "cpu_seconds_of_all": sum(self._seen.values())}


def in_memory(size: int, iterations: int) -> float:
    """Cells times iterations per CPU-second of the kernel alone."""
    simulation = sw.Simulation(sw.generate("fbm", size=size, seed=1, octaves=3), sw.VirtualPipes(), backend="cpu")
    simulation.run(4)
    begin = time.process_time()
    simulation.run(iterations)
    return size * size * iterations / (time.process_time() - begin)


def on_tiles(
    folder: Path, size: int, tile: int, steps: int, workers: int, k: int | None, rows: int | None = None
) -> dict[str, Any]:
    """One run, watched, on a square or on so many rows."""
    out = folder / f"out-{size}-{workers}.zarr"
    shape: Any = size if rows is None else (rows, size)
    watcher, begin = Watcher(), time.monotonic()
    watcher.start()
    # Few octaves and layers: what is measured are the rounds.
    source = sw.Generated(kind="fbm", size=shape, seed=1, options={"octaves": 3})
    recipe = sw.Recipe(source=source, stages=(sw.Stage(model=sw.VirtualPipes(), steps=steps, settle=None),))
    result = sw.erode_tiled(
        None, recipe, tile=tile, out=out, workers=workers, iterations=k, layers=["elevation"], progress=True
    )
    seconds = time.monotonic() - begin
    facts = {
        **watcher.close(),
        "shape": result.shape, "tile": tile, "tiles": result.tiles, "workers": workers, "steps": steps,
        "rounds": result.rounds,
        "wall_seconds_of_all": seconds, "wall_seconds_of_rounds": result.round_seconds,
        "cpu_seconds_of_rounds": result.cpu_seconds, "cpu_seconds_of_kernels": result.kernel_seconds,
        "per_cpu_second": result.cell_iterations / result.cpu_seconds,
        "bytes_per_round": result.bytes_written / max(result.rounds, 1),
        "drift": [result.budget.water_drift, result.budget.solids_drift],
    }  # fmt: skip
    shutil.rmtree(out)
    return facts


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=16384)
    parser.add_argument("--tile", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument(
        "--iterations", type=int, default=None, help="between two exchanges; what costs least if left out"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scaling", action="store_true", help="one worker, and two on the same ground")
    parser.add_argument("--weak", action="store_true", help="one worker, and two on twice the ground")
    parser.add_argument("--folder", type=Path, default=None, help="where to keep the store")
    given = parser.parse_args()
    if given.scaling or given.weak:
        os.environ["NUMBA_NUM_THREADS"] = "1"  # a worker is a core
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    memory = in_memory(2048, 16)
    print(f"in memory at 2048²: {memory / 1e6:.1f} million cells·iterations per CPU-second")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for workers in (1, 2) if given.scaling or given.weak else (given.workers,):
            rows = given.size * workers if given.weak else None
            facts = on_tiles(Path(folder), given.size, given.tile, given.steps, workers, given.iterations, rows)
            facts["of_memory"] = facts["per_cpu_second"] / memory
            facts["load"] = os.getloadavg()[0]
            print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
