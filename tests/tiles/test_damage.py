"""Whatever is damaged in a store: the bits are the same, or one sentence says what is wrong."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.damage import DAMAGES, SURE, Damage, Found, Tally, damaged, delete, files_of, swap, try_at_random, zero
from tests.tiles.conftest import rough

import slopewash as sw
from slopewash.cli import main
from slopewash.tiles import output, store
from slopewash.tiles.run import MANIFEST

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
        written.extend([name] if name == MANIFEST else [])
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


def go_on(out: Path) -> Found:
    sw.resume_tiled(out, workers=0)
    return Found(layers_of(out))


def only_read(out: Path) -> Found:
    """Nothing happens before it is read."""
    return Found(layers_of(out))


def commanded(out: Path) -> Found:
    """What the commands make of a finished store."""
    made = out.parents[1] / "made"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    facts = json.loads(command("info", out, "--json"))
    command("convert", out, "-o", made / "a.npz")
    if FUZZ > 100:  # the same readers
        command("convert", out, "-o", made / "a.tif")
        command("render", out, "-o", made / "a.png", "--width", 64)
        command("export", out, "--target", "godot", "-o", made / "godot")
    rasters = [path for path in sorted(made.iterdir()) if path.suffix in (".npz", ".tif")]
    values = {f"{path.name} {name}": layer for path in rasters for name, layer in sw.read(path).items()}
    pictures = {path.name: path.read_bytes() for path in sorted(made.rglob("*")) if path.suffix in (".png", ".exr")}
    return Found({"info": json.dumps(facts), **values, **pictures})


def command(*words: object) -> str:
    """Run a command, which may refuse in one sentence; what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    if code == 2:
        raise sw.InvalidFile(err.getvalue().strip().splitlines()[-1])
    assert code == 0, err.getvalue()
    return out.getvalue()


def of(case: int | None, whole: Path, under_way: dict[int, Path]) -> Path:
    return whole if case is None else under_way[case]


def read_next(original: Path) -> list[Path]:
    """Files that whoever goes on with a store, or reads its layers, cannot do without."""
    names = [path.relative_to(original) for path in files_of(original)]
    first = ("state/manifest.json", "state/after-") if (original / "state").exists() else ("",)
    found = [
        name for name in names
        if name.as_posix().startswith(first) and not name.as_posix().startswith("overviews/")
        and ("c" in name.parts or name.name == "manifest.json")
    ]  # fmt: skip
    within_a_stage = (original / "state").exists() and not any((original / "state").glob("after-*"))
    assert len(found) > 10 or within_a_stage  # whose arrays the manifest names
    return found


CASES: tuple[tuple[int | None, Callable[[Path], Found]], ...] = (
    *((manifests, go_on) for manifests in (1, 2, 4, 6, 7)),
    (None, only_read),
)


@pytest.mark.parametrize("kind", [delete, swap, zero] if FUZZ > 100 else [delete])
@pytest.mark.parametrize(("manifests", "act"), CASES if FUZZ > 100 else [(7, go_on), (None, only_read)])
def test_every_file_of_a_store_counts(
    tmp_path: Path, whole: Path, under_way: dict[int, Path], manifests: int | None, act: Any, kind: Damage
) -> None:
    """One file of each array, and every other file, is lost, swapped and zeroed."""
    original, wanted = of(manifests, whole, under_way), layers_of(whole)
    chance, seen, tally = random.Random(f"{manifests} {kind.__name__}"), set(), Tally()
    refused = []
    for path in files_of(original):
        name = path.relative_to(original)
        array = name.parts[: name.parts.index("c")] if "c" in name.parts else name.parts
        if array in seen:
            continue
        seen.add(array)
        out = damaged(tmp_path, original, name, kind, chance)
        if tally.judge(lambda out=out: act(out), wanted):  # type: ignore[misc]
            refused.append(name.as_posix())
    print(f"{kind.__name__} after {manifests}: {tally}")
    assert any(name.endswith(("c/0/0", "c/0")) or "/c/" in name for name in refused)


@pytest.mark.parametrize(
    "case",
    [(7, go_on, 3), (None, only_read, 3), (None, commanded, 8)]
    if FUZZ < 100
    else [*((manifests, go_on, 7) for manifests in (1, 2, 4, 6, 7)), (None, only_read, 7), (None, commanded, 7)],
)
def test_damage_at_random_is_refused_or_changes_nothing(
    tmp_path: Path, whole: Path, under_way: dict[int, Path], case: tuple[int | None, Any, int]
) -> None:
    manifests, act, share = case
    original, tally = of(manifests, whole, under_way), Tally()
    copied = shutil.copytree(whole, tmp_path / "as-it-was" / whole.name)
    wanted = act(copied).values if manifests is None else layers_of(whole)

    def judge(out: Path) -> None:
        tally.judge(lambda: act(out), wanted)

    def refused(out: Path) -> None:
        before = tally.refused
        judge(out)
        assert tally.refused > before, "it was not noticed"

    count = max(FUZZ // share, 2)
    try_at_random(tmp_path, original, count, DAMAGES, judge)
    try_at_random(tmp_path, original, count, SURE, refused, read_next(original))
    print(f"{act.__name__} after {manifests}: {tally}")
