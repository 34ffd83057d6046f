"""Files of a Zarr group that anyone may have written, checked when they are opened.

The user names the group as a source, so links are followed, as DVC, git-annex and Nix keep data. What they lead to must
be a regular file: a missing chunk has the fill value, and one whose link leads nowhere is not a missing one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import LocalStore

from slopewash.errors import InvalidFile
from slopewash.paths import open_regular

LARGEST_METADATA = 1 << 25
"""Bytes of a file of metadata."""
_METADATA = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")


class RegularFiles(LocalStore):
    """A folder that is only read, and of which only regular files are."""

    def __init__(self, root: Path, *, read_only: bool = True) -> None:
        super().__init__(root, read_only=True)

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        """Bytes of a file, or None if there is none."""
        return await asyncio.to_thread(self.get_sync, key, prototype=prototype, byte_range=byte_range)

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        """Bytes of a file, or None if there is none."""
        data = _read(self.root, key, byte_range)
        return None if data is None else (prototype or default_buffer_prototype()).buffer.from_bytes(data)

    async def get_partial_values(self, prototype: Any, key_ranges: Iterable[tuple[str, Any]]) -> list[Any]:
        """Parts of files."""
        return list(await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges)))


def _read(root: Path, key: str, part: Any) -> bytes | None:
    path = root / key
    is_metadata = path.name in _METADATA
    try:
        with open_regular(path.resolve()) as file:
            size = os.fstat(file.fileno()).st_size
            if is_metadata and size > LARGEST_METADATA:
                raise InvalidFile(f"{path} has {size} bytes, too many for metadata; shorten it")
            begin, end = _span(part, size)
            file.seek(begin)
            return file.read(max(0, min(end, size) - begin))
    except FileNotFoundError:
        _check_links(root, path)
        return None
    except NotADirectoryError:
        if is_metadata:  # a file beside the arrays, which is none
            return None
        raise _refused(root, path) from None
    except (IsADirectoryError, RuntimeError, ValueError):  # RuntimeError: a link that leads to itself
        raise _refused(root, path) from None


def _span(part: Any, size: int) -> tuple[int, int]:
    """First byte of a request, and the one behind the last."""
    if isinstance(part, RangeByteRequest):
        return part.start, part.end
    if isinstance(part, OffsetByteRequest):
        return part.offset, size
    if isinstance(part, SuffixByteRequest):
        return max(0, size - part.suffix), size
    return 0, size


def _check_links(root: Path, path: Path) -> None:
    """Refuse a link that leads to nothing, in the place of a file or of a folder above it."""
    for place in (path, *path.parents):
        if place == root:
            return
        if place.is_symlink() and not place.exists():
            raise InvalidFile(f"{place} is a link to a file that is not there; fetch what {root} holds")


def _refused(root: Path, path: Path) -> InvalidFile:
    return InvalidFile(f"{path} is not a regular file; copy {root} without it")
