"""What a checkpoint states of the recipe that its simulation is a part of: how far it is, and where its outputs go."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import Any

from slopewash.errors import CheckpointError, InvalidFile, InvalidParameter
from slopewash.paths import inside
from slopewash.recipes.definition import Recipe
from slopewash.recipes.facts import MOST_LEVELS, check_count, check_no_files, check_stage
from slopewash.recipes.manifest import MANIFEST, RECIPE
from slopewash.remedies import by_place
from slopewash.simulation.facts import (
    COUNT,
    FLAG,
    Test,
    check,
    is_count,
    is_flag,
    is_list_of,
    is_number,
    is_table,
    is_table_of,
    is_text,
)
from slopewash.terrain.parts import Arrays


def _is_checksum(value: Any) -> bool:
    return (
        is_table(value) and set(value) == {"sha256", "bytes"} and is_text(value["sha256"]) and is_count(value["bytes"])
    )


RUNNING: Mapping[str, tuple[Test, str]] = {
    "recipe": (is_table, "a table"),
    "stage": (is_count, COUNT),
    "every": (lambda value: is_count(value) and value > 0, "a whole number above zero"),
    "seconds": (lambda value: is_number(value) and value >= 0, "a number, zero or more"),
    "finished": (is_flag, FLAG),
    "foreign": (is_flag, FLAG),
    "outputs_anywhere": (is_flag, FLAG),
    "laid_down": (is_flag, FLAG),
    "low_water": (is_flag, FLAG),
    "at": (lambda value: is_list_of(is_count)(value) and len(value) == 2, "two counts"),
    "stages": (is_list_of(is_table), "a list of tables"),
    "budgets": (is_list_of(is_table_of(is_number)), "a list of amounts"),
    "start": (is_table, "a table"),
    "inputs": (is_table_of(_is_checksum), "checksums of files"),
    "folder": (lambda value: value is None or is_text(value), "the name of a folder"),
}


def check_noted(noted: Mapping[str, Any]) -> None:
    """Refuse what is noted of a recipe under way if it is not what one notes."""
    check(noted, RUNNING, optional=("foreign", "outputs_anywhere", "laid_down", "low_water", "at", "inputs", "folder"))
    check_count(noted["stages"], MOST_LEVELS)
    for stage in noted["stages"]:
        check_stage(stage)
        check_no_files(stage)
    if noted["stage"] >= len(noted["stages"]):
        raise InvalidParameter(f"stage is {noted['stage']}; there are {len(noted['stages'])}")


def check_changes(changes: Arrays) -> None:
    """Refuse what was painted on levels if it is no field of numbers."""
    for name, change in changes.items():
        if change.ndim != 2 or not change.size or change.dtype.kind != "f" or not abs(change).max() < 1e30:
            raise InvalidParameter(f"what was painted on {name} is {change.dtype} of shape {change.shape}")


def outputs_within(recipe: Recipe, out: Path, checkpoint: Path) -> Recipe:
    """The same with outputs that lie in a folder: an absolute name, of wherever the run began, counts by its end."""
    outputs = [dataclasses.replace(output, path=_moved(output.path)) for output in recipe.outputs]
    places = [inside(out, output.path.as_posix(), str(checkpoint)) for output in outputs]
    for place in places:
        if places.count(place) > 1:
            raise InvalidFile(f"two outputs of {checkpoint} would be {place}; {_leave_out()}")
    return recipe.replace(outputs=tuple(outputs), outputs_anywhere=False)


def _moved(path: Path) -> Path:
    """What an output is called in another folder, also one of another system.

    >>> _moved(Path("/theirs/eroded.exr")).as_posix(), _moved(Path("masks/wear.png")).as_posix()
    ('eroded.exr', 'masks/wear.png')
    """
    there = PureWindowsPath(path)
    return Path(there.name) if there.anchor else path


def _leave_out() -> str:
    return f"leave out {by_place(python='out=', command='--out')}"


def check_foreign(recipe: Recipe, out: Path | None, checkpoint: Path, *, records: bool, force: bool) -> None:
    """Refuse outputs of somebody else's anywhere but in the folder that the user names, or over a file in it."""
    if out is None:
        named = by_place(python="out=...", command="--out DIR")
        raise CheckpointError(
            f"{checkpoint} is of another user or machine, so its outputs do not go where it says; name a folder for "
            f"them with {named}"
        )
    for path in [*(output.path for output in recipe.outputs_in(out)), *((out / RECIPE, out / MANIFEST) * records)]:
        if path.exists() and not force:
            again = by_place(python="force=True", command="--force")
            raise InvalidFile(f"{path} exists; choose another folder, or overwrite it with {again}")
