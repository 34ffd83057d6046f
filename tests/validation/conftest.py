"""Terrains that the known answers are checked on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash import backend_names


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give every test that asks for a backend each of them."""
    if "backend" in metafunc.fixturenames:
        metafunc.parametrize("backend", backend_names())


@pytest.fixture
def rough() -> NDArray[Any]:
    """A rough bed, 41 x 29 cells of 1 m, with a relief of 12 m."""
    random = np.random.default_rng(3)
    coarse = np.kron(random.random((11, 8)), np.ones((4, 4)))[:41, :29]
    heights: NDArray[Any] = 8.0 * coarse + 4.0 * random.random((41, 29))
    return heights
