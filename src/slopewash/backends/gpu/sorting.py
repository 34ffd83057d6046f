"""Counting sort of items into buckets, ordered by index within a bucket: the order is deterministic.

A kernel of the model counts first: `keys[i] = (bucket, atomicAdd(&counts[bucket], 1))`, `NO_BUCKET` for items that are
left out. The kernels here sum the counts and fill `order`, so that the items of bucket b are those of `order` from
`starts[b]` to `starts[b + 1]`. Counts are zero again afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping

from slopewash.backends.gpu.layout import GROUP
from slopewash.backends.gpu.lists import Pass
from slopewash.backends.gpu.program import Kernel, Use
from slopewash.backends.gpu.wgsl import SNIPPETS

SCAN_BLOCK = 4 * GROUP
"""Counts summed by a workgroup; buckets are a multiple of it."""
CONSTANTS = {"NO_BUCKET": 0xFFFFFFFF}
KINDS: Mapping[str, str] = {
    "keys": "vec2<u32>",
    "counts": "atomic<u32>",
    "starts": "u32",
    "totals": "u32",
    "arrivals": "u32",
    "order": "u32",
}


def _kernel(name: str, *uses: Use) -> Kernel:
    return Kernel(name, SNIPPETS / f"{name}.wgsl", uses)


SCAN_BLOCKS = _kernel("scan_blocks", Use("counts", "update"), Use("starts", "write"), Use("totals", "write"))
SCAN_TOTALS = _kernel("scan_totals", Use("totals", "update"), Use("starts", "write"))
SCAN_STARTS = _kernel("scan_starts", Use("starts", "update"), Use("totals", "read"))
ARRIVALS = _kernel("sort_arrivals", Use("keys", "read"), Use("starts", "read"), Use("arrivals", "write"))
RANKS = _kernel(
    "sort_ranks", Use("keys", "read"), Use("starts", "read"), Use("arrivals", "read"), Use("order", "write")
)


def lengths(items: int, buckets: int) -> dict[str, int]:
    """Length of each table for so many items and buckets."""
    if buckets % SCAN_BLOCK:
        raise ValueError(f"buckets are {buckets}; they must be a multiple of {SCAN_BLOCK}")
    return {
        "keys": items,
        "counts": buckets,
        "starts": buckets + 1,
        "totals": buckets // SCAN_BLOCK,
        "arrivals": items,
        "order": items,
    }


def passes(items: int, buckets: int) -> list[Pass]:
    """Dispatches that sort the counted items."""
    return [
        Pass(SCAN_BLOCKS, buckets // 4),
        Pass(SCAN_TOTALS, 1),
        Pass(SCAN_STARTS, buckets),
        Pass(ARRIVALS, items),
        Pass(RANKS, items),
    ]
