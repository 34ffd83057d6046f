"""The example of maps runs at a small size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "maps.py"


@pytest.mark.slow
def test_the_example_draws_both_halves(tmp_path: Path) -> None:
    options = ["--size", "48", "--strength", "0.02", "--width", "120", "--backend", "reference", "--out", str(tmp_path)]
    subprocess.run([sys.executable, str(EXAMPLE), *options], check=True, capture_output=True)
    assert (tmp_path / "maps.png").stat().st_size > 10_000
