"""More cells are the same ground, finer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.generators import generate, generator_names
from slopewash.generators.noise import NOMINAL_OCTAVES

# Root mean square and largest difference between the heights of a 256² grid and the means over 2 x 2 cells of a 512²
# one, as shares of the relief: half as much again as the worst of seeds 0, 3 and 7. What remains is that each grid is
# stretched from its own lowest to its own highest cell, plus the curvature within a cell, and for diamond_square the
# finest displacement, which the centre of a cell has in full and the mean over smaller cells only in part.
TOLERANCES = {
    "bowl": (0.0024, 0.006),
    "coast": (0.0044, 0.06),
    "cone": (0.0016, 0.005),
    "diamond_square": (0.0075, 0.031),
    "dome": (0.0035, 0.008),
    "fbm": (0.003, 0.01),
    "front": (0.0015, 0.008),
    "hill": (0.0001, 0.0002),
    "islands": (0.0033, 0.021),
    "noisy_cylinder": (0.024, 0.073),  # white noise has grains of its own on every grid
    "plateau": (0.0001, 0.0002),
    "ramp": (0.001, 0.0016),
    "range": (0.0027, 0.012),
    "ridged": (0.003, 0.017),
    "scarp": (0.0033, 0.027),
    "troughs": (0.0033, 0.02),
    "volcano": (0.0007, 0.011),
}


@pytest.mark.parametrize("kind", generator_names())
@pytest.mark.parametrize("seed", [0, 3])
def test_more_cells_are_the_same_ground_finer(kind: str, seed: int) -> None:
    coarse, fine = (generate(kind, size=size, seed=seed) for size in (256, 512))
    assert (coarse.width, fine.width) == (5120.0, 5120.0)
    assert (coarse.relief, fine.relief) == (1280.0, 1280.0)
    means = fine["elevation"].reshape(256, 2, 256, 2).mean(axis=(1, 3), dtype=np.float64)
    differences = (means - coarse["elevation"]) / 1280.0
    root_mean_square, largest = TOLERANCES[kind]
    assert np.sqrt((differences**2).mean()) < root_mean_square
    assert np.abs(differences).max() < largest


@pytest.mark.parametrize("kind", ["diamond_square", "dome", "fbm", "ridged"])
@pytest.mark.parametrize("size", [100, 129, 150])
def test_a_size_that_is_no_power_of_two_is_the_same_ground_too(kind: str, size: int) -> None:
    ground = generate(kind, size=512, seed=3).resampled(size)["elevation"].astype(np.float64)
    differences = ground - generate(kind, size=size, seed=3)["elevation"]
    # Another seed differs by 200 m.
    assert np.sqrt((differences**2).mean()) < 0.015 * 1280.0


@pytest.mark.parametrize("kind", ["fbm", "ridged"])
def test_octaves_that_two_grids_share_are_identical_where_cell_centres_coincide(kind: str) -> None:
    coarse, fine = (
        generate(kind, size=size, cell_size=320.0 / size, feature_size=160.0, octaves=5, relief=100.0)["elevation"]
        for size in (64, 192)
    )
    # The middle one of 3 x 3 cells; positions differ by a rounding error of float64, heights by some of float32.
    np.testing.assert_allclose(fine[1::3, 1::3], coarse, atol=2e-4)


@pytest.mark.parametrize("kind", ["fbm", "ridged"])
def test_a_grid_has_the_octaves_down_to_two_cells(kind: str) -> None:
    # Half the side is 32 cells, so the first octave is 32 cells long and the fifth two.
    default, four, five, six = (
        generate(kind, size=64, seed=2, relief=100.0, **({} if n is None else {"octaves": n}))["elevation"]
        for n in (None, 4, 5, 6)
    )
    np.testing.assert_allclose(default, five, atol=2e-4)  # scaled by all octaves, then fitted to the same relief
    assert np.abs(default - four).max() > 0.5
    assert np.abs(default - six).max() > 0.5
    assert NOMINAL_OCTAVES > 6


@pytest.mark.parametrize("kind", ["diamond_square", "dome", "fbm", "ridged"])
def test_roughness_grows_without_jumps_from_one_size_to_the_next(kind: str) -> None:
    steps = [np.diff(generate(kind, size=n, extent=float(n), seed=1)["elevation"]).std() for n in (120, 128, 129, 140)]
    for one, next_one in pairwise(steps):
        # Slopes from cell to cell; diamond_square changes to a finer lattice beyond 128.
        assert next_one / one == pytest.approx(1.0, abs=0.2 if kind == "diamond_square" else 0.03)


def test_the_extent_is_the_longer_side_and_the_cell_size_follows() -> None:
    assert generate("ramp", size=512).cell_size == 10.0
    assert generate("ramp", size=(32, 64)).cell_size == 80.0
    terrain = generate("ramp", size=(64, 32), extent=640.0)
    assert (terrain.cell_size, terrain.height, terrain.width) == (10.0, 640.0, 320.0)
    assert terrain.relief == 160.0


def test_with_a_cell_size_more_cells_are_more_ground() -> None:
    terrain = generate("ramp", size=96, cell_size=10.0)
    assert (terrain.cell_size, terrain.width, terrain.relief) == (10.0, 960.0, 240.0)
    both = generate("ramp", size=96, cell_size=10.0, extent=960.0)
    np.testing.assert_array_equal(both["elevation"], terrain["elevation"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"size": 512, "cell_size": 10.0, "extent": 5000.0},
            "extent is 5000 m, but 512 cells with a cell_size of 10 m are 5120 m; give one of the two",
        ),
        ({"extent": -3.0}, "extent is -3.0 m; it must be positive and finite"),
        ({"extent": "wide"}, "extent is 'wide'; it must be a number, positive and finite"),
    ],
)
def test_an_impossible_extent_is_rejected_in_one_sentence(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        generate("ramp", **arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize("kind", ["diamond_square", "dome", "cone"])
def test_models_in_cell_units_see_the_same_ground_whatever_the_extent(kind: str) -> None:
    # The default relief is a share of the side, so slopes do not depend on the extent. Powers of two scale exactly.
    one, other = (generate(kind, size=64, extent=extent, seed=5) for extent in (640.0, 5120.0))
    np.testing.assert_array_equal(8.0 * one["elevation"], other["elevation"])
    model = sw.VirtualPipes(rain_rate=0.05)
    ends = [
        sw.erode(terrain, model, steps=20, backend="reference", settle=False)["elevation"] for terrain in (one, other)
    ]
    np.testing.assert_array_equal(8.0 * ends[0], ends[1])
