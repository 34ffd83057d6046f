"""Crafted stores: whatever one holds is answered in one sentence, and nothing outside its folder is touched."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.crafted import Place
from tests.crafted_files.conftest import NO_FILES, answers, replace
from tests.crafted_files.mutations import RECIPE, SAME, changed, check_accepted, mutations

import slopewash as sw
from slopewash.seals import seal
from slopewash.tiles.digests import file_of, loaded
from slopewash.tiles.finished import FINISHED
from slopewash.tiles.run import MANIFEST, TiledRun
from slopewash.tiles.store import SEALED_FOR, Store

UNDER_WAY, BETWEEN, DONE = "1.zarr", "3.zarr", "out.zarr"
"""A stage in the middle of its work, the moment between two stages, and a finished run."""


def text_of(facts: Any) -> bytes:
    return json.dumps(facts, sort_keys=True).encode()


def read_manifest(store: Path) -> dict[str, Any]:
    facts = json.loads((store / MANIFEST).read_bytes())
    return {name: value for name, value in facts.items() if name not in ("sha256", "seal")}


def write_manifest(store: Path, facts: Any) -> None:
    """As a user would who has the secret: nobody sees that it was changed."""
    marks = {"sha256": hashlib.sha256(text_of(facts)).hexdigest(), "seal": seal(text_of(facts), SEALED_FOR)}
    (store / MANIFEST).write_text(json.dumps({**facts, **marks}))


def read_finished(store: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((store / "zarr.json").read_bytes())["attributes"][FINISHED]
    del facts["sha256"]
    return facts


def write_finished(store: Path, facts: Any) -> None:
    whole = json.loads((store / "zarr.json").read_bytes())
    whole["attributes"][FINISHED] = {**facts, "sha256": hashlib.sha256(text_of(facts)).hexdigest()}
    (store / "zarr.json").write_text(json.dumps(whole))


MANIFESTS = {
    r"layers list|lakes flag": "other layers are kept in the end",
    r"start\.ranges table|start\.ranges\.elevation missing": "asked for where a map or a layer needs them only",
    r"(start|ground)\.(cell_size huge|has_nodata flag|(low|high|solids|water) (negative|huge))": "another ground",
    r"ground\.(ranges table|ranges\.\w+ missing|layers\.[1-9] missing)": "a ground that is known less well",
    r"(start|ground)\.ranges\.\w+\.[01] (null|negative|huge)": "another ground",
    r"amounts table|amounts\.\w+ (missing|negative|huge)": "other amounts, for the mass budget at the end",
    r"(work|ground) null": "an earlier moment of the run",
    r"spent\.\w+ huge": "another machine",
}
"""What else a manifest that carries the user's own seal may hold, by why."""
WORK = {
    r"work\.domain\.(cell_size huge|datum (negative|huge)|scale huge|strata table)": "another ground",
    r"work\.cells\.\d\.stepped flag": "the state is stepped or only read",
}


@pytest.mark.parametrize("moment", [UNDER_WAY, BETWEEN])
def test_every_value_of_a_manifest_is_checked(moment: str, ground: Path, tmp_path: Path) -> None:
    path = shutil.copytree(ground / moment, tmp_path / "run.zarr")
    facts, accepted = read_manifest(path), {}
    for name, wrong in mutations(facts):
        write_manifest(path, wrong)
        if not answers(lambda: TiledRun.resumed(Store(str(path)))):
            accepted[name] = wrong
    wanted = sw.read_tiled(ground / DONE)
    tables = (SAME, RECIPE, MANIFESTS, WORK) if moment == UNDER_WAY else (SAME, RECIPE, MANIFESTS)
    for number, name in enumerate(check_accepted(accepted, *tables)):
        again = shutil.copytree(ground / moment, tmp_path / f"{number}.zarr")
        write_manifest(again, accepted[name])
        if not answers(lambda again=again: sw.resume_tiled(again, workers=0)):  # type: ignore[misc]
            found = sw.read_tiled(again)
            assert {layer: found[layer].tobytes() for layer in found} == {
                layer: wanted[layer].tobytes() for layer in wanted
            }, name
    write_manifest(path, facts)
    TiledRun.resumed(Store(str(path)))


FINISHED_MAY = {
    r"(schema|url|sea|steps_in_all|bytes_written|(round|cpu|kernel)_seconds|cell_iterations) \w+": "not read",
    r"(slopewash|backend|ground\.crs) outside|seconds (negative|huge)": "only shown, or passed on",
    r"budget table|budget\.\w+ (missing|negative|huge)": "only shown",
    r"ground\.(has_nodata flag|(low|high|solids|water|ranges\.\w+\.[01]) (negative|huge))": "not read",
}
"""What a finished store may hold, by why: its layers are the same bits, or refused."""


def test_every_value_of_a_finished_store_is_checked(ground: Path, tmp_path: Path) -> None:
    path = shutil.copytree(ground / DONE, tmp_path / "run.zarr")
    facts, wanted = read_finished(path), sw.read_tiled(path)
    recipe = facts.pop("recipe")  # which nothing reads
    strange = []
    for name, wrong in mutations(facts):
        write_finished(path, {**wrong, "recipe": recipe})
        if answers(lambda: sw.tiled_facts(path)):
            continue
        if not any(re.fullmatch(pattern, name) for pattern in FINISHED_MAY):
            strange.append(name)
        if not answers(lambda: sw.read_tiled(path)):
            found = sw.read_tiled(path)
            assert {layer: found[layer].tobytes() for layer in found} == {
                layer: wanted[layer].tobytes() for layer in wanted
            }, name
    assert not strange
    write_finished(path, facts)
    assert sw.read_tiled(path).shape == (24, 24)


def test_every_value_of_attributes_is_checked(ground: Path, tmp_path: Path) -> None:
    """Of whatever wrote them: those that slopewash knows, and what stands above them."""
    path = shutil.copytree(ground / DONE, tmp_path / "run.zarr")
    wanted, gone = sw.tiled_facts(path), ("attributes missing", "attributes table", f"attributes.{FINISHED} missing")
    bits = {name: layer.tobytes() for name, layer in sw.read_tiled(path).items()}
    accepted = []
    for name, wrong in mutations(json.loads((path / "zarr.json").read_bytes())):
        (path / "zarr.json").write_text(json.dumps(wrong))
        if answers(lambda: sw.tiled_facts(path)):
            continue
        assert not name.startswith(f"attributes.{FINISHED}."), name
        assert sw.tiled_facts(path) == (None if name in gone else wanted), name
        if name not in gone:
            accepted.append(name)
            assert {layer: values.tobytes() for layer, values in sw.read_tiled(path).items()} == bits, name
    assert accepted  # what is for others, and what nobody reads


PLACES = {
    "the manifest": (UNDER_WAY, MANIFEST, "resume"),
    "the root": (UNDER_WAY, "zarr.json", "resume"),
    "the table": (UNDER_WAY, "state/digests-*", "resume"),
    "a tile": (UNDER_WAY, "state/round-*/*/c/0/0/0", "resume"),
    "the attributes": (DONE, "zarr.json", "convert"),
    "the table of the result": (DONE, "digests-*", "convert"),
    "a tile of the result": (DONE, "elevation/c/0/0", "convert"),
}
MORE = {"resume": ("--workers", "0"), "convert": ("-o", "out.tif"), "info": ()}


def attack(crafted: Place, command: str, name: str = "evil.zarr") -> None:
    crafted.check(crafted.run(command, name, *MORE[command]), refused=True)


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_file_in_the_place_of_one_is_refused(place: str, kind: str, ground: Path, crafted: Place) -> None:
    moment, pattern, command = PLACES[place]
    path = shutil.copytree(ground / moment, crafted.work / "evil.zarr")
    names = [file_of("state/", read_manifest(path)["digests"])] if place == "the table" else path.glob(pattern)
    replace(next(path / name for name in names), kind)
    answer = crafted.run(command, "evil.zarr", *MORE[command])
    crafted.check(answer, refused=None if place == "the root" else True)


def grid(shape: Any, tile: Any) -> dict[str, Any]:
    return {"shape": shape, "tile": tile}


GRIDS: dict[str, Any] = {
    "4 million along a side": grid([4_000_000, 4_000_000], [2048, 2048]),
    "4 million in one tile": grid([4_000_000, 4_000_000], [4_000_000, 4_000_000]),
    "one long row": grid([1, 2**40], [1, 2**40]),
    "tiles of one cell": grid([100_000, 100_000], [1, 1]),
    "empty": grid([0, 0], [16, 16]), "of one cell": grid([1, 1], [1, 1]), "3-D": grid([24, 24, 24], [16, 16, 16]),
    "without a shape": grid([], []), "tile 0": grid([24, 24], [0, 0]), "tile -1": grid([24, 24], [-1, -1]),
    "larger than it is": grid([48, 48], [16, 16]), "other tiles": grid([24, 24], [8, 8]),
    "a fraction": grid([24.5, 24], [16, 16]), "true": grid([True, True], [True, True]),
}  # fmt: skip


@pytest.mark.parametrize("kind", GRIDS)
def test_grids_that_cannot_be_are_refused(kind: str, ground: Path, crafted: Place) -> None:
    shutil.copytree(ground / UNDER_WAY, crafted.work / "evil.zarr")
    shutil.copytree(ground / DONE, crafted.work / "done.zarr")
    facts = read_manifest(crafted.work / "evil.zarr")
    for name in ("start", "ground", "work"):
        facts = changed(facts, (name, "grid"), GRIDS[kind])
    write_manifest(crafted.work / "evil.zarr", changed(facts, ("work", "domain", "shape"), GRIDS[kind]["shape"]))
    attack(crafted, "resume")
    facts = changed(read_finished(crafted.work / "done.zarr"), ("ground", "grid"), GRIDS[kind])
    write_finished(crafted.work / "done.zarr", facts | {"shape": GRIDS[kind]["shape"]})
    attack(crafted, "convert", "done.zarr")


GROUNDS: dict[str, tuple[str, Any]] = {
    "text as cell size": ("cell_size", "10 m"), "NaN as cell size": ("cell_size", float("nan")),
    "a negative cell size": ("cell_size", -1), "no cell size": ("cell_size", 0), "endless": ("cell_size", 1e400),
    "a CRS of another kind": ("crs", 4326), "a long CRS": ("crs", "x" * (1 << 20)),
    "a short transform": ("transform", [1, 0, 0]), "a flat transform": ("transform", [0] * 6),
    "NaN in the transform": ("transform", [float("nan")] * 6), "a path outside": ("path", "../home/precious"),
    "an absolute path": ("path", "/etc"), "a path with a link": ("path", "link/precious"),
    "an unknown layer": ("layers", ["elevation", "../../home/precious"]), "no layers": ("layers", []),
    "a layer twice": ("layers", ["elevation", "elevation"]), "own layers of nothing": ("own", ["secret"]),
    "strata of another kind": ("strata", {"layers": [1]}), "sources of three": ("sources", [[1, 2, 3]]),
    "something more": ("store", "s3://bucket"),
}  # fmt: skip


@pytest.mark.parametrize("kind", GROUNDS)
def test_grounds_that_cannot_be_are_refused(kind: str, ground: Path, crafted: Place) -> None:
    name, value = GROUNDS[kind]
    path = shutil.copytree(ground / UNDER_WAY, crafted.work / "evil.zarr")
    (path / "link").symlink_to("../../home")
    facts = read_manifest(path)
    write_manifest(path, changed(changed(facts, ("start", name), value), ("ground", name), value))
    attack(crafted, "resume")
    path = shutil.copytree(ground / DONE, crafted.work / "done.zarr")
    facts = changed(read_finished(path), ("ground", name), value)
    write_finished(path, facts | {name: value} if name in facts else facts)
    attack(crafted, "convert", "done.zarr")


def doubled(data: bytes) -> bytes:
    return data[:-1] + b', "number": "twice"}'


TEXTS: dict[str, Callable[[bytes], bytes]] = {
    "deep": lambda data: b"[" * 200_000, "deep tables": lambda data: b'{"a":' * 200_000,
    "long numbers": lambda data: b'{"schema": ' + b"9" * 100_000 + b"}", "a list": lambda data: b"[1, 2]",
    "doubled keys": doubled, "no text": lambda data: b"\xff\xfe" + data, "truncated": lambda data: data[:-40],
    "a number": lambda data: b"NaN", "40 MB": lambda data: b'{"a": "' + b"x" * (40 << 20) + b'"}',
}  # fmt: skip


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("place", ["the manifest", "the attributes"])
def test_texts_that_are_no_facts_are_refused(place: str, kind: str, ground: Path, crafted: Place) -> None:
    moment, name, command = PLACES[place]
    file = shutil.copytree(ground / moment, crafted.work / "evil.zarr") / name
    file.write_bytes(TEXTS[kind](file.read_bytes()))
    answer = crafted.run(command, "evil.zarr", *MORE[command])
    crafted.check(answer, refused=None if kind == "doubled keys" and command == "convert" else True)


def bomb(length: int) -> bytes:
    """A chunk of Blosc that claims to be of so many bytes."""
    return b"\x02\x01\x21\x04" + b"".join(n.to_bytes(4, "little") for n in (length, length, 32)) + b"\0" * 16


CHUNKS = {"2 GB of Blosc": bomb(2**31 - 1), "noise": bytes(range(256)) * 8, "one byte": b"x", "zeros": bytes(4096)}


@pytest.mark.parametrize("kind", CHUNKS)
def test_chunks_that_are_damaged_on_purpose_are_refused(kind: str, ground: Path, crafted: Place) -> None:
    """Their digests are right."""
    from slopewash.tiles.shards import digest_of

    path = shutil.copytree(ground / DONE, crafted.work / "evil.zarr")
    facts = read_finished(path)
    table = loaded(Store(str(path)), "", facts["digests"]).copy()
    (path / "elevation" / "c" / "0" / "0").write_bytes(CHUNKS[kind])
    table.note("elevation", 0, digest_of(CHUNKS[kind]))
    data = table.dump()
    sha = hashlib.sha256(data).hexdigest()
    (path / file_of("", sha)).write_bytes(data)
    write_finished(path, facts | {"digests": sha})
    attack(crafted, "convert")


def test_a_geotiff_that_the_disk_cannot_hold_is_refused_before_it_is_written(
    ground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rasterio")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    said = answers(lambda: sw.write_tiled_geotiff(ground / DONE, tmp_path / "out.tif"))
    assert "GB are free there" in said
    assert not (tmp_path / "out.tif").exists()


def test_a_store_of_another_user_is_continued_on_trust_only(
    ground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shutil.copytree(ground / UNDER_WAY, tmp_path / "theirs.zarr")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "me"))
    assert "does not carry your seal" in answers(lambda: sw.resume_tiled(path, workers=0))
    assert sw.tiled_facts(path) is not None  # what it says may be shown
    assert sw.resume_tiled(path, workers=0, trust=True).steps == 3
