from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.analysis import local_minima, local_minima_mask, slope
from slopewash.errors import InvalidParameter, InvalidTerrain


def test_a_tilted_plane_has_one_slope_everywhere_in_any_direction() -> None:
    y, x = np.mgrid[:20, :30] * 5.0
    for angle in np.radians([0, 30, 45, 200]):
        plane = 0.75 * (np.cos(angle) * x + np.sin(angle) * y)
        # Float64 inside, rounded to float32 once.
        np.testing.assert_allclose(slope(plane, 5.0), np.degrees(np.arctan(0.75)), rtol=1e-6)


def test_slope_of_float32_ground_is_float32_and_flat_is_zero() -> None:
    result = slope(np.full((4, 4), 2000.0, dtype=np.float32), 10.0)
    assert result.dtype == np.float32
    assert not result.any()


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2)])
def test_slope_of_the_smallest_grids(shape: tuple[int, int]) -> None:
    assert slope(np.zeros(shape), 1.0).shape == shape


def test_edges_use_one_sided_differences() -> None:
    assert slope([[0.0, 1.0, 3.0]], 1.0)[0] == pytest.approx(np.degrees(np.arctan([1.0, 1.5, 2.0])))


def test_minima_are_strict_and_counted_inside_the_border() -> None:
    ground = np.ones((12, 12))
    ground[5, 5] = 0.0
    ground[1, 1] = 0.0
    ground[8, 7:9] = 0.0  # two equal cells are not lower than each other
    assert np.argwhere(local_minima_mask(ground, border=4)).tolist() == [[5, 5]]
    assert local_minima(ground) == 1
    assert local_minima(ground, border=0) == 2
    assert local_minima(ground, border=6) == 0
    assert local_minima(ground, border=100) == 0


def test_a_pit_on_the_diagonal_of_a_lower_cell_is_none() -> None:
    ground = np.ones((3, 3))
    ground[1, 1], ground[0, 0] = 0.5, 0.4
    assert local_minima(ground, border=1) == 0


def test_nodata_cells_are_neither_minima_nor_neighbours() -> None:
    ground = np.full((5, 5), 3.0)
    ground[1, 1], ground[3, 3], ground[3, 4] = -9999.0, 1.0, 0.0
    ground[2, 2] = 2.0
    nodata = np.zeros(ground.shape, dtype=bool)
    assert np.argwhere(local_minima_mask(ground, 0, nodata=nodata)).tolist() == [[1, 1], [3, 4]]
    nodata[1, 1] = True
    assert np.argwhere(local_minima_mask(ground, 0, nodata=nodata)).tolist() == [[3, 4]]
    nodata[3, 3] = nodata[3, 4] = True  # the other cells still count
    assert np.argwhere(local_minima_mask(ground, 0, nodata=nodata)).tolist() == [[2, 2]]
    assert local_minima(ground, 0, nodata=nodata) == 1
    assert local_minima(ground, 0, nodata=~np.zeros_like(nodata)) == 0


def test_nodata_of_another_shape_is_rejected() -> None:
    with pytest.raises(InvalidTerrain, match=r"nodata has shape \(2, 2\)"):
        local_minima(np.zeros((3, 3)), nodata=np.zeros((2, 2)))


@pytest.mark.parametrize("cell_size", [0.0, -1.0, np.nan, np.inf])
def test_an_impossible_cell_size_is_rejected(cell_size: float) -> None:
    with pytest.raises(InvalidParameter, match="cell_size is"):
        slope(np.zeros((3, 3)), cell_size)


def test_a_terrain_brings_its_cell_size_and_its_voids() -> None:
    y, x = np.mgrid[:6, :6]
    ground, hole = 5.0 * x, (y == 2) & (x == 3)
    terrain = sw.Terrain(np.where(hole, -9999.0, ground), cell_size=5.0, nodata=hole)
    for given in (terrain, np.ma.array(terrain["elevation"], mask=hole), np.where(hole, np.nan, ground)):
        steepness = slope(given, 5.0)
        np.testing.assert_allclose(steepness[~hole], 45.0)
        assert (steepness[hole] == 0).all() if given is terrain else np.isnan(steepness[hole]).all()
        assert local_minima(given, border=0) == 0
    np.testing.assert_array_equal(slope(terrain), slope(terrain, 5.0))
    with pytest.raises(InvalidParameter, match=r"cell_size is 1.0 m, and the terrain's cells are 5 m; leave it out"):
        slope(terrain, 1.0)
    with pytest.raises(InvalidParameter, match="cell_size is missing; heights without a terrain need it, in metres"):
        slope(ground)


@pytest.mark.parametrize("elevation", [[["low", "high"]], [[1.0], [1.0, 2.0]], {"elevation": [[1.0]]}])
def test_what_holds_no_heights_is_rejected_in_a_sentence(elevation: Any) -> None:
    for measure in (local_minima, lambda given: slope(given, 1.0)):
        with pytest.raises(InvalidTerrain, match=r"elevation (has dtype <U4|is ragged|is a dict)"):
            measure(elevation)


@pytest.mark.parametrize("elevation", [np.zeros(3), np.zeros((0, 3))])
def test_what_has_no_rows_and_columns_is_rejected(elevation: Any) -> None:
    with pytest.raises(InvalidTerrain, match="it must have two dimensions, rows and columns"):
        local_minima(elevation)
    with pytest.raises(InvalidParameter, match="border is -1 cells"):
        local_minima(np.zeros((3, 3)), border=-1)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_plane_has_its_slope_beside_nodata_too(axis: int) -> None:
    plane = np.moveaxis(np.broadcast_to(1000.0 + np.arange(60.0), (60, 60)), 1, axis)
    void = np.zeros((60, 60), dtype=bool)
    void[::6, 30::6] = void[10:14, 5] = True
    terrain = sw.Terrain(np.where(void, -9999.0, plane), cell_size=10.0, nodata=void)
    tilt = math.degrees(math.atan(0.1))
    steepness = slope(terrain["elevation"], 10.0, nodata=void)
    np.testing.assert_allclose(steepness[~void], tilt, rtol=1e-6)
    assert (steepness[void] == 0).all()
    survey = sw.analyse(terrain)
    assert (survey.mean_slope, survey.slope_95) == pytest.approx((tilt, tilt), rel=1e-5)
    masked = sw.erode(terrain.replace(mask=0.5), "outerrain", steps=1, settle=0)
    start = sw.erode(terrain, "outerrain", steps=1, settle=0)
    assert masked["slope"][~void].max() <= start["slope"][~void].max() + 1.0


def test_a_single_row_has_the_slope_along_it() -> None:
    survey = sw.analyse(sw.Terrain([np.arange(40.0)], cell_size=1.0))
    assert survey.mean_slope == pytest.approx(45.0)
