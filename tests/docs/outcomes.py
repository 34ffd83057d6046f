"""What must be true after a page was followed: by page, from its folder and what it printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import rasterio
from PIL import Image

import slopewash as sw


def first_hour(folder: Path, printed: str) -> None:
    assert "Unreal Engine: import card" in printed
    assert (folder / "unreal/import_card.txt").read_text(encoding="utf-8").strip() in printed
    with Image.open(folder / "unreal/height.png") as picture:
        assert (picture.size, picture.mode) == ((127, 127), "I;16")
    eroded = sw.read(folder / "island.exr")
    assert eroded.cell_size == 20
    assert 0 < eroded["wear"].max() < 900
    assert {path.stem for path in (folder / "masks").glob("*.png")} >= {"flow", "wear", "deposit", "river", "lake"}
    with Image.open(folder / "island-view.png") as picture:
        assert picture.size == (640, 400)
    same_place(folder / "dem.tif", folder / "dem-eroded.tif")
    assert "<html" in (folder / "dem-report.html").read_text(encoding="utf-8").lower()
    for made in ("valley", "valley-preview", "fourth"):
        assert (folder / "out" / made / "manifest.json").is_file()
        with av.open(str(folder / "out" / made / "turntable.webm")) as film:
            video = film.streams.video[0]
            assert (video.width, video.height) == (320, 180)
            assert sum(1 for _ in film.decode(video)) == 25
    assert sw.read(folder / "out/valley/valley.exr").shape == (96, 96)
    assert sw.read(folder / "out/valley-preview/valley.exr").shape == (24, 24)


def same_place(map_before: Path, map_after: Path) -> None:
    """A map keeps its coordinates and its nodata, but not its heights."""
    with rasterio.open(map_before) as before, rasterio.open(map_after) as after:
        assert (after.crs, after.transform, after.shape) == (before.crs, before.transform, before.shape)
        assert np.array_equal(after.dataset_mask(), before.dataset_mask())
        assert not np.array_equal(after.read(1), before.read(1))


def qgis(folder: Path, printed: str) -> None:
    same_place(folder / "dem.tif", folder / "layers" / "elevation.tif")


def dem(folder: Path, printed: str) -> None:
    same_place(folder / "dem.tif", folder / "dem-eroded.tif")
    same_place(folder / "dem.tif", folder / "layers" / "elevation.tif")


def engines(folder: Path, printed: str) -> None:
    """The card is printed as the guides promise, and every file on it is there."""
    (card,) = [path for path in folder.glob("*/import_card.json") if not path.parent.name.endswith("tiles")]
    facts = json.loads(card.read_text(encoding="utf-8"))
    assert (card.parent / "import_card.txt").read_text(encoding="utf-8").strip() in printed
    assert all((card.parent / name).is_file() for name in facts["files"])


def observers(folder: Path, printed: str) -> None:
    steps = [int(line.split()[0]) for line in printed.splitlines()]
    assert sorted(steps) == [20, 40, 50, 60, 60, 70, 80, 80]


def checkpoints(folder: Path, printed: str) -> None:
    assert {path.name for path in folder.glob("*.ckpt")} == {"python.ckpt", "recipe.ckpt", "run.ckpt", "script.ckpt"}


def recipes(folder: Path, printed: str) -> None:
    made = {path.name for path in (folder / "out" / "small").iterdir()}
    assert made >= {"eroded.exr", "manifest.json", "map.png", "recipe.toml"}


ENGINES = ("unreal", "unity", "godot", "blender", "houdini")
OUTCOMES: dict[str, Callable[[Path, str], None]] = {
    **{f"guides/{engine}.md": engines for engine in ENGINES},
    "guides/qgis.md": qgis,
    "guides/dem.md": dem,
    "first-hour.md": first_hour,
    "observers.md": observers,
    "checkpoints.md": checkpoints,
    "recipes.md": recipes,
}
