"""Every example runs, at a size where its pictures are worth nothing, and writes the pictures it promises."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

import slopewash as sw

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def pictures_of(tmp_path: Path) -> Callable[[str, Sequence[str]], set[str]]:
    """Run an example and return the names of its pictures, each of which opens."""

    def run(name: str, words: Sequence[str]) -> set[str]:
        out = tmp_path / "out"
        load(name).main([*words, "--out", str(out)])
        files = [file for file in out.iterdir() if file.suffix in (".png", ".jpg")]
        for file in files:
            with Image.open(file) as picture:
                picture.load()
                assert min(picture.size) > 40
        return {file.name for file in files}

    return run


Pictures = Callable[[str, Sequence[str]], set[str]]


@pytest.mark.slow
def test_gallery_shows_starts_eroded_both_ways(pictures_of: Pictures, capsys: pytest.CaptureFixture[str]) -> None:
    ways, seeds = ("single_grid", "landscape"), (4, 9)
    expected = {f"{way}_ridged_{seed}{end}.png" for way in ways for seed in seeds for end in ("", "_view", "_inside")}
    expected |= {f"{way}_{kind}.png" for way in ways for kind in ("maps", "views")} | {"before_after.png"}
    small = ["--size", "64", "--strength", "0.01", "--only", "ridged", "--width", "120"]
    assert pictures_of("landscape_gallery", small) == expected
    assert capsys.readouterr().out.count("along the grid") == len(ways) * len(seeds)


@pytest.mark.slow
def test_looks_are_drawn_from_outside_above_and_inside(pictures_of: Pictures) -> None:
    small = ["--size", "48", "--only", "dl"]
    expected = {f"badlands{end}.png" for end in ("", "_map", "_inside")} | {"looks.png"}
    assert pictures_of("looks_gallery", small) == expected


@pytest.mark.slow
def test_the_pictures_of_one_mountain_are_those_of_the_site(pictures_of: Pictures) -> None:
    made = pictures_of("site_pictures", ["--size", "48", "--width", "160"])
    assert len(made) == 11
    assert made <= {file.name for file in (EXAMPLES.parent / "docs" / "pictures").iterdir()}


def test_every_parameter_of_a_model_has_its_strip(tmp_path: Path) -> None:
    words = ["--model", "steepest_talus", "--size", "24", "--share", "0.02", "--width", "60", "--out", str(tmp_path)]
    load("parameters").main(words)
    drawn = {file.stem for file in (tmp_path / "steepest_talus").glob("*.jpg")}
    assert drawn == {p.name for p in sw.SteepestTalus().parameters()}


@pytest.mark.parametrize("name", sw.model_names())
def test_every_parameter_of_the_site_is_shown(name: str) -> None:
    folder = EXAMPLES.parent / "docs" / "pictures" / "parameters" / name
    assert {file.stem for file in folder.glob("*.jpg")} == {p.name for p in sw.find_model(name)().parameters()}


GAP, PANEL, HEADER = 12, 200, 32
"""Pixels of the strips: margin, side of a picture, title."""
ALIKE = 0.002
"""Share of clearly different pixels below which two pictures look the same: less than `SEEN`, as JPEG adds noise."""


def rows_of(strip: Image.Image) -> list[list[Image.Image]]:
    """Cut a strip into its rows of pictures."""
    return [
        [strip.crop((x, y, x + PANEL, y + PANEL)) for x in range(GAP, strip.width - PANEL, PANEL + GAP)]
        for y in range(GAP + HEADER, strip.height - PANEL, HEADER + PANEL + GAP)
    ]


@pytest.mark.parametrize("name", sw.model_names())
def test_pictures_of_a_strip_differ_or_a_second_row_shows_by_how_much(name: str) -> None:
    parameters = load("parameters")
    folder = EXAMPLES.parent / "docs" / "pictures" / "parameters" / name
    notes = json.loads((folder / "notes.json").read_text(encoding="utf-8"))
    for declared in sw.find_model(name)().parameters():
        with Image.open(folder / f"{declared.name}.jpg") as strip:
            shown, *differences = rows_of(strip.convert("RGB"))
        assert len(shown) >= 2
        for neighbours in pairwise(shown):
            assert differences or parameters.different(*neighbours) > ALIKE, declared.name
        for row in differences:  # white paper first, then maps, in which something is coloured
            assert all(colourful(panel) > 0.01 for panel in row[1:]), declared.name
        assert notes.get(declared.name, "") == parameters.note(name, declared.name, faint=bool(differences))


def colourful(picture: Image.Image) -> float:
    """Share of pixels that are not grey."""
    return float(np.mean(np.ptp(np.asarray(picture, float), axis=2) > 40))


def test_the_gallery_has_every_look() -> None:
    folder = EXAMPLES.parent / "docs" / "pictures" / "gallery"
    wanted = {f"{name}-{when}.jpg" for name in sw.looks() for when in ("before", "after")}
    assert {file.name for file in folder.glob("*.jpg")} == wanted
