from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "resolutions.py"


@pytest.mark.slow
def test_the_benchmark_has_a_row_for_each_run_and_each_pair_of_sizes() -> None:
    command = [sys.executable, str(SCRIPT), "--starts", "dome:7", "--sizes", "64", "48", "96"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    runs, pairs = (part.splitlines()[2:] for part in done.stdout.split("\n\n"))
    assert [row.split(" | ")[1] for row in runs] == ["48²", "64²", "96²"]
    assert [row.split(" | ")[1] for row in pairs] == ["48² / 64²", "64² / 96²"]
    correlations = [float(row.split(" | ")[2].strip("*")) for row in pairs]
    assert all(0.5 < found < 1 for found in correlations)
