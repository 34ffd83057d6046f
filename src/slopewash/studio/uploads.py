"""Height fields uploaded by a page: limited in size and time while received, and decoded in a process of their own."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
import unicodedata
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.requests import ClientDisconnect

import slopewash as sw
from slopewash.errors import InvalidFile, SlopewashError
from slopewash.paths import new_file
from slopewash.recipes.sources import read_call
from slopewash.studio.catalogue import FORMATS, UPLOAD_BYTES
from slopewash.studio.given import Given
from slopewash.studio.projects import SUFFIX, Project, read_project
from slopewash.studio.recipes import fitted
from slopewash.untrusted import Decoded, decode

PROJECT_FACTOR = 4
"""How much larger than a terrain a project may be: it holds every layer of the run and its undo history."""
LARGEST_SIDE = 8192
"""Largest number of cells per side of a file; it is resampled to what the studio runs."""
STALLED_SECONDS = 20.0
"""Longest wait for the next bytes of an upload, in all."""
SLOWEST = 1 << 16
"""Bytes per second that earn more time."""
FLATTEST, USUAL, STEEPEST = 0.002, 0.2, 0.8
"""Relief of a terrain as a share of its side: of a flood plain, of what presets are made for, and of a single cliff."""
HEADLESS = (".r16", ".raw")


class TooLarge(SlopewashError):
    """A file has more bytes than the limit."""


class Stalled(SlopewashError):
    """A file arrives too slowly: others wait for its place."""


class Uploads(Given):
    """The last few terrains that were uploaded."""

    def __init__(self, limit: int = UPLOAD_BYTES) -> None:
        super().__init__()
        self.limit = limit
        self.project_limit = PROJECT_FACTOR * limit

    async def receive_project(self, name: str, chunks: AsyncIterator[bytes], secret: bytes) -> tuple[str, Project]:
        """Receive a project file; return its id, and what it holds. Only the last one is remembered."""
        shown, suffix = clean_name(name, {SUFFIX: ""})
        with tempfile.TemporaryDirectory(prefix="slopewash-studio-") as folder:
            file = Path(folder) / f"project{suffix}"
            await self._store(chunks, file, self.project_limit)
            project = await anyio.to_thread.run_sync(lambda: read_project(file, shown, secret))
        return self.keep_project(project), project

    def keep_project(self, project: Project) -> str:
        """Remember a project instead of the last one; return its id."""
        return self._keep(project)

    def keep(self, given: sw.FromTerrain) -> str:
        """Remember a terrain; return its id."""
        return self._keep(given)

    def _keep(self, given: sw.FromTerrain | Project) -> str:
        key = secrets.token_hex(8)
        self.put(key, given)
        return key

    async def receive(
        self, name: str, chunks: AsyncIterator[bytes], options: Mapping[str, Any]
    ) -> tuple[str, sw.FromTerrain, Decoded]:
        """Receive a file; return its id, the terrain, and what the file was decoded to.

        Of the options, `extent` is the longer side in metres, which the cell size follows from; the others are those
        of `slopewash.read`.

        `name` is shown and gives the suffix; it is never used as a path.
        """
        shown, suffix = clean_name(name)
        options = dict(options)
        extent = options.pop("extent", None)
        # Deleted as soon as it is read.
        with tempfile.TemporaryDirectory(prefix="slopewash-studio-") as folder:
            file = Path(folder) / f"upload{suffix}"
            await self._store(chunks, file, self.limit)
            decoded = await anyio.to_thread.run_sync(lambda: _decode(file, shown, options))
        terrain = decoded.terrain
        if suffix in HEADLESS:  # their side file was not uploaded, but may be beside the script
            options = {**options, "cell_size": terrain.cell_size, "shape": terrain.shape}
        if extent is not None:
            options = {**options, "cell_size": extent / max(terrain.shape)}
            terrain = terrain.replace(cell_size=options["cell_size"])
        given = await anyio.to_thread.run_sync(lambda: fitted(shown, terrain, read_call(shown, options)))
        return self.keep(given), given, decoded

    async def _store(self, chunks: AsyncIterator[bytes], file: Path, limit: int) -> None:
        size, begin = 0, time.monotonic()
        with new_file(file, private=True) as out:
            while True:
                left = begin + STALLED_SECONDS + size / SLOWEST - time.monotonic()
                try:
                    chunk = await asyncio.wait_for(anext(chunks), left)
                except StopAsyncIteration:
                    return
                except ClientDisconnect:
                    raise Stalled(f"the connection was lost after {size} bytes; upload the file again") from None
                except TimeoutError:
                    raise Stalled(f"the upload stalled after {size} bytes; try it again") from None
                size += len(chunk)
                if size > limit:
                    raise TooLarge(f"the file has more than {limit} bytes, the limit")
                out.write(chunk)


def plausible_extent(terrain: sw.Terrain) -> float | None:
    """Longer side in metres that would suit the relief, where the terrain as it is would be a wall or a plain.

    Files without georeference often have no cell size, and are read with one of 1 m.

    >>> plausible_extent(sw.generate("hill", size=64, cell_size=1.0, relief=900.0))
    4500.0
    >>> plausible_extent(sw.generate("hill", size=64, cell_size=70.0, relief=900.0)) is None
    True
    """
    steepness = terrain.relief / (max(terrain.shape) * terrain.cell_size)
    if terrain.transform is not None or not terrain.relief or FLATTEST <= steepness <= STEEPEST:
        return None
    return float(f"{terrain.relief / USUAL:.2g}")


def clean_name(name: str, known: Mapping[str, str] = FORMATS) -> tuple[str, str]:
    """Return a name that is safe to show, and its suffix, which must be known.

    >>> clean_name("../../etc/hill.PNG")
    ('hill.PNG', '.png')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(c for c in last if unicodedata.category(c)[0] != "C")[-80:]
    suffix = Path(shown).suffix.lower()
    if suffix not in known:
        raise InvalidFile(f'{shown or "the file"} has the unknown suffix "{suffix}"; known are {", ".join(known)}')
    return shown, suffix


def _decode(file: Path, shown: str, options: Mapping[str, Any]) -> Decoded:
    try:
        decoded = decode(file, options, largest_side=LARGEST_SIDE)
        return Decoded(decoded.terrain, {n: text.replace(str(file), shown) for n, text in decoded.suspects.items()})
    except SlopewashError as error:
        raise InvalidFile(str(error).replace(str(file), shown)) from None
