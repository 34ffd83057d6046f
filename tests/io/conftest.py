from __future__ import annotations

import numpy as np
import pytest

from slopewash.terrain import Emitter, Terrain, WaterSource


@pytest.fixture
def terrain() -> Terrain:
    """Five rows by seven columns with everything a terrain can carry."""
    random = np.random.Generator(np.random.Philox(3))
    nodata = np.zeros((5, 7), dtype=bool)
    nodata[1, 2] = nodata[4, 6] = True
    return Terrain(
        random.normal(900.0, 300.0, (5, 7)),
        water=random.random((5, 7)),
        erodibility=random.random((5, 7)),
        cell_size=3.3,
        nodata=nodata,
        crs="EPSG:32611",
        transform=(3.3, 0.0, 394253.6554542635, 0.0, -3.3, 3807917.8276283755),
        sources=[WaterSource(x=4.1, y=5.2, radius=2.0, rate=0.125)],
        emitters=[
            Emitter(x=0.1, y=16.4, radius=1 / 3, rate=20.0, speed=0.7, direction=-12.3),
            Emitter(x=np.int64(3), y=np.float32(2.1), radius=4, rate=0),  # type: ignore[arg-type]  # as callers do
        ],
    )


@pytest.fixture
def hill() -> Terrain:
    """Five rows by seven columns of bare ground."""
    return Terrain(np.random.Generator(np.random.Philox(5)).normal(900.0, 300.0, (5, 7)), cell_size=3.3)
