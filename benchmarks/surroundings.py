"""Factors of the run time besides the kernel: the machine, its memory, the start of a process."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

import slopewash as sw
from slopewash.models.virtual_pipes.room import DEPTH

FIELDS = 8
"""Float32 fields of the state."""
LOAD_BEFORE = round(os.getloadavg()[0], 1)
"""What other programs want of the cores as a benchmark starts; later it counts itself."""
ITERATION_AT_512 = """
import slopewash as sw
terrain = sw.generate("dome", size=512, cell_size=10.0, seed=7)
sw.Simulation(terrain, sw.preset("single_grid"), backend="cpu", edges="open").run(1)
"""
PEAK_MEMORY = """
import resource, sys
from pathlib import Path
import slopewash as sw
terrain = sw.generate("diamond_square", size=int(sys.argv[1]), cell_size=10.0, seed=7)
simulation = sw.Simulation(terrain, sw.VirtualPipes(), backend="cpu", edges="closed")
simulation.run(4)
simulation.terrain
status = Path("/proc/self/status")  # with getrusage, a process on Linux starts with the peak of its parent
if status.exists():
    print(1024 * int(status.read_text().split("VmHWM:")[1].split()[0]))
else:
    print((1 if sys.platform == "darwin" else 1024) * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def facts() -> dict[str, Any]:
    """Commit, machine and versions; nothing that identifies its owner."""
    return {
        "commit": _commit(),
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "load": LOAD_BEFORE,
        "versions": {
            "slopewash": sw.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
            "llvmlite": llvmlite.__version__,
        },
    }


def _commit() -> str:
    here = Path(__file__).parent

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = "+changes" if git("status", "--porcelain", "--untracked-files=no", "--", "../src") else ""
    return (git("rev-parse", "--short", "HEAD") or "unknown") + changed


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def seconds_to_first_iteration() -> dict[str, float]:
    """Start a process without compiled kernels, and twice with all kernels cached."""
    seconds, cpu = [], []
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        for _ in range(3):
            begin, used = time.perf_counter(), os.times()
            subprocess.run([sys.executable, "-c", ITERATION_AT_512], env=environment, check=True)
            now = os.times()
            seconds.append(time.perf_counter() - begin)
            cpu.append(now.children_user + now.children_system - used.children_user - used.children_system)
    return {
        "compiling": seconds[0],
        "compiling_cpu": cpu[0],
        "warm": min(seconds[1:]),
        "warm_cpu": min(cpu[1:]),
    }


def peak_memory(size: int) -> float:
    """Peak memory of a process in gigabytes."""
    command = [sys.executable, "-c", PEAK_MEMORY, str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1e9


def copy_bandwidth(threads: int) -> float:
    """Copy bandwidth of memory, read plus written bytes per second."""
    pairs = [(np.ones(2**24, np.float32), np.zeros(2**24, np.float32)) for _ in range(threads)]
    best = 0.0
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(8):
            begin = time.perf_counter()
            list(pool.map(lambda pair: np.copyto(pair[1], pair[0]), pairs))
            best = max(best, threads * 2 * pairs[0][0].nbytes / (time.perf_counter() - begin))
    return best


def bytes_moved(depth: int = DEPTH) -> float:
    """Bytes per cell and iteration that must cross the memory bus: state and summed flow, in and out once per sweep."""
    return 2 * (FIELDS + 1) * 4 / depth
