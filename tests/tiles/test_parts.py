"""What tasks are made of: shards without what is nothing, and memory that is used again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import zarr
from numpy.testing import assert_array_equal

import slopewash as sw
from slopewash.models.state import Sides
from slopewash.tiles import memory
from slopewash.tiles.arrays import Field
from slopewash.tiles.digests import Digests, using
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.store import Store


def test_chunks_of_nothing_take_no_room(tmp_path: Path) -> None:
    store, grid = Store(str(tmp_path)), TileGrid((256, 256), (256, 256))
    field = Field(path="a", dtype="float32", components=3)
    planes = np.zeros((3, 256, 256), np.float32)
    planes[1, 200, 3] = 1.0
    planes[2] = -0.0  # is not 0 to the bit
    with using(Digests()):
        store.create(field, grid)
        written = store.write_planes(field, grid, 0, list(planes))
        assert planes[0].nbytes < written < 2.5 * planes[0].nbytes
        again = store.read(field, grid, np.s_[0:256, 0:256])
    assert_array_equal(again.view(np.uint32), planes.view(np.uint32))
    assert_array_equal(np.asarray(zarr.open_array(f"{tmp_path}/a")[:]).view(np.uint32), planes.view(np.uint32))


def test_memory_is_used_again_and_given_back() -> None:
    memory.release()
    with memory.lent(reserve=2.0) as take:
        first = take(10_000)
        first[:] = 7
        with memory.lent() as take_also:
            assert not np.shares_memory(take_also(10_000), first)
    with memory.lent() as take:
        assert np.shares_memory(take(20_000), first)  # which was reserved
    memory.release()
    with memory.lent() as take:
        assert not np.shares_memory(take(10_000), first)
    memory.release()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["elevation", "water", "suspended"])
@pytest.mark.parametrize("hole", [False, True])
def test_the_balance_of_a_tile_finds_what_is_not_finite(name: str, bad: float, *, hole: bool) -> None:
    nodata = np.zeros((8, 9), bool)
    nodata[0, 0] = hole
    terrain = sw.Terrain(np.ones((8, 9)), nodata=nodata)
    model = sw.VirtualPipes()
    domain, state = model.prepare(terrain, sides=Sides.of("closed"), seed=0)
    assert model.balance(state, domain) == (model.amounts(state, domain), None)
    state[name][3, 4] = bad
    assert model.balance(state, domain)[1] == (name, 3, 4)
