"""Project files: a run with its recipe, everything done to it, and the view, in one file.

A project is a zip archive. `recipe.toml` is what the run began with, for `slopewash run` too, with `terrain.npz` beside
it where the terrain came from a file. `actions.jsonl` is what was done. A checkpoint lets the same user go on at once.

A checkpoint goes straight into compiled kernels, which trust it; so it is used only if a seal shows that this user
saved it. What anyone else saved is checked (`foreign.py`) and done again, to the same bits.
"""

from __future__ import annotations

import io
import json
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import slopewash as sw
from slopewash.errors import InvalidFile, SlopewashError
from slopewash.paths import make_folder, new_file, remove_file, to_change, write_new
from slopewash.plain import plain
from slopewash.processes import environment, python
from slopewash.seals import is_sealed_with, seal_with
from slopewash.studio.messages import SavedView
from slopewash.untrusted import MEMORY, SECONDS

SUFFIX = ".slopewash"
FORMAT = 1
FACTS, RECIPE, ACTIONS, TERRAIN = "project.json", "recipe.toml", "actions.jsonl", "terrain.npz"
CHECKPOINT, ARRAYS = "checkpoint.json", "arrays/"
CLEAN = "clean.json"
"""What is sound in somebody else's project."""
PURPOSE = "studio project"
SEAL_LENGTH = 64
"""Characters of the seal, which is the comment of the archive: the last bytes of the file."""
BLOCK = 1 << 20

Actions = list[list[Any]]


@dataclass(frozen=True)
class Saved:
    """What a run is saved as."""

    name: str
    step: int
    view: SavedView | None
    recipe_text: str
    actions: list[str] | None
    """One line of JSON each; None where there were too many to remember."""
    terrain: sw.Terrain | None
    """Where the recipe's source is no generator."""
    checkpoint: tuple[dict[str, Any], dict[str, Any]]


@dataclass(frozen=True)
class Project:
    """A project that was opened: with a checkpoint to go on from, with actions to do again, or with both."""

    name: str
    step: int
    view: SavedView | None
    checkpoint: tuple[dict[str, Any], dict[str, Any]] | None = None
    recipe: sw.Recipe | None = None
    actions: tuple[Any, ...] = ()


def write_project(saved: Saved, file: Path, secret: bytes, *, compressed: bool = True) -> None:
    """Write a project file, sealed for this user; the caller moves it to its place."""
    facts = {
        "format": FORMAT, "slopewash": sw.__version__, "name": saved.name, "step": saved.step,
        "view": None if saved.view is None else saved.view.model_dump(),
    }  # fmt: skip
    noted, arrays = saved.checkpoint
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with new_file(file, private=True) as out, zipfile.ZipFile(out, "w", kind, compresslevel=1) as archive:
        archive.writestr(FACTS, json.dumps(facts, indent=1))
        archive.writestr(RECIPE, saved.recipe_text)
        if saved.actions is not None:
            archive.writestr(ACTIONS, "\n".join(saved.actions))
        if saved.terrain is not None:
            beside = file.with_name(TERRAIN)
            sw.write(saved.terrain, beside)
            archive.write(beside, TERRAIN, zipfile.ZIP_STORED)
            remove_file(beside)
        archive.writestr(CHECKPOINT, json.dumps({"facts": plain(noted), "arrays": list(arrays)}))
        for number, array in enumerate(arrays.values()):
            with archive.open(f"{ARRAYS}{number:03d}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
        archive.comment = b"0" * SEAL_LENGTH
    seal = _seal(file, secret).encode()
    with to_change(file) as sealed:
        sealed.seek(-SEAL_LENGTH, io.SEEK_END)
        sealed.write(seal)


def read_project(file: Path, shown: str, secret: bytes) -> Project:
    """Read a project file; errors call it `shown`. Nothing of it is looked at before its seal, or else by a child."""
    own = _read_own(file) if _is_own(file, secret) else None
    return _read_foreign(file, shown) if own is None else own


def _seal(file: Path, secret: bytes) -> str:
    """Seal of the file without its last bytes, where the seal itself stands."""
    return seal_with(secret, _sealed_part(file), PURPOSE)


def _sealed_part(file: Path) -> Iterator[bytes]:
    left = file.stat().st_size - SEAL_LENGTH
    with file.open("rb") as source:
        while left > 0 and (block := source.read(min(left, BLOCK))):
            yield block
            left -= len(block)


def _is_own(file: Path, secret: bytes) -> bool:
    if file.stat().st_size <= SEAL_LENGTH:
        return False
    with file.open("rb") as source:
        source.seek(-SEAL_LENGTH, io.SEEK_END)
        found = source.read(SEAL_LENGTH)
    return is_sealed_with(secret, _sealed_part(file), PURPOSE, found.decode("ascii", "replace"))


def _read_own(file: Path) -> Project | None:
    """Read what this user saved; None if another format is to be refused in the words for everybody's projects."""
    with zipfile.ZipFile(file) as archive:
        facts = json.loads(archive.read(FACTS))
        if facts.get("format") != FORMAT:
            return None
        noted = json.loads(archive.read(CHECKPOINT))
        arrays = {}
        for number, name in enumerate(noted["arrays"]):
            with archive.open(f"{ARRAYS}{number:03d}.npy") as member:
                arrays[name] = np.lib.format.read_array(member, allow_pickle=False)
        recipe, actions = _repeatable(archive, facts["name"])
    view = None if facts["view"] is None else SavedView.model_validate(facts["view"])
    return Project(facts["name"], facts["step"], view, (noted["facts"], arrays), recipe, actions)


def _repeatable(archive: zipfile.ZipFile, name: str) -> tuple[sw.Recipe | None, tuple[Any, ...]]:
    """Recipe and actions, for a checkpoint that this version cannot read; nothing if it cannot read them either."""
    names = archive.namelist()
    if ACTIONS not in names:
        return None, ()
    with tempfile.TemporaryDirectory(prefix="slopewash-studio-") as folder:
        for part in (RECIPE, TERRAIN):
            if part in names:
                write_new(Path(folder) / part, archive.read(part))
        try:
            recipe = sw.Recipe.read(Path(folder) / RECIPE)
            if TERRAIN in names:
                recipe = _with_terrain(recipe, name, Path(folder) / TERRAIN)
        except SlopewashError:
            return None, ()
    return recipe, tuple(json.loads(line) for line in archive.read(ACTIONS).splitlines())


def _with_terrain(recipe: sw.Recipe, name: str, file: Path) -> sw.Recipe:
    return recipe.replace(source=sw.FromTerrain(name=name, terrain=sw.read(file), code=f"sw.read({TERRAIN!r})"))


def _read_foreign(file: Path, shown: str) -> Project:
    """Check in a child process what somebody else saved."""
    folder = file.with_name("checked")
    make_folder(folder, private=True, new=True)
    command = python("-m", "slopewash.studio.foreign", str(file), str(folder))
    try:
        child = subprocess.run(
            command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise InvalidFile(f"{shown} takes more than {SECONDS} s to check") from None
    if child.returncode or not (folder / CLEAN).exists():
        sentence = child.stdout.decode("utf-8", "replace").strip().replace(str(file), shown)
        raise InvalidFile(sentence or f"{shown} could not be read within {MEMORY >> 30} GB of memory and {SECONDS} s")
    return checked_project(folder)


def checked_project(folder: Path) -> Project:
    """Take over what `foreign.check` has written to a folder."""
    found = json.loads((folder / CLEAN).read_text(encoding="utf-8"))
    recipe = sw.Recipe.from_dict(found["recipe"])
    if (terrain := folder / TERRAIN).exists():
        recipe = _with_terrain(recipe, found["name"], terrain)
    view = None if found["view"] is None else SavedView.model_validate(found["view"])
    return Project(found["name"], found["step"], view, recipe=recipe, actions=tuple(found["actions"]))
