"""Crafted projects of the studio, and archives of layers: read in memory, within limits, and never unpacked by name."""

from __future__ import annotations

import io
import json
import stat
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.crafted import Place
from tests.crafted_files.conftest import NO_FILES, heights

import slopewash as sw
from slopewash.errors import SlopewashError
from slopewash.studio.projects import ACTIONS, FACTS, RECIPE, TERRAIN

OWN = (
    'backend = "reference"\n[source]\ngenerator = "cone"\nsize = 32\n[[stages]]\nmodel = "steepest_talus"\nsteps = 1\n'
)
Parts = dict[str, bytes]


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def good() -> Parts:
    facts = {"format": 1, "slopewash": sw.__version__, "name": "mine", "step": 3, "view": None}
    return {FACTS: json.dumps(facts).encode(), RECIPE: OWN.encode(), ACTIONS: b'["run", 3]'}


def with_source(line: str) -> bytes:
    return OWN.replace('generator = "cone"\nsize = 32', line).encode()


def with_line(line: str) -> bytes:
    return (line + "\n" + OWN).encode()


def facts_with(**changes: Any) -> Parts:
    return {FACTS: json.dumps({**json.loads(good()[FACTS]), **changes}).encode()}


BOMB = bytes(64 << 20)
PARTS: dict[str, Parts] = {
    "facts that are a bomb": {FACTS: BOMB}, "a recipe that is a bomb": {RECIPE: BOMB},
    "actions that are a bomb": {ACTIONS: b'["undo"]\n' * (8 << 20)},
    "deep facts": {FACTS: b"[" * 60_000}, "deep actions": {ACTIONS: b"[" * 60_000},
    "facts of digits": {FACTS: b'{"format": ' + b"9" * 60_000 + b"}"},
    "another format": facts_with(format=2), "a format of text": facts_with(format="1"),
    "a negative step": facts_with(step=-5), "a step of 70 bits": facts_with(step=2**70), "a long name": facts_with(
        name="x" * 1000
    ), "a view of another kind": facts_with(view=[1]), "something more": facts_with(path="../home"),
    "actions that no studio does": {ACTIONS: b'["open", "../home/canary"]'},
    "a run without end": {ACTIONS: b'["run", 99999999999999]'}, "a million lines": {ACTIONS: b'["undo"]\n' * 1_000_000},
    "NaN in a stroke": {ACTIONS: b'["paint", {"tool": "raise", "points": [[NaN, 1]], "radius": 1, "strength": 1, '
                                 b'"falloff": 1}, false]'},
    "strata by an absolute path": {RECIPE: with_line('strata = "{home}/canary.toml"')},
    "strata above": {RECIPE: with_line('strata = "../../home/canary.toml"')},
    "strata by a link": {RECIPE: with_line('strata = "link/canary.toml"')},
    "a source by an absolute path": {RECIPE: with_source('file = "{home}/precious/dem.exr"')},
    "a source above": {RECIPE: with_source('file = "../../home/precious/dem.exr"')},
    "a source in a bucket": {RECIPE: with_source('file = "s3://bucket/dem.tif"')},
    "a source that is a pipe": {RECIPE: with_source('file = "{home}/pipe"')},
    "a source of the home": {RECIPE: with_source('file = "~/dem.tif"')},
    "a layer from outside": {RECIPE: OWN.encode() + b'[layers]\nrainfall = "{home}/precious/dem.exr"\n'},
    "a map from outside": {
        RECIPE: OWN.encode() + b'[stages.parameters]\ntalus_angle = { file = "{home}/pipe", range = [1, 2] }\n'
    },
    "an enormous grid": {RECIPE: OWN.replace("32", "4000000").encode()},
    "20 000 stages": {RECIPE: OWN.encode() + b"[[stages]]\nsteps = 1\n" * 20_000},
    "a terrain that is none": {TERRAIN: b"PK\x03\x04 nothing"}, "a terrain of objects": {
        TERRAIN: npz(elevation=np.array([[None]], object))
    }, "a terrain of one array more": {TERRAIN: npz(elevation=heights(), **{"../../home/new": heights()})},
    "a terrain that is a bomb": {TERRAIN: npz(elevation=np.zeros((6000, 6000)), **{f"a{n}": np.zeros((6000, 6000), "f4")
                                                                                 for n in range(1)})},
}  # fmt: skip


def packed(file: Path, parts: Parts, home: Path, *, method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(file, "w", method, compresslevel=1) as archive:
        for name, data in parts.items():
            archive.writestr(name, data.replace(b"{home}", str(home).encode()) if len(data) < 1 << 20 else data)


def check(crafted: Place, *, refused: bool | None = True) -> None:
    (crafted.work / "checked").mkdir()
    (crafted.work / "checked" / "link").symlink_to(crafted.home)
    crafted.check(crafted.call("crafted:check_project", "evil.slopewash", "checked"), refused=refused)
    made = {path.name for path in (crafted.work / "checked").iterdir()}
    assert made <= {"link", RECIPE, TERRAIN, "clean.json", "raw.npz"}


@pytest.mark.parametrize("kind", PARTS)
def test_projects_that_no_studio_saves_are_refused(kind: str, crafted: Place) -> None:
    packed(crafted.work / "evil.slopewash", good() | PARTS[kind], crafted.home)
    check(crafted, refused=None if kind == "a terrain of one array more" else True)


SLIPS = [
    "../home/new",
    "/tmp/new",
    "..\\home\\new",
    "a/../../home/new",
    "checked/link/new",
    "C:\\new",
    "recipe.toml/",
]


@pytest.mark.parametrize("name", SLIPS)
def test_names_in_an_archive_are_never_looked_up(name: str, crafted: Place) -> None:
    """What has another name than the studio's own parts is left alone."""
    packed(crafted.work / "evil.slopewash", {**good(), name: b"evil"}, crafted.home)
    check(crafted, refused=None)


def doubled(file: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr(RECIPE, "nonsense")


def linked(file: Path) -> None:
    """A part that Unix's unpackers make a link."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in good().items():
            member = zipfile.ZipInfo(name)
            member.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(member, b"../home/canary.toml" if name == RECIPE else data)


def lying(file: Path) -> None:
    """Sizes that are not those of the parts."""
    data = bytearray(file.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 2**32 - 2)
    file.write_bytes(data)


CENTRAL = b"PK\x01\x02\x14\x03\x14\0\0"
ARCHIVES: dict[str, Callable[[Path], object]] = {
    "a part twice": doubled, "links": linked, "sizes that lie": lying,
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-30]),
    "a long comment": lambda file: file.write_bytes(file.read_bytes()[:-2] + b"\xff\xff"),
    "encrypted": lambda file: file.write_bytes(file.read_bytes().replace(CENTRAL, CENTRAL[:-1] + b"\1")),
    "noise": lambda file: file.write_bytes(bytes(range(256)) * 20),
}  # fmt: skip


@pytest.mark.parametrize("kind", ARCHIVES)
def test_archives_that_are_damaged_on_purpose_are_refused(kind: str, crafted: Place) -> None:
    file = crafted.work / "evil.slopewash"
    packed(file, good(), crafted.home)
    ARCHIVES[kind](file)
    check(crafted, refused=None if kind in ("sizes that lie", "a long comment") else True)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_parts_compressed_as_no_studio_does_are_refused(method: int, crafted: Place) -> None:
    packed(crafted.work / "evil.slopewash", good(), crafted.home, method=method)
    check(crafted)


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_file_is_no_project(kind: str, crafted: Place) -> None:
    NO_FILES[kind](crafted.work / "evil.slopewash")
    crafted.check(crafted.run("studio", "evil.slopewash", "--no-browser", "--keep", "kept", "--port", 0), refused=True)


@pytest.mark.parametrize("kind", ["strata by an absolute path", "a source above"])
def test_the_child_process_that_checks_projects_touches_nothing_outside_either(kind: str, crafted: Place) -> None:
    packed(crafted.work / "evil.slopewash", good() | PARTS[kind], crafted.home)
    crafted.check(crafted.call("crafted:open_project", "evil.slopewash"), refused=True)


LAYERS: dict[str, Callable[[], bytes]] = {
    "objects": lambda: npz(elevation=np.array([[None] * 4] * 4, object)),
    "complex": lambda: npz(elevation=heights().astype(complex)),
    "of one dimension": lambda: npz(elevation=heights()[0]),
    "empty": lambda: npz(elevation=heights()[:0]), "3-D": lambda: npz(elevation=heights()[None]),
    "text as cell size": lambda: npz(elevation=heights(), cell_size="10 m"),
    "NaN as cell size": lambda: npz(elevation=heights(), cell_size=np.nan),
    "a negative cell size": lambda: npz(elevation=heights(), cell_size=-1.0),
    "a layer of other cells": lambda: npz(elevation=heights(), water=heights(5)),
    "no elevation": lambda: npz(water=heights()), "NaN": lambda: npz(elevation=heights() * np.nan),
    "a long CRS": lambda: npz(elevation=heights(), crs="x" * (1 << 20)),
    "strata that are none": lambda: npz(elevation=heights(), strata="[" * 5000),
    "sources of three": lambda: npz(elevation=heights(), sources=np.ones((2, 3))),
    "300 layers": lambda: npz(elevation=heights(), **{f"a{n}": heights() for n in range(300)}),
    "a giant of zeros": lambda: packed_zeros(),
    "names that lead out": lambda: npz(elevation=heights(), **{"../../home/new": heights()}),
}  # fmt: skip


def packed_zeros() -> bytes:
    """8 GB that deflate makes 8 MB of."""
    file = io.BytesIO()
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (32768, 32768), }".ljust(117) + b"\n"
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("elevation.npy", "w", force_zip64=True) as member,
    ):
        member.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
        member.write(bytes(1 << 24))
    return file.getvalue()


@pytest.mark.parametrize("name", ["../../home/new", "/tmp/new", "..\\home", "a/b", "nul"])
def test_files_named_after_layers_stay_in_their_folder(name: str, crafted: Place) -> None:
    (crafted.work / "evil.npz").write_bytes(npz(elevation=heights(), **{name: heights()}))
    crafted.check(crafted.run("export", "evil.npz", "--target", "gis", "-o", "gis"), refused=True)
    with pytest.raises(SlopewashError, match=r"names no file|leads out|absolute|device"):
        sw.write_masks(sw.read(crafted.work / "evil.npz"), crafted.work / "masks", [name])


@pytest.mark.parametrize("kind", LAYERS)
def test_archives_of_layers_that_nobody_writes_are_refused(kind: str, crafted: Place) -> None:
    (crafted.work / "evil.npz").write_bytes(LAYERS[kind]())
    crafted.check(
        crafted.run("convert", "evil.npz", "-o", "out.npz"), refused=None if kind == "names that lead out" else True
    )
