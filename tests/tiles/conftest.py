"""What the tests of this folder share: a rough ground, a cluster of two processes, and comparing bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from numpy.testing import assert_array_equal

import slopewash as sw
from slopewash.tiles.digests import loaded, saved, using
from slopewash.tiles.run import MANIFEST
from slopewash.tiles.store import Store

SHAPE = (67, 53)


def rough(shape: tuple[int, int] = SHAPE, **layers: Any) -> sw.Terrain:
    """Ground with nodata, uneven rain and a water source, some of it on either side of every cut."""
    random = np.random.default_rng(11)
    coarse = np.kron(random.random((-(-shape[0] // 5), -(-shape[1] // 5))), np.ones((5, 5)))[: shape[0], : shape[1]]
    hole = random.random(shape) < 0.02
    hole[20:26, 10:30] = True
    given: dict[str, Any] = {
        "nodata": hole, "water": 0.2, "suspended": 0.01, "rainfall": 2 * random.random(shape),
        "sources": [sw.WaterSource(x=52, y=66, radius=9, rate=0.8)],
    }  # fmt: skip
    return sw.Terrain(9 * coarse + 3 * random.random(shape), cell_size=2.0, **(given | layers))


def assert_same_bits(out: str | Path, whole: sw.Terrain) -> None:
    """Every layer in a store is that of a terrain, to the bit."""
    group = zarr.open_group(str(out), mode="r")
    for name, layer in whole.items():
        assert_array_equal(group[name][:], layer, err_msg=name)  # type: ignore[index]
    assert not (Path(out) / "state").exists()
    assert not list(Path(out).rglob("*.partial"))


@contextmanager
def changed(out: str | Path) -> Iterator[tuple[Store, dict[str, Any]]]:
    """A run under way, and the facts of its manifest, to be changed so that nobody can see it."""
    store = Store(str(out))
    read = store.read_json(MANIFEST)
    assert read is not None
    with using(loaded(store, "state/", read.facts["digests"]).copy()) as digests:
        yield store, read.facts
        read.facts["digests"] = saved(digests, store, "state/")
        store.write_json(MANIFEST, read.facts)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Return a client of two worker processes."""
    from slopewash.tiles.executors import connected

    with connected(workers=2) as executor:
        yield executor.client
