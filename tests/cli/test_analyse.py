"""`slopewash analyse`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def ground(tmp_path: Path, run: Run) -> Path:
    file = tmp_path / "ground.npy"
    assert run("generate", "dome", "-o", file, "--size", 96, "--cell-size", 20).code == 0
    return file


def test_a_terrain_is_measured_beside_published_ranges(ground: Path, run: Run) -> None:
    done = run("analyse", ground, "--cell-size", 20)
    assert done.code == 0
    assert "0.225 .. 0.575" in done.out
    assert "96 x 96 cells of 20 m" in done.out


def test_the_report_for_programs_holds_every_number(ground: Path, run: Run, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    facts = run("analyse", ground, "--cell-size", 20, "-o", page, "--channel-area", 40000, "--json").json
    assert facts["channel_area"] == 40000
    assert [finding["verdict"] for finding in facts["findings"]]
    assert len(facts["slope_area"]["x"]) == len(facts["slope_area"]["y"])
    assert facts["report"] == str(page)
    assert "ground.npy" in page.read_text(encoding="utf-8")


def test_bad_options_are_refused_before_work(ground: Path, run: Run, tmp_path: Path) -> None:
    done = run("analyse", ground, "-o", tmp_path / "report.png")
    assert (done.code, done.out) == (2, "")
    assert "must end in .html" in done.err
    assert "channel_area is -5" in run("analyse", ground, "--channel-area", -5).err
