"""Whatever is damaged in a store: the bits are the same, or one sentence says what is wrong."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tiles.conftest import rough

import slopewash as sw
from slopewash.tiles import output, store

FUZZ = int(os.environ.get("FUZZ_STORES", "10"))
"""Damaged stores of each kind; `make fuzz` takes 1000."""
TILE = (34, 27)
RUN: dict[str, Any] = {"tile": TILE, "workers": 0, "backend": "reference", "iterations": 2}


def recipe() -> sw.Recipe:
    """Two stages, so that there are lines, inputs, rounds and what the first has left."""
    return sw.Recipe(
        source=sw.FromTerrain(terrain=rough()),
        stages=(sw.Stage(model=sw.VirtualPipes(), steps=4), sw.Stage(model=sw.VirtualPipes(rain_rate=0.03), steps=6)),
        seed=3,
        backend="reference",
    )


@contextlib.contextmanager
def stopped(manifests: int) -> Iterator[None]:
    """Let the n-th manifest be the last."""
    written, usual = [], store.Store.write_json

    def write(self: store.Store, name: str, facts: Any) -> None:
        usual(self, name, facts)
        written.append(name)
        if len(written) == manifests:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.Store, "write_json", write)
        with pytest.raises(KeyboardInterrupt):
            yield


@pytest.fixture(scope="module")
def small_overviews() -> Iterator[None]:
    """Overviews of a small grid too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "SMALLEST_OVERVIEW", 20)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, small_overviews: None) -> Path:
    """Return a store that nothing happened to."""
    out = tmp_path_factory.mktemp("whole") / "out.zarr"
    sw.erode_tiled(None, recipe(), out=out, **RUN)
    return out


@pytest.fixture(scope="module")
def under_way(tmp_path_factory: pytest.TempPathFactory, small_overviews: None) -> dict[int, Path]:
    """Return the same run after some of its manifests: before, in and between its stages."""
    made = {}
    for manifests in (1, 2, 4, 6, 7) if FUZZ > 100 else (4, 7):
        made[manifests] = tmp_path_factory.mktemp("under-way") / "out.zarr"
        with stopped(manifests):
            sw.erode_tiled(None, recipe(), out=made[manifests], **RUN)
    return made


def layers_of(out: Path) -> dict[str, Any]:
    """Everything that our readers give of a finished store."""
    terrain, overview, lazy = sw.read_tiled(out), sw.read_tiled(out, most=40), sw.open(out)
    return {
        **{f"whole {name}": layer for name, layer in terrain.items()},
        **{f"overview {name}": layer for name, layer in overview.items()},
        **{f"lazy {name}": lazy[str(name)].values for name in lazy.data_vars},
        "nodata": terrain.nodata,
        "place": np.array([*lazy["x"].values, *lazy["y"].values, terrain.cell_size]),
    }


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """The same layers, to the bit."""
    assert found.keys() == wanted.keys()
    for name, layer in wanted.items():
        assert np.asarray(found[name]).tobytes() == np.asarray(layer).tobytes(), name


# What may happen to a file


def delete(path: Path, others: list[Path], chance: random.Random) -> None:
    path.unlink()


def flip(path: Path, others: list[Path], chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def truncate(path: Path, others: list[Path], chance: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(max(1, len(data)))])


def lengthen(path: Path, others: list[Path], chance: random.Random) -> None:
    path.write_bytes(path.read_bytes() + b"\0" * 4096)


def zero(path: Path, others: list[Path], chance: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def swap(path: Path, others: list[Path], chance: random.Random) -> None:
    """With another of the same length, if there is one: another tile, field or round."""
    data = path.read_bytes()
    alike = [other for other in others if other.stat().st_size == len(data) and other.read_bytes() != data]
    if alike:
        other = chance.choice(alike)
        path.write_bytes(other.read_bytes())
        other.write_bytes(data)


def put_folder(path: Path, others: list[Path], chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


Damage = Callable[[Path, list[Path], random.Random], None]
DAMAGES: tuple[Damage, ...] = (delete, flip, truncate, lengthen, zero, swap, put_folder)


def files_of(out: Path) -> list[Path]:
    return sorted(path for path in out.rglob("*") if path.is_file())


def same_or_refused(out: Path, wanted: dict[str, Any], act: Callable[[Path], None]) -> bool:
    """Act and read; return whether it was refused."""
    try:
        act(out)
        found = layers_of(out)
    except sw.SlopewashError:
        return True
    assert_same(found, wanted)
    return False


def go_on(out: Path) -> None:
    sw.resume_tiled(out, workers=0)


def only_read(out: Path) -> None:
    """Nothing happens before it is read."""


CASES: tuple[tuple[int | None, Callable[[Path], None]], ...] = (
    *((manifests, go_on) for manifests in (1, 2, 4, 6, 7)),
    (None, only_read),
)


def damaged(tmp_path: Path, original: Path, name: Path, damage: Damage, chance: random.Random) -> Path:
    """Return a copy of a store with one file damaged."""
    out = tmp_path / "damaged.zarr"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(original, out)
    files = files_of(out)
    damage(out / name, [file for file in files if file != out / name], chance)
    return out


@pytest.mark.parametrize("kind", [delete, swap, zero] if FUZZ > 100 else [delete])
@pytest.mark.parametrize(("manifests", "act"), CASES if FUZZ > 100 else [(7, go_on), (None, only_read)])
def test_every_file_of_a_store_counts(
    tmp_path: Path, whole: Path, under_way: dict[int, Path], manifests: int | None, act: Any, kind: Damage
) -> None:
    """One file of each array, and every other file, is lost, swapped and zeroed."""
    original, wanted = whole if manifests is None else under_way[manifests], layers_of(whole)
    chance, seen = random.Random(f"{manifests} {kind.__name__}"), set()
    refused = []
    for path in files_of(original):
        name = path.relative_to(original)
        array = name.parts[: name.parts.index("c")] if "c" in name.parts else name.parts
        if array in seen:
            continue
        seen.add(array)
        out = damaged(tmp_path, original, name, kind, chance)
        if same_or_refused(out, wanted, act):
            refused.append(name.as_posix())
    assert any(name.endswith(("c/0/0", "c/0")) or "/c/" in name for name in refused)


def test_damage_at_random_is_refused_or_changes_nothing(
    tmp_path: Path, whole: Path, under_way: dict[int, Path]
) -> None:
    wanted, refused = layers_of(whole), 0
    for seed in range(FUZZ):
        chance = random.Random(seed)
        manifests, act = chance.choice([case for case in CASES if case[0] is None or case[0] in under_way])
        original = whole if manifests is None else under_way[manifests]
        name = chance.choice(files_of(original)).relative_to(original)
        damage = chance.choice(DAMAGES)
        try:
            refused += same_or_refused(damaged(tmp_path, original, name, damage, chance), wanted, act)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {damage.__name__} of {name} after manifest {manifests}") from error
    assert refused >= FUZZ // 4
