from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_example_draws_its_pictures(tmp_path: Path) -> None:
    script = ROOT / "examples/bezin_figures.py"
    command = [sys.executable, str(script), "--size", "40", "--steps", "30", "--out", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    names = {"bezin_levels", "bezin_streams", "bezin_before_after", "bezin_change", "bezin_canyon"}
    assert {file.stem for file in tmp_path.iterdir()} == names
    assert min(file.stat().st_size for file in tmp_path.iterdir()) > 10_000
