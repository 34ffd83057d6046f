"""`slopewash export` prints the card and refuses bad input in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.exports.card import Card
from slopewash.exports.job import Job
from slopewash.exports.sizes import Sizes
from slopewash.exports.targets import TARGETS, Target

Run = Callable[..., Any]


@pytest.fixture
def hill(tmp_path: Path) -> Path:
    return sw.write(sw.Terrain(np.random.default_rng(1).random((40, 40)) * 50, cell_size=5.0), tmp_path / "hill.npz")


def test_export_prints_the_card(run: Run, hill: Path, tmp_path: Path) -> None:
    done = run("export", hill, "--target", "unity", "--fit", "crop", "--water", "none", "-o", tmp_path / "unity")
    assert done.code == 0
    assert "Terrain height (Y)" in done.out
    assert (tmp_path / "unity" / "height.raw").stat().st_size == 2 * 33 * 33


def test_exported_heights_record_their_range_and_what_made_them(run: Run, tmp_path: Path) -> None:
    result = sw.recipe("outerrain", size=127, steps=2, backend="reference", seed=4).run()
    made = sw.write(result.terrain, tmp_path / "made.exr", notes=result.notes)
    words = ("--water", "none", "--out-height-range", "-100..2000", "-o", tmp_path / "ue")
    assert run("export", made, "--target", "unreal", *words).code == 0
    found = sw.probe(tmp_path / "ue" / "height.png")
    assert found.height_range == (-100.0, 2000.0)
    assert found.made_by is not None
    assert (found.made_by["preset"], found.made_by["seed"], found.made_by["step"]) == ("outerrain", 4, 2)
    read = sw.read(tmp_path / "ue" / "height.png")
    assert read.cell_size == result.terrain.cell_size
    assert np.abs(read["elevation"] - result.terrain["elevation"]).max() <= 0.51 * 2100 / 65535


def test_a_registered_target_may_have_formats_of_its_own(
    run: Run, hill: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = []

    def write(job: Job) -> Card:
        chosen.append(job.heights_as)
        return Card("own", "A program", ())

    monkeypatch.setitem(TARGETS, "own", Target(Sizes(target="own"), ("f32", "f64"), write, painted=False))
    words = ("export", hill, "--target", "own", "-o", tmp_path / "own")
    assert run(*words, "--heights", "f64").code == 0
    assert chosen == ["f64"]
    assert 'heights is "png"; own takes f32 or f64' in run(*words, "--heights", "png").err


def test_exports_for_two_programs_do_not_mix(run: Run, hill: Path, tmp_path: Path) -> None:
    words = ("--fit", "crop", "--water", "none", "-o", tmp_path / "out")
    assert run("export", hill, "--target", "unity", *words).code == 0
    assert run("export", hill, "--target", "unity", *words).code == 0
    done = run("export", hill, "--target", "godot", "--water", "none", "-o", tmp_path / "out")
    assert done.code == 2
    assert f"{tmp_path / 'out'} holds an export for unity; name another folder for godot" in done.err


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
        (["--target", "unity", "--fit", "crop", "--out-height-range", "5..1"], "--out-height-range is 5..1"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, hill: Path, tmp_path: Path, words: list[str], sentence: str) -> None:
    done = run("export", hill, *words, "-o", tmp_path / "out")
    assert done.code == 2
    assert sentence in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
