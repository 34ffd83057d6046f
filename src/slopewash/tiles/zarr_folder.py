"""Zarr groups that anyone may have written, opened for reading."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slopewash.errors import InvalidFile
from slopewash.io.decoding import Damaged, decoding
from slopewash.tiles.arrays import require_zarr
from slopewash.urls import is_local, plain_url

FORMAT = "Zarr"
LARGEST_CHUNK = 1 << 30
"""Bytes of what is decoded at once."""
MOST_ARRAYS = 256


@dataclass(frozen=True, kw_only=True)
class ZarrArray:
    """What is said of an array of a group."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    fill_value: Any
    """What cells have that were never written."""
    dimensions: tuple[str, ...] | None
    attributes: dict[str, Any]
    version: int


@dataclass(frozen=True, kw_only=True)
class ZarrFacts:
    """What is said of a group, and of the arrays in it."""

    path: Path
    attributes: dict[str, Any]
    arrays: dict[str, ZarrArray]


def check_folder(path: Path) -> None:
    """Refuse what is no folder of this machine; its files are checked when they are opened.

    >>> check_folder(Path("s3:/bucket/dem.zarr"))
    Traceback (most recent call last):
    slopewash.errors.InvalidFile: s3://bucket/dem.zarr is a URL; a source is read from a folder: copy it to this machine
    """
    url = plain_url(str(path))
    if not is_local(url):
        raise InvalidFile(f"{url} is a URL; a source is read from a folder: copy it to this machine")
    if not path.exists():
        raise InvalidFile(f"{path} does not exist")
    if not path.is_dir():
        raise InvalidFile(f"{path} is a file; a Zarr group is a folder: unpack it")


def facts_of(path: Path) -> ZarrFacts:
    """What a group says, checked only as far as Zarr does."""
    check_folder(path)
    with decoding(path, FORMAT):
        group = _group(path)
        names = sorted(group.array_keys())
        if len(names) > MOST_ARRAYS:
            raise Damaged(f"it has {len(names)} arrays")
        arrays = {name: _facts(name, group[name]) for name in names}
        return ZarrFacts(path=path, attributes=dict(group.attrs), arrays=arrays)


def opened(path: Path, name: str) -> Any:
    """An array of a group; call it while `decoding`."""
    return require_zarr().open_array(store=_files(path), path=name, mode="r")


def _files(path: Path) -> Any:
    require_zarr()
    from slopewash.tiles.zarr_files import RegularFiles

    return RegularFiles(path)


def _group(path: Path) -> Any:
    zarr = require_zarr()
    try:
        # What is consolidated is a copy, which other programs leave as it was when they change an array.
        return zarr.open_group(store=_files(path), mode="r", use_consolidated=False)
    except (FileNotFoundError, zarr.errors.NodeTypeValidationError, zarr.errors.ContainsArrayError):
        raise InvalidFile(f"{path} is not a Zarr group of layers") from None


def _facts(name: str, array: Any) -> ZarrArray:
    metadata = array.metadata
    attributes = dict(array.attrs)
    dimensions = getattr(metadata, "dimension_names", None) or attributes.get("_ARRAY_DIMENSIONS")
    size = math.prod(array.chunks) * array.dtype.itemsize
    if not 0 < size <= LARGEST_CHUNK:
        raise Damaged(f"the chunks of {name} have {size} bytes; save it with chunks of 2048 x 2048")
    if dimensions is not None and not (
        isinstance(dimensions, list | tuple)
        and len(dimensions) == len(array.shape)
        and all(isinstance(dimension, str) for dimension in dimensions)
        and len(set(dimensions)) == len(dimensions)
    ):
        raise Damaged(f"the dimensions of {name} are {dimensions}")
    return ZarrArray(
        name=name, shape=tuple(map(int, array.shape)), dtype=array.dtype, fill_value=metadata.fill_value,
        dimensions=None if dimensions is None else tuple(dimensions), attributes=attributes,
        version=int(metadata.zarr_format),
    )  # fmt: skip
