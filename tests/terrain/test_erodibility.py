from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slopewash.errors import InvalidParameter
from slopewash.terrain import Terrain, erodibility_from_elevation
from slopewash.terrain.erodibility import blur

RAMP = Terrain(np.repeat(np.linspace(1000.0, 1100.0, 64)[:, None], 64, axis=1))


def test_summits_are_harder_than_valleys() -> None:
    R = erodibility_from_elevation(RAMP, seed=1)
    # R falls from 1 to 0.4 over the ramp; its noise of 0.3, blurred and averaged over 640 cells, is below 0.05.
    assert R[:10].mean() == pytest.approx(0.95, abs=0.06)
    assert R[-10:].mean() == pytest.approx(0.45, abs=0.06)
    assert R.dtype == np.float32
    assert R.min() >= 0.05
    assert R.max() <= 1.0


def test_the_seed_decides() -> None:
    first, again, other = (erodibility_from_elevation(RAMP, seed=s, fine_noise=0.15) for s in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_flat_ground_has_an_erodibility_too() -> None:
    assert np.isfinite(erodibility_from_elevation(Terrain(np.zeros((5, 5))))).all()


def test_nodata_cells_do_not_soften_the_ground_beside_them() -> None:
    mask = np.zeros(RAMP.shape, bool)
    mask[:, 32:] = True
    whole = erodibility_from_elevation(RAMP, seed=1)
    half = erodibility_from_elevation(RAMP.replace(nodata=mask), seed=1)
    # Beyond the blur's reach of 8 cells nothing changes; rows are level, so nothing but rounding beside the gap either.
    np.testing.assert_array_equal(half[:, :24], whole[:, :24])
    np.testing.assert_allclose(half[:, :32], whole[:, :32], atol=1e-6)


def test_a_blur_keeps_the_mean_and_a_constant() -> None:
    values = np.random.default_rng(0).normal(size=(7, 40))
    # Mirrored borders give back what they take; sums of 280 float64 numbers.
    assert blur(values, 2.0).mean() == pytest.approx(values.mean(), abs=1e-12)
    np.testing.assert_allclose(blur(np.full((3, 3), 2.5), 2.0), 2.5, rtol=1e-14)


@pytest.mark.parametrize("arguments", [{"seed": -1}, {"seed": 1.5}, {"fine_noise": -0.1}, {"fine_noise": np.nan}])
def test_impossible_arguments_are_rejected(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match="it must be"):
        erodibility_from_elevation(RAMP, **arguments)
