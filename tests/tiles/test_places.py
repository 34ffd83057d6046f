"""A store reads, writes and removes nothing outside its folder, whatever its manifest names."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tiles.conftest import changed

import slopewash as sw
from slopewash.errors import CheckpointError
from slopewash.tiles.arrays import Field
from slopewash.tiles.digests import Digest, Digests, using
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.store import Store

pytest.importorskip("zarr")
GRID = TileGrid((4, 4), (4, 4))
PLANE = np.ones((4, 4), np.float32)


def field(path: str, *, raw: bool = True) -> Field:
    return Field(path=path, dtype="float32", raw=raw)


ACTS: dict[str, Callable[[Store, str], object]] = {
    "remove": lambda store, path: store.remove(path),
    "move from": lambda store, path: store.move(path, "a"),
    "move to": lambda store, path: store.move("a", path),
    "create": lambda store, path: store.create(field(path), GRID),
    "create group": lambda store, path: store.create_group(path or "..", {"a": 1}),
    "write": lambda store, path: store.write(field(path), GRID, 0, PLANE),
    "write compressed": lambda store, path: store.write(field(path, raw=False), GRID, 0, PLANE),
    "read": lambda store, path: store.read(field(path), GRID, GRID.window(0)),
    "read compressed": lambda store, path: store.read(field(path, raw=False), GRID, GRID.window(0)),
    "write line": lambda store, path: store.write_line(path, PLANE[0]),
    "read line": lambda store, path: store.read_line(path, "float32", 4),
    "write json": lambda store, path: store.write_json(path, {"a": 1}),
    "read json": lambda store, path: store.read_json(path),
    "describe": lambda store, path: store.describe(field(path), GRID, {}),
    "read file": lambda store, path: store.read_file(path, 1000),
    "remove file": lambda store, path: store.remove_file(path),
}
NAMES = ["../home", "a/../../home", "/{home}", "", "../home/c", "C:\\home", "..\\home", "a\0b"]
if sys.platform != "win32":
    NAMES += ["link", "link/a"]


def known(*paths: str) -> contextlib.AbstractContextManager[Digests]:
    """Read by a table that knows of those arrays."""
    digests = Digests()
    for path in paths:
        digests.begin(path, 1)
        digests.note(path, 0, Digest(6, 0))
    return using(digests)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "home" / "c" / "0").mkdir(parents=True)
    (tmp_path / "home" / "c" / "0" / "0").write_bytes(b"canary")
    (tmp_path / "a.zarr" / "a").mkdir(parents=True)
    if sys.platform != "win32":
        (tmp_path / "a.zarr" / "link").symlink_to(tmp_path / "home")
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("act", ACTS)
def test_no_name_leads_out_of_a_store(act: str, name: str, place: Path) -> None:
    home = place / "home"
    path = name.replace("/{home}", str(home))
    with known(path), pytest.raises(CheckpointError):
        ACTS[act](Store(str(place / "a.zarr")), path)
    assert [str(file.relative_to(home)) for file in sorted(home.rglob("*"))] == ["c", "c/0", "c/0/0"]
    assert (home / "c" / "0" / "0").read_bytes() == b"canary"


@pytest.mark.parametrize("name", ["../home", "/home", "a/../../home"])
@pytest.mark.parametrize("act", ACTS)
def test_no_name_leads_out_of_a_store_behind_a_url(act: str, name: str) -> None:
    with known(name), pytest.raises(CheckpointError):
        ACTS[act](Store("memory://folder/a.zarr"), name)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
@pytest.mark.parametrize("raw", [True, False])
def test_a_link_among_the_tiles_of_an_array_is_not_followed(raw: bool, place: Path) -> None:
    store = Store(str(place / "a.zarr"))
    wanted = field("heights", raw=raw)
    with known(wanted.path):
        store.create(wanted, GRID)
        (place / "a.zarr" / "heights" / "c").symlink_to(place / "home" / "c")
        with pytest.raises(CheckpointError, match="leads out"):
            store.write(wanted, GRID, 0, PLANE)
    with known(wanted.path), pytest.raises(CheckpointError, match="leads out"):
        store.read(wanted, GRID, GRID.window(0))
    assert (place / "home" / "c" / "0" / "0").read_bytes() == b"canary"


@pytest.mark.parametrize("stage", [1, 2])
@pytest.mark.parametrize("name", ["../home", "/{home}"])
def test_resuming_a_crafted_store_removes_nothing_outside(
    name: str, stage: int, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest names a folder of the user as the ground that is done with."""
    out = place / "run.zarr"
    hill = sw.Generated(kind="hill", size=16)
    recipe = sw.Recipe(source=hill, stages=(sw.Stage.of(sw.SteepestTalus(), steps=2),) * 3)
    usual = Store.write_json

    def write_and_stop(self: Store, file: str, facts: Mapping[str, Any]) -> None:
        usual(self, file, facts)
        if facts.get("number") == stage:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write_json", write_and_stop)
        with pytest.raises(KeyboardInterrupt):
            sw.erode_tiled(None, recipe, out=out, tile=16, workers=0)
    with changed(out) as (_, facts):
        assert facts["ground"]["path"]
        facts["ground"]["path"] = name.replace("/{home}", str(place / "home"))
    with contextlib.suppress(sw.SlopewashError):
        sw.resume_tiled(out, workers=0)
    assert (place / "home" / "c" / "0" / "0").read_bytes() == b"canary"
