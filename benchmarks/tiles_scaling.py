"""Two workers against one, round by round, and beside it what the machine itself allows.

    python benchmarks/tiles_scaling.py [--size 4096] [--rounds 4] [--repeats 3] [--folder DIR]

One worker and two take turns on the same ground, and so do one process and two that each iterate in memory and share
nothing: what two cores give for memory and caches that are shared is the least that any two workers can take.
Of each round, the shortest time of all repeats counts, because other work on the machine only ever adds to it. The
first round, in which workers load their kernels, is given apart.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import slopewash as sw
from slopewash.tiles.executors import Executor, connected
from slopewash.tiles.run import TiledRun
from slopewash.tiles.store import Store

TILE = 2048
ONE_CORE = {"NUMBA_NUM_THREADS": "1"}


class Timed:
    """An executor that notes how long each round takes."""

    def __init__(self, executor: Executor) -> None:
        self.executor, self.workers = executor, executor.workers
        self.rounds: list[float] = []

    def run(self, task: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Run the tasks."""
        begin = time.monotonic()
        yield from self.executor.run(task, calls)
        if task.__name__ == "advance_tile":
            self.rounds.append(time.monotonic() - begin)


def on_tiles(executor: Executor, out: Path, size: int, rounds: int, between: int) -> dict[str, Any]:
    """One run: seconds of each round, of all of it, and CPU-seconds of the rounds."""
    source = sw.Generated(kind="fbm", size=size, seed=1, options={"octaves": 3})
    stage = sw.Stage(model=sw.VirtualPipes(), steps=rounds * between, settle=None)
    recipe = sw.Recipe(source=source, stages=(stage,), backend="cpu")
    timed, begin = Timed(executor), time.monotonic()
    run = TiledRun(Store(str(out)), recipe, tile=TILE, iterations=between, layers=["elevation"])
    result = run.run(timed)
    shutil.rmtree(out)
    return {"rounds": timed.rounds, "all": time.monotonic() - begin, "cpu": result.cpu_seconds}


_alone: list[sw.Simulation] = []


def prepare_alone() -> None:
    """Give a process a tile of its own, in memory."""
    os.environ.update(ONE_CORE)
    simulation = sw.Simulation(sw.generate("fbm", size=TILE, seed=1, octaves=3), sw.VirtualPipes(), backend="cpu")
    simulation.run(2)
    _alone.append(simulation)


def iterate_alone(barrier: Any, iterations: int) -> float:
    """Iterate in memory as soon as all others are ready; returns the seconds."""
    barrier.wait()
    begin = time.monotonic()
    _alone[0].run(iterations)
    return time.monotonic() - begin


def in_memory(pool: Any, barrier: Any, iterations: int) -> float:
    """Seconds of the slowest process that takes its share of the iterations."""
    processes = barrier.parties
    calls = [(barrier, iterations // processes)] * processes
    return float(max(pool.starmap(iterate_alone, calls, chunksize=1)))


def main() -> None:
    """Measure in turns, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--between", type=int, default=28, help="iterations between two exchanges")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=None, help="where to keep the store")
    given = parser.parse_args()
    os.environ.update(ONE_CORE)
    spawn = multiprocessing.get_context("spawn")
    found: dict[str, list[Any]] = {"one": [], "two": [], "one_alone": [], "two_alone": []}
    with (
        spawn.Manager() as manager,
        spawn.Pool(1, prepare_alone) as single,
        spawn.Pool(2, prepare_alone) as double,
        connected(workers=1) as one,
        connected(workers=2) as two,
        tempfile.TemporaryDirectory(dir=given.folder) as folder,
    ):
        out, barriers = Path(folder) / "out.zarr", [manager.Barrier(count) for count in (1, 2)]
        for _ in range(given.repeats):
            for name, executor in (("one", one), ("two", two)):
                found[name].append(on_tiles(executor, out, given.size, given.rounds, given.between))
            for _ in range(given.rounds):
                found["one_alone"].append(in_memory(single, barriers[0], given.between))
                found["two_alone"].append(in_memory(double, barriers[1], given.between))
    print(json.dumps({"load": os.getloadavg()[0], "runs": found}, indent=1))
    first: dict[str, float] = {}
    later: dict[str, float] = {}
    whole: dict[str, float] = {}
    for name in ("one", "two"):
        runs = found[name]
        first[name] = runs[0]["rounds"][0]
        later[name] = sum(min(run["rounds"][k] for run in runs) for k in range(1, given.rounds))
        whole[name] = min(run["all"] for run in runs)
    limit = min(found["two_alone"]) / min(found["one_alone"])
    for words, seconds in (("rounds after the first", later), ("first round", first), ("all of the run", whole)):
        print(f"{words}: {seconds['two']:.2f} s / {seconds['one']:.2f} s = {seconds['two'] / seconds['one']:.2f}")
    print(f"processes in memory that share nothing: {limit:.2f}")


if __name__ == "__main__":
    main()
