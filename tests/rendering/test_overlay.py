from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from slopewash.errors import InvalidParameter, UnknownName
from slopewash.rendering import overlay, side_by_side, wear_and_deposit
from slopewash.rendering.colour_bar import Scale, choose_scale, ticks
from slopewash.rendering.colours import colour_table
from slopewash.terrain import Terrain

TEXT = 13  # margin and letters of a small map
TOP = 2 * TEXT + round(1.3 * TEXT)


def flat(**layers: object) -> Terrain:
    return Terrain(np.zeros((16, 16)), **layers)  # type: ignore[arg-type]


def pixel(picture: Image.Image, row: int, column: int) -> list[int]:
    return [int(v) for v in np.asarray(picture)[TOP + row, TEXT + column]]


@pytest.mark.parametrize(("layer", "table"), [("slope", "batlow"), ("difference", "vik"), ("velocity", "batlow")])
def test_flat_ground_shows_the_colours_of_the_map(layer: str, table: str) -> None:
    values = np.repeat(np.linspace(-8.0, 8.0, 16)[None, :], 16, axis=0)
    picture = overlay(flat(**{layer: values}), layer, width=16)
    assert pixel(picture, 5, 0) == colour_table(table)[0].tolist()
    assert pixel(picture, 5, 15) == colour_table(table)[-1].tolist()


def test_a_map_without_its_frame_is_the_map_alone(rough: Terrain) -> None:
    whole, bare = (np.asarray(overlay(rough, "elevation", width=128, framed=framed)) for framed in (True, False))
    height, width = bare.shape[:2]
    assert width == 128
    np.testing.assert_array_equal(whole[TOP : TOP + height, TEXT : TEXT + width], bare)


def test_difference_is_symmetric_about_zero() -> None:
    values = np.zeros((16, 16))
    values[:, 12:] = 5.0
    picture = wear_and_deposit(flat(difference=values), width=16)
    table = colour_table("vik")
    assert pixel(picture, 5, 2) in (table[127].tolist(), table[128].tolist())
    assert pixel(picture, 5, 14) == table[-1].tolist()


def test_flow_is_drawn_on_a_log_scale() -> None:
    values = np.repeat(np.logspace(0, 4, 16)[None, :], 16, axis=0)
    logged, plain = (overlay(flat(flow=values), "flow", width=16, log=log) for log in (None, False))
    assert pixel(logged, 5, 5) == colour_table("batlow")[85].tolist()
    assert pixel(plain, 5, 5) == colour_table("batlow")[1].tolist()


def test_one_outlier_does_not_wash_out_the_map() -> None:
    values = np.random.default_rng(1).random((40, 40)).astype(np.float32)
    values[3, 3] = 1e6
    assert choose_scale(values).high < 1.01
    assert choose_scale(values, limits=(0.0, 10.0)) == Scale(0.0, 10.0, False)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (Scale(0.0, 1.0, False), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (Scale(-3.0, 3.0, False), [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]),
        (Scale(641.0, 2290.0, False), [1000.0, 1500.0, 2000.0]),
        (Scale(1.0, 10.0, True), [1.0, 2.0, 5.0, 10.0]),
        (Scale(1e-3, 1e3, True), [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0]),
    ],
)
def test_ticks_are_round(scale: Scale, expected: list[float]) -> None:
    assert ticks(scale) == expected


def test_bar_runs_through_the_colours_with_a_tick_at_its_value() -> None:
    values = np.repeat(np.linspace(0.0, 10.0, 200)[None, :], 200, axis=0)
    terrain = Terrain(np.zeros((200, 200)), wear=values)
    picture = np.asarray(overlay(terrain, "wear", width=200, limits=(0.0, 10.0))).astype(int)
    left = TEXT + 200 + TEXT
    top, bottom = TOP + round(1.6 * TEXT), TOP + 200  # the units stand above the bar
    assert picture[bottom - 1, left + 3].tolist() == colour_table("batlow")[0].tolist()
    assert picture[top, left + 3].tolist() == colour_table("batlow")[-1].tolist()
    middle = (top + bottom - 1) / 2
    beside = picture[:, left + round(1.3 * TEXT) + 2].sum(axis=1)
    marks = np.flatnonzero(beside[top:bottom] < 300) + top
    assert np.abs(marks - (bottom - 1 - 0.2 * (bottom - 1 - top))).min() <= 1.5  # the tick at 2
    assert marks.min() < middle < marks.max()


def test_a_dry_or_constant_layer_can_be_drawn(rough: Terrain) -> None:
    still = rough.replace(flow=0.0, water=0.0, velocity=2.5, difference=0.0)
    for layer in ("flow", "water", "velocity", "difference"):
        assert overlay(still, layer, width=64).mode == "RGB"


def test_every_layer_of_rough_ground_keeps_its_valleys(rough: Terrain) -> None:
    picture = np.asarray(overlay(rough.replace(erodibility=0.5), "erodibility", width=128)).astype(float)
    assert picture[TOP : TOP + 96, TEXT : TEXT + 128].std(axis=(0, 1)).min() > 5


def test_unknown_names_suggest_the_nearest(rough: Terrain) -> None:
    with pytest.raises(UnknownName, match='unknown layer "watr"; did you mean "water"'):
        overlay(rough, "watr")
    with pytest.raises(UnknownName, match='unknown colour map "batlo"; did you mean "batlow'):
        overlay(rough, "water", colours="batlo")


def test_limits_must_rise(rough: Terrain) -> None:
    with pytest.raises(InvalidParameter, match=r"limits are 3 \.\. 1"):
        overlay(rough, "water", limits=(3.0, 1.0))
    with pytest.raises(InvalidParameter, match="log scale needs limits above 0"):
        overlay(rough, "water", limits=(0.0, 1.0), log=True)


def test_nodata_cells_are_neutral() -> None:
    hole = np.zeros((16, 16), dtype=bool)
    hole[4:8, 4:8] = True
    red, green, blue = pixel(overlay(flat(slope=1.0, nodata=hole), "slope", width=16), 5, 5)
    assert max(red, green, blue) - min(red, green, blue) < 10


def test_colours_come_without_matplotlib() -> None:
    code = (
        "import sys, numpy, slopewash as sw;"
        "sw.overlay(sw.Terrain(numpy.zeros((4, 4))), 'elevation', width=8);"
        "assert not {'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_contact_sheet_holds_every_picture(tmp_path: Path) -> None:
    tiles = [Image.new("RGB", (40, 30), c) for c in ("#ff0000", "#00ff00", "#0000ff")]
    sheet = side_by_side(tiles, ["one", "two", "three"], tmp_path / "sheet.png", columns=2)
    assert sheet.size == (116, 160)
    colours = {tuple(c) for c in np.asarray(sheet).reshape(-1, 3).tolist()}
    assert {(255, 0, 0), (0, 255, 0), (0, 0, 255)} <= colours
    assert (tmp_path / "sheet.png").exists()
    with pytest.raises(InvalidParameter, match="2 titles for 3 images"):
        side_by_side(tiles, ["one", "two"])
