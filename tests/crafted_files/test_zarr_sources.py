"""Crafted groups of Zarr as sources of a run on tiles: refused in one sentence, before anything is made of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.crafted import Place
from tests.crafted_files.conftest import NO_FILES, heights, replace

zarr = pytest.importorskip("zarr")


def group(path: Path, **arrays: Any) -> None:
    made = zarr.open_group(str(path), mode="w")
    for name, values in arrays.items():
        made.create_array(name, data=values, chunks=tuple(max(1, n) for n in values.shape))


def with_attributes(**attributes: Any) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        group(path, elevation=heights())
        zarr.open_group(str(path)).attrs.update(attributes)

    return make


def with_metadata(**changes: Any) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        group(path, elevation=heights())
        file = path / "elevation" / "zarr.json"
        file.write_text(json.dumps(json.loads(file.read_bytes()) | changes))

    return make


def linked(path: Path) -> None:
    group(path, elevation=heights())
    replace(path / "elevation" / "c" / "0" / "0", "an endless link")


def chunks(*shape: int) -> dict[str, Any]:
    return {"name": "regular", "configuration": {"chunk_shape": list(shape)}}


GROUPS: dict[str, Callable[[Path], object]] = {
    "3-D": lambda path: group(path, elevation=heights()[None]), "1-D": lambda path: group(path, elevation=heights()[0]),
    "no arrays": group, "no elevation": lambda path: group(path, water=heights()),
    "complex": lambda path: group(path, elevation=heights().astype(complex)),
    "a layer of other cells": lambda path: group(path, elevation=heights(), water=heights(5)),
    "text as cell size": with_attributes(cell_size="10 m"), "a negative cell size": with_attributes(cell_size=-1),
    "no cell size": with_attributes(cell_size=[]), "a CRS of another kind": with_attributes(**{"proj:code": 4326}),
    "a short transform": with_attributes(**{"proj:code": "EPSG:32611", "spatial:transform": [1, 0]}),
    "text as transform": with_attributes(**{"proj:code": "EPSG:32611", "spatial:transform": "north"}),
    "4 million along a side": with_metadata(shape=[4_000_000, 4_000_000]),
    "a negative shape": with_metadata(shape=[-4, 4]), "no cells": with_metadata(shape=[0, 0]),
    "chunks of nothing": with_metadata(chunk_grid=chunks(0, 0)), "giant chunks": with_metadata(
        shape=[100_000, 100_000], chunk_grid=chunks(100_000, 100_000)
    ), "an unknown codec": with_metadata(codecs=[{"name": "evil", "configuration": {}}]),
    "an unknown type": with_metadata(data_type="python"), "text as shape": with_metadata(shape="many"),
    "an endless chunk": linked, **{kind: NO_FILES[kind] for kind in ("a pipe", "a socket", "an endless link")},
}  # fmt: skip


@pytest.mark.parametrize("kind", GROUPS)
def test_groups_that_no_terrain_is_are_refused(kind: str, crafted: Place) -> None:
    GROUPS[kind](crafted.work / "evil.zarr")
    preset = ("--model", "steepest_talus", "--steps", 1, "--backend", "reference", "--tiles", 16, "--workers", 0)
    crafted.check(crafted.run("erode", "evil.zarr", "-o", "out.zarr", *preset), refused=True)


URLS = [
    "memory://evil.zarr", "s3://bucket/evil.zarr", "file:///dev/zero", "nowhere://a.zarr", "github://", "generic://x",
    "jupyter://x", "dask://x", "zip://a::memory://b", "https://[::1", "memory://\x1b[2J", "simplecache::file:///dev/zero",
]  # fmt: skip


@pytest.mark.parametrize("url", URLS)
def test_urls_are_refused_or_answered_in_one_sentence(url: str, crafted: Place) -> None:
    for command in ("info", "resume"):
        crafted.check(crafted.run(command, url), refused=True)


def test_a_good_group_is_eroded(crafted: Place) -> None:
    with_attributes(cell_size=10.0)(crafted.work / "good.zarr")
    preset = ("--model", "steepest_talus", "--steps", 1, "--backend", "reference", "--tiles", 16, "--workers", 0)
    crafted.check(crafted.run("erode", "good.zarr", "-o", "out.zarr", *preset), refused=False)
