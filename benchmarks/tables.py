"""Markdown tables made from the results of one run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PRINTED = (
    ("Jákó & Tóth 2011, CPU2", 1647.0),
    ("Jákó & Tóth 2011, GPU2", 15.47),
    ("Salamin & Szénási, CPU", 1024.0),
    ("Salamin & Szénási, GPU", 91.5),
)
"""Milliseconds per iteration at 1024² as published, each on its authors' machine."""
PEERS = (
    ("TinyErode, C++ and OpenMP", 4.7, 18.0),
    ("HighMap, C++", 7.2, 43.0),
    ("a Taichi port", 27.0, 60.0),
    ("a Numba port", 30.0, 156.0),
    ("terrain-erosion-3-ways, NumPy", 112.0, 441.0),
)
"""Milliseconds per iteration at 512² and 1024², hydraulic erosion only, measured on a machine with two cores."""

Row = dict[str, Any]


class Run:
    """The rows of one run, and the ratios between them."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.threads: int = max((row["threads"] for row in self.of("speed")), default=1)

    def of(self, kind: str) -> list[Row]:
        return [row for row in self.rows if row["kind"] == kind]

    def get(self, what: str, laws: str, size: int, contestant: str, threads: int = 1) -> float | None:
        wanted = (laws, size, contestant, threads)
        for row in self.of("speed"):
            if (row["laws"], row["size"], row["contestant"], row["threads"]) == wanted:
                return float(row[what])
        return None

    def cases(self) -> list[tuple[str, int]]:
        return list(dict.fromkeys((row["laws"], row["size"]) for row in self.of("speed")))


def markdown(rows: list[Row]) -> str:
    run = Run(rows)
    parts = [
        provenance(rows[0]),
        speed(run),
        scaling(run),
        flags(run),
        roofline(run),
        surroundings(run),
        others(run),
    ]
    return "\n\n".join(part for part in parts if part)


def provenance(row: Row) -> str:
    """Machine, versions and date of a result."""
    versions = ", ".join(f"{name} {version}" for name, version in row["versions"].items())
    commit = f"commit {row['commit']}; " if "commit" in row else ""
    load = f"; load before the run {row['load']}" if "load" in row else ""
    return f"{row['machine']}; {versions}; {commit}{row['run'][:10]}{load}."


def speed(run: Run) -> str:
    """Milliseconds per iteration, and ratios of CPU time with one thread."""
    lines = []
    for laws, size in run.cases():
        cpu = run.get("cpu_ms", laws, size, "cpu")
        rate = run.get("cells_per_second", laws, size, "cpu", run.threads)
        slow, stick = run.get("cpu_ms", laws, size, "reference"), run.get("cpu_ms", laws, size, "yardstick")
        lines.append(
            (
                laws,
                f"{size}²",
                number(cpu),
                number(run.get("wall_ms", laws, size, "cpu", run.threads)),
                number(rate and rate / 1e6),
                number(slow),
                number(ratio(slow, cpu)),
                number(stick),
                number(ratio(cpu, stick)),
                number(
                    ratio(run.get("wall_ms", laws, size, "cpu"), run.get("wall_ms", laws, size, "cpu", run.threads))
                ),
            )
        )
    heads = (
        "laws", "size", "cpu, CPU ms", f"cpu, {run.threads} threads, ms", "million cells/s", "reference, CPU ms",
        "reference / cpu", "C++, CPU ms", "cpu / C++", f"speed-up of {run.threads} threads",
    )  # fmt: skip
    return table(heads, lines)


def scaling(run: Run) -> str:
    """Cost of a cell on a large grid, relative to a small one."""
    sentences = []
    for laws in dict.fromkeys(laws for laws, _ in run.cases()):
        small, large = run.get("cpu_ms", laws, 512, "cpu"), run.get("cpu_ms", laws, 4096, "cpu")
        if small and large:
            sentences.append(f"A cell at 4096² costs {large / small / 64:.2f} times one at 512² ({laws}).")
    return " ".join(sentences)


def flags(run: Run) -> str:
    lines = [
        (row["laws"], row["flags"].replace("same bits", "bit-identical"), f"{row['size']}²", number(row["cpu_ms"]))
        for row in run.of("flags")
    ]
    return table(("laws", "C++ compiled for", "size", "CPU ms"), lines)


def roofline(run: Run) -> str:
    """Fraction of the memory bandwidth that the kernel uses."""
    moved = run.of("bytes moved")[0]
    sentences = [
        f"With {moved['depth']} iterations in flight a sweep moves at least {moved['bytes_per_cell']:g} bytes "
        "per cell and iteration."
    ]
    largest = max(size for _, size in run.cases())
    for row in run.of("memory bandwidth"):
        bandwidth = row["bytes_per_second"]
        sentence = (
            f"{row['threads']} {'thread copies' if row['threads'] == 1 else 'threads copy'} {bandwidth / 1e9:.1f} GB/s"
        )
        shares = []
        for laws, size in run.cases():
            rate = run.get("cells_per_second", laws, size, "cpu", row["threads"])
            if rate and size == largest:
                shares.append(f"{laws} at {size}² uses {100 * rate * moved['bytes_per_cell'] / bandwidth:.0f} %")
        sentences.append(f"{sentence}: {', '.join(shares)}.")
    return " ".join(sentences)


def surroundings(run: Run) -> str:
    sentences = [
        f"From the start of Python to the first iteration at {row['size']}²: {row['compiling']:.1f} s when the kernels "
        f"must be compiled ({row['compiling_cpu']:.1f} CPU-s), {row['warm']:.1f} s later ({row['warm_cpu']:.1f} CPU-s)."
        for row in run.of("start")
    ]
    sentences += [f"Peak memory at {row['size']}²: {row['gigabytes']:.2f} GB." for row in run.of("peak memory")]
    return " ".join(sentences)


def others(run: Run) -> str:
    """Times of the papers and of other programs compared with ours."""
    lines: list[tuple[str, ...]] = [(name, "", number(large)) for name, large in PRINTED]
    lines += [(f"{name} (hydraulic only)", number(small), number(large)) for name, small, large in PEERS]
    for laws in dict.fromkeys(laws for laws, _ in run.cases()):
        wall = [run.get("wall_ms", laws, size, "cpu", run.threads) for size in (512, 1024)]
        if all(wall):
            lines.append((f"**slopewash, {laws}, {run.threads} threads**", number(wall[0]), number(wall[1])))
    return table(("ms per iteration", "512²", "1024²"), lines)


def ratio(a: float | None, b: float | None) -> float | None:
    return a / b if a and b else None


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def table(heads: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    heads, lines = list(heads), list(lines)
    if not lines:
        return ""
    rule = ["---" if i == 0 else "--:" for i in range(len(heads))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, rule, *lines))
