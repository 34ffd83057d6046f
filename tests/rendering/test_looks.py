from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash.analysis.rivers import add_water
from slopewash.errors import InvalidParameter, UnknownName
from slopewash.rendering import render, render_view
from slopewash.rendering.palettes import palette_names
from slopewash.rendering.viewpoint import find_viewpoint
from slopewash.terrain import Strata, Stratum, Terrain

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


def test_a_viewpoint_is_found_on_dry_ground(rough: Terrain) -> None:
    height = rough["elevation"]
    dry = find_viewpoint(height, np.zeros_like(height), 10.0, 135.0, None, None, None)
    y, x = np.indices(height.shape)
    wet = (np.hypot(y - dry.row, x - dry.column) < 20).astype(np.float32)
    spot = find_viewpoint(height, wet, 10.0, 135.0, None, None, None)
    assert wet[round(spot.row), round(spot.column)] == 0


def test_still_water_has_ripples_from_inside() -> None:
    lake = Terrain(np.full((96, 96), 50.0), cell_size=10.0, water=20.0)
    view = render_view(lake, size=SIZE, viewpoint=(480, 900, 10), heading=0, pitch=10)
    row = np.asarray(view).astype(float)[80].mean(axis=-1)
    assert 0.5 < np.abs(np.diff(row)).mean() < 20


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


def warmth(picture: NDArray[np.float64]) -> float:
    """Red relative to blue where the sun shines."""
    bright = picture.mean(axis=2) > np.quantile(picture.mean(axis=2), 0.7)
    return float(picture[bright][:, 0].mean() / picture[bright][:, 2].mean())


def test_the_evening_is_warmer_than_noon(dry: Terrain) -> None:
    noon, evening = (pixels(dry, sun=sun) for sun in ("noon", "evening"))
    assert warmth(evening) > 1.15 * warmth(noon)
    assert (pixels(dry, sun=(180, 58)) == noon).all()


def test_an_unknown_time_of_day_suggests_the_nearest(dry: Terrain) -> None:
    with pytest.raises(UnknownName, match='"morning"'):
        render(dry, sun="mornin")  # type: ignore[arg-type]


def test_a_season_is_that_of_the_palette(dry: Terrain) -> None:
    assert (pixels(dry, season="autumn") == pixels(dry, palette="autumn")).all()
    assert (pixels(dry, season="summer") == pixels(dry)).all()
    assert (pixels(dry, season="desert") == pixels(dry, palette="desert")).all()
    snowy, desert = pixels(dry, palette="desert", season="winter"), pixels(dry, palette="desert")
    assert (snowy > desert + 30).any()
    with pytest.raises(UnknownName, match='"winter"'):
        render(dry, season="wintr")  # type: ignore[arg-type]


def test_snow_is_scarcer_on_the_sunny_side() -> None:
    roof = 400 - 5 * np.abs(np.arange(128) - 63.5)[:, None] * np.ones(128)
    terrain = Terrain(roof, cell_size=10.0)
    # Lit from the east, both sides of a ridge that runs there are equally bright but for their snow.
    gain = (pixels(terrain, snow_line=250.0, sun=(90, 60)) - pixels(terrain, snow_line=None, sun=(90, 60))).mean(axis=2)
    north, south = gain[20:60, 8:-8].mean(), gain[68:108, 8:-8].mean()
    assert north > 1.3 * south > 0


def test_shade_keeps_its_detail() -> None:
    y, x = np.mgrid[0:160, 0:160].astype(float)
    # A flank of gullies that faces away from a low sun, below a ridge that shades it.
    height = np.clip(5 * (80 - x), 0, 400) + 10 * np.sin(y / 3)
    picture = pixels(Terrain(height, cell_size=10.0), sun=(270, 15), snow_line=None)
    shade = picture[16:-16, 40:56].mean(axis=2)
    assert shade.min() > 20
    assert shade.std(axis=0).mean() > 4


@pytest.mark.parametrize("layer", ["wear", "flow", "bedrock"])
def test_the_ground_follows_the_simulation(dry: Terrain, layer: str) -> None:
    """Where a layer says that the ground differs, so does its colour."""
    ground = dry["elevation"].astype(np.float64)
    there = np.zeros(dry.shape, bool)
    there[:, 60:64] = True
    usual, special = {
        "wear": (20.0, np.where(there, 60.0, 20.0)),
        "flow": (1.0, np.where(there, 100.0, 1.0)),
        "bedrock": (ground - 20.0, np.where(there, ground, ground - 20.0)),
    }[layer]
    before, after = (pixels(dry.replace(**{layer: values})) for values in (usual, special))
    change = np.abs(after - before).mean(axis=-1)
    assert change[:, 60:64].mean() > 3 * change[:, :30].mean()
    assert change[:, 60:64].mean() > 1.5


def test_beds_show_as_bands_on_a_cliff_and_not_below_soil() -> None:
    cliff = np.repeat(np.linspace(400, 0, 128)[:, None], 128, axis=1) * 3
    strata = Strata([Stratum(thickness=100.0, erodibility=r) for r in (0.0, 1.0) * 6])
    bare = Terrain(cliff, cell_size=10.0, strata=strata, bedrock=cliff)
    buried = bare.replace(bedrock=cliff - 100)
    hard_and_soft = [
        np.arange(128)[(cliff[:, 0] <= 1200 - low) & (cliff[:, 0] > 1200 - low - 100)] for low in (600, 700)
    ]
    contrast = []
    for terrain in (bare, buried):
        lines = pixels(terrain, snow_line=None, season="desert").mean(axis=(1, 2))
        hard, soft = (float(lines[rows[2:-2]].mean()) for rows in hard_and_soft)
        contrast.append(soft - hard)
    assert contrast[0] > 30
    assert contrast[1] < 0.5 * contrast[0]


def test_a_narrow_river_askew_to_the_grid_is_drawn_without_beads() -> None:
    y, x = np.mgrid[0:96, 0:96].astype(float)
    valley = Terrain(np.abs(x - 40 - 0.37 * y) * 3 + 0.6 * y, cell_size=10.0)
    watered = add_water(valley, river_width=0.02)
    shown = np.asarray(render(watered, width=384)).astype(float)
    dry_ground = np.asarray(render(watered, width=384, water="none")).astype(float)
    # Pixels that water changes, summed across the river: the same from line to line.
    across = np.abs(shown - dry_ground).sum(axis=2)[120:280].sum(axis=1)
    assert across.mean() > 100
    assert (across - np.convolve(across, np.ones(25) / 25, "same"))[25:-25].std() < 0.06 * across.mean()
