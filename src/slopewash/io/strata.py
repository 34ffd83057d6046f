"""Strata in files: as metadata of a terrain, and as a TOML file of their own."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidFile, InvalidTerrain, SlopewashError, unknown_name
from slopewash.io.toml_nesting import DEEPEST_KEY, too_deep
from slopewash.terrain import Strata
from slopewash.terrain.fields import STRATA_TOP

GEOMETRY = ("dip", "direction", "follow", "top")
LARGEST_TABLE = 1 << 20
"""Bytes. A larger file is certainly not a table of strata."""


def read_strata(path: str | os.PathLike[str]) -> Strata:
    """Read strata from a TOML file: their attitude, then a table for each layer from the top, in metres.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "mesa.toml"
    ...     _ = table.write_text('''
    ... dip = 4
    ... direction = 90
    ...
    ... [[strata]]
    ... thickness = 30
    ... erodibility = 0.05
    ...
    ... [[strata]]
    ... thickness = 60
    ... ''')
    ...     read_strata(table)
    Strata of 2 layers, dipping 4° towards 90°
      30 m        erodibility 0.05
      below       erodibility 1
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            raise InvalidFile(
                f"{path} is {'a folder' if path.is_dir() else 'not a regular file'}; name a table of strata"
            )
        with path.open("rb") as file:
            text = file.read(LARGEST_TABLE + 1)
    except FileNotFoundError:
        raise InvalidFile(f"{path} does not exist") from None
    except InvalidFile:
        raise
    except (OSError, ValueError) as error:
        raise InvalidFile(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(text) > LARGEST_TABLE:
        raise InvalidFile(f"{path} is larger than {LARGEST_TABLE} bytes, too large for a table of strata")
    try:
        decoded = text.decode("utf-8")
        if too_deep(decoded):
            raise ValueError(f"its keys or tables are nested more than {DEEPEST_KEY} deep")
        table = tomllib.loads(decoded)
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"{path} is not a readable TOML file: {error}") from error
    try:
        return _from_table(table)
    except SlopewashError as error:
        raise type(error)(f"{path}: {error}") from error


def _from_table(table: Mapping[str, Any]) -> Strata:
    for name in table:
        if name not in ("strata", *GEOMETRY):
            raise unknown_name("entry of a table of strata", name, ("strata", *GEOMETRY))
    layers = table.get("strata")
    if not (isinstance(layers, list) and layers and all(isinstance(layer, dict) for layer in layers)):
        raise InvalidTerrain(
            "it contains no strata; write a [[strata]] table with a thickness for each layer, from the top"
        )
    if not isinstance(table.get("follow", False), bool):
        raise InvalidTerrain(f"follow is {table['follow']!r}; it must be true or false")
    return Strata.from_table(layers, **{name: table[name] for name in GEOMETRY if name in table})


def metadata_of(strata: Strata) -> tuple[str, NDArray[np.float32] | None]:
    """Convert strata to text, and their top to a grid where it is not level."""
    assert strata.top is not None  # a terrain's strata always have one
    level = bool((strata.top == strata.top.flat[0]).all())
    note = {
        "layers": [
            {name: _number(value) for name, value in dataclasses.asdict(layer).items() if value is not None}
            for layer in strata.layers
        ],
        "dip": strata.dip,
        "direction": strata.direction,
        "follow": strata.follow,
        "top": float(strata.top.flat[0]) if level else None,
    }
    return json.dumps(note, allow_nan=False), None if level else strata.top.astype(np.float32)


def _number(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)


def from_metadata(path: Path, text: str, top: NDArray[Any] | None, shape: tuple[int, int]) -> Strata:
    """Read what `metadata_of` wrote."""
    try:
        note = json.loads(text)
        if note["top"] is not None:
            top = np.full(shape, note["top"], np.float64)
        elif top is None:
            raise InvalidTerrain(f"{STRATA_TOP} is missing")
        return Strata.from_table(
            note["layers"], top=top, **{name: note[name] for name in ("dip", "direction", "follow")}
        )
    except SlopewashError as error:
        raise InvalidFile(f"{path}: its strata are damaged: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidFile(f"{path}: its strata are damaged: {type(error).__name__} {error}") from error
