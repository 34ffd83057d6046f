"""The benchmark runs, checks its contestants and makes its tables."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import slopewash as sw
from benchmarks import contestants, yardstick

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "virtual_pipes.py"


@pytest.mark.slow
def test_a_quick_run_prints_every_table() -> None:
    command = [sys.executable, str(SCRIPT), "--quick", "--sizes", "16", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "reference / cpu" in done.stdout
    assert "Jákó & Tóth 2011, CPU2" in done.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if not yardstick.available():
        pytest.skip("needs g++")
    return yardstick.compile_library(tmp_path_factory.mktemp("yardstick"), "same bits")


@pytest.mark.parametrize("laws", contestants.LAWS, ids=lambda laws: laws.name)
@pytest.mark.parametrize("threads", [1, 3])
def test_yardstick_gives_the_bits_of_the_cpu_backend(
    library: ctypes.CDLL, laws: contestants.Laws, threads: int
) -> None:
    whole = laws.terrain(64)
    terrain = sw.Terrain(elevation=whole["elevation"][:41, :53], cell_size=whole.cell_size)
    ours = contestants.cpu(laws, terrain, 1)
    theirs = yardstick.Yardstick(library, laws.model, terrain, laws.edges, threads)
    ours.advance(50)
    theirs.advance(50)
    assert np.array_equal(ours.elevation(), theirs.elevation())
