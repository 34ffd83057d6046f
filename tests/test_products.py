"""What a run does without shows no pair of values that the others do not show."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from tests.products import ALL, SHARE, covering, in_slice, pairs

SIZES = [(2, 2, 2, 2), (3, 5, 4, 3, 2), (8, 9, 3), (1, 6, 2), (7,), (4, 4)]


def grid(sizes: tuple[int, ...]) -> list[dict[str, int]]:
    return [dict(zip("abcdefg", values, strict=False)) for values in product(*map(range, sizes))]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_pair_of_values_is_shown_by_few_combinations(sizes: tuple[int, ...]) -> None:
    candidates = grid(sizes)
    chosen = [candidates[number] for number in covering(candidates)]
    for one, other in combinations("abcdefg"[: len(sizes)], 2):
        met = {(given[one], given[other]) for given in chosen}
        assert len(met) == len({(given[one], given[other]) for given in candidates})
    least = int(np.prod(sorted(sizes)[-2:]))
    assert least <= len(chosen) <= 1.6 * least
    assert {given["a"] for given in chosen} == set(range(sizes[0]))


def test_what_is_missing_from_a_product_is_not_asked_for() -> None:
    candidates = [given for given in grid((3, 3, 3)) if given["a"] != given["b"]]
    shown = {pair for number in covering(candidates) for pair in pairs(candidates[number])}
    assert shown == {pair for given in candidates for pair in pairs(given)}


def test_slices_are_small_differ_and_leave_nothing_out_for_ever() -> None:
    names = [f"test_it[{number}]" for number in range(600)]
    slices = [{name for name in names if in_slice(name, f"{commit:040x}")} for commit in range(12 * SHARE)]
    assert all(0.3 / SHARE < len(one) / len(names) < 2 / SHARE for one in slices)
    assert len(set.union(*slices)) == len(names)
    assert all(in_slice(name, ALL) for name in names)


MODULE = """
import pytest

@pytest.mark.product
@pytest.mark.parametrize("backend", ["reference", "cpu"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 2)])
@pytest.mark.parametrize("sea", [False, True])
@pytest.mark.parametrize("beds", [{}, {"thickness": 2}])
def test_it(backend, shape, sea, beds):
    pass

@pytest.mark.parametrize("one", range(3))
@pytest.mark.parametrize("two", range(3))
@pytest.mark.parametrize("three", range(3))
def test_other(one, two, three):
    pass
"""
HOOKS = """
from tests import products
def pytest_collection_modifyitems(items):
    out = products.left_out(items, {chosen!r})
    items[:] = [item for item in items if item not in out]
"""


@pytest.mark.parametrize(("chosen", "least", "most"), [(ALL, 24, 24), ("1", 12, 17)])
def test_marked_tests_run_with_their_pairs_on_each_backend_and_others_whole(
    pytester: pytest.Pytester, chosen: str, least: int, most: int
) -> None:
    pytester.makepyfile(MODULE)
    pytester.makeconftest(HOOKS.format(chosen=chosen))
    lines = pytester.runpytest_inprocess("--collect-only", "-q", "-p", "no:cacheprovider").outlines
    names = [line.partition("::")[2] for line in lines if "::" in line]
    ours = [name.removeprefix("test_it[").removesuffix("]").split("-") for name in names if "test_it" in name]
    assert least <= len(ours) <= most
    assert sum("test_other" in name for name in names) == 27
    for backend in ("reference", "cpu"):
        assert len({(sea, shape) for _, sea, shape, on in ours if on == backend}) == 6
