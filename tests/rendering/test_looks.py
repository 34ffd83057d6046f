from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter, UnknownName
from slopewash.rendering import render, render_view
from slopewash.rendering.palettes import palette_names
from slopewash.terrain import Terrain

SIZE = (160, 100)


def pixels(terrain: Terrain, **options: object) -> NDArray[np.float64]:
    return np.asarray(render(terrain, width=128, **options)).astype(np.float64)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def dry(rough: Terrain) -> Terrain:
    return rough.replace(water=None, suspended=None)


@pytest.mark.parametrize("palette", palette_names())
def test_every_palette_keeps_detail_in_light_and_shade(dry: Terrain, palette: str) -> None:
    picture = pixels(dry, palette=palette)
    grey = picture.mean(axis=-1)
    assert np.quantile(grey, 0.02) > 20  # no black shadows
    assert np.quantile(grey, 0.98) < 252
    assert grey.std() > 12


def test_a_desert_is_redder_than_the_alps(dry: Terrain) -> None:
    alpine, desert = (pixels(dry, palette=name).mean(axis=(0, 1)) for name in ("alpine", "desert"))
    assert desert[0] - desert[2] > alpine[0] - alpine[2] + 20


def test_an_unknown_palette_suggests_the_nearest(dry: Terrain) -> None:
    with pytest.raises(UnknownName, match='"desert"'):
        render(dry, palette="dessert")


def test_snow_lies_above_the_snow_line_only() -> None:
    ramp = Terrain(np.repeat(np.linspace(0, 200, 128)[None, :], 128, axis=0), cell_size=10.0)
    bare, snowy = (pixels(ramp, snow_line=line) for line in (None, 100.0))
    change = (snowy - bare).mean(axis=(0, 2))
    assert (change[:45] == 0).all()
    assert (change[85:] > 30).all()


def test_a_snow_line_that_is_no_height_is_rejected(dry: Terrain) -> None:
    with pytest.raises(InvalidParameter, match="snow_line"):
        render(dry, snow_line="high")  # type: ignore[arg-type]


def test_rivers_and_lakes_are_drawn_instead_of_simulated_water() -> None:
    river, water = np.zeros((2, 64, 64))
    river[:, 30:33], water[10:20, :] = 5.0, 5.0
    terrain = Terrain(np.zeros((64, 64)), cell_size=10.0, river=river, lake=0.0, water=water)
    auto, simulated, none = (
        np.asarray(render(terrain, width=64, water=which)).astype(int) for which in ("auto", "simulated", "none")
    )
    assert (auto[50, 31] != none[50, 31]).any()
    assert (auto[15, 5] == none[15, 5]).all()
    assert (simulated[15, 5] != none[15, 5]).any()
    assert (simulated[50, 31] == none[50, 31]).all()


def test_sediment_and_rivers_change_the_ground_beside_them(dry: Terrain) -> None:
    deposit = np.zeros(dry.shape)
    deposit[:, 40:80] = 20.0
    change = np.abs(pixels(dry.replace(deposit=deposit)) - pixels(dry.replace(deposit=0.0))).mean(axis=-1)
    assert change[:, 44:76].mean() > 4 * change[:, :36].mean()


def test_the_view_from_inside_has_sky_above_ground(dry: Terrain) -> None:
    picture = np.asarray(render_view(dry, size=SIZE, camera="inside")).astype(int)
    assert picture.shape == (100, 160, 3)
    top, bottom = picture[:5].mean(axis=(0, 1)), picture[-20:].mean(axis=(0, 1))
    assert top[2] > top[0] + 20  # blue
    assert bottom[2] < bottom[:2].max()


def test_a_viewpoint_and_a_heading_choose_the_view(dry: Terrain) -> None:
    north, south = (render_view(dry, size=SIZE, viewpoint=(640, 480, 40), heading=h) for h in (0, 180))
    assert north != south
    assert north == render_view(dry, size=SIZE, viewpoint=(640, 480, 40), heading=0)


@pytest.mark.parametrize("viewpoint", [(1.0,), (-5.0, 10.0), (10.0, 1e6), (10.0, 10.0, -1.0)])
def test_a_viewpoint_off_the_terrain_is_rejected(dry: Terrain, viewpoint: tuple[float, ...]) -> None:
    with pytest.raises(InvalidParameter, match="viewpoint is"):
        render_view(dry, size=SIZE, viewpoint=viewpoint)


def test_far_ridges_fade_into_the_air() -> None:
    walls = np.zeros((128, 128))
    walls[20:24], walls[90:94] = 300.0, 60.0
    picture = render_view(
        Terrain(walls, cell_size=10.0), size=SIZE, viewpoint=(640, 1200, 30), heading=0, pitch=0, sun=(180, 40)
    )
    column = np.asarray(picture).astype(float)[:, 80]
    sky = column[0]
    near, far = (np.abs(column[row] - sky).sum() for row in (52, 44))
    assert far < near
