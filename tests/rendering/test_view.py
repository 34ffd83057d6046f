from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from slopewash.errors import InvalidParameter
from slopewash.rendering import render, render_view
from slopewash.rendering.camera import look_at, upright_for
from slopewash.terrain import Terrain

SIZE = (240, 160)

SMALL = (160, 100)


def picture_of(terrain: Terrain, **options: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(render_view(terrain, size=SMALL, **options)).astype(np.float64)  # type: ignore[arg-type]


def test_upright_picture_maps_onto_the_pitched_one() -> None:
    box = np.array([[x, y, z] for x in (-50, 50) for y in (-40, 40) for z in (0, 20)], dtype=float)
    camera = look_at(box, size=(320, 200), azimuth=200, pitch=30, distance=1.5, zoom=1.0)
    upright = upright_for(camera)
    a, b, c, d, e, f, g, h = upright.coefficients
    for u, v in ((10.0, 20.0), (160.0, 100.0), (300.0, 190.0)):
        column = (a * u + b * v + c) / (g * u + h * v + 1)
        row = (d * u + e * v + f) / (g * u + h * v + 1)
        sideways = np.interp(column - 0.5, np.arange(len(upright.sideways)), upright.sideways)
        upward = np.interp(row - 0.5, np.arange(len(upright.upward)), upright.upward)
        assert (sideways, upward) == pytest.approx(camera.upright(u, v), abs=1e-5)


def test_block_fills_the_picture_and_leaves_a_margin(rough: Terrain) -> None:
    picture = picture_of(rough)
    backdrop = picture[:, :1]
    drawn = np.abs(picture - backdrop).max(axis=2) > 40
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    assert 2 <= rows.min() < 30
    assert 70 < rows.max() < 99
    assert 1 <= columns.min() < 30
    assert 130 < columns.max() < 159


def test_peak_stands_where_the_eye_should_see_it() -> None:
    y, x = np.mgrid[0:64, 0:64]
    spike = Terrain(60 * np.exp(-((x - 52) ** 2 + (y - 32) ** 2) / 30.0))  # near the east side
    tops = {}
    for azimuth in (180.0, 0.0):
        picture = picture_of(spike, azimuth=azimuth)
        drawn = np.abs(picture - picture[:, :1]).max(axis=2) > 40
        tops[azimuth] = int(np.argmax(drawn.any(axis=0) * (100 - drawn.argmax(axis=0))))
    assert tops[180.0] > 90  # looking north, east is on the right
    assert tops[0.0] < 70


def test_view_of_a_lake_shows_water(rough: Terrain) -> None:
    height = np.hypot(*np.mgrid[-32:32, -32:32]).clip(20)
    lake = Terrain(height, cell_size=10.0, water=np.where(height < 21, 30.0, 0.0))
    red, _, blue = picture_of(lake, pitch=50)[45, 80]
    assert blue > red + 10


def test_cut_walls_are_earth_coloured() -> None:
    red, green, blue = picture_of(Terrain(np.zeros((32, 32))), azimuth=180.0, pitch=10.0)[-12:, 80].min(axis=0)
    assert red > blue
    assert green > blue


def test_nothing_clips(rough: Terrain) -> None:
    values = picture_of(rough).reshape(-1, 3)
    assert np.mean((values <= 1).all(axis=1)) < 0.005
    assert np.mean((values >= 254).all(axis=1)) < 0.005


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (3, 3), (17, 40)])
@pytest.mark.parametrize("azimuth", [0.0, 90.0, 205.0])
def test_any_shape_can_be_seen(shape: tuple[int, int], azimuth: float) -> None:
    terrain = Terrain(np.random.default_rng(1).random(shape))
    assert render_view(terrain, size=(64, 40), azimuth=azimuth).size == (64, 40)


def test_view_is_written_and_is_what_render_draws(rough: Terrain, tmp_path: Path) -> None:
    picture = render(rough, tmp_path / "view.png", view="perspective", width=160)
    with Image.open(tmp_path / "view.png") as stored:
        assert np.array_equal(np.asarray(stored), np.asarray(picture))
    assert picture == render_view(rough, size=SMALL)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"pitch": 80.0}, "pitch is 80"),
        ({"distance": 0.5}, "distance is 0.5"),
        ({"zoom": 0.0}, "zoom is 0"),
        ({"size": (4, 4)}, "size is"),
        ({"size": (9000, 9000)}, "size is 9000"),
    ],
)
def test_impossible_views_are_rejected(rough: Terrain, option: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        render_view(rough, **{"size": SMALL, **option})  # type: ignore[arg-type]


def test_a_target_is_in_the_middle_of_the_picture() -> None:
    y, x = np.mgrid[0:64, 0:64]
    lake = Terrain(np.zeros((64, 64)), cell_size=10.0, water=np.where(np.hypot(x - 50, y - 12) < 3, 5.0, 0.0))
    for azimuth in (0.0, 130.0, 205.0):
        picture = np.asarray(
            render_view(lake, size=SMALL, zoom=4, azimuth=azimuth, target=(505.0, 125.0), pitch=40)
        ).astype(float)
        wet = picture[..., 2] > picture[..., 0] + 10
        rows, columns = np.nonzero(wet[30:70, 40:120])
        assert abs(rows.mean() - 20) < 3
        assert abs(columns.mean() - 40) < 3


@pytest.mark.parametrize("target", [(1.0,), (-5.0, 0.0), (10.0, np.nan), (1e9, 0.0)])
def test_a_target_off_the_terrain_is_refused(target: tuple[float, ...], rough: Terrain) -> None:
    with pytest.raises(InvalidParameter, match="target"):
        render_view(rough, size=SMALL, target=target)


def test_a_draped_layer_takes_the_place_of_the_landscape(rough: Terrain) -> None:
    east = Terrain(rough["elevation"], cell_size=10.0, water=rough["water"], wear=np.arange(128.0) * np.ones((96, 1)))
    picture = np.asarray(render_view(east, size=SMALL, azimuth=180.0, pitch=60.0, layer="wear")).astype(float)
    left, right = picture[50, 45], picture[50, 115]
    assert left[2] > left[0]  # batlow begins with blue
    assert right[0] > right[2]  # and ends with pink


def test_contour_lines_are_drawn_at_their_heights() -> None:
    from slopewash.rendering.draped import contour_lines

    ramp = np.repeat(np.linspace(0, 100, 401, dtype=np.float32)[None, :], 8, axis=0)
    dark = contour_lines(ramp, 10.0)[4]
    assert [round(c / 4) for c in np.flatnonzero(dark > 0.3)[::1] if c % 40 == 0] == list(range(0, 101, 10))
    assert dark[20] == 0
    assert dark[200] >= dark[40]  # every fifth is bolder
    assert (contour_lines(ramp, "auto") > 0).any()
    with pytest.raises(InvalidParameter, match="contours"):
        contour_lines(ramp, 0.0)
    with pytest.raises(InvalidParameter, match="contours"):
        contour_lines(ramp, "fine")  # type: ignore[arg-type]


def test_more_rays_per_pixel_make_smoother_edges(rough: Terrain) -> None:
    once, often = (
        np.asarray(render_view(rough, size=SMALL, supersampling=n)).astype(float).mean(axis=2) for n in (1, 4)
    )

    def edges(picture: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        return float(np.abs(np.diff(picture, n=2, axis=0)).mean())

    assert edges(often) < 0.9 * edges(once)
    with pytest.raises(InvalidParameter, match="supersampling"):
        render_view(rough, size=SMALL, supersampling=9)


def test_one_frame_gives_pictures_of_one_camera() -> None:
    low, high = np.zeros((32, 32)), np.zeros((32, 32))
    high[8:24, 8:24] = 60.0
    start, after = Terrain(high, cell_size=10.0), Terrain(low, cell_size=10.0)

    def foot(terrain: Terrain, **options: Terrain) -> list[int]:
        picture = np.asarray(render_view(terrain, size=SIZE, palette="plain", **options)).astype(int)  # type: ignore[arg-type]
        backdrop = picture[2, 2]
        rows = np.flatnonzero((np.abs(picture - backdrop).sum(axis=2) > 90).any(axis=1))
        return [int(rows.max())]

    assert foot(after, frame=start) == foot(start, frame=start) == foot(start)
    assert foot(after) != foot(after, frame=start)


def test_a_frame_of_another_size_is_refused(rough: Terrain) -> None:
    with pytest.raises(InvalidParameter, match="frame has 8 x 8 cells"):
        render_view(rough, size=SIZE, frame=Terrain(np.zeros((8, 8))))


def test_plain_pictures_have_no_haze() -> None:
    flat = Terrain(np.zeros((64, 64)), cell_size=10.0)

    def contrast(palette: str) -> float:
        picture = np.asarray(render_view(flat, size=(300, 200), azimuth=180, pitch=30, palette=palette)).astype(float)
        middle = picture[:, 150]
        ground = [row for row in range(200) if 40 < row < 150]
        return float(np.abs(middle[ground[0] + 15] - middle[ground[-1] - 15]).sum())

    assert contrast("plain") < 3 < contrast("alpine")


def test_plain_pictures_show_no_glare_on_steep_water() -> None:
    slope = np.repeat(np.linspace(280, 0, 64)[:, None], 64, axis=1)  # falls away from a camera in the north
    steep = Terrain(slope, cell_size=10.0, water=np.full((64, 64), 5.0))
    eye = {"azimuth": 0.0, "pitch": 36.0, "sun": (90.0, 40.0)}
    plain, alpine = (
        np.asarray(render_view(steep, size=(160, 100), palette=palette, **eye))[20:36, 70:90].astype(float)  # type: ignore[arg-type]
        for palette in ("plain", "alpine")
    )
    assert plain.mean() < 100
    assert alpine.mean() > plain.mean() + 30
