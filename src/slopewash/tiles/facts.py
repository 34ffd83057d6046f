"""What the facts of a store may be: of a run under way, of its grounds and stages, and of a finished run.

A store may be anyone's, and a checksum anyone can compute: nothing in a manifest is used before it is checked here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slopewash.errors import CheckpointError, InvalidFile, InvalidParameter, SlopewashError
from slopewash.models.state import EDGES, State
from slopewash.paths import check_name, file_in
from slopewash.recipes.facts import MOST_LEVELS, check_count, check_no_files, check_stage
from slopewash.simulation.facts import (
    COUNT,
    DOMAIN,
    FLAG,
    NUMBER,
    POSITIVE,
    SHAPE,
    TABLE,
    TEXT,
    Test,
    check,
    is_count,
    is_flag,
    is_list_of,
    is_number,
    is_positive,
    is_shape,
    is_table,
    is_table_of,
    is_text,
    none_or,
    shortened,
)
from slopewash.terrain.fields import LAYERS
from slopewash.tiles.digests import MOST_TILES, NAME
from slopewash.tiles.grid import TileGrid

if TYPE_CHECKING:
    from slopewash.tiles.work import Work

SCHEMA = 3
"""Of the manifest."""
MOST_CELLS = 2**40
"""Of a grid: a million along each side."""
LARGEST_TILE = 2**28
"""Cells of a tile, which is read as a whole."""
LONGEST_CRS = 1 << 16
"""Characters."""
MOST_COMPONENTS = 64


def _is_tile(value: Any) -> bool:
    return (is_count(value) and value > 0) or is_shape(value)


def _is_name(value: Any) -> bool:
    return is_text(value) and 0 < len(value) < 256


def _is_geotiff(value: Any) -> bool:
    if not _is_name(value) or not value.lower().endswith(GEOTIFF_SUFFIXES):
        return False
    file_in(Path(), value)
    return True


def _is_sha(value: Any) -> bool:
    return is_text(value) and NAME.fullmatch(value) is not None


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and is_text(value[0]) and is_list_of(is_count)(value[1])


AMOUNTS = (is_table_of(is_number), "a table of numbers")
NAMES = (is_list_of(_is_name), "a list of names")
GEOTIFF_SUFFIXES = (".tif", ".tiff")
MANIFEST: Mapping[str, tuple[Test, str]] = {
    "run": (is_text, TEXT),
    "recipe": (is_table, TABLE),
    "tile": (_is_tile, "cells along a tile"),
    "iterations_wanted": (none_or(lambda value: is_count(value) and value > 0), "a whole number above zero"),
    "layers": (none_or(NAMES[0]), NAMES[1]),
    "lakes": (is_flag, FLAG),
    "geotiff": (none_or(is_table), TABLE),
    "backend": (is_text, "the name of a backend"),
    "start": (is_table, TABLE),
    "ground": (none_or(is_table), TABLE),
    "stages": (lambda value: is_list_of(is_table)(value) and bool(value), "a list of tables"),
    "number": (is_count, COUNT),
    "at": (is_list_of(is_count, 2), "two whole numbers"),
    "round": (is_count, COUNT),
    "done": (is_count, COUNT),
    "amounts": AMOUNTS,
    "work": (none_or(is_table), TABLE),
    "budgets": (is_list_of(AMOUNTS[0]), "a list of amounts"),
    "spent": AMOUNTS,
    "digests": (_is_sha, "a SHA-256"),
}
SPENT: Mapping[str, tuple[Test, str]] = {
    name: (lambda value: is_number(value) and value >= 0, "a number, zero or more")
    for name in ("seconds", "round_seconds", "cpu", "kernel", "bytes", "cell_iterations", "rounds")
}
GEOTIFF: Mapping[str, tuple[Test, str]] = {
    "name": (_is_geotiff, "the name of a GeoTIFF"),
    "replace": (is_flag, FLAG),
}
GROUND: Mapping[str, tuple[Test, str]] = {
    "path": (is_text, "a place in the store"),
    "grid": (is_table, TABLE),
    "cell_size": (is_positive, POSITIVE),
    "layers": NAMES,
    "own": NAMES,
    "has_nodata": (is_flag, FLAG),
    "strata": (none_or(is_table), TABLE),
    "sources": (is_list_of(is_list_of(is_number, 4)), "a list of four numbers each"),
    "crs": (none_or(lambda value: is_text(value) and len(value) <= LONGEST_CRS), "a coordinate reference system"),
    "transform": (none_or(is_list_of(is_number, 6)), "six numbers"),
    "low": (is_number, NUMBER),
    "high": (is_number, NUMBER),
    "ranges": (is_table_of(is_list_of(none_or(is_number), 2)), "two numbers for each layer"),
    "solids": (is_number, NUMBER),
    "water": (is_number, NUMBER),
    "cells": (is_count, COUNT),
}
GRID: Mapping[str, tuple[Test, str]] = {"shape": (is_shape, SHAPE), "tile": (is_shape, SHAPE)}
WORK: Mapping[str, tuple[Test, str]] = {
    "model": (is_text, "the name of a model"),
    "parameters": (is_table, TABLE),
    "domain": (is_table, TABLE),
    "grid": (is_table, TABLE),
    "backend": (is_text, "the name of a backend"),
    "cells": (is_list_of(is_table), "a list of fields"),
    "lines": (is_table_of(is_list_of(is_text, 2)), "a place and a type for each"),
    "lists": (is_table_of(_is_list), "a type, a shape and values for each"),
    "scalars": NAMES,
}
CELLS: Mapping[str, tuple[Test, str]] = {
    "name": (_is_name, "a name"),
    "dtype": (is_text, "a type"),
    "components": (none_or(lambda value: is_count(value) and 0 < value <= MOST_COMPONENTS), "a small whole number"),
    "stepped": (is_flag, FLAG),
}
FINISHED: Mapping[str, tuple[Test, str]] = {
    "ground": (is_table, TABLE),
    "digests": (_is_sha, "a SHA-256"),
    "layers": NAMES,
    "shape": (is_shape, SHAPE),
    "cell_size": (is_positive, POSITIVE),
    "slopewash": (is_text, "a version"),
    "backend": (is_text, "the name of a backend"),
    "budget": AMOUNTS,
    "tiles": (is_count, COUNT),
    "steps": (is_count, COUNT),
    "rounds": (is_count, COUNT),
    "seconds": (is_number, NUMBER),
}


@contextmanager
def as_facts(url: str, *, finished: bool = False) -> Iterator[None]:
    """Report facts that are not what slopewash writes in one sentence."""
    try:
        yield
    except CheckpointError:
        raise
    except (SlopewashError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        why = f"{error.args[0]} is missing" if isinstance(error, KeyError) and error.args else str(error)
        remedy = "restore it from a copy" if finished else "start the run again"
        kind = InvalidFile if finished else CheckpointError
        raise kind(f"{url} is not what slopewash wrote: {shortened(why, 300)}; {remedy}") from error


def check_manifest(facts: Mapping[str, Any]) -> None:
    """Refuse facts of a run under way that are not what one commits."""
    check(facts, MANIFEST)
    check(facts["spent"], SPENT, of="spent.")
    if facts["geotiff"] is not None:
        check(facts["geotiff"], GEOTIFF, of="geotiff.")
    check_count(facts["stages"], MOST_LEVELS)
    for number, stage in enumerate(facts["stages"]):
        check_stage(stage, f"stages[{number}].")
        check_no_files(stage)
    if facts["number"] >= len(facts["stages"]):
        raise InvalidParameter(f"number is {facts['number']}; there are {len(facts['stages'])} stages")
    if facts["work"] is not None and facts["ground"] is None:
        raise InvalidParameter("it has work, and no ground")


def check_version(facts: Mapping[str, Any], url: str) -> None:
    """Refuse a run under way that another version began."""
    from slopewash import __version__

    if facts.get("schema") != SCHEMA or facts.get("slopewash") != __version__:
        raise CheckpointError(
            f"{url} was written by slopewash {shortened(facts.get('slopewash'))} (schema "
            f"{shortened(facts.get('schema'))}), and this is slopewash {__version__} (schema {SCHEMA}), whose results "
            "may differ; continue it with the version that wrote it"
        )


def check_finished(facts: Mapping[str, Any]) -> None:
    """Refuse facts of a finished run that are not what one leaves."""
    check(facts, FINISHED)
    check(facts["ground"], GROUND, of="ground.")
    for name, same in (("layers", "layers"), ("cell_size", "cell_size")):
        if facts[name] != facts["ground"][same]:
            raise InvalidParameter(f"{name} is {shortened(facts[name])}, and the ground has another")
    if facts["shape"] != facts["ground"]["grid"].get("shape"):
        raise InvalidParameter(f"shape is {shortened(facts['shape'])}, and the ground has another")
    if facts["ground"]["path"]:
        raise InvalidParameter(f"ground.path is {shortened(facts['ground']['path'])}; it must be empty")
    for name in facts["layers"]:
        if name not in facts["ground"]["ranges"] or None in facts["ground"]["ranges"][name]:
            raise InvalidParameter(f"ground.ranges has no {name}")


def check_ground(facts: Mapping[str, Any]) -> TileGrid:
    """Refuse facts of a ground that are not what one is described by; returns its tiles."""
    check(facts, GROUND, of="ground.")
    for name in facts:
        if name not in GROUND:
            raise InvalidParameter(f"ground.{shortened(name)} is unknown")
    if facts["path"]:
        check_name(facts["path"], "of the store", "ground.path")
    layers, own = facts["layers"], facts["own"]
    if "elevation" not in layers or len(set(layers)) < len(layers) or not set(own) <= set(layers):
        raise InvalidParameter(
            f"ground.layers is {shortened(layers)}; elevation and each other layer must be there once"
        )
    for name in layers:
        if name not in LAYERS and name not in own:
            raise InvalidParameter(f"ground.layers has an unknown layer {shortened(name)}")
    if facts["transform"] is not None and abs(_area(facts["transform"])) == 0:
        raise InvalidParameter(f"ground.transform is {shortened(facts['transform'])}, which has no area")
    return grid_from(facts["grid"])


def _area(transform: Any) -> float:
    a, b, _, d, e, _ = map(float, transform)
    return a * e - b * d


def grid_from(facts: Any) -> TileGrid:
    """Tiles that a store describes, of a size that can be."""
    if not is_table(facts):
        raise InvalidParameter("a grid is not a table")
    check(facts, GRID, of="grid.")
    (rows, columns), (height, width) = facts["shape"], facts["tile"]
    if rows * columns > MOST_CELLS:
        raise InvalidParameter(f"its grid has {columns} x {rows} cells; the limit is {MOST_CELLS}")
    if height > rows or width > columns or height * width > LARGEST_TILE:
        raise InvalidParameter(
            f"its tiles have {width} x {height} cells; they must have no more than the grid and {LARGEST_TILE}"
        )
    grid = TileGrid((rows, columns), (height, width))
    if len(grid) > MOST_TILES:
        raise InvalidParameter(f"it has {len(grid)} tiles; the limit is {MOST_TILES}")
    return grid


def check_work(facts: Mapping[str, Any]) -> None:
    """Refuse facts of a stage under way that are not what one is described by."""
    check(facts, WORK, of="work.")
    check(facts["domain"], DOMAIN, of="work.domain.")
    for cells in facts["cells"]:
        check(cells, CELLS, of="work.cells.")
    grid = grid_from(facts["grid"])
    if list(grid.shape) != list(facts["domain"]["shape"]):
        raise InvalidParameter("the domain and the tiles differ in their cells")


def check_fields(work: Work) -> None:
    """Refuse fields of a stage that its model has not declared: kernels take them as they are."""
    empty = (0, 0)
    arrays: dict[str, Any] = {
        cells.name: np.empty(empty if cells.components is None else (cells.planes, *empty), cells.dtype)
        for cells in work.cells
    }
    if len(arrays) < len(work.cells):
        raise InvalidParameter("a field is there twice")
    for name, (place, dtype) in work.lines.items():
        if place not in ("rows", "columns"):
            raise InvalidParameter(f"{shortened(name)} lies along {shortened(place)}")
        arrays[name] = np.empty(0, dtype)
    arrays |= dict(work.lists)
    state = State(arrays, dict.fromkeys(work.scalars, 0))
    work.model.check_state(state, dataclasses.replace(work.domain, shape=empty))
    unknown = work.domain.sides.kinds() - set(EDGES)
    if unknown or work.domain.origin != (0, 0) or any(work.domain.margins):
        raise InvalidParameter("the domain is a part of another one")
    work.model.check_sides(work.domain.sides)
