from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash import add_water, drainage_area, fill_depressions
from slopewash.analysis.drainage import Drainage
from slopewash.errors import InvalidParameter
from slopewash.terrain import Terrain

Floats = NDArray[np.float64]


def distance(n: int) -> Floats:
    y, x = np.mgrid[0:n, 0:n] - (n - 1) / 2
    return np.hypot(y, x)


def mountains(n: int = 64, seed: int = 5) -> Floats:
    random = np.random.default_rng(seed)
    wave = np.hypot(*np.meshgrid(np.fft.fftfreq(n), np.fft.rfftfreq(n), indexing="ij"))
    wave[0, 0] = np.inf
    ground: Floats = np.fft.irfft2(wave**-2.0 * np.exp(2j * np.pi * random.random(wave.shape)), s=(n, n))
    return ground * 300 / np.ptp(ground)


def outflow(terrain: Terrain) -> float:
    drainage = Drainage(terrain)
    leaves = drainage.outlet.reshape(drainage.missing.shape)[1:-1, 1:-1]
    return float(drainage.area[leaves].sum(dtype=np.float64))


def brute_force_fill(ground: Floats) -> Floats:
    """Lower a full bucket, one cell at a time, until nothing changes."""
    level = np.full(ground.shape, np.inf)
    level[[0, -1], :], level[:, [0, -1]] = ground[[0, -1], :], ground[:, [0, -1]]
    while True:
        walled = np.pad(level, 1, constant_values=np.inf)
        n, m = ground.shape
        lowest = np.min([walled[i : i + n, j : j + m] for i in range(3) for j in range(3)], axis=0)
        lower = np.maximum(ground, np.minimum(level, lowest))
        lower[[0, -1], :], lower[:, [0, -1]] = ground[[0, -1], :], ground[:, [0, -1]]
        if np.array_equal(lower, level):
            return level
        level = lower


def test_a_bowl_fills_to_its_rim() -> None:
    bowl = np.minimum(distance(41), 15.0)
    bowl[20, 36:] = 12.0
    bowl[20, 32:36] = 12.5  # the spout
    filled = fill_depressions(Terrain(bowl))
    np.testing.assert_array_equal(filled[distance(41) < 12], np.float32(12.5))


def test_ground_without_depressions_is_left_alone() -> None:
    cone = (100 - distance(33)).astype(np.float32)
    np.testing.assert_array_equal(fill_depressions(Terrain(cone)), cone)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_filling_agrees_with_the_lowest_pass_on_any_way_out(seed: int) -> None:
    ground = mountains(32, seed).astype(np.float32)
    np.testing.assert_array_equal(fill_depressions(Terrain(ground)), brute_force_fill(ground.astype(np.float64)))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (2, 3), (3, 3)])
def test_the_smallest_terrains_drain(shape: tuple[int, int]) -> None:
    terrain = Terrain(np.random.default_rng(1).random(shape), cell_size=2.0)
    assert drainage_area(terrain).sum() >= 4.0 * shape[0] * shape[1]
    assert "river" in add_water(terrain)


def test_the_areas_at_the_edges_sum_to_the_terrain() -> None:
    terrain = Terrain(mountains(), cell_size=10.0)
    assert outflow(terrain) == pytest.approx(64 * 64 * 100, rel=1e-6)  # float32 layers


def test_water_of_an_island_runs_to_the_nodata_around_it() -> None:
    missing = distance(64) > 24
    terrain = Terrain(mountains(), cell_size=10.0, nodata=missing)
    assert outflow(terrain) == pytest.approx(np.count_nonzero(~missing) * 100, rel=1e-6)
    watered = add_water(terrain)
    for name in ("drainage", "river", "lake"):
        assert not watered[name][missing].any()


def test_a_tilted_plane_drains_straight_down_without_gathering() -> None:
    plane = Terrain(np.repeat(np.arange(30.0, 0, -1)[:, None], 20, axis=1), cell_size=3.0)
    expected = np.repeat(9.0 * np.arange(1.0, 30)[:, None], 18, axis=1)  # the upper edge drains outwards
    np.testing.assert_array_equal(drainage_area(plane)[1:, 1:-1], expected)


@pytest.mark.parametrize("angle", [10.0, 22.5, 37.0])
def test_lines_keep_the_direction_of_a_plane_between_the_axes(angle: float) -> None:
    n = 81
    y, x = np.mgrid[0:n, 0:n].astype(float)
    a = np.radians(angle)
    drainage = Drainage(Terrain(-(x * np.cos(a) + y * np.sin(a))))
    lines, across = drainage.lines, n + 2
    cell, worst = 3 * across + 3, 0.0
    while lines.receiver[cell] >= 0:
        cell = int(lines.receiver[cell])
        i, j = cell // across - 3, cell % across - 3
        worst = max(worst, abs(i * np.cos(a) - j * np.sin(a)))
    assert worst < 1.0  # cells; steepest neighbours would be 14 cells off at 10 degrees


def test_a_cone_sends_equal_shares_to_all_sides() -> None:
    area = drainage_area(Terrain(-distance(65)))
    np.testing.assert_allclose(area, area[::-1], rtol=1e-5)
    np.testing.assert_allclose(area, area.T, rtol=1e-5)
    ring = (distance(65) > 24) & (distance(65) < 26)
    # On a cone, the area above a unit of its contour is half its radius.
    assert np.median(area[ring]) == pytest.approx(12.5, rel=0.15)


def test_a_mirrored_terrain_has_a_mirrored_drainage() -> None:
    ground = mountains(48)
    area = drainage_area(Terrain(ground))
    for mirrored, back in ((ground[::-1], np.s_[::-1]), (ground[:, ::-1], np.s_[:, ::-1])):
        np.testing.assert_allclose(drainage_area(Terrain(mirrored.copy()))[back], area, rtol=1e-5)


def test_a_valley_gathers_its_water_on_the_floor() -> None:
    y, x = np.mgrid[0:60, 0:41].astype(float)
    valley = Terrain(2 * np.abs(x - 20) + 0.5 * y, cell_size=1.0)
    watered = add_water(valley)
    assert (watered["drainage"][1:-1].argmax(axis=1) == 20).all()
    wet = watered["river"][4:30] > 0.02  # what pictures draw
    assert wet[:, 20].all()
    assert not wet[:, :17].any()
    assert not wet[:, 24:].any()
    assert (np.diff(watered["river"][4:30, 20]) <= 0).all()  # it grows on its way to the north


def test_rivers_on_a_plain_are_smooth() -> None:
    y, x = np.mgrid[0:160, 0:160].astype(float)
    noise = np.random.default_rng(3).random((160, 160))
    meander = 80 + 25 * np.sin(y / 22)
    watered = add_water(Terrain(0.02 * y + 0.02 * np.abs(x - meander) + 0.02 * noise, cell_size=1.0))
    river = watered["river"].astype(np.float64)
    rows = np.arange(10, 60)  # one trunk; further up, several streams
    trunk = np.array([np.average(np.arange(160.0), weights=river[i] ** 4) for i in rows])
    bends = np.abs(np.diff(trunk, 2))
    assert np.median(bends) < 0.15  # cells per row and row; a line from cell centre to cell centre has 1


def test_lakes_stand_level_in_depressions_that_are_deep_enough() -> None:
    ground = 30 - 0.1 * np.mgrid[0:64, 0:64][0]
    ground[20:30, 20:30] -= 8.0
    ground[50:53, 50:53] -= 0.05
    watered = add_water(Terrain(ground, cell_size=10.0))
    wet = watered["lake"] > 0
    assert wet[20:30, 20:30].all()
    assert wet.sum() == 100
    surface = (watered["elevation"] + watered["lake"])[wet]
    assert np.ptp(surface) < 1e-4


def test_lakes_stand_no_higher_than_the_simulated_water() -> None:
    ground = np.full((64, 64), 30.0)
    ground[20:40, 20:40] = 20.0
    water = np.where(ground < 25, 3.0, 0.0)
    watered = add_water(Terrain(ground, cell_size=10.0, water=water))
    np.testing.assert_array_equal(watered["lake"], water.astype(np.float32))
    np.testing.assert_array_equal(watered["water"], water.astype(np.float32))


def test_the_same_terrain_has_the_same_water() -> None:
    first, second = (add_water(Terrain(mountains(), cell_size=10.0)) for _ in range(2))
    for name in ("drainage", "river", "lake"):
        np.testing.assert_array_equal(first[name], second[name])


def test_a_negative_source_area_is_rejected() -> None:
    with pytest.raises(InvalidParameter, match="source_area is -1"):
        add_water(Terrain(np.zeros((4, 4))), source_area=-1)
