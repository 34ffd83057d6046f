from __future__ import annotations

import numpy as np
import pytest

from slopewash.analysis import statistics
from slopewash.terrain import Terrain


def test_statistics_of_every_layer() -> None:
    result = statistics(Terrain(np.arange(101.0)[None, :], water=2.0))
    assert list(result) == ["elevation", "water"]
    ground = result["elevation"]
    assert (ground.minimum, ground.maximum, ground.mean) == (0.0, 100.0, 50.0)
    assert (ground.percentile_5, ground.median, ground.percentile_95) == pytest.approx((5.0, 50.0, 95.0))
    assert ground.standard_deviation == pytest.approx(np.sqrt((101**2 - 1) / 12))
    assert result["water"].standard_deviation == 0.0


def test_nodata_cells_do_not_count() -> None:
    result = statistics(Terrain([[5.0, np.nan], [7.0, 9.0]], nodata=[[False, True], [False, False]]))
    assert (result["elevation"].minimum, result["elevation"].mean) == (5.0, 7.0)


def test_the_mean_of_many_high_cells_keeps_its_digits() -> None:
    # A float32 sum of a million cells of 2000.1 m would be off by metres.
    assert statistics(Terrain(np.full((1000, 1000), 2000.1)))["elevation"].mean == float(np.float32(2000.1))
