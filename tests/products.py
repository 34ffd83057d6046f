"""Products of parameters: each pair of values in every run, every combination in `make test-all`.

A test marked `product` runs with as many combinations as show each pair of values of two parameters at least once, on
each backend for itself. Of the others a share runs too, chosen by a hash of the name and of TEST_SLICE (`make test`
gives the commit), so that every combination has its turn. TEST_SLICE=all runs all of them.
"""

from __future__ import annotations

import heapq
import os
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import pytest

SLICE = os.environ.get("TEST_SLICE", "") or "0"
ALL = "all"
SHARE = 12
"""One in so many of the combinations that show no new pair runs too."""

Combination = Mapping[str, int]
"""A number for the value of each parameter."""


def pairs(combination: Combination) -> frozenset[object]:
    """Pairs of values that meet; of one parameter alone, its value."""
    named = sorted(combination.items())
    return frozenset(combinations(named, 2)) or frozenset(named)


def covering(candidates: Sequence[Combination]) -> list[int]:
    """Which candidates show each pair of values that occurs among them: greedily, the one with most new pairs next."""
    wanted = [pairs(candidate) for candidate in candidates]
    shown: set[object] = set()
    chosen: list[int] = []
    queue = [(-len(new), number) for number, new in enumerate(wanted)]
    heapq.heapify(queue)
    while queue:
        promised, number = heapq.heappop(queue)
        new = len(wanted[number] - shown)
        if new == -promised and new:
            chosen.append(number)
            shown |= wanted[number]
        elif new:  # others may show more by now
            heapq.heappush(queue, (-new, number))
    return sorted(chosen)


def in_slice(name: str, chosen: str) -> bool:
    """Whether a combination that shows no new pair has its turn."""
    return chosen == ALL or zlib.crc32(f"{chosen} {name}".encode()) % SHARE == 0


def products(items: Sequence[pytest.Item]) -> Iterator[list[pytest.Function]]:
    """Tests marked `product`: the combinations of one function on one backend."""
    groups: dict[tuple[str, object], list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("product") is not None:
            groups[item.nodeid.partition("[")[0], item.callspec.params.get("backend")].append(item)
    yield from groups.values()


def left_out(items: Sequence[pytest.Item], chosen: str = SLICE) -> set[pytest.Item]:
    """Combinations that this run does without."""
    out: set[pytest.Item] = set()
    for group in products(items):
        # A value is the same object in each of its combinations, and need not be hashable.
        kept = covering([{name: id(value) for name, value in item.callspec.params.items()} for item in group])
        rest = [item for number, item in enumerate(group) if number not in kept]
        out.update(item for item in rest if not in_slice(item.nodeid, chosen))
    return out
