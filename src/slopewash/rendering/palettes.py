"""Palettes: the colours of plants, stone, sediment and snow in one kind of country, and where they are found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import unknown_name
from slopewash.rendering.colours import linear

Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Palette:
    """Colours as "#rrggbb", and fractions of the relief above the lowest ground."""

    doc: str
    forest: str
    forest_mixed: str
    """Second tree colour, in patches among the first."""
    grass: str
    meadow: str
    """Damp grass on valley floors."""
    heath: str
    """Dry grass above the trees."""
    soil: str
    rock: str
    dark_rock: str
    pale_rock: str
    scree: str
    sand: str
    snow: str = "#d9dee4"
    wooded: float = 1.0
    """Largest share of trees."""
    green_floors: float = 0.8
    """Share of meadow on sediment away from streams; the rest is sand."""
    rock_slope: float = 0.0
    """Degrees by which rock is bare on steeper ground than in the default palette."""
    bands: float = 1.0
    """Contrast of the layers in rock."""
    tree_line: float = 0.62
    snow_line: float | None = 0.84
    """None: no snow unless a height is asked for."""
    snow_needs_relief: bool = True
    """Whether hills stay free of snow."""

    def colour(self, name: str) -> Floats:
        """Linear-light colour of one of the materials."""
        return linear(getattr(self, name))


PALETTES = {
    "alpine": Palette(
        doc="Conifers and meadows below grey rock and snow.",
        forest="#2f3d27", forest_mixed="#46502e", grass="#69703f", meadow="#6d7642", heath="#897f57",
        soil="#85735a", rock="#877b6c", dark_rock="#5f564c", pale_rock="#aa9c86", scree="#9a9185", sand="#b5a583",
    ),
    "autumn": Palette(
        doc="Larches and beeches in October, straw-coloured grass, first snow.",
        forest="#4a4526", forest_mixed="#8c5f30", grass="#8d7c42", meadow="#8a8a48", heath="#a0804a",
        soil="#80684e", rock="#817970", dark_rock="#5b5550", pale_rock="#9f968a", scree="#978c80", sand="#b29f7c",
        snow_line=0.76,
    ),
    "winter": Palette(
        doc="Snow down to the valleys, dark trees and bare rock where it is too steep for it.",
        forest="#2c352f", forest_mixed="#3b4238", grass="#8f8f80", meadow="#9a9a8c", heath="#97917f",
        soil="#7d7468", rock="#77736f", dark_rock="#55524f", pale_rock="#94908a", scree="#8f8c88", sand="#a8a193",
        snow="#dde4ec", wooded=0.8, snow_line=0.02, snow_needs_relief=False,
    ),
    "desert": Palette(
        doc="Layered red and ochre rock, sand floors, shrubs along the dry streams.",
        forest="#5c5a3a", forest_mixed="#6f6640", grass="#a98a5e", meadow="#93834f", heath="#ab8457",
        soil="#a8794e", rock="#a8714a", dark_rock="#7b4c34", pale_rock="#d0a478", scree="#b88a62", sand="#d2b083",
        wooded=0.22, green_floors=0.12, rock_slope=-10.0, bands=2.2, tree_line=0.9, snow_line=None,
    ),
}  # fmt: skip


def find_palette(name: str) -> Palette:
    """Return the palette of that name, or raise an error that suggests the nearest.

    >>> find_palette("desert").snow_line is None
    True
    """
    if name not in PALETTES:
        raise unknown_name("palette", name, PALETTES)
    return PALETTES[name]


def palette_names() -> list[str]:
    """Return the names that `palette=` accepts.

    >>> palette_names()
    ['alpine', 'autumn', 'winter', 'desert']
    """
    return list(PALETTES)
