"""Measures the virtual-pipe kernels in one interleaved run; see README.md.

python benchmarks/virtual_pipes.py            measure everything, add it to results/virtual_pipes.jsonl
python benchmarks/virtual_pipes.py --quick    about a minute, printed only
python benchmarks/virtual_pipes.py --table    print the tables of the last run
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba

from slopewash.models.virtual_pipes.room import DEPTH

sys.path.insert(0, str(Path(__file__).parents[1]))  # a script finds only modules in its own folder

from benchmarks.contestants import LAWS, VARIANTS, Contestant, Laws, cpu, race, reference
from benchmarks.surroundings import bytes_moved, copy_bandwidth, facts, peak_memory, seconds_to_first_iteration
from benchmarks.tables import markdown
from benchmarks.yardstick import Yardstick, available, compile_library, flags_for_this_machine, keeps_bits

RESULTS = Path(__file__).parent / "results" / "virtual_pipes.jsonl"
SIZES = (256, 512, 1024, 2048, 4096)
REFERENCE_UP_TO = 2048
"""On larger grids the reference needs several seconds per iteration and gives no new information."""
VARIANT_SIZE = 512
TRIAL_SIZE = 1024
"""Size at which the compiler flags are chosen."""
MEMORY_SIZE = 4096

Row = dict[str, Any]


def main() -> None:
    options = parse()
    if options.table:
        print(markdown(last_run(options.out)))
        return
    run = {"run": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")} | facts()
    rows = []
    for row in measure(options):
        rows.append(run | row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    if not options.quick:
        options.out.parent.mkdir(exist_ok=True)
        with options.out.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    print(markdown(rows))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=None, help="cells along a side")
    parser.add_argument("--rounds", type=int, default=None, help="rounds of each implementation")
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds, nothing written")
    parser.add_argument("--table", action="store_true", help="print the tables of the last run as Markdown")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file of JSON lines")
    options = parser.parse_args()
    options.sizes = options.sizes or ((256, 512) if options.quick else SIZES)
    options.rounds = options.rounds or (3 if options.quick else 12)
    return options


def last_run(path: Path) -> list[Row]:
    rows: list[Row] = [json.loads(line) for line in path.read_text().splitlines()]
    return [row for row in rows if row["run"] == rows[-1]["run"]]


def measure(options: argparse.Namespace) -> Iterator[Row]:
    threads = sorted({1, numba.get_num_threads()})
    for count in threads:
        yield {"kind": "memory bandwidth", "threads": count, "bytes_per_second": copy_bandwidth(count)}
    yield {"kind": "bytes moved", "depth": DEPTH, "bytes_per_cell": bytes_moved()}
    with tempfile.TemporaryDirectory() as folder:
        libraries = compile_all(Path(folder))
        for laws in LAWS:
            flags = None
            if libraries:
                trial = list(try_flags(laws, libraries, min(TRIAL_SIZE, max(options.sizes)), options.rounds))
                yield from trial
                flags = min(trial, key=lambda row: row["cpu_ms"])["flags"]
            for size in options.sizes:
                terrain = laws.terrain(size)
                field = [cpu(laws, terrain, count) for count in threads]
                if flags is not None:
                    field += [yardstick(laws, terrain, libraries, flags, count) for count in threads]
                if size <= REFERENCE_UP_TO:
                    field.append(reference(laws, terrain))
                yield from results(laws, size, field, options.rounds)
    for laws in VARIANTS:
        size = min(VARIANT_SIZE, max(options.sizes))
        terrain = laws.terrain(size)
        field = [*(cpu(laws, terrain, count) for count in threads), reference(laws, terrain)]
        yield from results(laws, size, field, max(1, options.rounds // 2))
    if not options.quick:
        yield {"kind": "start", "size": 512} | seconds_to_first_iteration()
        yield {"kind": "peak memory", "size": MEMORY_SIZE, "gigabytes": peak_memory(MEMORY_SIZE)}


def compile_all(folder: Path) -> dict[str, Any]:
    if not available():
        print("no g++ here: measuring without the yardstick", file=sys.stderr)
        return {}
    return {flags: compile_library(folder, flags) for flags in flags_for_this_machine()}


def yardstick(laws: Laws, terrain: Any, libraries: dict[str, Any], flags: str, threads: int) -> Contestant:
    stick = Yardstick(libraries[flags], laws.model, terrain, laws.edges, threads)
    return Contestant("yardstick", threads, stick.advance, stick.elevation, exact=keeps_bits(flags))


def try_flags(laws: Laws, libraries: dict[str, Any], size: int, rounds: int) -> Iterator[Row]:
    """Choose the flags of the fastest yardstick; all are first checked against the cpu backend."""
    terrain = laws.terrain(size)
    sticks = [yardstick(laws, terrain, libraries, flags, 1) for flags in libraries]
    race([cpu(laws, terrain, 1), *sticks], rounds)
    for flags, stick in zip(libraries, sticks, strict=True):
        yield {"kind": "flags", "laws": laws.name, "size": size, "flags": flags, "cpu_ms": 1e3 * min(stick.cpu)}


def results(laws: Laws, size: int, field: list[Contestant], rounds: int) -> Iterator[Row]:
    checksum = race(field, rounds)
    for contestant in field:
        yield {
            "kind": "speed",
            "laws": laws.name,
            "size": size,
            "contestant": contestant.name,
            "threads": contestant.threads,
            "cpu_ms": 1e3 * min(contestant.cpu),
            "wall_ms": 1e3 * min(contestant.wall),
            "cells_per_second": size * size / min(contestant.wall),
            "iterations": contestant.iterations,
            "checksum": f"{checksum:08x}",
        }


if __name__ == "__main__":
    main()
