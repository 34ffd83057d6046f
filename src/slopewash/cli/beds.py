"""Strata of a terrain: from --strata, from its file, or from the preset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slopewash.errors import InvalidFile

if TYPE_CHECKING:
    from slopewash import Strata, Terrain

BANDS = "bands"
"""Selects alternating layers in place of a file."""
BAND_COUNT = 12
HARD_SHARE = 1 / 3
"""Thickness of a hard band relative to a hard and a soft one together: thin enough for benches."""


@dataclass(frozen=True)
class Beds:
    """Strata, in metres or as fractions of a relief not known yet."""

    strata: Strata
    shares: bool

    def under(self, terrain: Terrain) -> Terrain:
        """Give a terrain these strata, replacing any it had."""
        strata = self.strata.fitted(terrain.relief or 1.0) if self.shares else self.strata
        return terrain.replace(strata=strata)


def parse_beds(text: str | None) -> Beds | None:
    """Read the value of --strata, before any other work is done."""
    import slopewash as sw

    if text is None:
        return None
    if text == BANDS:
        return Beds(sw.strata_bands(count=BAND_COUNT, thickness=HARD_SHARE, soft_thickness=1 - HARD_SHARE), True)
    if Path(text).suffix.lower() != ".toml":
        raise InvalidFile(f'--strata is {text}; it must be a .toml file, or "{BANDS}" for alternating layers')
    return Beds(sw.read_strata(text), False)


def layered(terrain: Terrain, given: Beds | None, preset: Strata | None) -> Terrain:
    """Give a terrain strata: those of --strata, else those of its file, else those of the preset."""
    if given is not None:
        return given.under(terrain)
    if terrain.strata is None and preset is not None:
        return Beds(preset, True).under(terrain)
    return terrain


def check_keeps_strata(path: Path) -> None:
    """Reject a format that would leave the strata out."""
    import slopewash as sw

    if not sw.format_of(path).all_layers:
        raise InvalidFile(f"{path} cannot store strata; write .exr or .npz")
