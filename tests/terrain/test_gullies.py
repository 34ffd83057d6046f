from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import slopewash as sw
from slopewash.errors import InvalidParameter

CELL = 10.0


def plane(slope: float, *, degrees: float = 0.0, size: int = 96, cell: float = CELL) -> sw.Terrain:
    """Ground that falls to the south, or, turned, towards the east of it."""
    y, x = (np.mgrid[:size, :size] + 0.5) * cell
    angle = np.radians(degrees)
    return sw.Terrain(2000 - slope * (np.cos(angle) * y + np.sin(angle) * x), cell_size=cell)


def change(terrain: sw.Terrain, **options: Any) -> NDArray[np.float64]:
    options = {"depth": 1.0, "wavelength": 120.0, "seed": 3} | options
    carved = sw.add_gullies(terrain, **options)["elevation"]
    return carved.astype(np.float64) - terrain["elevation"].astype(np.float64)


def directions(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean square of the change from cell to cell to the south and to the east."""
    return float((np.diff(values, axis=0) ** 2).mean()), float((np.diff(values, axis=1) ** 2).mean())


def test_gullies_run_down_the_slope() -> None:
    down, across = directions(change(plane(0.6))[12:-12, 12:-12])
    assert across > 4 * down
    down, across = directions(change(plane(0.6, degrees=90))[12:-12, 12:-12])
    assert down > 4 * across


def test_gullies_are_a_wavelength_apart() -> None:
    rows = change(plane(0.6, size=192))[20:-20]
    power = (np.abs(np.fft.rfft(rows - rows.mean(axis=1, keepdims=True), axis=1)) ** 2).mean(axis=0)
    wavelengths = 192 / np.maximum(np.arange(power.size), 0.1)
    assert 8 < wavelengths[power.argmax()] < 18  # 12 cells; points stray, so the spacing varies
    assert power[(wavelengths > 5) & (wavelengths < 20)].sum() > 0.8 * power.sum()


@pytest.mark.parametrize("slope", [0.0, 0.05, 0.1])
def test_gentle_ground_stays_as_it_is(slope: float) -> None:
    assert np.abs(change(plane(slope))).max() == 0


def test_gullies_are_deeper_on_steeper_ground_up_to_a_limit() -> None:
    depths = [-change(plane(slope)).min() for slope in (0.2, 0.4, 0.8, 1.2, 2.0)]
    assert depths[:4] == sorted(depths[:4])
    assert depths[4] == pytest.approx(depths[3], rel=0.05)  # the smaller gullies follow the ground with the larger
    # Two wavelengths of 120 and 60 m: at most 1.3 times an eighth of each, times 1.2.
    assert depths[-1] < 1.3 * 0.125 * 1.2 * 180
    assert depths[-1] > 0.5 * 0.125 * 1.2 * 120


def test_more_is_cut_than_raised_and_depth_scales_it() -> None:
    whole, half = change(plane(0.6)), change(plane(0.6), depth=0.5)
    assert whole.mean() < 0
    assert half.std() == pytest.approx(0.5 * whole.std(), rel=0.1)  # the second wavelength follows the first
    terrain = plane(0.6)
    assert sw.add_gullies(terrain, depth=0) is terrain


@pytest.mark.parametrize("degrees", [0.0, 22.6, 45.0])
def test_gullies_are_not_aligned_with_anything_but_the_slope(degrees: float) -> None:
    # Changes of many seeds have nothing in common: no place of the grid is preferred.
    found = [change(plane(0.6, degrees=degrees, size=48), seed=seed)[6:-6, 6:-6] for seed in range(12)]
    single = np.mean([one.std() for one in found])
    assert np.mean(found, axis=0).std() < 1.6 * single / np.sqrt(12)


def test_other_seeds_give_other_gullies() -> None:
    one, other = change(plane(0.6)), change(plane(0.6), seed=4)
    assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.2


def test_a_finer_grid_has_the_same_gullies() -> None:
    coarse = change(plane(0.6, size=96, cell=10.0))
    fine = sw.Terrain(change(plane(0.6, size=192, cell=5.0))).resampled(96)["elevation"]
    inner = (slice(10, -10), slice(10, -10))
    assert np.corrcoef(coarse[inner].ravel(), fine[inner].ravel())[0, 1] > 0.98


@pytest.mark.parametrize("size", [48, 512])
def test_every_grid_gets_gullies_unless_asked_for_ones_that_it_cannot_show(size: int) -> None:
    assert np.abs(change(plane(0.6, size=size), wavelength=None)).max() > 2
    assert np.abs(change(plane(0.6, size=size), wavelength=4 * CELL)).max() == 0


def test_a_part_of_a_terrain_has_the_gullies_of_the_whole() -> None:
    ground = sw.generate("fbm", size=160, cell_size=CELL, seed=5, relief=700.0)
    whole = change(ground)
    part = sw.Terrain(ground["elevation"][40:140, 30:150], cell_size=CELL)
    inner = (slice(24, -24), slice(24, -24))  # two wavelengths from the edges of the part
    # Heights of 700 m as float32 are exact to 0.06 mm.
    np.testing.assert_allclose(change(part, origin=(40, 30))[inner], whole[40:140, 30:150][inner], atol=2e-4)


def test_nodata_has_no_gullies_and_makes_none() -> None:
    hole = np.zeros((96, 96), bool)
    hole[30:60, 40:70] = True
    ground = plane(0.6)
    carved = sw.add_gullies(ground.replace(nodata=hole), depth=1.0, wavelength=120.0, seed=3)
    np.testing.assert_array_equal(carved.nodata, hole)
    np.testing.assert_array_equal(carved["elevation"][hole], ground.replace(nodata=hole)["elevation"][hole])
    far = np.ones((96, 96), bool)
    far[18:72, 28:82] = False  # a wavelength from it
    found = carved["elevation"].astype(np.float64) - ground["elevation"]
    np.testing.assert_allclose(found[far], change(ground)[far], atol=1e-3)
    # A cliff to the lowest ground, which is what such cells hold, would be cut more than twice as deep.
    flat = plane(0.05).replace(nodata=hole)
    assert np.abs(change(flat)).max() == 0


def test_ground_below_deep_water_stays_as_it_is() -> None:
    lake = np.zeros((96, 96))
    lake[50:] = 20.0
    found = change(plane(0.6).replace(water=lake))
    assert np.abs(found[50:]).max() == 0
    assert np.abs(found[:50]).max() > 5


def test_layers_that_hold_the_change_since_the_start_include_the_gullies() -> None:
    start = plane(0.6)
    eroded = start["elevation"] - np.float32(3.0)
    terrain = start.replace(elevation=eroded, difference=-3.0, wear=3.0, deposit=0.0, bedrock=eroded - np.float32(2.0))
    carved = sw.add_gullies(terrain, depth=1.0, wavelength=120.0)
    difference = carved["elevation"] - start["elevation"]
    np.testing.assert_allclose(carved["difference"], difference, atol=1e-3)
    np.testing.assert_allclose(carved["wear"], np.maximum(-difference, 0), atol=1e-3)
    np.testing.assert_allclose(carved["deposit"], np.maximum(difference, 0), atol=1e-3)
    np.testing.assert_allclose(carved["elevation"] - carved["bedrock"], 2.0, atol=1e-3)


def test_a_million_cells_take_seconds() -> None:
    ground = plane(0.6, size=1024)
    begin = time.process_time()
    sw.add_gullies(ground)
    assert time.process_time() - begin < 30  # 2 s if nothing else runs; a loop over cells would take minutes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": -1.0}, "depth is -1.0; it must be within 0 .. 2"),
        ({"depth": np.nan}, "depth is nan; it must be within 0 .. 2"),
        ({"wavelength": 0.0}, "wavelength is 0.0 m; it must be finite and positive"),
    ],
)
def test_impossible_values_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        sw.add_gullies(plane(0.6), **options)  # type: ignore[arg-type]
