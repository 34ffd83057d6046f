"""The page on the first hour, word for word: its commands, on files as other programs write them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import slopewash as sw

Run = Callable[..., Any]
PAGE = (Path(__file__).parents[2] / "docs" / "first-hour.md").read_text(encoding="utf-8")
PARTS = [part for part in re.split(r"^## ", PAGE, flags=re.M)[1:] if "```sh" in part]
av = pytest.importorskip("av")
rasterio = pytest.importorskip("rasterio")


@pytest.fixture
def follow(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Does what a part of the page says, in an empty folder; returns what was printed."""
    monkeypatch.chdir(tmp_path)

    def follow(title: str) -> str:
        (part,) = [part for part in PARTS if part.startswith(title)]
        for file, text in re.findall(r"Save this as `(.*?)`.*?```toml\n(.*?)```", part, flags=re.S):
            Path(file).write_text(text)
        printed = []
        for block in re.findall(r"```sh\n(.*?)```", part, flags=re.S):
            for line in block.splitlines():
                words = shlex.split(line)
                assert words[0] == "slopewash"
                done = run(*words[1:])
                assert done.code == 0, f"{line}: {done.err}"
                printed.append(done.out)
        return "\n".join(printed)

    return follow


def heights(size: int) -> np.ndarray:
    return sw.generate("dome", size=size, seed=2, relief=800.0)["elevation"]


def test_a_picture_of_another_program_becomes_a_folder_for_unreal(follow: Callable[[str], str]) -> None:
    grey = np.rint(heights(96) / 900 * 65535).astype(np.uint16)
    Image.fromarray(grey).save("island.png")
    printed = follow("A height map from another program")
    assert "Unreal Engine: import card" in printed
    assert Path("unreal/import_card.txt").read_text(encoding="utf-8").strip() in printed
    with Image.open("unreal/height.png") as picture:
        assert (picture.size, picture.mode) == ((127, 127), "I;16")
    eroded = sw.read("island.exr")
    assert eroded.cell_size == 20
    assert 0 < eroded["wear"].max() < 900
    assert {path.stem for path in Path("masks").glob("*.png")} >= {"flow", "wear", "deposit", "river", "lake"}
    assert Path("island-map.png").is_file()
    with Image.open("island-view.png") as picture:
        assert picture.size == (640, 400)


def test_a_map_keeps_its_place(follow: Callable[[str], str]) -> None:
    place = rasterio.Affine(30, 0, 500_000, 0, -30, 4_600_000)
    common = {"driver": "GTiff", "width": 64, "height": 64, "count": 1, "dtype": "float32", "nodata": -9999.0}
    ground = heights(64).astype(np.float32)
    ground[:3, :3] = -9999.0
    with rasterio.open("dem.tif", "w", crs="EPSG:32633", transform=place, **common) as file:
        file.write(ground, 1)
    follow("A map of a real place")
    with rasterio.open("dem.tif") as before, rasterio.open("dem-eroded.tif") as after:
        assert (after.crs, after.transform, after.shape) == (before.crs, before.transform, before.shape)
        assert np.array_equal(after.dataset_mask(), before.dataset_mask())
        assert not np.array_equal(after.read(1), before.read(1))
    assert "<html" in Path("dem-report.html").read_text(encoding="utf-8").lower()


def test_a_recipe_becomes_a_film(follow: Callable[[str], str]) -> None:
    follow("A recipe, and a film of it")
    for folder in ("out/valley", "out/valley-preview", "out/fourth"):
        assert (Path(folder) / "manifest.json").is_file()
        with av.open(str(Path(folder) / "turntable.webm")) as film:
            video = film.streams.video[0]
            assert (video.width, video.height) == (320, 180)
            assert sum(1 for _ in film.decode(video)) == 25
    assert sw.read("out/valley/valley.exr").shape == (96, 96)
    assert sw.read("out/valley-preview/valley.exr").shape == (24, 24)


def test_every_part_of_the_page_is_followed() -> None:
    assert [part.splitlines()[0] for part in PARTS] == [
        "A height map from another program, for a game", "A map of a real place", "A recipe, and a film of it",
    ]  # fmt: skip
