"""Checkpoints on disk: all of a run or nothing, however the process ends.

A checkpoint is a folder `step-000123` (`checkpoint_files.py`). It is written under another name, flushed to the disk
and renamed. Two are kept; a damaged one is skipped.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slopewash.errors import CheckpointError, CheckpointWarning, ForeignCheckpoint
from slopewash.flushing import flush_folder
from slopewash.paths import make_folder, move, remove_if_empty, remove_tree
from slopewash.remedies import by_place
from slopewash.seals import problem, variable, warn_if_unkept
from slopewash.simulation.checkpoint_files import MANIFEST, Arrays, read_arrays, read_manifest, write_files
from slopewash.simulation.locks import FolderLock

KEPT = 2
PREVIOUS = "previous"
"""Folder for the newest checkpoint of a run that was replaced."""
UNFINISHED, REPLACED = ".tmp", ".old"
"""End the names of checkpoints: of one that is being written, or removed, and of one that another replaces."""
_NAME = re.compile(r"step-\d{6,}(\.tmp|\.old)?")
_FILE = re.compile(rf"{re.escape(MANIFEST)}|\d{{3,}}\.npy")
HEADER = 128
"""Bytes that a file has besides its array, about."""
BLOCK = 4096
"""Bytes that file systems hand out at once, mostly."""


def write_checkpoint(
    folder: Path, number: int, facts: Mapping[str, Any], arrays: Arrays, *, replace: bool = False,
    private: bool = False,
) -> Path:  # fmt: skip
    """Write one and return where it is; older ones beyond `KEPT` are removed. A private one only the user may read.

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
    warn_if_unkept()
    with FolderLock(folder):
        if not replace:
            check_owner(folder, facts.get("run"))
            _check_recipe(folder, facts.get("recipe"))
        others = find_checkpoints(folder) if _is_of_another(newest_manifest(folder), facts.get("run")) else []
        final = _write(folder, f"step-{number:06d}", facts, arrays, needed, private=private)
        if others:
            _remove_others(others, final, keep=replace, private=private)
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


def _write(folder: Path, name: str, facts: Mapping[str, Any], arrays: Arrays, needed: int, *, private: bool) -> Path:
    temporary, final = folder / f"{name}{UNFINISHED}", folder / name
    try:
        _tidy(folder)
        make_folder(temporary, private=private, new=True)
        serial = 1 + max((_serial(path) or 0 for path in find_checkpoints(folder)), default=0)
        write_files(temporary, serial, facts, arrays)
        flush_folder(temporary)
        if os.path.lexists(final):  # the same step again, perhaps with other edits: the new one takes its place
            for there in (final, folder / f"{name}{REPLACED}"):
                if os.path.lexists(there) and not _is_ours(there):
                    raise OSError(errno.EEXIST, f"{there.name} is not a checkpoint; choose another folder")
            remove_tree(folder, f"{name}{REPLACED}")
            move(folder, name, f"{name}{REPLACED}")
        move(folder, temporary.name, name)
        flush_folder(folder)
    except OSError as error:
        _remove(temporary)
        raise CheckpointError(_why(folder, needed, error)) from error
    return final


def _is_ours(path: Path) -> bool:
    """Whether a folder holds a checkpoint or parts of one, and nothing else: only then it may be removed."""
    if _NAME.fullmatch(path.name) is None or path.is_symlink() or not path.is_dir():
        return False
    try:
        return all(_FILE.fullmatch(file.name) and (file.is_symlink() or not file.is_dir()) for file in path.iterdir())
    except OSError:
        return False


def remove_checkpoints(folder: str | Path) -> None:
    """Remove all checkpoints in a folder, and the folder itself if nothing else is in it.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> simulation = sw.Simulation(sw.generate("hill", size=16), sw.VirtualPipes(), backend="reference")
    >>> written = simulation.checkpoint(f"{folder.name}/run.ckpt")
    >>> sw.remove_checkpoints(written.parent)
    >>> written.parent.exists()
    False
    >>> folder.cleanup()
    """
    folder = Path(folder)
    with suppress(OSError):
        for path in sorted(folder.glob("step-*")):
            if _is_ours(path):
                remove_tree(folder, path.name)
        remove_if_empty(folder)


def _remove(path: Path) -> None:
    """Remove a checkpoint from its folder, as far as that is possible: under a name that counts no more first.

    Nobody then finds a part of a checkpoint, and takes it for a damaged one.
    """
    if not _is_ours(path):
        return
    folder, name = path.parent, f"{path.stem}{UNFINISHED}"
    with suppress(OSError):
        if path.name != name and os.path.lexists(path):
            remove_tree(folder, name)
            move(folder, path.name, name)
        remove_tree(folder, name)


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


def _tidy(folder: Path) -> None:
    """Remove what a killed process has not finished, and finish what it was about to replace."""
    for leftover in filter(_is_ours, folder.glob(f"step-*{UNFINISHED}")):
        remove_tree(folder, leftover.name)
    for replaced in filter(_is_ours, folder.glob(f"step-*{REPLACED}")):
        if os.path.lexists(replaced.with_suffix("")):
            remove_tree(folder, replaced.name)
        else:  # killed before the new one took its place
            move(folder, replaced.name, replaced.stem)


def _remove_old(folder: Path, newest: Path) -> None:
    older = [path for path in find_checkpoints(folder) if path != newest and path.suffix != REPLACED]
    for path in [*older[KEPT - 1 :], *folder.glob(f"step-*{REPLACED}")]:
        _remove(path)


def _remove_others(others: list[Path], own: Path, *, keep: bool, private: bool) -> None:
    """Remove the checkpoints of another run, newest first; that one is kept aside if asked for."""
    folder, previous = own.parent, own.parent / PREVIOUS
    if keep:
        remove_checkpoints(previous)
    for number, path in enumerate(others):
        there = path.with_name(f"{path.name}{REPLACED}") if path == own else path  # one of the same step was moved
        if keep and number == 0:
            with suppress(OSError):
                make_folder(previous, private=private)
                move(folder, there.name, f"{PREVIOUS}/{path.name}")
        _remove(there)


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
            # Files of other programs are called so, too; and no run makes links.
            if _NAME.fullmatch(path.name) and path.suffix != UNFINISHED and not path.is_symlink():
                found[path] = _serial(path), (path / MANIFEST).lstat().st_mtime_ns
    # By serial number, for a run may begin anew in the folder of another, and clocks may be set back. By time, then by
    # step, where a manifest is damaged.
    if all(serial is not None for serial, _ in found.values()):
        return sorted(found, key=lambda path: found[path][0] or 0, reverse=True)
    return sorted(found, key=lambda path: (found[path][1], path.name), reverse=True)


def _serial(checkpoint: Path) -> int | None:
    """How many checkpoints were written to its folder up to this one; None if that cannot be read."""
    try:
        return int(read_manifest(checkpoint).facts["serial"])
    except (OSError, ValueError):
        return None


@dataclass(frozen=True)
class Loaded:
    """A checkpoint that was read: facts, arrays, and whether this user wrote it."""

    facts: dict[str, Any]
    arrays: Arrays
    own: bool


def read_checkpoint(folder: str | Path, *, trust: bool = False) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of the newest checkpoint that is whole; `folder` may also be one checkpoint itself.

    One that another user or machine wrote is refused, unless you `trust` whoever did.

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
    loaded = load_checkpoint(folder, trust=trust)
    return loaded.facts, loaded.arrays


def load_checkpoint(folder: str | Path, *, trust: bool = False) -> Loaded:
    """The newest checkpoint that is whole, and whether this user wrote it; one of others only with `trust`."""
    folder = Path(folder)
    candidates = [folder] if is_checkpoint(folder) else find_checkpoints(folder)
    problems = [] if candidates == [folder] else _fragments(folder)
    if not candidates and not problems:
        raise CheckpointError(
            f"{folder} does not exist" if not folder.exists()
            else f"{folder} is a file, not a folder of checkpoints" if not folder.is_dir()
            else f"{folder} holds no checkpoint; write one with "
            + by_place(python="simulation.checkpoint(...)", command="slopewash erode --checkpoint")
        )  # fmt: skip
    for candidate in candidates:
        try:
            manifest = read_manifest(candidate)
            if not (manifest.own or trust):
                raise foreign(candidate)
            arrays = read_arrays(candidate, manifest.facts)
        except CheckpointError:  # whole, but of another schema or of somebody else
            raise
        except (OSError, ValueError) as error:
            problems.append(f"{candidate.name}: {error}")
            continue
        if problems:
            warnings.warn(
                f"skipped as damaged: {'; '.join(problems)}; continuing from {candidate.name}",
                CheckpointWarning,
                stacklevel=4,
            )
        return Loaded(manifest.facts, arrays, manifest.own)
    raise CheckpointError(f"no checkpoint in {folder} is whole ({'; '.join(problems)}); start the run again")


def _fragments(folder: Path) -> list[str]:
    """What is wrong with checkpoints that lost their manifest: it is written before a checkpoint gets its name."""

    def is_fragment(path: Path) -> bool:
        return not os.path.lexists(path / MANIFEST) and _is_ours(path)

    named = [path for path in folder.glob("step-*") if _NAME.fullmatch(path.name) and path.suffix != UNFINISHED]
    links = [f"{path.name}: it is a link" for path in named if path.is_symlink()]
    # Twice, for a run may just put another one in its place.
    lost = [path for path in named if is_fragment(path) and is_fragment(path) and not path.is_symlink()]
    return sorted([*links, *(f"{path.name}: it has no {MANIFEST}" for path in lost)])


def foreign(checkpoint: object) -> ForeignCheckpoint:
    """Refusal of what somebody else wrote, or nobody can tell who did."""
    trust = f"if you trust whoever wrote it, continue it with {by_place(python='trust=True', command='--trust')}"
    unkept = problem()
    if unkept is not None:
        return ForeignCheckpoint(
            f"whether {checkpoint} carries your seal is unknown: {unkept.why}; {unkept.remedy}; or {trust}"
        )
    return ForeignCheckpoint(
        f"{checkpoint} does not carry your seal: an older slopewash, another user or another machine or container "
        f"wrote it, or it was changed; if a job of yours did, set {variable()} for both to one folder that is kept; "
        f"{trust}"
    )


def newest_manifest(folder: str | Path, *, own: bool = False) -> dict[str, Any] | None:
    """Facts of the newest checkpoint without reading its arrays; None if there is none.

    With `own`, `ForeignCheckpoint` is raised where it does not carry the user's seal.

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
            manifest = read_manifest(candidate)
            if own and not manifest.own:
                raise foreign(candidate)
            return manifest.facts
        except CheckpointError:  # whole, but of another schema or of somebody else
            raise
        except (OSError, ValueError):
            continue
    return None
