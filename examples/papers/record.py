"""What the scripts of this folder measured: one file for each source, from which the tables of its page are made."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import slopewash as sw

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.surroundings import facts

Row = Sequence[str | float | None]
Tables = dict[str, dict[str, Any]]

SURROUNDINGS = facts()
"""Commit, machine, versions, and the load before anything was run."""
WARMING = 20
"""Iterations that compile the kernels before a clock starts."""


class Record:
    """Tables of one source, each with machine, versions, commit and date."""

    def __init__(self, source: str, *, quick: bool) -> None:
        self.source, self.quick = source, quick
        self.tables: Tables = {}

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Add a table, and print it."""
        shown = [[_shown(value) for value in row] for row in rows]
        today = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
        self.tables[name] = {"columns": list(columns), "rows": shown, "measured": {"date": today, **SURROUNDINGS}}
        print(f"{name}: {' | '.join(columns)}")
        for row in shown:
            print(f"  {' | '.join(row)}")

    def write(self, folder: Path) -> Path:
        """Write all of it as JSON; tables that were not made this time stay as they were."""
        file = folder / f"{self.source}.json"
        known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        tables = known["tables"] if known.get("quick") is self.quick else {}
        merged = {"source": self.source, "quick": self.quick, "tables": tables | self.tables}
        file.write_text(json.dumps(merged, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"numbers are in {file}")
        return file


def options_of(
    source: str, words: Sequence[str] | None, *, doc: str | None, parts: Sequence[str] = ()
) -> argparse.Namespace:
    """Read the options that every script has; `out` exists afterwards. `parts` can be made alone."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/papers"), help="folder for pictures and numbers")
    parser.add_argument("--quick", action="store_true", help="few cells and steps, to see that it runs")
    parser.add_argument("--only", choices=("figures", "speed", *parts), help="leave the rest out")
    parser.add_argument("--backend", default="cpu", help="cpu, gpu or reference")
    options = parser.parse_args(words)
    options.out = options.out / source
    options.out.mkdir(parents=True, exist_ok=True)
    return options


class Seconds(NamedTuple):
    """Time of a run: on the clock, and of all threads together."""

    wall: float
    cpu: float


def seconds_of(start: Callable[[], sw.Simulation], steps: int, *, rounds: int = 3) -> Seconds:
    """Least time of several runs from the start, after one that compiles the kernels."""
    with start() as simulation:
        simulation.run(min(steps, WARMING))
    times = []
    for _ in range(rounds):
        with start() as simulation:
            wall, cpu = time.perf_counter(), time.process_time()
            simulation.run(steps)
            times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return Seconds(*(min(column) for column in zip(*times, strict=True)))


def _shown(value: str | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 1000 else f"{value:.3g}"
