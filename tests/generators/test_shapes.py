from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slopewash.errors import InvalidParameter
from slopewash.generators import generate


@pytest.mark.parametrize("kind", ["bowl", "cone", "hill", "plateau"])
@pytest.mark.parametrize("size", [(40, 40), (41, 60)])
def test_round_shapes_are_mirrored_bit_for_bit(kind: str, size: tuple[int, int]) -> None:
    heights = generate(kind, size=size)["elevation"]
    np.testing.assert_array_equal(heights, heights[::-1])
    np.testing.assert_array_equal(heights, heights[:, ::-1])
    if size[0] == size[1]:
        np.testing.assert_array_equal(heights, heights.T)


def test_a_cone_falls_evenly_and_is_flat_around_its_foot() -> None:
    heights = generate("cone", size=101, cell_size=2.0, relief=50.0)["elevation"].astype(np.float64)
    y, x = (np.mgrid[:101, :101] - 50) * 2.0
    # Radius 101 m: the foot touches the outer edges of the edge cells.
    np.testing.assert_allclose(heights, np.maximum(0.0, 50.0 * (1 - np.hypot(x, y) / 101.0)), atol=1e-5)


def test_a_cone_on_a_long_grid_stays_round() -> None:
    heights = generate("cone", size=(40, 80), relief=200.0)["elevation"]
    np.testing.assert_allclose(heights[:, 20:60], generate("cone", size=40, relief=200.0)["elevation"], atol=1e-4)
    assert not heights[:, :20].any()


def test_a_plateau_is_flat_on_top_and_below() -> None:
    heights = generate("plateau", size=64, relief=10.0, top=0.5)["elevation"]
    assert (heights[24:40, 24:40] == 10.0).all()
    assert heights[0, 0] == 0.0


def test_a_bowl_is_lowest_in_the_middle_and_a_hill_highest() -> None:
    assert np.argwhere(generate("bowl", size=9)["elevation"] == 0.0).tolist() == [[4, 4]]
    assert int(generate("hill", size=9)["elevation"].argmax()) == 4 * 9 + 4


def test_a_ramp_falls_to_the_south_evenly() -> None:
    heights = generate("ramp", size=(11, 4), relief=100.0)["elevation"]
    np.testing.assert_allclose(heights[:, 2], np.linspace(100.0, 0.0, 11), atol=1e-5)


def test_a_cylinder_is_round_across_and_level_along_its_axis() -> None:
    heights = generate("noisy_cylinder", size=(201, 8), relief=1.0, arc=120.0, noise=0.0)["elevation"].astype(float)
    assert (heights == heights[:, :1]).all()
    across = np.sin(np.pi / 3) * (2 * np.arange(201) - 200) / 201
    # What remains after fitting a circle of radius 1 is float32 rounding.
    z = np.sqrt(1 - across**2)
    np.testing.assert_allclose(heights[:, 0], (z - z.min()) / np.ptp(z), atol=1e-6)


def test_the_noise_of_the_cylinder_is_white() -> None:
    smooth, noisy = (generate("noisy_cylinder", size=128, relief=1.0, noise=n, seed=4)["elevation"] for n in (0, 0.1))
    # Rows are level, so a row's deviations from its mean are noise: uniform over 0.1 of the cylinder's height, which is
    # the range of the row means. Cell centres miss 1 % of that height, and row means carry 1 % of noise.
    grains = noisy - noisy.mean(axis=1, keepdims=True)
    assert grains.std() == pytest.approx(0.1 / np.sqrt(12) * np.ptp(noisy - grains), rel=0.03)
    for a, b in ((grains[:, 1:], grains[:, :-1]), (grains[1:], grains[:-1])):
        assert (
            abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4 / 128 + 1 / 128
        )  # four standard errors; the mean's share
    assert smooth.std(axis=1).max() < 1e-6


def test_a_turned_cylinder_is_level_along_its_turned_axis() -> None:
    heights, straight = (
        generate("noisy_cylinder", size=121, relief=1.0, noise=0.0, turn=turn)["elevation"] for turn in (45.0, 0.0)
    )
    # Turned clockwise by 45 degrees, the ridge runs from the north-west to the south-east.
    np.testing.assert_allclose(heights[:-1, :-1], heights[1:, 1:], atol=1e-6)
    np.testing.assert_allclose(np.diagonal(heights), 1.0, atol=1e-6)
    np.testing.assert_allclose(
        generate("noisy_cylinder", size=121, relief=1.0, noise=0.0, turn=90.0)["elevation"], straight.T, atol=1e-6
    )


def test_spurs_of_a_cylinder_fade_out_towards_its_level_crest() -> None:
    smooth, spurred = (
        generate("noisy_cylinder", size=128, relief=1.0, noise=0.0, spurs=spurs, seed=2)["elevation"]
        for spurs in (0, 0.3)
    )
    # Heights are scaled to the relief, so spurs are what differs along a row, of which the cylinder itself is level.
    along = spurred.std(axis=1)
    assert along[63:65].max() < 0.003
    assert along[:24].min() > 0.01
    assert smooth.std(axis=1).max() < 1e-6


def test_bumps_on_a_cone_leave_the_ground_around_it_flat() -> None:
    smooth, bumpy = (generate("cone", size=128, noise=noise, seed=2)["elevation"] for noise in (0.0, 0.05))
    flank = (smooth > 0.1 * smooth.max()) & (smooth < 0.9 * smooth.max())
    assert 0.005 < (bumpy - smooth)[flank].std() / smooth.max() < 0.02
    assert bumpy[smooth == 0].max() == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_a_dome_is_high_in_the_middle_and_low_at_the_edges(seed: int) -> None:
    heights = generate("dome", size=96, relief=1.0, seed=seed)["elevation"]
    edges = np.concatenate([heights[0], heights[-1], heights[:, 0], heights[:, -1]])
    assert heights[36:60, 36:60].mean() > 0.65
    assert edges.mean() < 0.4


def test_a_dome_without_noise_is_smooth() -> None:
    heights = generate("dome", size=40, noise=0.0)["elevation"]
    np.testing.assert_array_equal(heights, heights[::-1])


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("plateau", {"top": 1.0}, "top is 1.0; it must be at least 0 and below 1"),
        ("noisy_cylinder", {"arc": 200}, "arc is 200 degrees; it must be above 0 and at most 180"),
        ("noisy_cylinder", {"turn": float("inf")}, "turn is inf degrees; it must be finite"),
        ("cone", {"noise": 2}, "noise is 2; it must be within 0 .. 1"),
        ("noisy_cylinder", {"noise": -1}, "noise is -1; it must be at least 0"),
        ("noisy_cylinder", {"spurs": -1}, "spurs is -1; it must be at least 0"),
        ("dome", {"noise": 3}, "noise is 3; it must be within 0 .. 1"),
    ],
)
def test_impossible_options_are_rejected(kind: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        generate(kind, size=8, **options)
    assert str(caught.value) == message
