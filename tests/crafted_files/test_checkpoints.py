"""Crafted checkpoints: whatever one holds is answered in one sentence, and nothing outside is touched."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.crafted import Place
from tests.crafted_files.conftest import NO_FILES, STAGES, answers, replace
from tests.crafted_files.mutations import RECIPE, SAME, changed, check_accepted, mutations

import slopewash as sw
from slopewash import seals
from slopewash.simulation import checkpoint_files
from slopewash.simulation.checkpoint_files import MANIFEST, array_file, encoded


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recipe under way, of two stages with an output."""
    folder = tmp_path_factory.mktemp("checkpoints") / "run.ckpt"
    hill = sw.Generated(kind="hill", size=12)
    recipe = sw.Recipe(
        source=hill, stages=(sw.Stage.of(sw.VirtualPipes(), steps=3), *STAGES), backend="reference",
        outputs=(sw.Output(Path("made.npz")),), water_sources=(sw.WaterSource(x=2000, y=2000, radius=500, rate=1),),
    )  # fmt: skip
    running = sw.Running(recipe, checkpoint=folder)
    running.advance(2)
    running.write_checkpoint()
    return folder


def newest(folder: Path) -> Path:
    return sw.find_checkpoints(folder)[0]


def read(folder: Path) -> dict[str, Any]:
    facts = json.loads((newest(folder) / MANIFEST).read_bytes())
    return {name: value for name, value in facts.items() if name not in ("sha256", "seal")}


def write(folder: Path, facts: dict[str, Any]) -> None:
    """Sealed again, with the user's own key."""
    (newest(folder) / MANIFEST).write_bytes(encoded(facts))


MANIFESTS = {
    r"files\.[\w.]+\.dtype \w+|recipe\.start\.[\w.]+ \w+|recipe\.start table": "not read: arrays have types",
    r"(time|since\.1|level) (negative|huge)|relief huge|substeps_done missing": "another moment of the run",
    r"conserved (missing|list)|conserved\.\d (missing|outside)": "what its model declares to conserve",
    r"domain\.(datum (negative|huge)|scale huge|strata table)": "another ground",
    r"scalars\.\w+ negative": "other amounts, by which the mass budget is judged at the end",
    r"marks (missing|table)|marks\.[\w.]+ missing": "as versions before wrote it",
    r"terrain\.(south_up \w+|own table)|history\.((undo|redo) table|edited \w+)": "true or not, and empty lists",
    r"(recipe\.)+water_sources list|(recipe\.)+water_sources\.0 missing": "the source is on the ground already",
    r"(recipe\.)+water_sources\.0\.\w+ (negative|huge|flag)": "the same",
    r"recipe\.recipe\.(backend outside|outputs list|outputs\.0 missing|outputs\.0\.path outside)": "other outputs",
    r"recipe\.seconds huge": "another machine",
    r"recipe\.(finished|laid_down|low_water|foreign|outputs_anywhere) (missing|flag)": "another run",
    r"recipe\.at missing": "as versions before wrote it: it follows from the steps",
    r"recipe\.(inputs (missing|table)|budgets list|folder (missing|null|outside))": "what is noted in the end",
}
"""What else a checkpoint that carries the user's own seal may hold, by why."""


def test_every_value_of_a_checkpoint_is_checked(begun: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(newest(begun), tmp_path / "step-000002")
    facts, accepted = read(tmp_path), {}
    for name, wrong in mutations(facts):
        (folder / MANIFEST).write_bytes(encoded(wrong))
        if not answers(lambda: sw.Running.resumed(tmp_path)):
            accepted[name] = wrong

    def finished(wrong: dict[str, Any]) -> dict[str, bytes]:
        (folder / MANIFEST).write_bytes(encoded(wrong))
        running = sw.Running.resumed(tmp_path)
        running.advance(100)
        terrain = running.simulation.terrain
        return {layer: terrain[layer].tobytes() for layer in terrain}

    wanted, found = finished(facts), dict[str, dict[str, bytes]]()
    for name in check_accepted(accepted, SAME, RECIPE, MANIFESTS):
        if not answers(lambda name=name: found.update({name: finished(accepted[name])})):  # type: ignore[misc]
            assert found[name] == wanted, name


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("name", [MANIFEST, "000.npy", "."])
def test_what_is_no_file_in_the_place_of_one_is_refused(name: str, kind: str, begun: Path, crafted: Place) -> None:
    folder = shutil.copytree(begun, crafted.work / "evil.ckpt")
    for checkpoint in sw.find_checkpoints(folder):
        replace(checkpoint if name == "." else checkpoint / name, kind)
    crafted.check(crafted.run("resume", "evil.ckpt"), refused=True)


def saved(array: Any, *, pickled: bool = False) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=pickled)
    return file.getvalue()


def with_header(text: str) -> bytes:
    whole = text.ljust(118).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(whole).to_bytes(2, "little") + whole


class Evil:
    """What a pickle may run."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("pwned"),)


ARRAYS: dict[str, Callable[[], bytes]] = {
    "of one cell": lambda: saved(np.ones((1, 1), np.float32)),
    "of other cells": lambda: saved(np.ones((13, 12), np.float32)),
    "complex": lambda: saved(np.ones((12, 12), np.complex64)),
    "dates": lambda: saved(np.ones((12, 12), "datetime64[s]")),
    "texts": lambda: saved(np.full((12, 12), "a")),
    "objects": lambda: saved(np.array([[Evil()] * 12] * 12, object), pickled=True),
    "records": lambda: saved(np.zeros((12, 12), [("a", "f4"), ("b", "f4")])),
    "of another order": lambda: saved(np.ones((12, 12), ">f4")),
    "of no dimension": lambda: saved(np.float32(1)),
    "of 3 dimensions": lambda: saved(np.ones((2, 12, 12), np.float32)),
    "empty": lambda: saved(np.ones((0, 0), np.float32)),
    "NaN": lambda: saved(np.full((12, 12), np.nan, np.float32)),
    "infinite": lambda: saved(np.full((12, 12), np.inf, np.float32)),
    "truth": lambda: saved(np.ones((12, 12), bool)),
    "a giant by its header": lambda: with_header(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000, 4000000), }"
    ),
    "a negative shape": lambda: with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-12, -12), }"),
    "a call in its header": lambda: with_header("{'descr': '<f4', 'shape': open('../home/canary').read()}"),
    "a deep header": lambda: with_header("(" * 5000),
    "a long header": lambda: b"\x93NUMPY\x02\x00" + (2**31).to_bytes(4, "little") + b" " * 100,
    "noise": lambda: bytes(range(256)) * 4,
}  # fmt: skip


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_that_no_run_writes_are_refused(kind: str, begun: Path, crafted: Place) -> None:
    """Their digests, their shapes in the manifest and the seal are right."""
    folder = shutil.copytree(newest(begun), crafted.work / "evil.ckpt" / "step-000002")
    facts, data = read(folder.parent), ARRAYS[kind]()
    number = list(facts["files"]).index("state.elevation")
    (folder / array_file(number)).write_bytes(data)
    try:
        array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
        noted = {"shape": list(array.shape), "dtype": str(array.dtype)}
    except Exception:  # which of them NumPy raises, it says nowhere
        noted = {"shape": [12, 12], "dtype": "float32"}
    noted["sha256"] = hashlib.sha256(data).hexdigest()
    write(folder.parent, changed(facts, ("files", "state.elevation"), noted))
    crafted.check(crafted.run("resume", "evil.ckpt"), refused=True)
    assert not (crafted.work / "pwned").exists()


FACTS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "step -5": (("step",), -5), "step of 70 bits": (("step",), 2**70), "a step of text": (("step",), "2"),
    "no cells": (("domain", "shape"), [0, 0]), "one cell": (("domain", "shape"), [1, 1]),
    "4 million along a side": (("domain", "shape"), [4_000_000, 4_000_000]),
    "3 dimensions": (("domain", "shape"), [12, 12, 12]), "cell size of text": (("domain", "cell_size"), "10 m"),
    "a part of another": (("domain", "origin"), [5, 5]), "margins": (("domain", "margins"), [4, 4, 4, 4]),
    "sides unknown": (("domain", "sides", "north"), "halo"), "another model": (("model", "name"), "mesh_particles"),
    "no model": (("model", "name"), "../../home/precious"), "another backend": (("backend",), "../home"),
    "a stage beyond": (("recipe", "stage"), 99), "20 000 stages": (("recipe", "stages"), [{}] * 20_000),
    "a foreign layer": (("terrain", "layers"), ["elevation", "../home"]), "no files": (("files",), {}),
    "a long history": (("history",), {"undo": [[]] * 10_000}), "text as seconds": (("recipe", "seconds"), "soon"),
    "an enormous time": (("time",), 10**400), "a map from outside": (
        ("recipe", "stages", 1, "parameters", "talus_angle"), {"file": "../home/precious/dem.exr"},
    ), "a level of 2 million cells": (("recipe", "stages", 1, "cells"), 2_000_000),
}  # fmt: skip


@pytest.mark.parametrize("kind", FACTS)
def test_facts_that_no_run_states_are_refused(kind: str, begun: Path, crafted: Place) -> None:
    folder = shutil.copytree(newest(begun), crafted.work / "evil.ckpt" / "step-000002").parent
    write(folder, changed(read(folder), *FACTS[kind]))
    crafted.check(crafted.run("resume", "evil.ckpt"), refused=True)
    crafted.check(crafted.run("info", "evil.ckpt"))


OUTPUTS = ["../home/precious/dem.npz", "{home}/new.npz", "a/../../home/new.npz", "link/new.npz", "~/new.npz"]


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_of_others_stay_where_one_says(
    name: str, begun: Path, crafted: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(newest(begun), crafted.work / "evil.ckpt" / "step-000002").parent
    (crafted.work / "out").mkdir()
    (crafted.work / "out" / "link").symlink_to(crafted.home)
    path = name.format(home=crafted.home)
    with monkeypatch.context() as patch:
        patch.setattr(seals, "secret", lambda: b"another user's".ljust(32))
        write(folder, changed(read(folder), ("recipe", "recipe", "outputs", 0, "path"), path))
    crafted.check(crafted.run("resume", "evil.ckpt"), refused=True)
    answer = crafted.run("resume", "evil.ckpt", "--trust", "--out", "out", "--force")
    crafted.check(answer, refused=not name.startswith(("~", "{home}/")))  # which go into the folder by their ends


TEXTS: dict[str, Callable[[bytes], bytes]] = {
    "deep": lambda data: b"[" * 200_000, "long numbers": lambda data: b'{"step": ' + b"9" * 100_000 + b"}",
    "a list": lambda data: b"[1, 2]", "doubled keys": lambda data: data[:-2] + b',\n"step": 9\n}\n',
    "no text": lambda data: b"\xff\xfe" + data, "truncated": lambda data: data[:-40], "NaN": lambda data: b"NaN",
    "40 MB": lambda data: b'{"a": "' + b"x" * (40 << 20) + b'"}',
}  # fmt: skip


@pytest.mark.parametrize("kind", TEXTS)
def test_texts_that_are_no_manifest_are_refused(kind: str, begun: Path, crafted: Place) -> None:
    file = shutil.copytree(newest(begun), crafted.work / "evil.ckpt" / "step-000002") / checkpoint_files.MANIFEST
    file.write_bytes(TEXTS[kind](file.read_bytes()))
    crafted.check(crafted.run("resume", "evil.ckpt"), refused=True)
