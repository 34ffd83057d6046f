"""What lies beneath a terrain: the user's strata, those of its file, or those of the preset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slopewash.errors import InvalidFile

if TYPE_CHECKING:
    from slopewash import Beds

BANDS = "bands"
"""Stands for the generator's alternating layers where a file is expected."""
BAND_COUNT = 12
HARD_SHARE = 1 / 3
"""Thickness of a hard band relative to a hard and a soft one together: thin enough to leave room for benches."""


def parse_beds(text: str | None, preset: str | None = None) -> Beds | None:
    """Read what was given as --strata, before any other work is done; else what the preset suggests."""
    import slopewash as sw

    if text is None:
        return sw.preset_beds(preset)
    if text == BANDS:
        bands = sw.strata_bands(count=BAND_COUNT, thickness=HARD_SHARE, soft_thickness=1 - HARD_SHARE)
        return sw.Beds(bands, shares=True)
    if Path(text).suffix.lower() != ".toml":
        raise InvalidFile(f'--strata is {text}; it must be a .toml file, or "{BANDS}" for alternating layers')
    return sw.Beds(sw.read_strata(text))


def check_keeps_strata(path: Path) -> None:
    """Refuse a format that would leave the strata out."""
    import slopewash as sw

    if not sw.format_of(path).all_layers:
        raise InvalidFile(f"{path} cannot hold strata; write .exr or .npz")
