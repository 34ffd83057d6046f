"""Stores of runs on tiles up to 0.2, which had neither seals nor checksums of tiles."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.earlier import without_table
from tests.tiles.test_damage import stopped

import slopewash as sw
from slopewash.cli import main
from slopewash.errors import CheckpointError, InvalidFile

pytest.importorskip("zarr")
CONE = sw.generate("cone", size=32)


def run(out: Path) -> None:
    sw.erode_tiled(CONE, sw.SteepestTalus(), steps=3, tile=16, out=out, workers=0, backend="reference", iterations=1)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store under way in a folder that is no ASCII, and a result."""
    folder = tmp_path_factory.mktemp("größe")
    with stopped(2):
        run(folder / "under_way.zarr")
    run(folder / "done.zarr")
    for store in folder.iterdir():
        without_table(store)
    return folder


@pytest.mark.parametrize("trust", [False, True])
def test_a_run_under_way_is_left_to_the_version_that_began_it(
    trust: bool, stores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Trust changes nothing: what it holds would be computed on unchecked, and continued to other bits."""
    with pytest.raises(CheckpointError, match=r"\(schema 2\).*; continue it with the version that wrote it$"):
        sw.resume_tiled(stores / "under_way.zarr", workers=0, trust=trust)
    assert main(["resume", str(stores / "under_way.zarr"), *(["--trust"] if trust else [])]) == 2
    assert "continue it with the version that wrote it" in capsys.readouterr().err


DOORS: dict[str, Callable[[Path], object]] = {
    "open": sw.open,
    "read": sw.read_tiled,
    "facts": sw.tiled_facts,
    "source": lambda store: sw.erode_tiled(
        store, sw.SteepestTalus(), steps=1, tile=16, out=store.parent / "new.zarr", workers=0, backend="reference"
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_result_is_refused_with_the_ways_to_its_heights(door: str, stores: Path) -> None:
    with pytest.raises(InvalidFile, match=r"noted no checksums of tiles.*; convert it with that version, or .*xarray"):
        DOORS[door](stores / "done.zarr")


def test_the_way_that_is_named_leads_to_the_heights(stores: Path, tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    run(tmp_path / "new.zarr")
    heights = xarray.open_zarr(stores / "done.zarr", consolidated=False)["elevation"].values
    assert (heights == sw.read_tiled(tmp_path / "new.zarr")["elevation"]).all()


def test_a_result_may_be_replaced_by_another_run(stores: Path, tmp_path: Path) -> None:
    store = shutil.copytree(stores / "done.zarr", tmp_path / "done.zarr")
    run(store)
    assert sw.read_tiled(store).shape == (32, 32)
