"""Whether a terrain shows the grid it was made on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash.analysis import axis_preference
from slopewash.errors import InvalidTerrain
from slopewash.terrain import Terrain


def isotropic(size: int, steepness: float, seed: int) -> NDArray[Any]:
    """Noise whose amplitude depends on the wavelength alone, and not on the direction."""
    noise = np.random.default_rng(seed).standard_normal((size, size))
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(size), np.fft.fftfreq(size), indexing="ij"))
    frequency[0, 0] = np.inf  # no mean
    relief: NDArray[Any] = np.fft.ifft2(np.fft.fft2(noise) * frequency**-steepness).real
    return relief


def stripes(degrees: float, size: int = 128, wavelength: float = 7.0) -> NDArray[Any]:
    y, x = np.mgrid[:size, :size]
    angle = np.radians(degrees)
    return np.cos(2 * np.pi * (np.cos(angle) * x + np.sin(angle) * y) / wavelength)


@pytest.mark.parametrize("steepness", [0.0, 1.0, 1.5])
def test_isotropic_noise_has_no_preference(steepness: float) -> None:
    # Cut out of a larger field, so that its edges do not join. Single fields scatter by 0.03 to 0.12, their mean by a
    # quarter of that.
    values = [axis_preference(isotropic(512, steepness, seed)[:256, :256]) for seed in range(16)]
    assert np.mean(values) == pytest.approx(1, abs=0.1)
    assert np.std(values) < 0.25


def test_stripes_along_the_axes_have_much_and_diagonal_ones_little() -> None:
    assert axis_preference(stripes(0)) > 100
    assert axis_preference(stripes(90)) > 100
    assert axis_preference(stripes(45)) < 0.01
    assert axis_preference(stripes(135)) < 0.01


def test_stripes_on_isotropic_ground_show() -> None:
    ground = isotropic(256, 1.0, 3)
    combed = ground + ground.std() * stripes(0, 256)
    # Stripes have half the variance of the ground, and all of it within the sixth of the directions near the axes.
    assert axis_preference(combed) > 3 * axis_preference(ground)


def test_neither_large_forms_nor_scale_nor_datum_count() -> None:
    ground = isotropic(128, 1.0, 5)
    y, x = np.mgrid[:128, :128]
    alone = axis_preference(ground)
    assert axis_preference(2000 + 30 * ground) == pytest.approx(alone, rel=1e-6)  # rounding of the transform
    hill = 5 * ground.std() * np.exp(-((x - 60) ** 2 + (y - 70) ** 2) / 1800)
    assert axis_preference(ground + hill) == pytest.approx(alone, rel=0.05)  # what of it leaks past the window


def test_turned_ground_has_the_same_preference() -> None:
    ground = isotropic(64, 1.0, 1) + stripes(20, 64)
    for turned in (np.rot90(ground), ground.T, ground[::-1]):
        assert axis_preference(turned) == pytest.approx(axis_preference(ground), rel=1e-9)


def test_flat_ground_has_no_preference_and_small_ground_is_refused() -> None:
    assert axis_preference(np.full((40, 50), 7.0)) == 1
    with pytest.raises(InvalidTerrain, match="it needs 32 cells a side or more"):
        axis_preference(np.zeros((20, 100)))


def test_a_terrain_will_do_and_gaps_are_refused() -> None:
    ground = isotropic(64, 1.0, 1)
    terrain = Terrain(ground)
    assert axis_preference(terrain) == axis_preference(terrain["elevation"])
    hole = np.zeros(ground.shape, bool)
    hole[5, 5:8] = True
    for gap in (terrain.replace(nodata=hole), np.ma.array(ground, mask=hole), np.where(hole, np.nan, ground)):
        with pytest.raises(InvalidTerrain, match="3 cells have no height; pass ground without gaps"):
            axis_preference(gap)
