from __future__ import annotations

import numpy as np
import pytest

from slopewash.errors import InvalidParameter
from slopewash.rendering.light import illuminate, normals, skylight, sunshine


def tower(n: int = 41) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    height = np.zeros((n, n), dtype=np.float32)
    height[n // 2 - 1 : n // 2 + 2, n // 2 - 1 : n // 2 + 2] = 6.0
    return height


@pytest.mark.parametrize(
    ("azimuth", "down", "right"),
    [(0, 1, 0), (45, 1, -1), (90, 0, -1), (135, -1, -1), (180, -1, 0), (225, -1, 1), (270, 0, 1), (315, 1, 1)],
)
def test_shadow_falls_away_from_the_sun(azimuth: float, down: int, right: int) -> None:
    lit = sunshine(tower(), 1.0, (azimuth, 40.0))
    assert lit[20 + 5 * down, 20 + 5 * right] < 0.2
    assert lit[20 - 5 * down, 20 - 5 * right] == 1.0


def test_shadow_is_as_long_as_the_sun_is_low() -> None:
    lit = sunshine(tower(), 1.0, (270.0, 45.0))
    shaded = np.flatnonzero(lit[20, 22:] < 0.5)
    assert abs(int(shaded.max()) + 1 - 6) <= 1  # a wall 6 high at 45 degrees, to one cell


def test_shadow_edge_is_soft() -> None:
    lit = sunshine(tower(), 1.0, (290.0, 20.0))
    assert np.count_nonzero((lit > 0.05) & (lit < 0.95)) > 5


def test_valley_floor_sees_less_sky_than_a_plain() -> None:
    x = np.linspace(-1, 1, 61)
    valley = np.repeat((60 * np.abs(x))[None, :], 61, axis=0).astype(np.float32)
    sky = skylight(valley, 1.0, 315.0, normals(valley, 1.0))
    assert sky[30, 30] < 0.75  # a plain has 1


def test_light_turns_with_the_terrain() -> None:
    ground = np.random.default_rng(2).random((20, 30)).astype(np.float32).cumsum(axis=1)
    plain = illuminate(ground, 1.0, (300.0, 35.0))
    turned = illuminate(np.rot90(ground, -1).copy(), 1.0, (30.0, 35.0))  # a quarter turn clockwise
    np.testing.assert_allclose(np.rot90(turned.sun), plain.sun, atol=2e-4)
    np.testing.assert_allclose(np.rot90(turned.sky), plain.sky, atol=2e-4)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (3, 3)])
def test_smallest_fields_are_lit(shape: tuple[int, int]) -> None:
    light = illuminate(np.zeros(shape, dtype=np.float32), 1.0, (315.0, 40.0))
    np.testing.assert_allclose(light.sun, 1, rtol=1e-5)
    np.testing.assert_allclose(light.sky, 1, rtol=1e-5)


@pytest.mark.parametrize("sun", [(0.0, 0.0), (0.0, 91.0), (float("nan"), 30.0)])
def test_a_sun_below_the_horizon_is_rejected(sun: tuple[float, float]) -> None:
    with pytest.raises(InvalidParameter, match="altitude must lie above 0"):
        illuminate(np.zeros((2, 2), dtype=np.float32), 1.0, sun)
