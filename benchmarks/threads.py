"""How much faster the fused kernel of `VirtualPipes` is with several threads, in wall time: under a minute.

    python benchmarks/threads.py                       Table 2, single_grid and landscape at 512², 1024² and 2048²
    python benchmarks/threads.py --threads 16 --record

One thread and several take turns, in many short rounds; the least time of each counts, because other processes only add
time. Both must give the same elevations. Only a quiet machine has the cores to measure it: where the load before the
run is not well below its idle cores, the speed-up is that of the neighbours.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numba

sys.path.insert(0, str(Path(__file__).parents[1]))  # a script finds only modules in its own folder

from benchmarks.contestants import LAWS, WARM_UP, Contestant, Laws, check, cpu

from benchmarks import records

SECONDS_PER_TURN = 0.05


def measure(laws: Laws, size: int, threads: int, rounds: int) -> records.Row:
    terrain = laws.terrain(size)
    both = [cpu(laws, terrain, count) for count in (1, threads)]
    for contestant in both:
        contestant.advance(WARM_UP)
    check(both)
    for contestant in both:
        contestant.iterations = iterations_of_a_turn(contestant)
    for _ in range(rounds):
        for contestant in both:
            contestant.take_turn()
    one, several = (min(contestant.wall) for contestant in both)
    busy = min(both[1].cpu) / min(both[0].cpu)
    return {
        "laws": laws.name, "size": size, "threads": threads, "one_ms": 1e3 * one, "several_ms": 1e3 * several,
        "speed_up": one / several, "times_cpu": busy,
    }  # fmt: skip


def iterations_of_a_turn(contestant: Contestant) -> int:
    """Whole groups, in about the time of a turn."""
    begin = time.perf_counter()
    contestant.advance(contestant.group)
    return contestant.group * max(1, round(SECONDS_PER_TURN / (time.perf_counter() - begin)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024, 2048], help="cells along a side")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=25)
    records.add_option(parser, "threads")
    options = parser.parse_args()
    if options.threads > numba.get_num_threads():
        raise SystemExit(f"there are only {numba.get_num_threads()} threads here")
    rows = []
    for laws in LAWS:
        for size in options.sizes:
            row = measure(laws, size, options.threads, options.rounds)
            rows.append(row)
            print(
                f"{laws.name} at {size}²: {row['one_ms']:.2f} ms with one thread, {row['several_ms']:.2f} with "
                f"{options.threads}: {row['speed_up']:.2f} times as fast, {row['times_cpu']:.2f} times the CPU time",
                flush=True,
            )
    if options.record:
        records.record("threads", rows)


if __name__ == "__main__":
    main()
