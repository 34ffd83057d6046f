from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash.terrain import Terrain


def mountains(rows: int, columns: int, *, relief: float, seed: int = 3) -> NDArray[np.float64]:
    """Fractal mountains: random phases under a power-law spectrum."""
    random = np.random.default_rng(seed)
    wave = np.hypot(*np.meshgrid(np.fft.fftfreq(rows), np.fft.rfftfreq(columns), indexing="ij"))
    wave[0, 0] = np.inf
    phases = np.exp(2j * np.pi * random.random(wave.shape))
    height: NDArray[np.float64] = np.fft.irfft2(wave**-2.1 * phases, s=(rows, columns))
    height -= height.min()
    height *= relief / height.max()
    return height


@pytest.fixture(scope="session")
def rough() -> Terrain:
    """Steep mountains with lakes, muddy in the west."""
    height = mountains(96, 128, relief=320.0)
    water = np.maximum(np.quantile(height, 0.2) - height, 0)
    suspended = water * np.where(np.arange(128) < 64, 3.0, 0.0)
    return Terrain(height, cell_size=10.0, water=water, suspended=suspended)
