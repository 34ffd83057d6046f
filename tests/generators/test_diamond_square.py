from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from slopewash.errors import InvalidParameter
from slopewash.generators import generate
from slopewash.generators.diamond_square import diamond_square
from slopewash.generators.registry import Grid


def raw(
    rows: int, columns: int, seed: int = 7, roughness: float = 0.3
) -> np.ndarray[tuple[int, ...], np.dtype[np.floating]]:
    return diamond_square(Grid(rows, columns, 1.0, seed), roughness=roughness)


def test_a_finer_grid_differs_by_its_finest_displacements_only() -> None:
    grids = {n: raw(n, n, roughness=0.3).astype(np.float64) for n in (64, 128, 256, 512)}
    differences = [(grids[2 * n].reshape(n, 2, n, 2).mean(axis=(1, 3)) - grids[n]).std() for n in (64, 128, 256)]
    # Displacements of the level of the coarser cells' centres; 0.615 times as large from level to level.
    assert differences[0] < 2.0 ** (6.5 * (0.3 - 1.0))
    for one, next_one in pairwise(differences):
        assert next_one / one == pytest.approx(2.0 ** (0.3 - 1.0), rel=0.05)


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (100, 129), (66, 70), (129, 20), (1, 129), (20, 128), (100, 30)])
def test_a_long_grid_is_the_north_west_part_of_the_square_one(shape: tuple[int, int]) -> None:
    side = max(shape)
    np.testing.assert_array_equal(raw(*shape), raw(side, side)[: shape[0], : shape[1]])


def test_interpolation_between_lattice_points_makes_no_pattern() -> None:
    # 500 cells on a lattice of 512 squares: every 42 cells the two grids meet and part again.
    curvatures = [np.abs(np.diff(raw(500, 500, seed), 2, axis=1)).mean(axis=0)[:-8] for seed in range(6)]
    rough = np.mean(curvatures, axis=0)
    beat = np.exp(2j * np.pi * np.arange(rough.size) * 12 / 500)
    # Roughness along a row varies with the beat by 0.35 %; other periods show 0.1 %, linear interpolation 2 %.
    assert 2 * abs(((rough - rough.mean()) * beat).mean()) / rough.mean() < 0.01


def test_roughness_is_one_minus_the_hurst_exponent() -> None:
    for roughness in (0.2, 0.5):
        heights = np.stack([raw(257, 257, seed, roughness) for seed in range(8)])
        # Root mean square of differences over distance d grows like d^H between the cells and the whole.
        near, far = (np.sqrt(np.mean((heights[:, :, d:] - heights[:, :, :-d]) ** 2)) for d in (4, 32))
        # Interpolated midpoints and the border shift the exponent a little.
        assert np.log2(far / near) / 3 == pytest.approx(1.0 - roughness, abs=0.12)


def test_rows_and_columns_are_alike() -> None:
    heights = np.stack([raw(129, 129, seed) for seed in range(16)])
    down, right = np.diff(heights, axis=1).std(), np.diff(heights, axis=2).std()
    # 16 independent lattices with most of the steps from the finest level: a percent.
    assert down / right == pytest.approx(1.0, abs=0.02)


def test_an_impossible_roughness_is_rejected() -> None:
    with pytest.raises(InvalidParameter, match=r"roughness is 2; it must be within 0 \.\. 1"):
        generate("diamond_square", size=8, roughness=2)
