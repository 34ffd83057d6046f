"""Sends Ctrl-C or SIGTERM to `slopewash erode` at random moments, over all models and backends.

    python benchmarks/signals.py --moments 50

Each command must stop its run soon, end with exit code 130 or 143, and leave a whole file and a checkpoint that can be
resumed. Prints the times from the signal to the end of the run, and to the end of the command, and the CPU time until
the run ended: on a busy machine wall time says little.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import slopewash as sw

CHILD = """
import sys
import slopewash as sw
from slopewash.cli import main
usual, runs = sw.Simulation.run, []
def run(simulation, steps, **options):
    if not runs:
        # Compiles the kernels, which no signal interrupts; some are used later than in the first step. Where they do
        # not depend on the size, on a small grid: a step of a large one may take minutes.
        first, brief = simulation, simulation.model.name == "velocity_field" or simulation.backend == "reference"
        if brief and simulation.backend != "gpu":
            ground = sw.generate("fbm", size=64, seed=3, relief=128.0, cell_size=10.0)
            first = sw.Simulation(ground, simulation.model, backend=simulation.backend)
        usual(first, 1 if brief else 12)
        runs.append(1)
        print("running", flush=True)
    try:
        usual(simulation, steps, **options)
    except BaseException:
        print("stopped", flush=True)
        raise
sw.Simulation.run = run
sys.exit(main(sys.argv[1:]))
"""
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
LARGE = 4096


@dataclass(frozen=True)
class Answer:
    """How one command answered."""

    model: str
    backend: str
    size: int
    signal: str
    stopped: float
    """Seconds until the run ended."""
    cpu: float
    """CPU seconds of all its threads until then; NaN where the system does not say."""
    ended: float
    """Seconds until the command did, with its files written."""

    @property
    def is_soon(self) -> bool:
        """Within a second, or two on the largest grids."""
        return self.stopped < (2.0 if self.size >= LARGE else 1.0)


def send_signals(
    folder: Path,
    *,
    moments: int,
    size: int,
    backends: Sequence[str],
    models: Sequence[str] = (),
    seed: int = 0,
    latest: float = 1.5,
    values: Sequence[str] = (),
) -> Iterator[Answer]:
    """Start so many commands with `values` of parameters, and interrupt each within `latest` seconds."""
    draw = random.Random(seed)
    start = folder / "start.npy"
    sw.write(sw.generate("fbm", size=size, seed=3, relief=0.2 * size * 10.0, cell_size=10.0), start)
    combinations = itertools.cycle(itertools.product(CODES, backends, models or sw.model_names()))
    for (number, backend, model), _ in zip(combinations, range(moments), strict=False):
        yield _interrupted(folder, start, model, backend, size, number, draw.uniform(0.0, latest), values)


def _interrupted(
    folder: Path,
    start: Path,
    model: str,
    backend: str,
    size: int,
    number: signal.Signals,
    wait: float,
    values: Sequence[str],
) -> Answer:
    out, kept = folder / "out.npz", folder / "kept"
    shutil.rmtree(kept, ignore_errors=True)
    out.unlink(missing_ok=True)
    words = ["erode", start, "--cell-size", "10", "--model", model, "--backend", backend, "--steps", "1000000"]
    words += ["-o", out, "--checkpoint", kept, "--every", "100000"]
    words += [word for value in values for word in ("--set", value)]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    _expect(child, "running")
    time.sleep(wait)
    begin, used = time.perf_counter(), _cpu_seconds(child)
    child.send_signal(number)
    _expect(child, "stopped")
    stopped, cpu = time.perf_counter() - begin, _cpu_seconds(child) - used
    _, errors = child.communicate()
    ended = time.perf_counter() - begin
    if child.returncode != CODES[number] or "Traceback" in errors:
        raise SystemExit(f"{model} on {backend} ended with {child.returncode}: {errors}")
    if sw.read(out).shape != (size, size) or sw.newest_manifest(kept) is None:
        raise SystemExit(f"{model} on {backend} left no whole files")
    return Answer(model, backend, size, number.name, stopped, cpu, ended)


def _cpu_seconds(child: subprocess.Popen[str]) -> float:
    try:
        fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _expect(child: subprocess.Popen[str], word: str) -> None:
    assert child.stdout is not None
    line = child.stdout.readline().strip()
    if line != word:
        raise SystemExit(f"a command said {line!r} instead of {word!r}: {child.communicate()[1]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--size", type=int, default=256, help="cells along a side")
    parser.add_argument("--backend", action="append", help="may be repeated; by default all that work here")
    parser.add_argument("--model", action="append", help="may be repeated; by default all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latest", type=float, default=1.5, help="seconds of running before a signal, at most")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter; may be repeated")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background shells ignore it, for children too
    backends = options.backend or sw.available_backends()
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        for answer in send_signals(
            Path(folder), moments=options.moments, size=options.size, backends=backends, models=options.model or (),
            seed=options.seed, latest=options.latest, values=options.set,
        ):  # fmt: skip
            answers.append(answer)
            print(f"{answer.model:15} {answer.backend:10} {answer.size} {answer.signal:8} stopped after "
                  f"{answer.stopped:.2f} s, {answer.cpu:.2f} s of CPU time, ended after {answer.ended:.2f} s",
                  flush=True)  # fmt: skip
    late = sum(not answer.is_soon for answer in answers)
    slowest, most = max(a.stopped for a in answers), max(a.cpu for a in answers)
    print(
        f"{len(answers)} signals: the slowest run stopped after {slowest:.2f} s, {most:.2f} s of CPU time; {late} late"
    )
    return int(late > 0)


if __name__ == "__main__":
    sys.exit(main())
