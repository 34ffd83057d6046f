"""Counting sort on a card."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from slopewash.backends.gpu.program import Kernel, Use
from slopewash.backends.gpu.wgsl import Block
from slopewash.errors import BackendUnavailable

pytestmark = pytest.mark.gpu


class Nothing(NamedTuple):
    """A block must have some number."""

    unused: float = 0.0


def sort_on_card(bucket: np.ndarray, buckets: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order, starts and counts afterwards; items arrive in an order drawn from the seed. -1 is no bucket."""
    from slopewash.backends.gpu import sorting
    from slopewash.backends.gpu.lists import Lists

    n = len(bucket)
    arrival = np.zeros(n, np.int64)
    counts = np.zeros(buckets, np.uint32)
    for i in np.random.default_rng(seed).permutation(n):
        if bucket[i] >= 0:
            arrival[i] = counts[bucket[i]]
            counts[bucket[i]] += 1
    lists = Lists(sorting.KINDS, block=Block("nothing", Nothing), constants=sorting.CONSTANTS)
    lists.hold(sorting.lengths(max(n, 1), buckets), "items")
    keys = np.stack([np.where(bucket < 0, sorting.CONSTANTS["NO_BUCKET"], bucket), arrival], axis=1)
    lists.tables["keys"].upload(keys)
    lists.tables["counts"].upload(counts)
    lists.use(Nothing())
    lists.run(sorting.passes(n, buckets))
    tables = lists.tables
    found = (
        tables["order"].download(max(n, 1)), tables["starts"].download(buckets + 1), tables["counts"].download(buckets),
    )  # fmt: skip
    lists.close()
    return found


# 256 buckets are one block; 2^17 are 512, more than the one workgroup that sums the blocks up takes at once.
@pytest.mark.parametrize(("n", "buckets"), [(1, 256), (777, 256), (5000, 4096), (20_000, 1 << 17)])
def test_items_come_out_by_bucket_and_number_however_they_arrived(n: int, buckets: int) -> None:
    random = np.random.default_rng(n)
    bucket = random.integers(-1, min(buckets, n), n)
    bucket[random.random(n) < 0.02] = buckets - 1  # a crowd at the very end
    living = np.flatnonzero(bucket >= 0)
    wanted = living[np.argsort(bucket[living], kind="stable")]
    for seed in (0, 1):
        order, starts, counts = sort_on_card(bucket, buckets, seed)
        np.testing.assert_array_equal(order[: len(living)], wanted)
        np.testing.assert_array_equal(starts, np.searchsorted(bucket[wanted], np.arange(buckets + 1)))
        assert not counts.any()


def test_dispatches_longer_than_a_row_of_workgroups_are_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    from slopewash.backends.gpu import lists

    monkeypatch.setattr(lists, "MOST_GROUPS", 3)
    bucket = np.random.default_rng(5).integers(0, 4096, 3000)
    order, starts, _ = sort_on_card(bucket, 4096, 0)
    np.testing.assert_array_equal(order, np.argsort(bucket, kind="stable"))
    assert starts[-1] == 3000


def test_buckets_are_whole_blocks() -> None:
    from slopewash.backends.gpu import sorting

    with pytest.raises(ValueError, match="buckets are 100; they must be a multiple of 256"):
        sorting.lengths(10, 100)


def test_tables_that_no_binding_holds_are_rejected_in_one_sentence() -> None:
    from slopewash.backends.gpu.lists import Lists

    lists = Lists({"points": "vec4<f32>"}, block=Block("nothing", Nothing), constants={})
    with pytest.raises(BackendUnavailable, match=r"many points need \d+ MiB .* MiB per binding: take fewer"):
        lists.hold({"points": 1 << 40}, "many points")
    lists.close()


def test_a_kernel_that_does_not_compile_is_reported_with_the_adapter(tmp_path: Path) -> None:
    from slopewash.backends.gpu.lists import Lists, Pass

    path = tmp_path / "wrong.wgsl"
    path.write_text("fn main() { nonsense }", encoding="utf-8")
    lists = Lists({"points": "vec4<f32>"}, block=Block("nothing", Nothing), constants={})
    lists.hold({"points": 4}, "points")
    with pytest.raises(BackendUnavailable, match="failed compiling a kernel"):
        lists.run([Pass(Kernel("wrong", path, (Use("points", "read"),)), 4)])
    lists.close()
