from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from slopewash.errors import InvalidFile, InvalidParameter, UnknownName
from slopewash.rendering import hillshade, render
from slopewash.terrain import Strata, Stratum, Terrain


def flat(water: float, suspended: float = 0.0) -> Terrain:
    return Terrain(np.zeros((16, 16)), cell_size=10.0, water=water, suspended=suspended)


def colour(terrain: Terrain) -> tuple[int, int, int]:
    red, green, blue = np.asarray(render(terrain, width=16))[8, 8]
    return int(red), int(green), int(blue)


def test_flat_terrain_gives_a_uniform_picture() -> None:
    picture = np.asarray(render(Terrain(np.full((20, 30), 7.0), cell_size=10.0)))
    assert np.ptp(picture, axis=(0, 1)).max() == 0


@pytest.mark.parametrize("sun", [(315.0, 38.0), (90.0, 10.0)])
def test_no_slope_clips_to_black_or_white(rough: Terrain, sun: tuple[float, float]) -> None:
    for picture in (render(rough, sun=sun), hillshade(rough, sun=sun)):
        values = np.asarray(picture).reshape(-1, len(picture.getbands()))
        assert np.mean((values <= 1).all(axis=1)) < 0.005
        assert np.mean((values >= 254).all(axis=1)) < 0.005


def test_slope_away_from_the_sun_is_darker() -> None:
    ridge = Terrain(np.repeat(50.0 - np.abs(np.arange(64) - 32)[None, :], 64, axis=0))
    for draw in (hillshade, render):
        grey = np.asarray(draw(ridge, sun=(270.0, 40.0), width=64).convert("L")).astype(float)
        assert grey[:, 10:28].mean() > grey[:, 36:54].mean() + 40


def test_exaggeration_deepens_the_shading(rough: Terrain) -> None:
    gentle = rough.replace(elevation=rough["elevation"] * 0.1, water=None, suspended=None)
    spread = [float(np.asarray(hillshade(gentle, exaggeration=e)).std()) for e in (1.0, 4.0)]
    assert spread[1] > 2 * spread[0]


def test_deep_water_is_blue() -> None:
    red, green, blue = colour(flat(water=30.0))
    assert blue > green > red
    assert blue > 1.3 * red


def test_water_darkens_with_depth() -> None:
    depths = (1.0, 3.0, 9.0, 30.0)
    brightness = [sum(colour(flat(water=depth))) for depth in depths]
    assert brightness == sorted(brightness, reverse=True)


def test_a_film_of_water_is_invisible_and_the_shore_fades() -> None:
    dry, film, wet = (colour(flat(water=w)) for w in (0.0, 0.19, 0.5))  # drawn above 0.2 m on cells of 10 m
    assert film == dry
    assert wet != dry
    assert render(flat(0.5), width=16, shore_depth=0.6) == render(flat(0.0), width=16)


def test_sediment_turns_water_reddish() -> None:
    red, green, blue = colour(flat(water=10.0, suspended=40.0))
    assert red > green > blue
    assert red > colour(flat(water=10.0))[0] + 40


def test_nodata_cells_are_transparent(rough: Terrain) -> None:
    hole = np.zeros(rough.shape, dtype=bool)
    hole[20:60, 30:80] = True
    picture = render(rough.replace(nodata=hole), width=128)
    assert picture.mode == "RGBA"
    alpha = np.asarray(picture)[..., 3]
    assert (alpha[hole] == 0).all()
    assert (alpha[~hole] == 255).all()
    whole = np.asarray(render(rough, width=128)).astype(float)
    corner = np.asarray(picture)[:12, -12:, :3].astype(float)
    assert np.abs(corner - whole[:12, -12:]).mean() < 12  # the gap must not cast a cliff's shadow over the rest


@pytest.mark.parametrize(
    ("shape", "width", "size"),
    [
        ((3, 3), None, (768, 768)),
        ((1, 9), None, (774, 86)),
        ((9, 1), None, (86, 774)),
        ((1, 1), 5, (5, 5)),
        ((1, 900), None, (900, 1)),
        ((33, 47), 47, (47, 33)),
        ((47, 33), 66, (66, 94)),
        ((60, 90), 30, (30, 20)),
    ],
)
def test_any_shape_can_be_drawn(shape: tuple[int, int], width: int | None, size: tuple[int, int]) -> None:
    terrain = Terrain(np.random.default_rng(1).random(shape), water=0.1)
    assert render(terrain, width=width).size == size
    assert hillshade(terrain, width=width).size == size


def test_file_opens_and_equals_the_returned_picture(rough: Terrain, tmp_path: Path) -> None:
    picture = render(rough, tmp_path / "eroded.png", width=64)
    with Image.open(tmp_path / "eroded.png") as stored:
        assert stored.format == "PNG"
        assert np.array_equal(np.asarray(stored), np.asarray(picture))
    assert [p.name for p in tmp_path.iterdir()] == ["eroded.png"]


def test_failed_write_leaves_the_old_file(rough: Terrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "eroded.png"
    target.write_bytes(b"before")

    def fail(self: Image.Image, file: Any, **options: Any) -> None:
        file.write(b"half a file")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(InvalidFile, match="No space left"):
        render(rough, target, width=16)
    assert target.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["eroded.png"]


def test_bad_requests_are_reported_in_one_sentence(rough: Terrain, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"written as \.png"):
        render(rough, tmp_path / "eroded.jpg", width=16)
    with pytest.raises(InvalidFile, match="cannot write"):
        render(rough, tmp_path / "missing" / "eroded.png", width=16)
    with pytest.raises(InvalidParameter, match="exaggeration is 0"):
        render(rough, exaggeration=0)
    with pytest.raises(InvalidParameter, match="width is 0"):
        render(rough, width=0)
    with pytest.raises(UnknownName, match='did you mean "perspective"'):
        render(rough, view="perspectiv")  # type: ignore[arg-type]


def test_notebook_shows_a_modest_picture(rough: Terrain) -> None:
    shown = rough._repr_png_()
    assert shown is not None
    assert shown.startswith(b"\x89PNG")
    assert len(shown) < 1_000_000


def test_a_hillshade_keeps_the_shape_of_flanks_in_the_shade() -> None:
    """A steep ridge, lit from the west; its eastern flank has bumps that no sun reaches."""
    x = np.arange(128)
    profile = 1.5 * (64.0 - np.abs(x - 64)) + 2.0 * np.sin(x / 3.0)
    ridge = Terrain(np.repeat(profile[None, :], 128, axis=0), cell_size=1.0)
    grey = np.asarray(hillshade(ridge, sun=(270.0, 38.0), width=128)).astype(float)
    shaded = grey[16:112, 80:112]
    assert shaded.min() > 80  # of 255; 68 with a hard sun, and 11 between the shades of the bumps
    assert np.ptp(shaded.mean(axis=0)) > 16


def test_plain_ground_has_one_colour_whatever_its_slope_and_height() -> None:
    steps = np.repeat(np.array([0.0, 60.0, 400.0, 900.0]), 64)[None, :] * np.ones((256, 1))
    ground = Terrain(steps, cell_size=10.0, deposit=np.eye(256) * 50)
    colours = np.asarray(render(ground, palette="plain", width=256)).reshape(-1, 3).astype(float)
    hue = colours / colours.sum(axis=1, keepdims=True)
    assert np.ptp(hue, axis=0).max() < 0.06  # sunlight is warmer than that of the sky
    landscape = np.asarray(render(ground, palette="alpine", width=256)).reshape(-1, 3).astype(float)
    assert np.ptp(landscape / landscape.sum(axis=1, keepdims=True), axis=0).max() > 0.1


def test_plain_ground_has_no_black_holes() -> None:
    heights = np.full((96, 96), 300.0)
    heights[40:56, 40:56] = 0.0  # twice as deep as wide
    picture = np.asarray(render(Terrain(heights, cell_size=10.0), palette="plain", width=96)).astype(float)
    assert picture.mean(axis=2).min() > 90  # of 255; 42 with the ambient light of landscapes
    assert picture[44:52, 44:52].mean() < picture[:20, :20].mean() - 8  # still darker than open ground


def test_plain_ground_shows_the_beds_of_strata() -> None:
    slope = np.repeat(np.linspace(0, 100, 128)[None, :], 128, axis=0)
    layers = [Stratum(thickness=50, erodibility=0.0), Stratum(thickness=60, erodibility=1.0)]
    picture = np.asarray(render(Terrain(slope, strata=Strata(layers, top=100.0)), palette="plain", width=128))
    assert picture[:, 30].mean() > picture[:, 100].mean() + 25  # hard rock is darker
