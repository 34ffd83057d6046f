"""Keyframes of the run that is kept, on disk beside its checkpoints: a server that is started again has them too.

A file holds arrays one after another, then a description in JSON with the sha256 of each array, then the length of that
description. It is named after the sha256 of its description, written under another name, flushed to the disk and
renamed. Large arrays that keyframes share have files of their own. A checkpoint names the files of its timeline
(`write`). Once it is on disk, whatever it does not name is removed (`confirm`), so that files are bounded as keyframes
are. If it fails, what was written for it is (`take_back`).
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import re
import shutil
import struct
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

from slopewash.flushing import flush_file, flush_folder
from slopewash.paths import make_folder, new_file, open_regular, remove_file, rename
from slopewash.plain import plain
from slopewash.studio.keyframes import SHOWN, ArrayFile, Branch, Keyframe, Timeline

FOLDER = "keyframes"
"""Inside the folder of the run that is kept."""
SUFFIX, UNFINISHED = ".keyframe", ".tmp"
SMALL = 4096
"""Bytes up to which an array is not worth a file of its own."""
ROOM = 1 << 26
"""Bytes that stay free on the disk, besides what the checkpoint needs: that matters more than keyframes."""
_NAME = re.compile(r"[0-9a-f]{64}")
_LENGTH = struct.Struct("<Q")


class KeptKeyframes:
    """The keyframe files of one folder; for one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._files: dict[int, tuple[str, ...]] = {}
        """Files of keyframes and of the arrays that they share, by the numbers of the keyframes."""
        self._shared: dict[int, tuple[Any, str]] = {}
        """Arrays that keyframes share and their files, by the identity of the array."""
        self._new: list[Path] = []
        """Files that no checkpoint names yet."""
        self._moving: list[tuple[Keyframe, str, dict[str, str]]] = []
        """Keyframes in these, and the sha256 of their arrays."""
        self.is_complete = True
        """Whether `write` named all keyframes the last time."""
        self.failure: str | None = None
        """Why keyframes could not be written the last time."""

    def write(self, timeline: Timeline, reserve: int, *, new: bool = True) -> dict[str, Any]:
        """Write what is not there yet, and return what the checkpoint, of `reserve` bytes, is to note of the timeline.

        The end of the branch shown is the checkpoint itself. What cannot be written is left out, and so is what is not
        there without `new`. `confirm` or `take_back` comes next.
        """
        self.failure = None
        names: dict[Keyframe, tuple[str, ...]] = {}
        noted, wanted = [], set[Keyframe]()
        for branch in timeline.branches.values():
            tip = None if branch.number == timeline.current else branch.tip
            for keyframe in branch.keyframes if tip is None else (*branch.keyframes, tip):
                wanted.add(keyframe)
                try:
                    files = self._known(keyframe) or (self._put_keyframe(keyframe, reserve) if new else None)
                    if files is not None:
                        names[keyframe] = files
                except (OSError, ValueError, MemoryError) as error:  # the checkpoint itself matters more
                    self.failure = self._why(error)
            noted.append({
                "branch": branch.number, "interval": branch.interval, "parent": branch.parent, "forked": branch.forked,
                "identity": branch.identity, "keyframes": [names[k][0] for k in branch.keyframes if k in names],
                "tip": names[tip][0] if tip in names else None,
            })  # fmt: skip
        self.is_complete = len(names) == len(wanted)
        self._files = {keyframe.number: files for keyframe, files in names.items()}
        used = {id(array) for keyframe in wanted for array in keyframe.shared.values()}
        self._shared = {key: known for key, known in self._shared.items() if key in used}
        if self._new:
            try:
                flush_folder(self._folder)
                flush_folder(self._folder.parent)  # which may have it only now
            except OSError as error:
                self.failure = self._why(error)
        needed = sorted({file for files in names.values() for file in files})
        return {"current": timeline.current, "edited": timeline.edited, "branches": noted, "files": needed}

    def confirm(self, noted: Mapping[str, Any]) -> None:
        """Note that the checkpoint is written: new keyframes are read from their files, and all others are removed."""
        for keyframe, name, digests in self._moving:
            with suppress(OSError, ValueError):  # then it is read from where it was
                keyframe.arrays.move_to(open_regular(self._path(name)), digests)
        self._new, self._moving = [], []
        self._tidy(noted)

    def take_back(self) -> bool:
        """Remove the new files of a checkpoint that could not be written, for the room; returns whether there were."""
        for path in self._new:
            with suppress(OSError):
                remove_file(path)
        found = bool(self._new)
        self._new, self._moving = [], []
        return found

    def _known(self, keyframe: Keyframe) -> tuple[str, ...] | None:
        """Files of a keyframe, if all of them are there."""
        files = self._files.get(keyframe.number)
        return files if files is not None and all(self._path(name).exists() for name in files) else None

    def _put_keyframe(self, keyframe: Keyframe, reserve: int) -> tuple[str, ...]:
        shared = {n: self._put_shared(a, reserve) for n, a in keyframe.shared.items() if a.nbytes > SMALL}
        facts = {"moment": keyframe.moment, "step": keyframe.step, "facts": plain(keyframe.facts), "shared": shared}
        own = ((name, keyframe.arrays.read(name)) for name in keyframe.arrays.places)
        small = ((name, array) for name, array in keyframe.shared.items() if name not in shared)
        name, digests = self._put(itertools.chain(own, small), keyframe.nbytes + reserve, facts)
        self._moving.append((keyframe, name, digests))
        return name, *shared.values()

    def _put_shared(self, array: Any, reserve: int) -> str:
        known = self._shared.get(id(array))
        name = _name_of_one(array) if known is None else known[1]
        if not self._path(name).exists():
            self._put([("", array)], array.nbytes + reserve, {})
        self._shared[id(array)] = array, name  # with the array, whose identity is free for others otherwise
        return name

    def _put(
        self, arrays: Iterable[tuple[str, Any]], room: int, facts: Mapping[str, Any]
    ) -> tuple[str, dict[str, str]]:
        """Write a file; returns its name, and the sha256 of each array in it."""
        make_folder(self._folder, private=True)
        free = shutil.disk_usage(self._folder).free
        if free < room + ROOM:
            needed = f"{(room + ROOM) / 1e6:.0f} MB are needed and {free / 1e6:.0f} MB free; make room there"
            raise OSError(errno.ENOSPC, needed)
        places, digests, end = dict[str, Any](), dict[str, str](), 0
        temporary = self._folder / f"new{UNFINISHED}"
        remove_file(temporary)  # of a server that was killed
        try:
            with new_file(temporary, private=True) as file:
                for name, array in arrays:
                    data = _bytes(array)
                    places[name] = (end, array.dtype.str, array.shape)
                    digests[name] = hashlib.sha256(data).hexdigest()
                    end += file.write(data)
                text = _description(facts, places, digests)
                file.write(text + _LENGTH.pack(len(text)))
                flush_file(file)
            name = hashlib.sha256(text).hexdigest()
            if not self._path(name).exists():
                self._new.append(self._path(name))
            rename(temporary, self._path(name))
        except BaseException:
            with suppress(OSError):
                remove_file(temporary)
            raise
        return name, digests

    def _why(self, error: Exception) -> str:
        if isinstance(error, OSError) and error.errno is not None:
            return f"cannot write to {self._folder}: {error.strerror}"
        return str(error) or "there is not enough memory"

    def _path(self, name: str) -> Path:
        """File of that name, which is a SHA-256: `ValueError` for any other."""
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise ValueError("a keyframe has a name that no server gives")
        return self._folder / f"{name}{SUFFIX}"

    def _tidy(self, noted: Mapping[str, Any]) -> None:
        """Remove all files that the newest checkpoint does not name."""
        needed = set(noted["files"])
        with suppress(OSError):
            for path in self._folder.iterdir():
                if path.suffix == UNFINISHED or (path.suffix == SUFFIX and path.stem not in needed):
                    with suppress(OSError):  # such as one that is open, on Windows: the next server removes it
                        remove_file(path)

    def read(self, noted: Mapping[str, Any], report: Callable[[str], None]) -> Timeline:
        """The timeline that a checkpoint notes; keyframes that are gone or damaged are left out, and reported."""
        found: dict[str, Keyframe | None] = {}
        shared: dict[str, Any] = {}

        def keyframe(name: str | None) -> Keyframe | None:
            if name is not None and name not in found:
                try:
                    found[name] = self._keyframe(name, shared)
                except (OSError, ValueError, KeyError, TypeError):
                    found[name] = None
            return None if name is None else found[name]

        branches: dict[int, Branch] = {}
        for branch in noted["branches"]:
            number, keyframes = branch["branch"], [k for k in map(keyframe, branch["keyframes"]) if k is not None]
            tip = keyframe(branch["tip"])
            if keyframes or tip is not None or number == noted["current"]:
                branches[number] = Branch(
                    number, branch["interval"], branch["parent"], branch["forked"], keyframes, tip, branch["identity"]
                )
        lost = sum(k is None for k in found.values())
        if lost and self._folder.exists():  # a run that was replaced is kept without any
            report(f"{lost} of the {len(found)} keyframes that were kept cannot be read, and are left out.")
        return Timeline.restored(branches, noted["current"], edited=noted["edited"])

    def _keyframe(self, name: str, shared: dict[str, Any]) -> Keyframe:
        arrays, facts = self._open(name)
        try:
            arrays.read(SHOWN)  # which is read cell by cell later, without a check
            for link in set(facts["shared"].values()) - shared.keys():
                with closing(self._open(link)[0]) as of_all:
                    shared[link] = of_all.read("")
            links = {key: shared[link] for key, link in facts["shared"].items()}
            size = sum(np.dtype(kind).itemsize * int(np.prod(shape)) for _, kind, shape in arrays.places.values())
            keyframe = Keyframe(facts["moment"], facts["step"], facts["facts"], links, arrays, size)
        except BaseException:
            arrays.close()
            raise
        self._files[keyframe.number] = name, *facts["shared"].values()
        self._shared.update((id(shared[link]), (shared[link], link)) for link in facts["shared"].values())
        return keyframe

    def _open(self, name: str) -> tuple[ArrayFile, dict[str, Any]]:
        """Arrays and description of a file; `ValueError` if the description is not what was written."""
        file = open_regular(self._path(name))
        try:
            end = file.seek(-_LENGTH.size, os.SEEK_END)
            (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
            file.seek(max(end - length, 0))
            text = file.read(min(length, end))
            if hashlib.sha256(text).hexdigest() != name:
                raise ValueError(f"{file.name} is not what was written")
            facts = json.loads(text)
            places = {key: (place, kind, tuple(shape)) for key, (place, kind, shape) in facts["places"].items()}
            return ArrayFile(file, places, facts["digests"]), facts
        except BaseException:
            file.close()
            raise


def _bytes(array: Any) -> memoryview | bytes:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""


def _description(facts: Mapping[str, Any], places: Mapping[str, Any], digests: Mapping[str, str]) -> bytes:
    return json.dumps({**facts, "places": places, "digests": digests}, allow_nan=False).encode()


def _name_of_one(array: Any) -> str:
    """Name of the file that holds an array alone: arrays of the same values share it."""
    places, digests = {"": (0, array.dtype.str, array.shape)}, {"": hashlib.sha256(_bytes(array)).hexdigest()}
    return hashlib.sha256(_description({}, places, digests)).hexdigest()
