"""Arrays of a store as Zarr has them: their metadata, and tiles that are compressed.

Metadata are written for others. We ourselves know what an array must be, and never read them: a store may be anyone's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.io.decoding import Damaged
from slopewash.models.state import Window
from slopewash.tiles.grid import TileGrid

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Field:
    """An array of the store."""

    path: str
    dtype: str
    components: int | None = None
    fill: float = 0.0
    raw: bool = True
    """Whether chunks are stored as they are; else they are compressed."""


def require_zarr() -> Any:
    """Import Zarr, or say which extra it comes with."""
    try:
        import google_crc32c as _  # noqa: F401  # which checks what is written
        import zarr
    except ImportError:
        raise InvalidParameter('tiles need the tiles extra: pip install "slopewash[tiles]"') from None
    return zarr


def metadata(field: Field, grid: TileGrid) -> dict[str, Any]:
    """What `zarr.json` of an array says, without attributes."""
    facts: dict[str, Any] = json.loads(_described(field.dtype, field.components, field.fill, field.raw, grid))
    return facts


@lru_cache(maxsize=64)
def _described(dtype: str, components: int | None, fill: float, raw: bool, grid: TileGrid) -> bytes:
    held: dict[str, Any] = {}
    shape, shard, chunk = (_with(components, part) for part in (grid.shape, grid.tile, grid.chunk))
    zarr = require_zarr()
    zarr.create_array(
        store=zarr.storage.MemoryStore(held), shape=shape, dtype=dtype, shards=shard,
        chunks=chunk if components is None else (1, *chunk[1:]), fill_value=np.dtype(dtype).type(fill).item(),
        compressors=None if raw else _compressor(), dimension_names=("component", "y", "x")[-len(shape) :],
    )  # fmt: skip
    return bytes(held["zarr.json"].to_bytes())


def line_metadata(dtype: str, length: int) -> dict[str, Any]:
    """What `zarr.json` of an array of one dimension says."""
    held: dict[str, Any] = {}
    zarr = require_zarr()
    zarr.create_array(
        store=zarr.storage.MemoryStore(held), shape=(length,), dtype=dtype, chunks=(length,), compressors=None,
        fill_value=0,
    )  # fmt: skip
    facts: dict[str, Any] = json.loads(held["zarr.json"].to_bytes())
    return facts


def encoded(field: Field, grid: TileGrid, number: int, values: Array) -> bytes | None:
    """A tile as the bytes of its shard; None if nothing is stored, because all of it is the fill value."""
    array, held = _in_memory(field, grid, None, number)
    array[as_window(field.components, grid.window(number))] = values
    made = held.get(_key(field, grid, number))
    return None if made is None else bytes(made.to_bytes())


def decoded(field: Field, grid: TileGrid, number: int, data: bytes, window: Window) -> Array:
    """A window of a tile from the bytes of its shard."""
    array, _ = _in_memory(field, grid, data, number)
    try:
        values = np.asarray(array[as_window(field.components, window)])
    except Exception as error:  # which of them a codec raises, it says nowhere
        raise Damaged("its chunks are damaged") from error
    return values


def shard_name(field: Field, grid: TileGrid, number: int) -> str:
    """Name of the file that holds a tile."""
    return f"{field.path}/{_key(field, grid, number)}"


def as_window(components: int | None, window: Window) -> tuple[slice, ...]:
    """Window of an array that may have components."""
    return window if components is None else (slice(0, components), *window)


def _key(field: Field, grid: TileGrid, number: int) -> str:
    row, column = divmod(number, grid.counts[1])
    return f"{'c' if field.components is None else 'c/0'}/{row}/{column}"


def _in_memory(field: Field, grid: TileGrid, data: bytes | None, number: int) -> tuple[Any, dict[str, Any]]:
    zarr = require_zarr()
    from zarr.core.buffer import default_buffer_prototype

    as_buffer = default_buffer_prototype().buffer.from_bytes
    described = _described(field.dtype, field.components, field.fill, field.raw, grid)
    held = {"zarr.json": as_buffer(described)}
    if data is not None:
        held[_key(field, grid, number)] = as_buffer(data)
    return zarr.open_array(store=zarr.storage.MemoryStore(held), mode="r+", zarr_format=3), held


def _compressor() -> Any:
    from zarr.codecs import BloscCodec

    return BloscCodec(cname="zstd", clevel=1, shuffle="shuffle")


def _with(components: int | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape if components is None else (components, *shape)
