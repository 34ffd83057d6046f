"""What a checkpoint states of the recipe that its simulation is a part of: how far it is, and where its outputs go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slopewash.errors import CheckpointError, InvalidFile, InvalidParameter
from slopewash.paths import inside
from slopewash.recipes.definition import Recipe
from slopewash.recipes.facts import MOST_LEVELS, check_count, check_no_files, check_stage
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
    "stages": (is_list_of(is_table), "a list of tables"),
    "budgets": (is_list_of(is_table_of(is_number)), "a list of amounts"),
    "start": (is_table, "a table"),
    "inputs": (is_table_of(_is_checksum), "checksums of files"),
    "folder": (lambda value: value is None or is_text(value), "the name of a folder"),
}


def check_noted(noted: Mapping[str, Any]) -> None:
    """Refuse what is noted of a recipe under way if it is not what one notes."""
    check(noted, RUNNING, optional=("foreign", "outputs_anywhere", "laid_down", "low_water", "inputs", "folder"))
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


def check_place(recipe: Recipe, out: Path | None, checkpoint: Path, *, force: bool) -> None:
    """Refuse outputs of a recipe of somebody else's anywhere but in the folder that the user names, or over a file."""
    if out is None:
        named = by_place(python="out=...", command="--out DIR")
        raise CheckpointError(
            f"{checkpoint} is of another user or machine, so its outputs do not go where it says; name a folder for "
            f"them with {named}"
        )
    for output in recipe.outputs:
        path = inside(out, output.path.as_posix(), str(checkpoint))
        if path.exists() and not force:
            again = by_place(python="force=True", command="--force")
            raise InvalidFile(f"{path} exists; choose another folder, or overwrite it with {again}")
