"""The files of one checkpoint: numbered `.npy` files, and a manifest that names them, with digests and a seal.

The seal is the user's own (`seals.py`): what carries another one, or none, was written by another user or machine.
Files are read as anybody's: regular files alone, no longer than what they say they hold, numbers and nothing else.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import CheckpointError
from slopewash.flushing import flush_file
from slopewash.models.soundness import REAL
from slopewash.paths import new_file, open_regular
from slopewash.plain import plain
from slopewash.seals import is_sealed, seal
from slopewash.simulation.facts import is_count, is_table

Arrays = dict[str, NDArray[Any]]

SCHEMA = 2
"""Number of this layout; 1 named files after arrays."""
MANIFEST = "manifest.json"
PURPOSE = "checkpoint"
"""What its seal is good for."""
LARGEST_MANIFEST = 16 << 20
"""Bytes; the longest history of edits takes half of that."""
LONGEST_HEADER = 1 << 14
"""Bytes before the numbers of an array."""


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint states."""

    facts: dict[str, Any]
    own: bool
    """Whether it carries this user's seal."""


def array_file(number: int) -> str:
    """Name of an array's file: the array's own may hold what no file name can."""
    return f"{number:03d}.npy"


def write_files(folder: Path, serial: int, facts: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a checkpoint into a folder that was just made, the manifest last."""
    files = {
        key: _write_array(folder / array_file(number), array) for number, (key, array) in enumerate(arrays.items())
    }
    manifest = {"schema": SCHEMA, "serial": serial, "files": files, **plain(facts)}
    with new_file(folder / MANIFEST) as file:
        file.write(encoded(manifest))
        flush_file(file)


def encoded(manifest: Mapping[str, Any]) -> bytes:
    """Bytes of a manifest, with the user's seal and a digest of both."""
    sealed = {**manifest, "seal": seal(_dump(manifest), PURPOSE)}
    return _dump(sealed | {"sha256": hashlib.sha256(_dump(sealed)).hexdigest()})


def _dump(manifest: Mapping[str, Any]) -> bytes:
    """One line for each fact: readable, and fast where an edit history makes it long."""
    lines = (f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, allow_nan=False)}" for k, v in manifest.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _write_array(path: Path, array: NDArray[Any]) -> dict[str, Any]:
    with new_file(path) as file:
        digested = _Digested(file)
        np.lib.format.write_array(digested, np.asanyarray(array), allow_pickle=False)
        flush_file(file)
    return {"sha256": digested.digest.hexdigest(), "shape": list(array.shape), "dtype": str(array.dtype)}


class _Digested(io.RawIOBase):
    """A file whose bytes are digested on their way."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self._file.write(data)


def read_manifest(checkpoint: Path) -> Manifest:
    """Read what one checkpoint states; `ValueError` if it is not what was written, by whomever."""
    with open_regular(checkpoint / MANIFEST) as file:
        written = file.read(LARGEST_MANIFEST + 1)
    if len(written) > LARGEST_MANIFEST:
        raise ValueError(f"{MANIFEST} has more than {LARGEST_MANIFEST} bytes")
    facts, own = _unsealed(written)
    if facts.get("schema") != SCHEMA:
        from slopewash import __version__

        raise CheckpointError(
            f"{checkpoint} has schema {facts.get('schema')}, written by slopewash {facts.get('slopewash')}; this "
            f"is slopewash {__version__}, which reads schema {SCHEMA}; continue it with the version that wrote it"
        )
    _check_outline(facts)
    return Manifest(facts, own)


def _unsealed(written: bytes) -> tuple[dict[str, Any], bool]:
    """Facts of a manifest whose digest is right, and whether it carries the user's seal."""
    try:
        facts = json.loads(written)
        whole = _dump(facts) == written
        digest = facts.pop("sha256", None)
        if whole and digest == hashlib.sha256(_dump(facts)).hexdigest():
            found = facts.pop("seal", None)  # none before 0.3
            return facts, is_sealed(_dump(facts), PURPOSE, found)
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass
    raise ValueError(f"{MANIFEST} is not what was written")


def _check_outline(facts: Mapping[str, Any]) -> None:
    """Refuse a manifest of another form than ours, whatever it is sealed with."""
    known = {"files": is_table, "recipe": is_table, "serial": is_count, "step": is_count}
    for name, holds in known.items():
        if (name in facts or name in ("files", "serial")) and not holds(facts.get(name)):
            raise ValueError(f"{MANIFEST} has no {name} of a checkpoint")
    for key, noted in facts["files"].items():
        if not (is_table(noted) and isinstance(noted.get("shape"), list) and all(map(is_count, noted["shape"]))):
            raise ValueError(f"{MANIFEST} says nothing of {key}")


def read_arrays(checkpoint: Path, facts: Mapping[str, Any]) -> Arrays:
    """Read the arrays that a manifest names; `ValueError` if one is not what was written."""
    return {
        key: _read_array(checkpoint / array_file(number), key, noted)
        for number, (key, noted) in enumerate(facts["files"].items())
    }


def _read_array(path: Path, key: str, noted: Mapping[str, Any]) -> NDArray[Any]:
    """Read an array whose file is as long as its header says, and has the digest that was noted."""
    with open_regular(path) as file:
        array, digest = _unpacked(file, path, noted)
    if digest != noted.get("sha256"):
        raise ValueError(f"{path.name} ({key}) is not what was written")
    return array


def _unpacked(file: IO[bytes], path: Path, noted: Mapping[str, Any]) -> tuple[NDArray[Any], str]:
    digest = hashlib.sha256()
    head = io.BytesIO(file.read(LONGEST_HEADER))
    try:
        shape, in_columns, kind = _header(head)
    except (ValueError, SyntaxError, TypeError, TokenError, RecursionError, MemoryError):  # what parsing it may raise
        raise ValueError(f"{path.name} is not what was written") from None
    size = os.fstat(file.fileno()).st_size
    wanted = kind.itemsize * int(np.prod(shape, dtype=object)) if shape else kind.itemsize
    if kind.kind not in REAL or not kind.isnative or list(shape) != noted["shape"] or head.tell() + wanted != size:
        raise ValueError(f"{path.name} is not what was written")
    digest.update(head.getvalue()[: head.tell()])
    file.seek(head.tell())
    array = np.empty(shape, kind, order="F" if in_columns else "C")
    data = array.reshape(-1, order="A").view(np.uint8) if array.size else np.empty(0, np.uint8)
    if file.readinto(data.data) != wanted:  # type: ignore[attr-defined]
        raise ValueError(f"{path.name} is not what was written")
    digest.update(data.data)
    return array, digest.hexdigest()


def _header(head: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(head)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    found: tuple[tuple[int, ...], bool, np.dtype[Any]] = read(head, max_header_size=LONGEST_HEADER)
    return found
