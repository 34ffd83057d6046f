"""What lies beneath a terrain: the user's strata, those of its file, or those of the preset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slopewash.errors import InvalidFile

if TYPE_CHECKING:
    from slopewash import Strata, Terrain

BANDS = "bands"
"""Stands for the generator's alternating layers where a file is expected."""
BAND_COUNT = 12
HARD_SHARE = 1 / 3
"""Thickness of a hard band relative to a hard and a soft one together: thin enough to leave room for benches."""


@dataclass(frozen=True)
class Beds:
    """Strata, in metres or as shares of a relief not known yet."""

    strata: Strata
    shares: bool

    def under(self, terrain: Terrain) -> Terrain:
        """Lay the strata beneath a terrain, whatever it had."""
        strata = self.strata.fitted(terrain.relief or 1.0) if self.shares else self.strata
        return terrain.replace(strata=strata)


def parse_beds(text: str | None) -> Beds | None:
    """Read what was given as --strata, before any other work is done."""
    import slopewash as sw

    if text is None:
        return None
    if text == BANDS:
        return Beds(sw.strata_bands(count=BAND_COUNT, thickness=HARD_SHARE, soft_thickness=1 - HARD_SHARE), True)
    if Path(text).suffix.lower() != ".toml":
        raise InvalidFile(f'--strata is {text}; it must be a .toml file, or "{BANDS}" for alternating layers')
    return Beds(sw.read_strata(text), False)


def layered(terrain: Terrain, given: Beds | None, preset: Strata | None) -> Terrain:
    """Lay strata beneath a terrain: what was given, else what it has, else what the preset suggests."""
    if given is not None:
        return given.under(terrain)
    if terrain.strata is None and preset is not None:
        return Beds(preset, True).under(terrain)
    return terrain


def check_keeps_strata(path: Path) -> None:
    """Refuse a format that would leave the strata out."""
    import slopewash as sw

    if not sw.format_of(path).all_layers:
        raise InvalidFile(f"{path} cannot hold strata; write .exr or .npz")
