"""The Outerrain example runs at a small size."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "outerrain.py"


@pytest.mark.slow
def test_the_example_writes_its_pictures_and_balanced_books(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["outerrain.py", "--out", str(tmp_path), "--size", "24", "--steps", "5"])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    for name in ("before_after.png", "piles.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.count("0.0e+00") == 4  # water and solids, under either law
