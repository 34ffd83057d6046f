"""Height fields that a page sends: limited while they stream in, their header looked at before they are decoded."""

from __future__ import annotations

import secrets
import tempfile
import unicodedata
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread

import slopewash as sw
from slopewash.errors import InvalidFile, InvalidParameter, SlopewashError
from slopewash.studio.catalogue import FORMATS, UPLOAD_BYTES
from slopewash.studio.recipes import fitted

KEPT = 4
"""Uploads that can still be started from."""
LARGEST_SIDE = 8192
"""Cells per side of a file; what is shown and eroded has fewer."""
HEADLESS = (".r16", ".raw")


class TooLarge(SlopewashError):
    """More bytes than are taken."""


class Uploads:
    """Terrains that were uploaded, the newest few of them."""

    def __init__(self, limit: int = UPLOAD_BYTES) -> None:
        self.limit = limit
        self._given: OrderedDict[str, sw.FromTerrain] = OrderedDict()

    def find(self, key: str) -> sw.FromTerrain:
        """Look an upload up by the number it was given."""
        if key not in self._given:
            raise InvalidParameter(f"there is no upload {key!r} any more; upload the file again")
        return self._given[key]

    async def receive(
        self, name: str, chunks: AsyncIterator[bytes], options: Mapping[str, Any]
    ) -> tuple[str, sw.FromTerrain, tuple[int, int]]:
        """Take a file in, and tell its own rows and columns too.

        `name` is only shown and gives the suffix, it never becomes a path.
        """
        shown, suffix = clean_name(name)
        # Of its own, and gone with the upload: a server that is killed leaves nothing behind.
        with tempfile.TemporaryDirectory(prefix="slopewash-studio-") as folder:
            file = Path(folder) / f"upload{suffix}"
            await self._store(chunks, file)
            terrain = await anyio.to_thread.run_sync(lambda: _decode(file, shown, options))
        if suffix in HEADLESS:  # their side file, which was not sent, may well lie beside the script
            options = {**options, "cell_size": terrain.cell_size, "shape": terrain.shape}
        file_shape = terrain.shape
        given = await anyio.to_thread.run_sync(lambda: fitted(shown, terrain, read_call(shown, options)))
        key = secrets.token_hex(8)
        self._given[key] = given
        while len(self._given) > KEPT:
            self._given.popitem(last=False)
        return key, given, file_shape

    async def _store(self, chunks: AsyncIterator[bytes], file: Path) -> None:
        size = 0
        with file.open("xb") as out:
            async for chunk in chunks:
                size += len(chunk)
                if size > self.limit:
                    raise TooLarge(f"the file has more than {self.limit} bytes, which is all the studio takes")
                out.write(chunk)


def clean_name(name: str, known: Mapping[str, str] = FORMATS) -> tuple[str, str]:
    """A name fit to show, and its suffix, which must be a known one.

    >>> clean_name("../../etc/hill.PNG")
    ('hill.PNG', '.png')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(c for c in last if unicodedata.category(c)[0] != "C")[-80:]
    suffix = Path(shown).suffix.lower()
    if suffix not in known:
        raise InvalidFile(f'{shown or "the file"} has the unknown suffix "{suffix}"; known are {", ".join(known)}')
    return shown, suffix


def read_call(path: str, options: Mapping[str, Any]) -> str:
    """Python that reads the same terrain from the same file."""
    words = "".join(f", {key}={value!r}" for key, value in options.items() if value is not None)
    return f"sw.read({path!r}{words})"


def _decode(file: Path, shown: str, options: Mapping[str, Any]) -> sw.Terrain:
    try:
        _check_header(file, options.get("shape"))
        return sw.read(file, max_pixels=LARGEST_SIDE**2, **options)
    except SlopewashError as error:
        raise InvalidFile(str(error).replace(str(file), shown)) from None


def _check_header(file: Path, shape: tuple[int, int] | None) -> None:
    """Refuse what would take too much memory, before anything is decoded."""
    layers = 1
    if shape is None:
        info = sw.probe(file)
        shape, layers = (info.height, info.width), max(info.channels, len(info.layers))
    rows, columns = shape
    if max(shape) > LARGEST_SIDE:
        raise InvalidFile(f"{file} has {columns} x {rows} cells; the studio takes at most {LARGEST_SIDE} per side")
    if rows * columns * layers > LARGEST_SIDE**2:
        raise InvalidFile(
            f"{file} has {layers} layers of {columns} x {rows} cells; the studio takes {LARGEST_SIDE**2} values, so "
            "send fewer layers or fewer cells"
        )
