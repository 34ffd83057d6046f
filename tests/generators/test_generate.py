from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from slopewash.errors import InvalidParameter, UnknownName
from slopewash.generators import generate, generator_names

SCENES = {"coast", "front", "islands", "range", "scarp", "troughs", "volcano"}
SEEDED = {"diamond_square", "dome", "fbm", "noisy_cylinder", "ridged"} | SCENES


def test_the_kinds_there_are() -> None:
    plain = {"bowl", "cone", "diamond_square", "dome", "fbm", "hill", "noisy_cylinder", "plateau", "ramp", "ridged"}
    assert generator_names() == tuple(sorted(plain | SCENES))


@pytest.mark.parametrize("kind", generator_names())
@pytest.mark.parametrize("size", [1, 2, 3, 64, (1, 7), (7, 1), (40, 65), (65, 40)])
def test_every_kind_fills_any_size_from_zero_to_the_relief(kind: str, size: int | tuple[int, int]) -> None:
    terrain = generate(kind, size=size, cell_size=5.0, seed=3, relief=123.0)
    assert terrain.shape == ((size, size) if isinstance(size, int) else size)
    assert terrain.cell_size == 5.0
    low, high = terrain.range("elevation")
    assert low == 0.0
    assert high in (0.0, 123.0)  # shapes of few cells can be flat
    if min(terrain.shape) > 3:
        assert high == 123.0


@pytest.mark.parametrize("kind", generator_names())
def test_the_default_relief_is_a_quarter_of_the_longer_side(kind: str) -> None:
    assert generate(kind, size=(32, 64), cell_size=10.0).relief == 160.0


@pytest.mark.parametrize("kind", generator_names())
def test_equal_seeds_give_equal_ground_and_others_do_not(kind: str) -> None:
    first, again, other, negative = (generate(kind, size=48, seed=s)["elevation"] for s in (5, 5, 6, -5))
    np.testing.assert_array_equal(first, again)
    assert np.array_equal(first, other) == (kind not in SEEDED)
    assert np.array_equal(first, negative) == (kind not in SEEDED)


def test_numpy_integers_and_huge_seeds_are_whole_numbers() -> None:
    a = generate("fbm", size=np.int32(16), seed=np.uint8(9))  # type: ignore[arg-type]
    assert np.array_equal(a["elevation"], generate("fbm", size=(16, 16), seed=9)["elevation"])
    assert not np.array_equal(a["elevation"], generate("fbm", size=16, seed=9 + 2**64)["elevation"])


# Printed by this code when the generators were finished, for size 65, seed 42, relief 100: heights of five cells. The
# tolerance is a few roundings of float32, since powers and cosines may differ in their last bit between platforms.
STORED = {
    "diamond_square": [0.0, 73.6916, 48.0593, 55.1632, 88.6791],
    "dome": [15.3972, 50.0735, 99.4592, 53.6439, 17.3446],
    "fbm": [42.0273, 58.2529, 70.1689, 63.6965, 44.6764],
    "noisy_cylinder": [0.9566, 61.5129, 95.6674, 91.2907, 4.9508],
    "ridged": [81.1331, 73.5753, 54.2937, 52.4814, 59.7153],
}


@pytest.mark.parametrize("kind", sorted(STORED))
def test_a_seed_means_the_same_ground_in_every_version(kind: str) -> None:
    heights = generate(kind, size=65, seed=42, relief=100.0)["elevation"]
    five = heights[[0, 10, 32, 40, 64], [0, 50, 32, 7, 60]]
    np.testing.assert_allclose(five, STORED[kind], atol=2e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "size is 0; it must be at least one cell"),
        ({"size": (8, -3)}, "size is -3; it must be at least one cell"),
        ({"size": 2.5}, "size is 2.5; it must be a whole number"),
        ({"size": "big"}, "size is 'big'; it must be a whole number"),
        ({"size": True}, "size is True; it must be a whole number"),
        ({"size": (1, 2, 3)}, "size is (1, 2, 3); it must be one whole number or two, rows and columns"),
        ({"size": 16385}, "size is 16385; for more than 16384 cells per side set maximum_size=16385"),
        ({"size": 9, "maximum_size": 8}, "size is 9; for more than 8 cells per side set maximum_size=9"),
        ({"cell_size": 0}, "cell_size is 0 m; it must be positive and finite"),
        ({"cell_size": float("nan")}, "cell_size is nan m; it must be positive and finite"),
        ({"cell_size": "ten"}, "cell_size is 'ten'; it must be a number, positive and finite"),
        ({"relief": -5.0}, "relief is -5.0 m; it must be positive and at most 1e+30"),
        ({"relief": float("inf")}, "relief is inf m; it must be positive and at most 1e+30"),
        ({"cell_size": 1e35}, "relief is 1.28e+37 m; it must be positive and at most 1e+30"),
        ({"seed": 1.5}, "seed is 1.5; it must be a whole number"),
        ({"octave": 3}, 'generator "fbm" has no option "octave"; its options are feature_size, octaves, persistence'),
        ({"octaves": 0}, "octaves is 0; it must be within 1 .. 16"),
        ({"persistence": 1.5}, "persistence is 1.5; it must be within 0 .. 1"),
        ({"feature_size": 1.0}, "feature_size is 1.0 m; it must be at least one cell, 10 m"),
        ({"feature_size": -1.0}, "feature_size is -1.0 m; it must be positive and finite"),
    ],
)
def test_what_cannot_be_generated_is_rejected_in_one_sentence(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        generate("fbm", **arguments)
    # The default size of 512 makes the relief in one message above.
    assert str(caught.value) == message


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match=re.escape('unknown generator "diamond"; did you mean "diamond_square"?')):
        generate("diamond")
    with pytest.raises(UnknownName, match="choose one of bowl, coast"):
        generate("xyzzy")


def test_a_kind_without_options_is_reported() -> None:
    with pytest.raises(InvalidParameter, match=re.escape('generator "bowl" has no option "slope"; it takes none')):
        generate("bowl", slope=3)
