from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "velocity_field.py"


@pytest.mark.slow
def test_the_benchmark_reports_the_cost_of_a_particle_step_for_both_steerings() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--size", "16"], check=True, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["steering"] for line in lines] == ["gradient", "steepest"]
    assert all(line["cpu_ns_per_particle_step"] > 0 for line in lines)
    assert len({line["checksum"] for line in lines}) == 2
