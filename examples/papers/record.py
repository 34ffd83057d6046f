"""What the scripts of this folder measured: one file for each source, from which the tables of its page are made."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np
from PIL import Image

import slopewash as sw

Row = Sequence[str | float | None]


class Record:
    """Tables of one source, with machine, versions and date."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tables: dict[str, dict[str, Any]] = {}

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Add a table, and print it."""
        shown = [[_shown(value) for value in row] for row in rows]
        self.tables[name] = {"columns": list(columns), "rows": shown}
        print(f"{name}: {' | '.join(columns)}")
        for row in shown:
            print(f"  {' | '.join(row)}")

    def write(self, folder: Path, *, quick: bool) -> Path:
        """Write all of it as JSON."""
        facts = {
            "source": self.source,
            "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
            "machine": f"{_processor()}, {os.cpu_count()} cores",
            "load": round(os.getloadavg()[0], 1),
            "quick": quick,
            "versions": {
                "slopewash": sw.__version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "numba": numba.__version__,
            },
            "tables": self.tables,
        }
        file = folder / f"{self.source}.json"
        file.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
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


def milliseconds(terrain: sw.Terrain, model: sw.Model, edges: Any, backend: str, *, steps: int) -> float:
    """Wall time of one iteration: the best of three runs, after one that compiles the kernels."""
    with sw.Simulation(terrain, model, backend=backend, edges=edges) as simulation:
        simulation.run(1)
        best = float("inf")
        for _ in range(3):
            started = time.perf_counter()
            simulation.run(steps)
            best = min(best, time.perf_counter() - started)
    return 1000 * best / steps


def sheet(images: Sequence[Image.Image], titles: Sequence[str], file: Path, *, columns: int | None = None) -> None:
    """Put pictures side by side into one JPEG."""
    sw.side_by_side(list(images), list(titles), file.with_suffix(".png"), columns=columns)
    with Image.open(file.with_suffix(".png")) as picture:
        picture.convert("RGB").save(file, quality=82, optimize=True)
    file.with_suffix(".png").unlink()


def _shown(value: str | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 1000 else f"{value:.3g}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
