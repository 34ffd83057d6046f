from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "steepest_talus.py"


@pytest.mark.slow
def test_the_benchmark_checks_every_law_and_appends_a_line_for_each(tmp_path: Path) -> None:
    lines = tmp_path / "results.jsonl"
    options = ["--sizes", "16", "--threads", "1", "--rounds", "1", "--cells", "1000", "--lines", str(lines)]
    done = subprocess.run([sys.executable, str(SCRIPT), *options], check=True, capture_output=True, text=True)
    assert "layer copies" in done.stdout
    results = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert [result["law"] for result in results] == ["outerrain", "true_distance"]
    assert all(result["cells_per_second"] > 0 for result in results)
