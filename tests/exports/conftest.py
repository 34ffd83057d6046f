"""An asymmetric letter as a landscape: whatever mirrors or turns it is seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash.terrain import Terrain

LETTER = np.array(
    [
        [0, 1, 1, 1, 1, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 1, 1, 1, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
    ],
    dtype=np.float32,
)
Make = Callable[..., Terrain]


def letter_heights(rows: int, columns: int) -> NDArray[np.float32]:
    """An F with north at the top, 300 m high, on ground that rises to the east and, less, to the south."""
    i, j = np.arange(rows) * 6 // rows, np.arange(columns) * 6 // columns
    ramp = np.linspace(0, 40, columns)[None, :] + np.linspace(0, 15, rows)[:, None]
    return (300 * LETTER[np.ix_(i, j)] + ramp - 20).astype(np.float32)


def reads_as_an_f(raster: NDArray[np.floating] | NDArray[np.integer]) -> bool:
    """Whether a raster, seen with its first row at the top, shows an F and not its mirror image."""
    rows, columns = raster.shape
    centres = np.ix_((np.arange(6) * 2 + 1) * rows // 12, (np.arange(6) * 2 + 1) * columns // 12)
    values = np.asarray(raster, np.float64)[centres]
    return bool(((values > (values.min() + values.max()) / 2) == LETTER.astype(bool)).all())


@pytest.fixture
def make() -> Make:
    """Letters of any size, with layers."""

    def made(rows: int, columns: int | None = None, **more: object) -> Terrain:
        heights = letter_heights(rows, columns or rows)
        random = np.random.default_rng(4)
        layers = {
            "wear": random.random(heights.shape) * 3,
            "deposit": random.random(heights.shape) * 8,
            "flow": random.random(heights.shape) ** 8 * 100,
            "water": np.where(heights < -10, 2.0, 0.0),
        }
        return Terrain(heights, cell_size=8.0, **{**layers, **more})  # type: ignore[arg-type]

    return made
