"""Filled depressions and lakes on tiles, as on the whole, to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from numpy.testing import assert_array_equal

import slopewash as sw
from slopewash.tiles import lakes, output, tiled_facts
from slopewash.tiles.digests import Digests, using
from slopewash.tiles.fill import keep
from slopewash.tiles.lakes import FILLED, fill_on_tiles
from slopewash.tiles.store import Store

SHAPE = (71, 58)


def in_turn(task: Any, calls: Any, label: str) -> list[Any]:
    return [task(*call) for call in calls]


def pitted(seed: int, *, flat: bool = False, holes: bool = False) -> sw.Terrain:
    """Ground full of nested depressions that cross every seam; `flat` has many levels that are equal."""
    random = np.random.default_rng(seed)
    coarse = np.kron(random.random((10, 9)), np.ones((8, 8)))[: SHAPE[0], : SHAPE[1]]
    ground = 30 * coarse + 9 * random.random(SHAPE)
    missing = random.random(SHAPE) < 0.01 if holes else None
    if missing is not None:
        missing[30:40, 20:33] = True
    return sw.Terrain(np.round(ground / 4) if flat else ground, cell_size=3.0, nodata=missing)


@pytest.mark.parametrize("tile", [SHAPE, (36, 29), (10, 58), (13, 7)])
@pytest.mark.parametrize(("flat", "holes"), [(False, False), (True, True)])
def test_filling_is_that_of_the_whole(tmp_path: Path, tile: tuple[int, int], *, flat: bool, holes: bool) -> None:
    for seed in range(3):
        terrain = pitted(seed, flat=flat, holes=holes)
        store = Store(str(tmp_path / f"{seed}.zarr"))
        with using(Digests()):
            ground, _ = keep(store, terrain, tile)
            fill_on_tiles(ground, in_turn)
            whole = sw.fill_depressions(terrain)
            found = store.read(FILLED, ground.grid, np.s_[0 : SHAPE[0], 0 : SHAPE[1]])
        present = np.ones(SHAPE, bool) if terrain.nodata is None else ~terrain.nodata
        assert_array_equal(found[present], whole[present])
        assert (whole > terrain["elevation"])[present].mean() > 0.05


CASES: dict[str, tuple[sw.Terrain, dict[str, Any]]] = {
    "rough": (pitted(1), {}),
    "level": (pitted(2, flat=True, holes=True), {"lake_area": 0.01}),
    "large": (pitted(3), {"lake_area": 0.03, "lake_depth": 2.0}),
    "sea": (pitted(4, holes=True), {"sea_level": 16.0}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tile", [(36, 29), (24, 20)])
def test_lakes_are_those_of_the_whole(tmp_path: Path, case: str, tile: tuple[int, int]) -> None:
    terrain, options = CASES[case]
    out = tmp_path / "out.zarr"
    layers: dict[str, Any] = {} if case == "large" else {"water": np.random.default_rng(5).random(SHAPE) * 6}
    model = sw.SteepestTalus() if case == "large" else sw.VirtualPipes()
    sw.erode_tiled(terrain.replace(**layers), model, steps=1, tile=tile, out=out, workers=0)
    before = sw.read_tiled(out)
    assert ("water" in before) == (case != "large")
    sw.add_lakes_tiled(out, workers=0, **options)
    lake = sw.add_water(before, **options)["lake"]
    assert_array_equal(zarr.open_group(str(out), mode="r")["lake"][:], lake)  # type: ignore[index]
    assert 0 < np.count_nonzero(lake) < lake.size
    after = sw.read_tiled(out)
    assert_array_equal(after["lake"], lake)
    assert not (out / "state").exists()


def test_lakes_stay_until_there_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted while others are looked for, they are as before; while those are put in place, none is listed."""
    out = tmp_path / "out.zarr"
    sw.erode_tiled(pitted(1), sw.SteepestTalus(), steps=1, tile=(36, 29), out=out, workers=0)
    sw.add_lakes_tiled(out, workers=0)
    before, facts = sw.read_tiled(out), tiled_facts(out)
    assert before["lake"].any()

    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(lakes, "_kept", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sw.add_lakes_tiled(out, lake_depth=0.5, workers=0)
    assert tiled_facts(out) == facts
    assert_array_equal(sw.read_tiled(out)["lake"], before["lake"])
    with monkeypatch.context() as patch:
        patch.setattr(output, "add_overviews", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sw.add_lakes_tiled(out, lake_depth=0.5, workers=0)
    assert "lake" not in sw.read_tiled(out)
    sw.add_lakes_tiled(out, workers=0)
    assert tiled_facts(out) == facts
    assert_array_equal(sw.read_tiled(out)["lake"], before["lake"])


def test_the_sea_of_a_run_is_found_again(tmp_path: Path) -> None:
    terrain, out = pitted(4), tmp_path / "out.zarr"
    sw.erode_tiled(terrain, sw.VirtualPipes(sea_level=12.0), steps=1, tile=(36, 29), out=out, workers=0)
    sw.add_lakes_tiled(out, workers=0)
    lake = sw.add_water(sw.read_tiled(out))["lake"]
    assert_array_equal(sw.read_tiled(out)["lake"], lake)
    assert lake[0].any()
