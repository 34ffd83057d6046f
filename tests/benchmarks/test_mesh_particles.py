from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_benchmark_reports_rate_split_and_cost_per_particle() -> None:
    command = [sys.executable, str(ROOT / "benchmarks/mesh_particles.py"), "--particles", "3000", "--triangles", "2000"]
    done = subprocess.run([*command, "--markdown"], check=True, capture_output=True, text=True)
    first, *table = done.stdout.splitlines()
    row = json.loads(first)
    assert row["steps_per_second"] > 0
    assert row["solids_drift"] < 1e-9
    phases = ["neighbour search", "hashing", "forces", "collision", "erosion", "sediment", "vertices"]
    assert list(row["split_ms"]) == phases
    assert table[0].startswith("| particles | triangles |")
