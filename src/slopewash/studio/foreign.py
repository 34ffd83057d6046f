"""Checks a project file that nobody vouches for, in a process of its own: `python -m slopewash.studio.foreign`.

Only its recipe, its actions and its terrain are read, within limits, and only if they name no other files.
"""

from __future__ import annotations

import json
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

import slopewash as sw
from slopewash.errors import InvalidFile, SlopewashError
from slopewash.paths import new_file, remove_file, write_new
from slopewash.recipes.reading import read_recipe
from slopewash.recipes.recording import MOST_ACTIONS, MOST_PARTS, amount
from slopewash.studio.messages import (
    MOST_SOURCES,
    MOST_STEPS,
    SIZES,
    Emitter,
    Name,
    Paint,
    ParameterValue,
    SavedView,
    Strict,
    WaterSource,
)
from slopewash.studio.projects import ACTIONS, CLEAN, FACTS, FORMAT, RECIPE, TERRAIN
from slopewash.untrusted import MEMORY, SECONDS, check_header, limit

LARGEST = {FACTS: 1 << 16, RECIPE: 1 << 20, ACTIONS: 1 << 26, TERRAIN: 1 << 28}
"""Bytes that are read of each part."""
TEXTS = (FACTS, RECIPE, ACTIONS)
RAW = "raw.npz"
"""The terrain as it came, until it is checked."""
PIECE = 1 << 20
DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError)
"""What Python's reader of archives raises."""
LARGEST_SIDE = 8192
"""As of an upload: cells per side, and its square of values in all layers together."""
MOST_RUN = 1_000_000_000


class Facts(Strict):
    """What a project says of itself."""

    format: Literal[1]
    slopewash: Name
    name: Annotated[str, Field(max_length=80)]
    step: Annotated[int, Field(ge=0, le=MOST_RUN)]
    view: SavedView | None


class Stroke(Strict):
    """A stroke without what only a message has."""

    tool: Name
    points: Annotated[list[tuple[float, float]], Field(min_length=1)]
    radius: float
    strength: float | None
    falloff: float

    def model_post_init(self, context: Any) -> None:
        """Allow what a message allows."""
        Paint(type="paint", **self.model_dump())


Steps = Annotated[int, Field(ge=0, le=MOST_RUN)]
Settled = Annotated[int, Field(ge=0, le=MOST_STEPS)]
Value = ParameterValue | Annotated[float, Field(allow_inf_nan=True)]
Action = (
    tuple[Literal["run", "interrupted"], Steps]
    | tuple[Literal["undo", "redo"]]
    | tuple[Literal["model"], Annotated[dict[Name, Value], Field(max_length=256)]]
    | tuple[Literal["paint"], Stroke, bool]
    | tuple[Literal["settle"], Settled, bool, Settled | None]
    | tuple[Literal["sources"], Annotated[list[WaterSource], Field(max_length=MOST_SOURCES)], bool]
    | tuple[Literal["emitters"], Annotated[list[Emitter], Field(max_length=MOST_SOURCES)], bool]
)
ACTION: TypeAdapter[Any] = TypeAdapter(Action)


def main(file: str, folder: str) -> int:
    """Check one project, or print what is wrong with it."""
    limit(MEMORY, SECONDS)
    try:
        check(Path(file), Path(folder))
    except (SlopewashError, MemoryError) as error:
        sys.stdout.buffer.write(str(error).encode("utf-8"))
        return 2
    return 0


def check(file: Path, folder: Path) -> None:
    """Write what is sound in a project to a folder."""
    try:
        with zipfile.ZipFile(file) as archive:
            parts = {name: _part(archive, name, file) for name in TEXTS if name in archive.namelist()}
            if TERRAIN in archive.namelist():
                _unpack(archive, folder / RAW, file)
    except InvalidFile:
        raise
    except DAMAGED:
        raise InvalidFile(f"{file} is not a project of the studio, or it is damaged") from None
    if ACTIONS not in parts and FACTS in parts:
        raise InvalidFile(f"{file} can be opened only where it was saved: too much was done to it to be repeated")
    for name in (FACTS, RECIPE, ACTIONS):
        if name not in parts:
            raise InvalidFile(f"{file} is not a project of the studio: it has no {name}")
    facts = _facts(parts[FACTS], file)
    actions = _actions(parts[ACTIONS], file)
    if (folder / RAW).exists():
        _decode(folder, file)
    write_new(folder / RECIPE, parts[RECIPE])
    try:
        recipe = read_recipe(folder / RECIPE, inputs_anywhere=False).replace(outputs=())
    except SlopewashError as error:
        raise InvalidFile(f"{file}: {error}".replace(f"{folder}/", "")) from None
    _check_recipe(recipe, folder, file)
    clean = {"name": facts.name, "step": facts.step, "view": None if facts.view is None else facts.view.model_dump(),
             "recipe": recipe.as_dict(), "actions": actions}  # fmt: skip
    write_new(folder / CLEAN, json.dumps(clean))


def _part(archive: zipfile.ZipFile, name: str, file: Path) -> bytes:
    _check_method(archive, name, file)
    with archive.open(name) as member:
        data = member.read(LARGEST[name] + 1)
    if len(data) > LARGEST[name]:
        raise _too_long(name, file)
    return data


def _unpack(archive: zipfile.ZipFile, raw: Path, file: Path) -> None:
    """Write the terrain to a file, piece by piece."""
    _check_method(archive, TERRAIN, file)
    left = LARGEST[TERRAIN]
    with archive.open(TERRAIN) as member, new_file(raw) as out:
        while piece := member.read(PIECE):
            left -= len(piece)
            if left < 0:
                raise _too_long(TERRAIN, file)
            out.write(piece)


def _too_long(name: str, file: Path) -> InvalidFile:
    return InvalidFile(f"{name} in {file} has more than {LARGEST[name]} bytes, the limit")


def _check_method(archive: zipfile.ZipFile, name: str, file: Path) -> None:
    if archive.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InvalidFile(f"{name} in {file} is compressed as the studio does not; pack it with deflate")


def _facts(data: bytes, file: Path) -> Facts:
    try:
        return Facts.model_validate_json(data)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        if wrong["loc"] == ("format",):
            raise InvalidFile(f"{file} is not of format {FORMAT}; open it with the version that saved it") from None
        at = f"a wrong {'.'.join(map(str, wrong['loc']))}" if wrong["loc"] else "something other than facts"
        raise InvalidFile(f"{file} is not a project of the studio: {FACTS} has {at}") from None


def _actions(data: bytes, file: Path) -> list[Any]:
    checked, parts, lines = [], 0, data.splitlines()
    if len(lines) > MOST_ACTIONS:
        raise InvalidFile(f"{ACTIONS} in {file} has {len(lines)} lines; the limit is {MOST_ACTIONS}")
    for number, line in enumerate(lines, start=1):
        try:
            ACTION.validate_json(line, strict=True)  # strictly: what is passed on is the line itself
            checked.append(json.loads(line))
        except (ValueError, RecursionError):
            raise InvalidFile(f"{ACTIONS} in {file} has something in line {number} that no studio does") from None
        parts += amount(checked[-1])
        if parts > MOST_PARTS:
            raise InvalidFile(f"{ACTIONS} in {file} has more than {MOST_PARTS} dabs, sources and values, the limit")
    return checked


def _check_recipe(recipe: sw.Recipe, folder: Path, file: Path) -> None:
    """Refuse a recipe that names files other than the project's own, and grids that the studio does not take."""
    source = recipe.source
    read = [layer.path for layer in recipe.layers.values() if isinstance(layer, sw.LayerFile)]
    values = [value for stage in recipe.stages for value in stage.model.values().values()]
    read += [value.file for value in values if isinstance(value, sw.Map) and value.file is not None]
    if isinstance(source, sw.FromFile):
        if source.path.resolve() != (folder / TERRAIN).resolve() or source.options:
            read.append(source.path)
    elif not isinstance(source, sw.Generated):
        raise InvalidFile(f"{file} does not name the source of its terrain")
    if read:
        raise InvalidFile(f"{file} reads {Path(read[0]).name}, which is not in it; open it where it was saved")
    size = source.size
    if size is not None and not SIZES[0] <= size <= SIZES[1]:
        raise InvalidFile(f"{file} has {size} cells per side; the studio takes {SIZES[0]} .. {SIZES[1]}")


def _decode(folder: Path, file: Path) -> None:
    raw = folder / RAW
    try:
        check_header(raw, None, LARGEST_SIDE)
        terrain = sw.read(raw, max_pixels=LARGEST_SIDE**2)
    except SlopewashError as error:
        raise InvalidFile(str(error).replace(str(raw), f"{TERRAIN} in {file}")) from None
    sw.write(terrain, folder / TERRAIN)
    remove_file(raw)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
