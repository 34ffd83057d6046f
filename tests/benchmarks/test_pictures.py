from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "pictures.py"


@pytest.mark.slow
def test_the_benchmark_times_a_still_a_map_and_a_turntable() -> None:
    command = [sys.executable, str(SCRIPT), "--size", "64", "--seconds", "0.2", "--quick"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    still, chart, film = done.stdout.splitlines()
    assert still.startswith("still of 64² cells")
    assert chart.startswith("map of 64² cells")
    assert film.startswith("turntable of 0.2 s")
