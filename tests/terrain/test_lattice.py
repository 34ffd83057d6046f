from __future__ import annotations

import numpy as np
import pytest

from slopewash.terrain import lattice

CELLS = np.arange(512)


def test_normal_numbers_are_normal() -> None:
    z = lattice.normal(CELLS, CELLS, seed=1, level=3).astype(np.float64)
    n = z.size
    # Four standard errors of each moment. Twelve uniform numbers have a kurtosis of 3 - 0.1.
    assert z.mean() == pytest.approx(0.0, abs=4 / n**0.5)
    assert z.var() == pytest.approx(1.0, abs=4 * (2 / n) ** 0.5)
    assert (z**3).mean() == pytest.approx(0.0, abs=4 * (15 / n) ** 0.5)
    assert (z**4).mean() == pytest.approx(2.9, abs=4 * (96 / n) ** 0.5)


def test_uniform_numbers_are_uniform() -> None:
    counts, _ = np.histogram(lattice.uniform(CELLS, CELLS, seed=2, level=0), bins=64, range=(-1.0, 1.0))
    expected = CELLS.size**2 / 64
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    assert chi_squared < 63 + 4 * (2 * 63) ** 0.5  # 63 degrees of freedom, four standard deviations


@pytest.mark.parametrize(
    ("seed", "level", "shift"), [(1, 0, 0), (0, 1, 0), (0, 0, 1), (2**32, 0, 0), (-1, 0, 0), (2**32 - 1, 0, 0)]
)
def test_neighbours_levels_and_seeds_are_uncorrelated(seed: int, level: int, shift: int) -> None:
    base = lattice.uniform(CELLS, CELLS, seed=0, level=0).ravel()
    pairs = [lattice.uniform(CELLS, CELLS + shift, seed=seed, level=level).ravel()]
    if shift:
        pairs.append(lattice.uniform(CELLS + shift, CELLS, seed=seed, level=level).ravel())
        pairs.append(lattice.uniform(CELLS + shift, CELLS + shift, seed=seed, level=level).ravel())
    for other in pairs:
        assert abs(np.corrcoef(base, other)[0, 1]) < 4 / base.size**0.5  # four standard errors


def test_a_number_does_not_depend_on_the_window_it_is_asked_in() -> None:
    whole = lattice.normal(np.arange(-8, 24), np.arange(-8, 24), seed=5, level=2)
    part = lattice.normal(np.arange(3, 9), np.arange(-4, 2), seed=5, level=2)
    np.testing.assert_array_equal(whole[11:17, 4:10], part)


def test_the_hash_is_the_same_integer_everywhere() -> None:
    # Worked out with Python's own integers from the formula in `scramble`.
    number, key = (3 * lattice.ROW_STEP + 7) % 2**32, lattice.key(11, 2)
    word = ((number ^ number >> 16) ^ key) * 0x7FEB352D % 2**32
    word = (word ^ word >> 15) * 0x846CA68B % 2**32
    word ^= word >> 16
    assert int(lattice.scramble(lattice.point_numbers(np.array([3]), np.array([7])), key)[0, 0]) == word


def test_points_of_the_largest_grid_have_numbers_of_their_own() -> None:
    # Two points share a number if a vector between them solves column + ROW_STEP * row = 0 modulo 2^32.
    rows = np.arange(1, 16385)
    columns = rows * lattice.ROW_STEP % 2**32
    assert np.minimum(columns, 2**32 - columns).min() > 16384
