"""Every place that looks up a name from a file: whatever the name, nothing outside its folder is touched.

A door is a function of a folder and a name, as a manifest, checkpoint, recipe, project or archive may hold it. An audit
hook notes what any of them opens, lists, makes, renames or removes outside.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from tests.crafted import REMOVING, WATCHED
from tests.test_paths import NAMES, is_alive, made, posix
from tests.tiles.test_places import ACTS, known

import slopewash as sw
from slopewash import paths
from slopewash.errors import SlopewashError
from slopewash.recipes.reading import parse_recipe
from slopewash.recipes.whereabouts import outputs_within
from slopewash.studio import foreign
from slopewash.studio.kept_keyframes import KeptKeyframes
from slopewash.studio.projects import ACTIONS, FACTS, RECIPE
from slopewash.tiles.store import Store

pytest.importorskip("zarr")
Door = Callable[[Path, str], object]
_guarded: list[str] = []
_seen: list[str] = []


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if not _guarded or event not in WATCHED:
        return
    for name in arguments[:2] if event in ("os.rename", "os.link", "shutil.move", "shutil.copyfile") else arguments[:1]:
        if isinstance(name, str | bytes | os.PathLike):
            path = Path.cwd() / os.fsdecode(name)
            with contextlib.suppress(OSError, ValueError, RuntimeError):
                real = path.parent.resolve() / path.name if event in REMOVING else path.resolve()
                if any(real.is_relative_to(place) for place in _guarded):
                    _seen.append(f"{event} {real}")


sys.addaudithook(_note)


@contextlib.contextmanager
def watched(outside: Path) -> Iterator[None]:
    """Fail if anything there is touched, even if nothing comes of it."""
    _seen.clear()
    _guarded.append(os.path.realpath(outside))
    try:
        yield
    finally:
        _guarded.clear()
    assert _seen == []


def quoted(name: str) -> str:
    """A name as a string of TOML."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08X}" for c in name) + '"'


RECIPE_TEXT = (
    'backend = "reference"\n{top}\n[source]\n{source}\n[[stages]]\nmodel = "steepest_talus"\nsteps = 1\n{more}\n'
)


def recipe_with(
    folder: Path, *, top: str = "", source: str = 'generator = "cone"\nsize = 8', more: str = ""
) -> sw.Recipe:
    """A recipe of somebody else, whose files must lie in the folder."""
    text = RECIPE_TEXT.format(top=top, source=source, more=more)
    return parse_recipe(text, label="evil.toml", folder=folder, inputs_anywhere=False)


def output(folder: Path, name: str, more: str = "") -> None:
    recipe = recipe_with(folder, more=f"[[outputs]]\npath = {quoted(name)}\n{more}")
    with contextlib.suppress(OSError):
        recipe.run(folder=folder)


def resumed_output(folder: Path, name: str) -> None:
    recipe = recipe_with(folder).replace(outputs=(sw.Output(Path(name)),) if name.endswith(".npz") else ())
    outputs_within(recipe, folder, folder / "ckpt").run(folder=folder)


def in_store(act: str) -> Door:
    def door(folder: Path, name: str) -> object:
        with known(name):
            return ACTS[act](Store(str(folder)), name)

    return door


def member(folder: Path, name: str) -> None:
    """A part of a project."""
    made_in, file = folder / "checked", folder / "evil.slopewash"
    shutil.rmtree(made_in, ignore_errors=True)
    made_in.mkdir()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(FACTS, '{"format": 1, "slopewash": "1", "name": "x", "step": 0, "view": null}')
        archive.writestr(RECIPE, RECIPE_TEXT.format(top="", source='generator = "cone"\nsize = 32', more=""))
        archive.writestr(ACTIONS, "")
        archive.writestr(zipfile.ZipInfo(name), "evil")
    foreign.check(file, made_in)


def layer(folder: Path, name: str) -> object:
    """An array in an archive of layers."""
    with zipfile.ZipFile(folder / "evil.npz", "w") as archive:
        for part in ("elevation", name):
            with archive.open(zipfile.ZipInfo(f"{part}.npy"), "w") as file:
                np.lib.format.write_array(file, np.ones((2, 2)), allow_pickle=False)
    return sw.read(folder / "evil.npz")


DOORS: dict[str, Door] = {
    "read": lambda folder, name: paths.inside(folder, name).open("rb").close(),
    "remove": lambda folder, name: paths.remove_tree(folder, name),
    "move from": lambda folder, name: paths.move(folder, name, "moved"),
    "move to": lambda folder, name: paths.move(folder, "moved", name),
    **{f"store: {act}": in_store(act) for act in ACTS},
    "output of a recipe": lambda folder, name: output(folder, f"{name}.npz"),
    "layers of a recipe": lambda folder, name: output(folder, name, 'kind = "layers"\nlayers = ["elevation"]\n'),
    "export of a recipe": lambda folder, name: output(folder, name, 'kind = "export"\ntarget = "godot"\nsize = 8\n'),
    "picture of a recipe": lambda folder, name: output(folder, f"{name}.png", 'kind = "picture"\n'),
    "output of a checkpoint": lambda folder, name: resumed_output(folder, f"{name}.npz"),
    "source of a project": lambda folder, name: recipe_with(folder, source=f"file = {quoted(name)}").terrain(),
    "strata of a project": lambda folder, name: recipe_with(folder, top=f"strata = {quoted(name + '.toml')}"),
    "layer of a project": lambda folder, name: recipe_with(
        folder, more=f"[layers]\nrainfall = {quoted(name)}"
    ).terrain(),
    "map of a project": lambda folder, name: recipe_with(
        folder, more=f"[stages.parameters]\ntalus_angle = {{ file = {quoted(name)}, range = [1, 2] }}"
    ),
    "part of a project": member,
    "array of an archive": layer,
    "keyframe": lambda folder, name: KeptKeyframes(folder)._open(name),
}
COSTLY = {"picture of a recipe"}
"""Drawn for each name that is inside."""
RACED = ("remove", "move from", "move to", "store: remove", "store: move from", "store: move to")


CONE = sw.generate("cone", size=33)
PLACED = CONE.replace(cell_size=10.0, crs='LOCAL_CS["x",UNIT["metre",1]]', transform=(10, 0, 0, 0, -10, 0))


def export(target: str, folder: Path) -> None:
    sw.export(CONE, target, folder, fit="resample")


def record(folder: Path, data: str) -> None:
    recorder = sw.Recorder(folder, every=1, pictures=False, data=data)
    sw.Simulation(CONE, sw.SteepestTalus(), backend="reference").add(recorder).run(2)


WRITERS: dict[str, tuple[Callable[[Path], object], str]] = {
    **{
        f"export for {target}": (partial(export, target), "")
        for target in ("unreal", "unity", "godot", "blender", "houdini", "gis")
    },
    "masks": (lambda folder: sw.write_masks(CONE, folder, ["elevation"]), ""),
    "recording": (lambda folder: record(folder, ".r16"), ""),
    "numbers beside .r16": (lambda folder: sw.write(CONE, folder / "named.r16"), "named.r16"),
    "place beside .asc": (lambda folder: sw.write(PLACED, folder / "named.asc"), "named.asc"),
}
"""What writes several files into a folder, or beside the one that the user names."""


@posix
@pytest.mark.parametrize("writer", WRITERS)
def test_links_in_a_folder_lead_nothing_that_is_written_out_of_it(writer: str, tmp_path: Path) -> None:
    write, named = WRITERS[writer]
    (tmp_path / "plain").mkdir()
    (tmp_path / "outside").mkdir()
    write(tmp_path / "plain")
    files = [file.relative_to(tmp_path / "plain") for file in (tmp_path / "plain").rglob("*") if file.is_file()]
    assert files
    for number, file in enumerate(files):
        if file.name == named:  # the user's own link, which is followed
            continue
        canary, evil = tmp_path / "outside" / str(number), tmp_path / f"evil{number}"
        (evil / file).parent.mkdir(parents=True)
        canary.write_text("mine")
        (evil / file).symlink_to(canary)
        if "recording" in writer:
            with contextlib.suppress(SlopewashError):
                write(evil)
        else:
            with pytest.raises(SlopewashError, match=r"leads out of the folder|belongs to something else"):
                write(evil)
        assert canary.read_text() == "mine", file
        assert (evil / file).is_symlink()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return made(tmp_path)


@pytest.mark.parametrize("door", sorted(DOORS.keys() - COSTLY))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES)
@example(name="../outside/canary")
@example(name="out/canary")
@example(name="out")
@example(name="gone")
@example(name="a/up/outside/canary")
@example(name="in/../../outside/canary")
def test_no_name_from_a_file_leads_out(door: str, name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.mktemp("doors", numbered=True)
    try:
        folder = made(base)
        (folder / "moved").write_text("own")
        with watched(base / "outside"), contextlib.suppress(SlopewashError, OSError, ValueError):
            DOORS[door](folder, name)
        assert is_alive(folder)
        assert sorted(place.name for place in base.iterdir()) == ["folder", "outside"]
    finally:
        shutil.rmtree(base)


@pytest.mark.parametrize("door", sorted(DOORS))
def test_an_absolute_name_leads_nowhere(door: str, tree: Path) -> None:
    with watched(tree.parent / "outside"), contextlib.suppress(SlopewashError, OSError, ValueError):
        DOORS[door](tree, str(tree.parent / "outside" / "canary"))
    assert is_alive(tree)


@posix
@pytest.mark.parametrize("door", RACED)
def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(door: str, tree: Path) -> None:
    """What removes and moves; reading and writing by name keep a gap for who may change the folder at that moment."""
    stop, plain = threading.Event(), tree / "aside"

    def swap() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):
                (tree / "a").rename(plain)
                (tree / "a").symlink_to(tree.parent / "outside")
                (tree / "a").unlink()
                plain.rename(tree / "a")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(300):
            with contextlib.suppress(OSError, SlopewashError):
                DOORS[door](tree, "a/canary")
            assert is_alive(tree)
    finally:
        stop.set()
        thread.join()
