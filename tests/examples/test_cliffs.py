"""The example of layered ground runs at a small size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import slopewash as sw

EXAMPLE = Path(__file__).parents[2] / "examples" / "cliffs_and_benches.py"


@pytest.mark.slow
def test_the_example_draws_level_and_tilted_layers(tmp_path: Path) -> None:
    options = ["--size", "32", "--steps", "40", "--settle", "4", "--width", "200", "--backend", "reference"]
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), *options, "--out", str(tmp_path)], check=True, capture_output=True, text=True
    )
    for name, dip in (("level", 0.0), ("tilted", 6.0)):
        for picture in (f"strata-{name}.png", f"strata-{name}-shape.png", f"strata-{name}-exposed.png"):
            assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
        strata = sw.read(tmp_path / f"strata-{name}.npz").strata
        assert strata is not None
        assert strata.dip == dip
        assert f"{name}: hard " in done.stdout
