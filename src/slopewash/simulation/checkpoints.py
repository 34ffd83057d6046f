"""Checkpoints on disk: all of a run or nothing, however the process ends.

A checkpoint is a folder `step-000123` of `.npy` files and a `manifest.json` with the sha256 of each. It is written
under another name, flushed to the disk and renamed, the manifest last. Two are kept; a damaged one is skipped.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import CheckpointError, CheckpointWarning

Arrays = dict[str, NDArray[Any]]

SCHEMA = 1
KEPT = 2
MANIFEST = "manifest.json"
HEADER = 128
"""Bytes that a file has besides its array, about."""
BLOCK = 4096
"""Bytes that file systems hand out at once, mostly."""


def write_checkpoint(folder: Path, number: int, facts: Mapping[str, Any], arrays: Arrays) -> Path:
    """Write one and return where it is; older ones beyond `KEPT` are removed."""
    name = f"step-{number:06d}"
    temporary, final = folder / f"{name}.tmp", folder / name
    needed = BLOCK * (1 + sum(-(-(array.nbytes + HEADER) // BLOCK) for array in arrays.values()))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _tidy(folder)
        temporary.mkdir()
        files = {key: _write_array(temporary / f"{key}.npy", array) for key, array in arrays.items()}
        manifest = {"schema": SCHEMA, "files": files, **plain(facts)}
        _write_bytes(temporary / MANIFEST, _dump(manifest | {"sha256": _seal(manifest)}))
        _flush_folder(temporary)
        if final.exists():  # the same step again, perhaps with other edits: the new one takes its place
            shutil.rmtree(folder / f"{name}.old", ignore_errors=True)
            final.rename(folder / f"{name}.old")
        temporary.rename(final)
        _flush_folder(folder)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise CheckpointError(_why(folder, needed, error)) from error
    _remove_old(folder, final)
    return final


def _dump(manifest: Mapping[str, Any]) -> bytes:
    """One line for each fact: readable, and fast where an edit history makes it long."""
    lines = (f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, allow_nan=False)}" for k, v in manifest.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _seal(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(_dump(manifest)).hexdigest()


def _why(folder: Path, needed: int, error: OSError) -> str:
    known = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
    free = shutil.disk_usage(known).free
    kept = "; the checkpoints before it are intact" if find_checkpoints(folder) else ""
    return (
        f"cannot write a checkpoint to {folder}: {error.strerror or error}; it needs {_size(needed)} and "
        f"{_size(free)} are free there{kept}"
    )


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB ({count} bytes)"


def _write_array(path: Path, array: NDArray[Any]) -> dict[str, Any]:
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    return {"sha256": _hash(path), "shape": list(array.shape), "dtype": str(array.dtype)}


def _write_bytes(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows does not open folders
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _tidy(folder: Path) -> None:
    """Remove what a killed process has not finished, and finish what it was about to replace."""
    for leftover in folder.glob("step-*.tmp"):
        shutil.rmtree(leftover)
    for replaced in folder.glob("step-*.old"):
        if replaced.with_suffix("").exists():
            shutil.rmtree(replaced)
        else:  # killed before the new one took its place
            replaced.rename(replaced.with_suffix(""))


def _remove_old(folder: Path, newest: Path) -> None:
    older = [path for path in find_checkpoints(folder) if path != newest and path.suffix != ".old"]
    for path in [*older[KEPT - 1 :], *folder.glob("step-*.old")]:
        shutil.rmtree(path, ignore_errors=True)


def keep_only(checkpoint: Path) -> None:
    """Remove all others of its folder: they are of another run."""
    for path in find_checkpoints(checkpoint.parent):
        if path != checkpoint:
            shutil.rmtree(path, ignore_errors=True)


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder is one finished checkpoint itself."""
    return (folder / MANIFEST).is_file()


def find_checkpoints(folder: Path) -> list[Path]:
    """Finished checkpoints in a folder, newest first."""
    found = {}
    for path in folder.glob("step-*"):
        with suppress(FileNotFoundError, NotADirectoryError):  # a run may replace it at this moment
            if path.suffix != ".tmp":
                found[path] = (path / MANIFEST).stat().st_mtime_ns
    # By time, for a run may begin anew in the folder of another; by step where two were written within a clock's tick.
    return sorted(found, key=lambda path: (found[path], path.name), reverse=True)


def read_checkpoint(folder: Path) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of the newest checkpoint that is whole; `folder` may also be one checkpoint itself."""
    candidates = [folder] if is_checkpoint(folder) else find_checkpoints(folder)
    if not candidates:
        what = "is no folder" if not folder.is_dir() else "holds no checkpoint"
        raise CheckpointError(f"{folder} {what}; write one with simulation.checkpoint(...), or erode --checkpoint")
    problems = []
    for candidate in candidates:
        try:
            facts = read_manifest(candidate)
            arrays = {key: _read_array(candidate / f"{key}.npy", noted) for key, noted in facts["files"].items()}
        except (OSError, ValueError, KeyError, TypeError) as error:
            problems.append(f"{candidate.name}: {error}")
            continue
        if problems:
            warnings.warn(
                f"skipped as damaged: {'; '.join(problems)}; continuing from {candidate.name}",
                CheckpointWarning,
                stacklevel=3,
            )
        return facts, arrays
    raise CheckpointError(f"no checkpoint in {folder} is whole ({'; '.join(problems)}); start the run again")


def newest_manifest(folder: Path) -> dict[str, Any] | None:
    """Facts of the newest checkpoint without reading its arrays; None if there is none."""
    for candidate in [folder] if is_checkpoint(folder) else find_checkpoints(folder):
        try:
            return read_manifest(candidate)
        except (OSError, ValueError):
            continue
    return None


def read_manifest(checkpoint: Path) -> dict[str, Any]:
    """Facts of one checkpoint."""
    written = (checkpoint / MANIFEST).read_bytes()
    try:
        manifest = json.loads(written)
        intact = _dump(manifest) == written and manifest.pop("sha256", None) == _seal(manifest)
    except (ValueError, AttributeError):
        intact = False
    if not intact:
        raise ValueError(f"{MANIFEST} is not what was written")
    if manifest.get("schema") != SCHEMA:
        raise ValueError(f"{MANIFEST} has another schema than {SCHEMA}")
    facts: dict[str, Any] = manifest
    return facts


def _read_array(path: Path, noted: Mapping[str, Any]) -> NDArray[Any]:
    if _hash(path) != noted["sha256"]:
        raise ValueError(f"{path.name} is not what was written")
    with path.open("rb") as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def plain(value: Any) -> Any:
    """Reduce to what JSON has: infinity becomes "inf", which parameters and strata take as a number."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | Iterator):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
