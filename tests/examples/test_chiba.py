from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "picture"),
    [
        ("examples/chiba_figures.py", "chiba_fig2.png"),
        ("examples/chiba_strata.py", "chiba_strata.png"),
    ],
)
def test_the_example_draws_its_pictures(script: str, picture: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / script), "--size", "24", "--steps", "4", "--out", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / picture).stat().st_size > 10_000
