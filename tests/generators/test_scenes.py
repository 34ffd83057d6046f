"""Starts with a plan: where their mountains, edges, craters and shores are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slopewash.errors import InvalidParameter
from slopewash.generators import generate
from slopewash.generators.registry import Grid
from slopewash.generators.scenes import SHORE, troughs

SCENES = ("coast", "front", "islands", "range", "scarp", "troughs", "volcano")
SEEDS = (0, 4, 21)


def heights(kind: str, seed: int = 0, size: Any = 96, **options: Any) -> Any:
    """Heights as shares of the relief."""
    return generate(kind, size=size, seed=seed, relief=1.0, **options)["elevation"].astype(np.float64)


@pytest.mark.parametrize("kind", SCENES)
@pytest.mark.parametrize("size", [48, (40, 64)])
def test_scenes_fill_any_grid_with_finite_heights_from_zero_to_the_relief(kind: str, size: Any) -> None:
    z = heights(kind, size=size)
    assert np.isfinite(z).all()
    assert (z.min(), z.max()) == (0.0, 1.0)


@pytest.mark.parametrize("kind", SCENES)
def test_another_seed_is_another_landscape(kind: str) -> None:
    one, other = heights(kind, 1), heights(kind, 2)
    assert np.sqrt(((one - other) ** 2).mean()) > 0.01
    assert (one == heights(kind, 1)).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["coast", "front", "scarp"])
def test_the_north_is_higher_than_the_south(kind: str, seed: int) -> None:
    z = heights(kind, seed)
    assert z[:16].mean() > z[-16:].mean() + 0.3


@pytest.mark.parametrize("seed", SEEDS)
def test_a_range_is_high_along_its_crest_and_low_on_both_sides(seed: int) -> None:
    rows = heights("range", seed).mean(axis=1)
    assert rows[32:64].mean() > max(rows[:12].mean(), rows[-12:].mean()) + 0.15


@pytest.mark.parametrize("seed", SEEDS)
def test_troughs_are_as_deep_and_as_wide_as_asked_for(seed: int) -> None:
    grid = Grid(96, 96, 50.0, seed)  # before heights are fitted to a relief
    highland = troughs(grid, depth=0.0)
    deep, half, wide = (highland - troughs(grid, depth=d, breadth=w) for d, w in ((0.8, 0.5), (0.4, 0.5), (0.8, 0.8)))
    np.testing.assert_allclose(half, 0.5 * deep, atol=1e-6)
    assert 0.1 < (deep > 0.2).mean() < 0.5
    assert (wide > 0.2).mean() > 1.3 * (deep > 0.2).mean()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_volcano_has_a_crater_that_is_open_to_one_side(seed: int) -> None:
    z = heights("volcano", seed, noise=0.0, crater=0.1)
    assert max(z[0].max(), z[-1].max(), z[:, 0].max(), z[:, -1].max()) < 0.35
    y, x = np.mgrid[:96, :96]
    middle = z > 0.3
    cy, cx = y[middle].mean(), x[middle].mean()
    r = np.hypot(y - cy, x - cx)
    floor, rim = z[r < 3].mean(), z[(r > 8) & (r < 12)]
    assert rim.max() > floor + 0.2
    assert rim.min() < rim.max() - 0.15  # the gap


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("land", [0.2, 0.5])
def test_islands_have_their_share_of_land_with_any_seed(seed: int, land: float) -> None:
    assert (heights("islands", seed, land=land) > SHORE).mean() == pytest.approx(land, abs=0.002)


@pytest.mark.parametrize("seed", SEEDS)
def test_islands_lie_in_open_sea(seed: int) -> None:
    z = heights("islands", seed)
    border = np.concatenate([z[0], z[-1], z[:, 0], z[:, -1]])
    assert (border < SHORE).mean() > 0.85


def test_a_steeper_coast_has_steeper_cliffs() -> None:
    gentle, steep = (np.abs(np.diff(heights("coast", 2, steepness=s), axis=0)).max() for s in (4.0, 40.0))
    assert steep > 1.5 * gentle


def test_stacks_break_up_the_shore() -> None:
    smooth, broken = (heights("coast", 2, size=192, stacks=s) > 0.25 for s in (0.0, 1.0))
    lengths = [(land[1:] != land[:-1]).sum() + (land[:, 1:] != land[:, :-1]).sum() for land in (smooth, broken)]
    assert lengths[1] > 1.1 * lengths[0]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("coast", {"edge": 1.5}),
        ("coast", {"stacks": -0.1}),
        ("coast", {"steepness": 0.5}),
        ("front", {"foot": -0.1}),
        ("front", {"noise": 2.0}),
        ("islands", {"land": 0.0}),
        ("islands", {"land": 1.0}),
        ("islands", {"roughness": 1.1}),
        ("range", {"noise": -1.0}),
        ("scarp", {"bays": -1.0}),
        ("scarp", {"steepness": 60.0}),
        ("scarp", {"tilt": 1.5}),
        ("front", {"plain": 2.0}),
        ("troughs", {"breadth": -0.1}),
        ("troughs", {"depth": 1.5}),
        ("volcano", {"crater": 1.5}),
        ("volcano", {"width": 0.0}),
    ],
)
def test_options_out_of_range_are_refused_by_name(kind: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(options))):
        generate(kind, size=16, **options)


def test_a_volcano_without_a_crater_is_highest_in_the_middle() -> None:
    z = heights("volcano", 4, noise=0.0, crater=0.0)
    y, x = np.unravel_index(z.argmax(), z.shape)
    assert np.hypot(y - 47.5, x - 47.5) < 10
