"""The programs that terrains are exported to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from slopewash.claims import Claim
from slopewash.errors import InvalidParameter, unknown_name
from slopewash.exports import blender, gis, godot, houdini, unity, unreal
from slopewash.exports.card import JSON, TEXT, Card
from slopewash.exports.job import Job
from slopewash.exports.sizes import Sizes


@dataclass(frozen=True)
class Target:
    """What a program takes, and how its files are written."""

    sizes: Sizes
    heights: tuple[str, ...]
    """Formats of the heights, the usual one first."""
    write: Callable[[Job], Card]
    painted: bool = True
    """Whether paints and colours are part of the export."""
    names: str = ".*"
    """Pattern of the names of its files besides the import card; LAYER stands for the name of any layer."""

    def claim(self, folder: Path, layers: Iterable[str] | None = None) -> Claim:
        """Which files it would write to a folder; of layers that are not known yet, any."""
        known = ".*" if layers is None else f"(?:{'|'.join(map(re.escape, layers))})"
        return Claim(folder, folder, (TEXT, JSON), self.names.replace("LAYER", known))

    def height_format(self, wanted: str | None) -> str:
        """Return the format of the heights, or raise."""
        if wanted is None:
            return self.heights[0]
        if wanted not in self.heights:
            raise InvalidParameter(f'heights is "{wanted}"; {self.sizes.target} takes {" or ".join(self.heights)}')
        return wanted


TARGETS = {
    module.SIZES.target: Target(module.SIZES, module.HEIGHTS, module.write, module.PAINTED, module.NAMES)
    for module in (unreal, unity, godot, blender, houdini, gis)
}


def register_target(target: Target) -> Target:
    """Make a target known by the name of its sizes, to `export` and to the command line.

    >>> from slopewash.exports.sizes import Sizes
    >>> def write(job):
    ...     return Card("heights_only", "another program", ())
    >>> made = register_target(Target(Sizes(target="heights_only"), ("exr",), write, painted=False))
    >>> find_target("heights_only") is made
    True
    >>> del TARGETS["heights_only"]
    """
    TARGETS[target.sizes.target] = target
    return target


def find_target(name: str) -> Target:
    """Return a target, or raise an error that suggests the nearest.

    >>> find_target("unreal").sizes.sides[0]
    127
    """
    if name not in TARGETS:
        raise unknown_name("target", name, TARGETS)
    return TARGETS[name]


def target_names() -> list[str]:
    """Return the names that `export` accepts.

    >>> target_names()
    ['unreal', 'unity', 'godot', 'blender', 'houdini', 'gis']
    """
    return list(TARGETS)
