"""What may happen to files on a disk, and the oracle for whoever reads them: the same bits, or one sentence."""

from __future__ import annotations

import os
import random
import shutil
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.products import SLICE

from slopewash.errors import CheckpointWarning, SlopewashError

Damage = Callable[[Path, list[Path], random.Random], None]
"""Damages a file, given all others of the same folder."""
SLOWEST = 10.0
"""Seconds of CPU time in which everything must be answered."""


def delete(path: Path, others: list[Path], chance: random.Random) -> None:
    path.unlink()


def flip(path: Path, others: list[Path], chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def truncate(path: Path, others: list[Path], chance: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(max(1, len(data)))])


def lengthen(path: Path, others: list[Path], chance: random.Random) -> None:
    path.write_bytes(path.read_bytes() + b"\0" * 4096)


def zero(path: Path, others: list[Path], chance: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def swap(path: Path, others: list[Path], chance: random.Random) -> None:
    """With another of the same length, if there is one: another tile, array or step."""
    data = path.read_bytes()
    alike = [other for other in others if other.stat().st_size == len(data) and other.read_bytes() != data]
    if alike:
        other = chance.choice(alike)
        path.write_bytes(other.read_bytes())
        other.write_bytes(data)


def mix(path: Path, others: list[Path], chance: random.Random) -> None:
    """Take the file of the same name, or of the same kind, from another folder: an older manifest, another array."""
    elsewhere = [other for other in others if other.parent != path.parent and other.suffix == path.suffix]
    named = [other for other in elsewhere if other.name == path.name] or elsewhere
    if named:
        shutil.copyfile(chance.choice(named), path)


def put_folder(path: Path, others: list[Path], chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


def put_link(path: Path, others: list[Path], chance: random.Random) -> None:
    """To a file with the same bytes elsewhere."""
    away = path.parents[len(path.parts) - 2 - path.parts.index("damaged")] / f"away-{path.name}"
    shutil.copyfile(path, away)
    path.unlink()
    path.symlink_to(away)


def put_pipe(path: Path, others: list[Path], chance: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


def put_device(path: Path, others: list[Path], chance: random.Random) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


SURE: tuple[Damage, ...] = (delete, flip, truncate, lengthen, zero, put_folder)
"""Those that never leave a file of tiles or facts as it was."""
DAMAGES: tuple[Damage, ...] = (*SURE, swap, mix)
if os.name == "posix":
    SURE += (put_pipe, put_device)
    DAMAGES += (put_link, put_pipe, put_device)


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def damaged(tmp_path: Path, original: Path, name: Path, damage: Damage, chance: random.Random) -> Path:
    """Return a copy of a folder with one file damaged."""
    shutil.rmtree(tmp_path / "damaged", ignore_errors=True)
    folder = tmp_path / "damaged" / original.name
    shutil.copytree(original, folder, symlinks=True)
    damage(folder / name, [file for file in files_of(folder) if file != folder / name], chance)
    return folder


@dataclass(frozen=True)
class Found:
    """What was read."""

    values: Mapping[str, Any]
    older: bool = False
    """Whether it came of an older checkpoint: that must have been reported."""
    reported: bool = False
    """Whether it was, besides warnings."""
    optional: tuple[str, ...] = ()
    """Begin the names of values that may be left out: that must have been reported too."""


@dataclass
class Tally:
    """How often what came of it."""

    refused: int = 0
    same: int = 0
    older: int = 0
    slowest: float = 0.0

    def judge(self, act: Callable[[], Found], wanted: Mapping[str, Any]) -> bool:
        """Act; an `AssertionError` where it found something else in silence. Returns whether it was refused."""
        begin = time.process_time()
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = act()
        except SlopewashError as error:
            words = str(error)
        else:
            words = ""
        finally:
            took = time.process_time() - begin
            self.slowest = max(self.slowest, took)
            assert took < SLOWEST
        if words:
            assert "\n" not in words, words
            self.refused += 1
            return True
        lost = wanted.keys() - found.values.keys()
        assert all(name.startswith(found.optional) for name in lost), f"without {sorted(lost)}"
        assert found.values.keys() <= wanted.keys()
        for name, value in found.values.items():
            assert same(value, wanted[name]), f"{name} differs"
        if found.older or lost:
            assert found.reported or any(issubclass(w.category, CheckpointWarning) for w in caught), "nothing is said"
            self.older += 1
        else:
            self.same += 1
        return False

    def __str__(self) -> str:
        return (
            f"{self.refused + self.same + self.older} damaged: {self.refused} refused, {self.older} from an older "
            f"checkpoint or without what was left out, as reported, {self.same} the same; slowest {self.slowest:.2f} s"
        )


def same(found: Any, wanted: Any) -> bool:
    """Whether two values are the same, to the bit."""
    if isinstance(wanted, np.ndarray):
        alike = isinstance(found, np.ndarray) and (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        return alike and found.tobytes() == wanted.tobytes()
    return bool(found == wanted)


def try_at_random(
    tmp_path: Path,
    original: Path,
    count: int,
    damages: Sequence[Damage],
    judge: Callable[[Path], object],
    names: Sequence[Path] = (),
) -> None:
    """Damage one of all files, or of some, so often; each commit has others, and what fails names the seed."""
    names = names or [path.relative_to(original) for path in files_of(original)]
    for seed in (f"{SLICE} {number}" for number in range(count)):
        chance = random.Random(seed)
        name, damage = chance.choice(names), chance.choice(damages)
        try:
            judge(damaged(tmp_path, original, name, damage, chance))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {damage.__name__} of {name}: {error}") from error
