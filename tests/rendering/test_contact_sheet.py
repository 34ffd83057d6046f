from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.rendering import contact_sheet
from slopewash.terrain import Terrain

RED, BLUE = Image.new("RGB", (80, 40), "#ff0000"), Image.new("RGB", (40, 80), "#0000ff")


def test_thumbnails_have_one_size_and_keep_their_proportions() -> None:
    sheet = np.asarray(contact_sheet([RED, BLUE], width=80, columns=2)).astype(int)
    red = (sheet[..., 0] > 200) & (sheet[..., 2] < 50)
    blue = (sheet[..., 2] > 200) & (sheet[..., 0] < 50)
    assert (np.ptp(np.argwhere(red), axis=0) + 1).tolist() == [40, 80]
    assert (np.ptp(np.argwhere(blue), axis=0) + 1).tolist() == [40, 20]


def test_titles_are_written_below_their_thumbnails() -> None:
    plain, titled = contact_sheet([RED], width=80), contact_sheet([RED], width=80, titles=["before"])
    assert titled.height > plain.height
    below = np.asarray(titled)[46 : titled.height - 4].min()
    assert below < 100


def test_a_long_title_stays_below_its_own_thumbnail() -> None:
    sheet = np.asarray(contact_sheet([RED, RED], width=80, columns=2, titles=["word " * 40, ""])).astype(int)
    assert sheet[50:, 92:].min() > 200


def test_terrains_and_files_are_drawn(tmp_path: Path) -> None:
    RED.save(tmp_path / "red.png")
    terrain = Terrain(np.random.default_rng(1).random((16, 24)), cell_size=10.0)
    path = tmp_path / "sheet.png"
    sheet = contact_sheet([terrain, tmp_path / "red.png"], path, width=96, view="map", columns=1)
    assert sheet.size == (96 + 12, 2 * 64 + 18)
    with Image.open(path) as written:
        assert written.size == sheet.size


@pytest.mark.parametrize(
    ("options", "words"),
    [({"columns": 0}, "columns is 0"), ({"width": 3}, "width is 3"), ({"titles": ["a", "b"]}, "2 titles")],
)
def test_what_cannot_be_laid_out_is_rejected(options: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        contact_sheet([RED], **options)  # type: ignore[arg-type]


def test_a_missing_picture_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"gone\.png"):
        contact_sheet([tmp_path / "gone.png"])
