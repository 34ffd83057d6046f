"""The same ground with more or fewer cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import slopewash as sw

HILL = sw.generate("dome", size=48, seed=5, cell_size=10.0)


@given(size=st.integers(1, 47))
def test_fewer_cells_keep_the_volume(size: int) -> None:
    smaller = HILL.resampled(size)
    assert smaller.shape == (size, size)
    assert smaller.width == pytest.approx(HILL.width)
    assert smaller["elevation"].mean(dtype=float) == pytest.approx(HILL["elevation"].mean(dtype=float), rel=1e-6)


@given(size=st.integers(2, 99))
def test_a_rectangle_is_filled_up_by_less_than_a_cell(size: int) -> None:
    terrain = sw.Terrain(np.arange(7000.0).reshape(70, 100), cell_size=5.0)
    smaller = terrain.resampled(size)
    assert smaller.width == pytest.approx(500.0)
    assert 0 <= smaller.height - 350.0 + 1e-9 < smaller.cell_size
    whole = int(350.0 / smaller.cell_size)  # rows that lie within the old ground
    inside = terrain["elevation"][: round(whole * smaller.cell_size / 5.0)]
    if whole * smaller.cell_size == pytest.approx(5.0 * len(inside)):
        assert smaller["elevation"][:whole].mean(dtype=float) == pytest.approx(inside.mean(dtype=float), rel=1e-6)


def test_more_cells_follow_a_slope_exactly() -> None:
    y, x = np.mgrid[0:20, 0:30]
    plane = sw.Terrain(3.0 * x - 2.0 * y, cell_size=2.0).resampled(75)
    assert plane.shape == (50, 75)
    inner = plane["elevation"][5:-5, 5:-5]  # beyond the outermost cells' neighbours nothing is known
    assert np.diff(inner, axis=1) == pytest.approx(3.0 * 30 / 75, abs=1e-4)
    assert np.diff(inner, axis=0) == pytest.approx(-2.0 * 30 / 75, abs=1e-4)


@pytest.mark.parametrize("size", [17, 48, 131])
def test_mirrored_ground_gives_mirrored_ground(size: int) -> None:
    there = HILL.resampled(size)["elevation"]
    back = HILL.replace(elevation=HILL["elevation"][:, ::-1]).resampled(size)["elevation"][:, ::-1]
    np.testing.assert_allclose(there, back, atol=1e-3)


@pytest.mark.parametrize("size", [16, 96])
def test_layers_stay_within_their_range(size: int) -> None:
    rough = np.random.default_rng(3).random((32, 32))
    terrain = sw.Terrain(rough, erodibility=rough.round(), water=np.maximum(rough - 0.5, 0)).resampled(size)
    assert terrain["erodibility"].min() >= 0
    assert terrain["erodibility"].max() <= 1
    assert terrain["water"].min() >= 0


@pytest.mark.parametrize("size", [8, 64])
def test_no_height_leaks_out_of_nodata_cells(size: int) -> None:
    heights = np.full((32, 32), 700.0)
    gaps = np.zeros((32, 32), bool)
    gaps[:, :13] = True
    terrain = sw.Terrain(np.where(gaps, np.nan, heights), nodata=gaps).resampled(size)
    assert terrain.nodata is not None
    assert terrain.nodata.mean() == pytest.approx(13 / 32, abs=1 / 16)
    np.testing.assert_allclose(terrain["elevation"][~terrain.nodata], 700.0, rtol=1e-6)


def test_places_on_the_map_and_under_the_ground_stay() -> None:
    strata = sw.strata_bands()
    spring = sw.WaterSource(x=455, y=130, radius=20, rate=1)
    terrain = HILL.replace(transform=(10, 0, 500, 0, -10, 900), strata=strata, sources=[spring]).resampled(24)
    assert terrain.transform == (20, 0, 500, 0, -20, 900)
    assert terrain.sources == (spring,)
    assert terrain.strata is not None
    assert terrain.strata.top is not None
    assert terrain.strata.top.shape == (24, 24)


def test_the_same_size_is_the_same_terrain() -> None:
    assert HILL.resampled(48) is HILL


@pytest.mark.parametrize("size", [0, -3, 1.5, True, 10**9])
def test_a_size_that_is_impossible_is_rejected(size: object) -> None:
    with pytest.raises(sw.SlopewashError, match="size is"):
        HILL.resampled(size)  # type: ignore[arg-type]
