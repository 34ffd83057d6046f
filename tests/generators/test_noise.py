from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash.generators import generate
from slopewash.generators.noise import LARGEST_OCTAVES
from slopewash.terrain import noise

KINDS = ["fbm", "ridged"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_anchored_landscape_seen_further_is_identical_where_windows_overlap(kind: str) -> None:
    near = generate(kind, size=(90, 60), cell_size=10.0, feature_size=800.0, relief=300.0, seed=4)["elevation"]
    far = generate(kind, size=(200, 500), cell_size=10.0, feature_size=800.0, relief=300.0, seed=4)["elevation"]
    np.testing.assert_array_equal(far[:90, :60], near)


@pytest.mark.parametrize("kind", KINDS)
def test_an_anchored_landscape_seen_finer_is_the_same_ground(kind: str) -> None:
    coarse = generate(kind, size=64, cell_size=10.0, feature_size=320.0, relief=160.0, seed=4)["elevation"]
    fine = generate(kind, size=128, cell_size=5.0, feature_size=320.0, relief=160.0, seed=4)["elevation"]
    differences = fine.reshape(64, 2, 64, 2).mean(axis=(1, 3)) - coarse
    # Curvature within a cell, sharpest on the crests of ridged noise: 0.5 and 1.2 m. Another seed differs by 36 m.
    assert np.sqrt((differences**2).mean()) < 2.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_framed_landscape_is_the_same_at_every_extent(kind: str) -> None:
    small, large = (generate(kind, size=96, extent=extent, seed=4)["elevation"] for extent in (960.0, 1920.0))
    np.testing.assert_allclose(large, 2.0 * small, atol=1e-3)  # float32 heights of 480 m


@pytest.mark.parametrize("kind", KINDS)
def test_the_default_relief_of_an_anchored_landscape_is_half_its_feature_size(kind: str) -> None:
    explicit = generate(kind, size=32, cell_size=10.0, feature_size=100.0, relief=50.0)["elevation"]
    np.testing.assert_array_equal(generate(kind, size=32, cell_size=10.0, feature_size=100.0)["elevation"], explicit)


def test_the_nominal_range_of_fbm_is_three_deviations_either_way() -> None:
    heights = generate("fbm", size=512, feature_size=80.0, relief=6.0, seed=1)["elevation"]
    # 64 x 64 features: the mean of a wide window is known to a few hundredths of a deviation.
    assert heights.mean() == pytest.approx(3.0, abs=0.06)
    assert heights.std() == pytest.approx(1.0, abs=0.03)


def test_ridged_heights_stay_within_the_nominal_range() -> None:
    terrain = generate("ridged", size=512, feature_size=80.0, relief=100.0, seed=1)
    low, high = terrain.range("elevation")
    assert low >= 0.0
    assert high <= 100.0
    assert high - low > 80.0


def gradient_noise(x: NDArray[np.float64], y: NDArray[np.float64], key: int) -> NDArray[np.float32]:
    x, y = np.broadcast_arrays(x, y)
    workspace = noise.Workspace(x.shape)
    workspace.x[...], workspace.y[...] = x, y
    return workspace.noise(key)


def test_gradient_noise_has_the_deviation_that_its_formula_gives() -> None:
    t = (np.arange(10000) + 0.5) / 10000
    s = 1 - (6 * t**5 - 15 * t**4 + 10 * t**3)
    assert pytest.approx(2 * np.sqrt((s**2).mean() * (s**2 * t**2).mean()), rel=1e-6) == noise.DEVIATION
    x, y = np.random.default_rng(0).uniform(-5000, 5000, (2, 1000, 500))
    samples = gradient_noise(x, y, key=1)
    assert samples.std() == pytest.approx(noise.DEVIATION, rel=0.01)  # half a million samples
    assert np.abs(samples).max() <= noise.BOUND


def test_gradient_noise_is_zero_at_lattice_points_and_smooth_across_lattice_lines() -> None:
    x = np.arange(-20.0, 20.0)
    assert not gradient_noise(x[None, :], x[:, None], key=3).any()
    step = 1e-3
    y = np.full(40, 0.37)
    before, at, after = (gradient_noise(x + d, y, key=3) for d in (-step, 0.0, step))
    # Slopes of both sides agree to the curvature (below 10) times the step, plus float32 rounding over the step.
    np.testing.assert_allclose((at - before) / step, (after - at) / step, atol=10 * step + 3e-4)


def test_slopes_have_no_preferred_direction() -> None:
    products = np.zeros(3)
    for seed in range(12):
        south, east = np.gradient(generate("fbm", size=192, cell_size=10.0, feature_size=320.0, seed=seed)["elevation"])
        products += [(east**2).mean(), (south**2).mean(), (east * south).mean()]
    east2, south2, mixed = products
    # Four standard errors of 12 windows, from the scatter of 80 windows. An axis stretched by a tenth fails.
    assert east2 / south2 == pytest.approx(1.0, abs=0.06)
    assert abs(mixed) / east2 < 0.032


def test_no_two_octaves_share_the_directions_of_their_lattices() -> None:
    angles = np.sort([np.degrees(np.angle(noise.FIRST_TURN * noise.TURN**i)) % 90 for i in range(LARGEST_OCTAVES)])
    assert np.diff(np.append(angles, angles[0] + 90)).min() > 4.0


def test_crests_of_the_first_octave_do_not_follow_the_axes() -> None:
    x = np.arange(128.0) / 32
    along_axes = total = 0.0
    for seed in range(150):
        samples = noise.Workspace((128, 128)).octave(x[None, :], x[:, None], 0, seed)
        south, east = np.gradient(samples)
        steepness = np.where(np.abs(samples) < 0.03, np.hypot(east, south), 0.0)
        off_axis = np.degrees(np.arctan2(south, east)) % 90
        along_axes += float(steepness[(off_axis < 10) | (off_axis > 80)].sum())
        total += float(steepness.sum())
    # Two bins of nine; a lattice with diagonals near the axes has a fifth more than its share.
    assert along_axes / total * 9 / 2 < 1.1


def test_more_persistence_is_rougher() -> None:
    smooth, rough = (
        np.diff(generate("fbm", size=128, persistence=p, relief=100.0)["elevation"]).std() for p in (0.3, 0.7)
    )
    assert rough > 2 * smooth


def test_blocks_leave_no_seams(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = generate("ridged", size=(70, 50), seed=2)["elevation"]
    monkeypatch.setattr("slopewash.generators.noise._BLOCK", 150)
    np.testing.assert_array_equal(generate("ridged", size=(70, 50), seed=2)["elevation"], whole)
