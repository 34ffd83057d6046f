"""Makes the tables of docs/benchmarks.md from the results: never edit them by hand.

    python benchmarks/document.py             write them
    python benchmarks/document.py --check     fail if they differ from the results

Each stands between `<!-- results: NAME -->` and `<!-- end -->`, and is made from `results/NAME.jsonl`: from the last
run on a quiet machine, or else from the last. Comparisons of versions are all shown.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # a script finds only modules in its own folder

from benchmarks import peers, records, tables

DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"
QUIET = 1.5
"""Processes that wanted to run before a benchmark began, at most."""
PLACE = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def shown(name: str) -> list[records.Row]:
    """The last run on a quiet machine, or the last one."""
    rows = records.everything(name)
    runs = list(dict.fromkeys(row["run"] for row in rows))
    quiet = [row["run"] for row in rows if row.get("load", QUIET) <= QUIET]
    chosen = quiet[-1] if quiet else runs[-1]
    return [row for row in rows if row["run"] == chosen]


def comparisons(rows: list[records.Row]) -> str:
    lines = [
        (row["what"], f"{row['before']:g}", f"{row['after']:g}", f"{row['before'] / row['after']:.2g}") for row in rows
    ]
    return tables.table(("what", "before", "after", "ratio"), lines)


def bands(rows: list[records.Row]) -> str:
    lines = [
        (
            str(row["bands"]), str(row["depth"]), f"{row['rows']:.3g}", f"{row['cpu_ms']:.3g}",
            f"{row['times_one_band']:.3g}",
        )
        for row in rows
    ]  # fmt: skip
    heads = ("bands", "iterations in flight", "rows worked on, per row", "CPU ms per iteration", "times one band")
    return tables.table(heads, lines)


def strata(rows: list[records.Row]) -> str:
    lines = [
        (
            row["laws"],
            f"{row['size']}²",
            str(row["layers"]),
            f"{row['cpu_ns_per_cell']:.2f}",
            f"{row['times_first']:.2f}",
        )
        for row in rows
    ]
    return tables.table(("laws", "size", "layers", "CPU-ns per cell", "times without"), lines)


def yardstick_ratios(rows: list[records.Row]) -> str:
    lines = [
        (
            row["laws"], f"{row['size']}²", f"{row['cpu_ns']:.2f}", f"{row['yardstick_ns']:.2f}", f"{row['ratio']:.2f}",
            f"{row['row_kernels_ns']:.2f}", f"{row['divider_ns']:.2f}",
        )
        for row in rows
    ]  # fmt: skip
    heads = ("laws", "size", "cpu, ns per cell", "C++", "cpu / C++", "row functions alone", "divider alone")
    return tables.table(heads, lines)


def threads(rows: list[records.Row]) -> str:
    lines = [
        (
            row["laws"], f"{row['size']}²", f"{row['one_ms']:.3g}", f"{row['several_ms']:.3g}",
            f"{row['speed_up']:.2f}", f"{row['times_cpu']:.2f}",
        )
        for row in rows
    ]  # fmt: skip
    many = rows[0]["threads"]
    return tables.table(
        ("laws", "size", "one thread, ms", f"{many} threads, ms", "speed-up", "times the CPU time"), lines
    )


MADE: dict[str, Callable[[list[records.Row]], str]] = {
    "virtual_pipes": tables.markdown,
    "comparisons": comparisons,
    "bands": bands,
    "strata": strata,
    "threads": threads,
    "yardstick_ratios": yardstick_ratios,
    "peers": peers.markdown,
}


def section(name: str) -> str:
    """Where and when it was measured, and the table."""
    if name == "comparisons":
        return comparisons(records.everything(name))
    if not records.known(name):
        return "Not recorded yet."
    rows = shown(name)
    made = MADE[name](rows)
    return made if name == "virtual_pipes" else f"{tables.provenance(rows[0])}\n\n{made}"


def documented(text: str) -> str:
    return PLACE.sub(lambda place: f"{place[1]}{section(place[2])}\n{place[3]}", text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail if the document differs, and write nothing")
    options = parser.parse_args()
    before = DOCUMENT.read_text(encoding="utf-8")
    after = documented(before)
    if options.check:
        return int(before != after)
    DOCUMENT.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
