"""Which files an output would write: none that is read meanwhile, and none that another output writes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from os.path import normcase
from pathlib import Path

NOTHING = r"(?!)"
"""Pattern of no name."""


@dataclass(frozen=True)
class Claim:
    """Names in a folder that an output writes, each with all in it where it is a folder."""

    path: Path
    """The output as it was named."""
    folder: Path
    names: tuple[str, ...]
    pattern: str = NOTHING
    """Of further names."""

    @classmethod
    def of_file(cls, path: Path) -> Claim:
        """A file and those that some formats have beside it, or a folder that is all its own.

        >>> Claim.of_file(Path("out/raw.r16")).names
        ('raw.r16', 'raw.r16.json')
        """
        return cls(path, path.parent, (path.name, *(side.name for side in side_files(path))))

    def has(self, name: str) -> bool:
        """Whether it is a name of what would be written.

        >>> Claim(Path("run"), Path("run"), ("layers.json",), "frame_[0-9]+.npz").has("frame_000050.npz")
        True
        """
        return normcase(name) in map(normcase, self.names) or re.fullmatch(self.pattern, name) is not None

    def overwrites(self, file: Path) -> bool:
        """Whether a file, or what is in a folder that is read as one, would be written over or removed."""
        real = _real(file)
        return any(self.root == folder and self.has(name) for folder, name in _way(real)) or any(
            place == real or real in place.parents or _same(place, file) for place in self.places.values()
        )

    @cached_property
    def root(self) -> Path:
        """The folder, without links."""
        return _real(self.folder)

    @cached_property
    def places(self) -> dict[str, Path]:
        """Where its names lead to, and those of its pattern that are there already."""
        there: list[str] = []
        if self.pattern != NOTHING:
            with suppress(OSError, ValueError):
                there = [entry.name for entry in self.folder.iterdir()]
        return {name: _real(self.folder / name) for name in (*self.names, *filter(self.has, there))}


def side_files(path: Path) -> tuple[Path, ...]:
    """Files beside one that are written and read with it.

    >>> [side.name for side in side_files(Path("dem.asc"))]
    ['dem.prj', 'dem.PRJ']
    """
    suffix = path.suffix.lower()
    if suffix in (".r16", ".raw"):
        return (path.with_name(f"{path.name}.json"),)
    return (path.with_suffix(".prj"), path.with_suffix(".PRJ")) if suffix == ".asc" else ()


def overwritten(inputs: Iterable[Path], claims: Iterable[Claim]) -> tuple[Claim, Path] | None:
    """The first output that would overwrite what is read, and that file."""
    read = [each for file in inputs for each in (file, *side_files(file)) if each.exists()]
    return next(((claim, file) for claim in claims for file in read if claim.overwrites(file)), None)


def twice(claims: Iterable[Claim]) -> tuple[int, str] | None:
    """Number of an output that writes a file which one before it writes, and the name of that file.

    >>> twice([Claim(Path("m"), Path("m"), ("wear.png",)), Claim.of_file(Path("m/wear.png"))])
    (1, 'wear.png')
    """
    taken: set[Path] = set()
    inside: dict[Path, set[str]] = {}
    """Names in each folder on the way to what is taken."""
    patterns: dict[Path, list[Claim]] = {}
    for number, claim in enumerate(claims):
        for name, place in [(claim.root.name, claim.root), *claim.places.items()]:
            by_pattern = any(other.has(part) for folder, part in _way(place) for other in patterns.get(folder, ()))
            is_file = place != claim.root and place in inside
            if by_pattern or is_file or not taken.isdisjoint((place, *place.parents)):
                return number, name
        for name in inside.get(claim.root, ()) if claim.pattern != NOTHING else ():
            if claim.has(name):
                return number, name
        taken.update(claim.places.values())
        for place in (claim.root, *claim.places.values()):
            for folder, part in _way(place):
                inside.setdefault(folder, set()).add(part)
        if claim.pattern != NOTHING:
            patterns.setdefault(claim.root, []).append(claim)
    return None


def _way(place: Path) -> list[tuple[Path, str]]:
    """Every folder above a place, with the name in it that leads there."""
    return [(step.parent, step.name) for step in (place, *place.parents) if step.name]


def _real(path: Path) -> Path:
    try:
        return Path(normcase(os.path.realpath(path)))
    except (OSError, ValueError):  # which is refused when it is written
        return path.absolute()


def _same(place: Path, file: Path) -> bool:
    try:
        return place.samefile(file)
    except OSError:  # there is nothing yet
        return False
