"""`slopewash export` prints the card and refuses bad input in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw

Run = Callable[..., Any]


@pytest.fixture
def hill(tmp_path: Path) -> Path:
    return sw.write(sw.Terrain(np.random.default_rng(1).random((40, 40)) * 50, cell_size=5.0), tmp_path / "hill.npz")


def test_export_prints_the_card(run: Run, hill: Path, tmp_path: Path) -> None:
    done = run("export", hill, "--target", "unity", "--fit", "crop", "--water", "none", "-o", tmp_path / "unity")
    assert done.code == 0
    assert "Terrain height (Y)" in done.out
    assert (tmp_path / "unity" / "height.raw").stat().st_size == 2 * 33 * 33


def test_export_prints_the_card_as_json(run: Run, hill: Path, tmp_path: Path) -> None:
    out = tmp_path / "godot"
    done = run("export", hill, "--target", "godot", "--water", "none", "--json", "-o", out)
    assert done.json["values"]["vertex_spacing"] == 5.0
    assert done.json["folder"] == str(out)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--target", "unity"], "the nearest are 33 and 65"),
        (["--target", "unity", "--tiles", "2by2"], "--tiles is 2by2; it must be COLUMNSxROWS"),
        (["--target", "unity", "--size", "34"], "size is 34"),
        (["--target", "unity", "--fit", "crop", "--export-range", "5,1"], "--export-range is 5,1"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, hill: Path, tmp_path: Path, words: list[str], sentence: str) -> None:
    done = run("export", hill, *words, "-o", tmp_path / "out")
    assert done.code == 2
    assert sentence in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
