from __future__ import annotations

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


@pytest.mark.parametrize(("coarse", "fine"), [(257, 513), (33, 65), (150, 299), (150, 300)])
def test_a_finer_lattice_passes_through_the_points_of_the_coarser_one(coarse: int, fine: int) -> None:
    np.testing.assert_array_equal(raw(fine, fine)[::2, ::2][:coarse, :coarse], raw(coarse, coarse))


def test_fitted_heights_of_two_sizes_differ_by_a_scale_and_an_offset_only() -> None:
    coarse = generate("diamond_square", size=129, cell_size=10.0, seed=3)["elevation"].ravel().astype(np.float64)
    fine = generate("diamond_square", size=257, cell_size=5.0, seed=3)["elevation"][::2, ::2].ravel()
    scale, offset = np.polyfit(coarse, fine, 1)
    # Float32 heights of some 300 m.
    np.testing.assert_allclose(scale * coarse + offset, fine, atol=1e-3)
    assert scale == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 5), (100, 129), (66, 70), (129, 20), (1, 129)])
def test_a_cropped_grid_is_the_corner_of_the_whole_lattice(shape: tuple[int, int]) -> None:
    side = 2 ** max(max(shape) - 2, 0).bit_length() + 1
    np.testing.assert_array_equal(raw(*shape), raw(side, side)[: shape[0], : shape[1]])


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
