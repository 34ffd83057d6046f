"""Checkpoints on disk: all of a run or nothing, however the process ends.

A checkpoint is a folder `step-000123` of numbered `.npy` files and a `manifest.json` with the name and the sha256 of
each array, in the order of their numbers. It is written under another name, flushed to the disk and renamed, the
manifest last. Two are kept; a damaged one is skipped.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import CheckpointError, CheckpointWarning
from slopewash.flushing import flush_file, flush_folder
from slopewash.plain import plain
from slopewash.remedies import by_place
from slopewash.simulation.locks import FolderLock

Arrays = dict[str, NDArray[Any]]

SCHEMA = 2
"""Number of this layout; 1 named files after arrays."""
KEPT = 2
MANIFEST = "manifest.json"
PREVIOUS = "previous"
"""Folder for the newest checkpoint of a run that was replaced."""
HEADER = 128
"""Bytes that a file has besides its array, about."""
BLOCK = 4096
"""Bytes that file systems hand out at once, mostly."""


def write_checkpoint(
    folder: Path, number: int, facts: Mapping[str, Any], arrays: Arrays, *, replace: bool = False
) -> Path:
    """Write one and return where it is; older ones beyond `KEPT` are removed.

    A folder belongs to one run, known by the fact "run". The checkpoints of another run are removed if that is
    finished. If it is not, `CheckpointError` is raised; with `replace`, its newest one is moved to `previous/` instead.

    >>> import tempfile, numpy as np, slopewash as sw
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = sw.write_checkpoint(Path(folder.name), 1, {"run": "mine", "step": 1}, {"height": np.zeros((4, 4))})
    >>> sw.read_checkpoint(folder.name)[0]["step"]
    1
    >>> folder.cleanup()
    """
    needed = BLOCK * (1 + sum(-(-(array.nbytes + HEADER) // BLOCK) for array in arrays.values()))
    check_kind(folder)
    with FolderLock(folder):
        if not replace:
            check_owner(folder, facts.get("run"))
            _check_recipe(folder, facts.get("recipe"))
        others = find_checkpoints(folder) if _is_of_another(newest_manifest(folder), facts.get("run")) else []
        final = _write(folder, f"step-{number:06d}", facts, arrays, needed)
        if others:
            _remove_others(others, final, keep=replace)
        else:
            _remove_old(folder, final)
    return final


def check_kind(folder: Path) -> None:
    """Refuse a file where a folder is needed."""
    if folder.exists() and not folder.is_dir():
        raise CheckpointError(f"{folder} is a file; checkpoints need a folder")


def check_owner(folder: Path, run: str | None) -> None:
    """Refuse a folder that holds another run, unless that is finished."""
    manifest = newest_manifest(folder)
    if manifest is not None and _is_of_another(manifest, run) and not manifest.get("recipe", {}).get("finished"):
        raise CheckpointError(
            f"{folder} holds another run, at step {manifest['step']}; continue it with Simulation.resume or "
            "slopewash resume, or choose another folder"
        )


def _check_recipe(folder: Path, recipe: Mapping[str, Any] | None) -> None:
    """Refuse to write a simulation alone over the recipe that it is part of: other stages and outputs would be lost."""
    manifest = newest_manifest(folder)
    noted = {} if manifest is None else manifest.get("recipe", {})
    if not recipe and "stages" in noted and not noted.get("finished"):
        raise CheckpointError(
            f"{folder} holds a recipe of which this simulation is a part; continue it with sw.resume or slopewash "
            "resume, or choose another folder"
        )


def _is_of_another(manifest: Mapping[str, Any] | None, run: str | None) -> bool:
    return manifest is not None and manifest.get("run") != run


def _write(folder: Path, name: str, facts: Mapping[str, Any], arrays: Arrays, needed: int) -> Path:
    temporary, final = folder / f"{name}.tmp", folder / name
    try:
        _tidy(folder)
        temporary.mkdir()
        files = {
            key: _write_array(temporary / _file(number), array) for number, (key, array) in enumerate(arrays.items())
        }
        serial = 1 + max((_serial(path) or 0 for path in find_checkpoints(folder)), default=0)
        manifest = {"schema": SCHEMA, "serial": serial, "files": files, **plain(facts)}
        _write_bytes(temporary / MANIFEST, _dump(manifest | {"sha256": _seal(manifest)}))
        flush_folder(temporary)
        if final.exists():  # the same step again, perhaps with other edits: the new one takes its place
            shutil.rmtree(folder / f"{name}.old", ignore_errors=True)
            final.rename(folder / f"{name}.old")
        temporary.rename(final)
        flush_folder(folder)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise CheckpointError(_why(folder, needed, error)) from error
    return final


def _file(number: int) -> str:
    """Name of an array's file: the array's own may hold what no file name can."""
    return f"{number:03d}.npy"


def _dump(manifest: Mapping[str, Any]) -> bytes:
    """One line for each fact: readable, and fast where an edit history makes it long."""
    lines = (f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, allow_nan=False)}" for k, v in manifest.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _seal(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(_dump(manifest)).hexdigest()


def _why(folder: Path, needed: int, error: OSError) -> str:
    why, room = error.strerror or str(error), ""
    known = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
    free = shutil.disk_usage(known).free
    if error.errno is None and free < needed:  # NumPy counts items instead of giving the reason
        why = os.strerror(errno.ENOSPC)
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or free < needed:
        room = f"; it needs {_size(needed)} and {_size(free)} are free there"
    kept = "; the checkpoints before it are intact" if find_checkpoints(folder) else ""
    return f"cannot write a checkpoint to {folder}: {why}{room}{kept}"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB ({count} bytes)"


def _write_array(path: Path, array: NDArray[Any]) -> dict[str, Any]:
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
        flush_file(file)
    return {"sha256": _hash(path), "shape": list(array.shape), "dtype": str(array.dtype)}


def _write_bytes(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        flush_file(file)


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


def _remove_others(others: list[Path], own: Path, *, keep: bool) -> None:
    """Remove the checkpoints of another run, newest first; that one is kept aside if asked for."""
    previous = own.parent / PREVIOUS
    if keep:
        shutil.rmtree(previous, ignore_errors=True)
    for number, path in enumerate(others):
        there = path.with_name(f"{path.name}.old") if path == own else path  # one of the same step was moved
        if keep and number == 0:
            with suppress(OSError):
                previous.mkdir()
                there.rename(previous / path.name)
        shutil.rmtree(there, ignore_errors=True)


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder is one finished checkpoint itself."""
    return (folder / MANIFEST).is_file()


def find_checkpoints(folder: str | Path) -> list[Path]:
    """Finished checkpoints in a folder, newest first.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> simulation = sw.Simulation(sw.generate("hill", size=16), sw.VirtualPipes(), backend="reference")
    >>> simulation.run(3)
    >>> written = simulation.checkpoint(folder.name)
    >>> [path.name for path in sw.find_checkpoints(folder.name)] == [written.name]
    True
    >>> folder.cleanup()
    """
    found: dict[Path, tuple[int | None, int]] = {}
    for path in Path(folder).glob("step-*"):
        with suppress(FileNotFoundError, NotADirectoryError):  # a run may replace it at this moment
            if path.suffix != ".tmp":
                found[path] = _serial(path), (path / MANIFEST).stat().st_mtime_ns
    # By serial number, for a run may begin anew in the folder of another, and clocks may be set back. By time, then by
    # step, where a manifest is damaged.
    if all(serial is not None for serial, _ in found.values()):
        return sorted(found, key=lambda path: found[path][0] or 0, reverse=True)
    return sorted(found, key=lambda path: (found[path][1], path.name), reverse=True)


def _serial(checkpoint: Path) -> int | None:
    """How many checkpoints were written to its folder up to this one; None if that cannot be read."""
    try:
        return int(read_manifest(checkpoint)["serial"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_checkpoint(folder: str | Path) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of the newest checkpoint that is whole; `folder` may also be one checkpoint itself.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> simulation = sw.Simulation(sw.generate("hill", size=16), sw.VirtualPipes(), backend="reference")
    >>> simulation.run(3)
    >>> written = simulation.checkpoint(folder.name)
    >>> facts, arrays = sw.read_checkpoint(folder.name)
    >>> facts["step"]
    3
    >>> folder.cleanup()
    """
    folder = Path(folder)
    candidates = [folder] if is_checkpoint(folder) else find_checkpoints(folder)
    if not candidates:
        raise CheckpointError(
            f"{folder} does not exist" if not folder.exists()
            else f"{folder} is a file, not a folder of checkpoints" if not folder.is_dir()
            else f"{folder} holds no checkpoint; write one with "
            + by_place(python="simulation.checkpoint(...)", command="slopewash erode --checkpoint")
        )  # fmt: skip
    problems = []
    for candidate in candidates:
        try:
            facts = read_manifest(candidate)
            arrays = {
                key: _read_array(candidate / _file(number), key, noted)
                for number, (key, noted) in enumerate(facts["files"].items())
            }
        except CheckpointError:  # whole, but of another schema
            raise
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


def newest_manifest(folder: str | Path) -> dict[str, Any] | None:
    """Facts of the newest checkpoint without reading its arrays; None if there is none.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> simulation = sw.Simulation(sw.generate("hill", size=16), sw.VirtualPipes(), backend="reference")
    >>> simulation.run(3)
    >>> written = simulation.checkpoint(folder.name)
    >>> sw.newest_manifest(folder.name)["step"]
    3
    >>> folder.cleanup()
    """
    folder = Path(folder)
    for candidate in [folder] if is_checkpoint(folder) else find_checkpoints(folder):
        try:
            return read_manifest(candidate)
        except CheckpointError:  # whole, but of another schema
            raise
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
        from slopewash import __version__

        raise CheckpointError(
            f"{checkpoint} has schema {manifest.get('schema')}, written by slopewash {manifest.get('slopewash')}; this "
            f"is slopewash {__version__}, which reads schema {SCHEMA}; continue it with the version that wrote it"
        )
    return manifest


def _read_array(path: Path, key: str, noted: Mapping[str, Any]) -> NDArray[Any]:
    if _hash(path) != noted["sha256"]:
        raise ValueError(f"{path.name} ({key}) is not what was written")
    with path.open("rb") as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array
