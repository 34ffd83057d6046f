"""Prefix sums and counting sort, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 1000, 65_536, 65_537, 300_000])
def test_a_prefix_sum_is_the_sum_of_all_before(count: int) -> None:
    from slopewash.backends.gpu.device import open_device
    from slopewash.backends.gpu.sorting import PrefixSum

    device = open_device()
    numbers = np.random.default_rng(count).integers(0, 50, count).astype(np.uint32)
    buffer = device.buffer("numbers", numbers.nbytes)
    device.handle.queue.write_buffer(buffer, 0, numbers)
    summed = PrefixSum(device, buffer, count)
    encoder = device.handle.create_command_encoder()
    running = encoder.begin_compute_pass()
    summed.encode(running)
    running.end()
    device.handle.queue.submit([encoder.finish()])
    found = np.frombuffer(device.handle.queue.read_buffer(buffer), np.uint32)
    np.testing.assert_array_equal(found, np.concatenate([[0], np.cumsum(numbers)[:-1]]))
    summed.close()


def expected(keys: NDArray[np.uint32], cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    inside = np.flatnonzero(keys < cells)
    order = inside[np.argsort(keys[inside], kind="stable")]
    starts = np.searchsorted(keys[order], np.arange(cells + 1))
    return starts, order


@pytest.mark.parametrize(("items", "cells"), [(1, 1), (7, 3), (300, 1), (5000, 700), (20_000, 70_000)])
def test_items_are_ordered_by_cell_and_then_by_number(items: int, cells: int) -> None:
    from slopewash.backends.gpu.device import open_device
    from slopewash.backends.gpu.sorting import CellOrder

    device = open_device()
    sort = CellOrder(device, items=items, cells=cells)
    random = np.random.default_rng(items)
    for _ in range(2):  # the second finds its buffers used
        keys = random.integers(0, cells + max(1, cells // 5), items).astype(np.uint32)  # some are in no cell
        device.handle.queue.write_buffer(sort.cells, 0, keys)
        encoder = device.handle.create_command_encoder()
        sort.encode(encoder)
        device.handle.queue.submit([encoder.finish()])
        starts, order = sort.download()
        wanted_starts, wanted_order = expected(keys, cells)
        np.testing.assert_array_equal(starts, wanted_starts)
        np.testing.assert_array_equal(order, wanted_order)
    sort.close()
