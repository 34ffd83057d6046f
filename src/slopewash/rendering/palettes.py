"""Palettes: the colours of plants, stone, sediment and snow in one kind of country, and where they are found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import unknown_name
from slopewash.rendering.colours import linear

Floats = NDArray[np.float32]
Season = Literal["summer", "autumn", "winter", "desert"]
"""Of the year; "desert" is the season of a country that has no other."""


@dataclass(frozen=True, kw_only=True)
class Palette:
    """Colours as "#rrggbb", and fractions of the relief above the lowest ground."""

    doc: str
    forest: str
    forest_mixed: str
    """Second tree colour, in patches among the first."""
    grass: str
    meadow: str
    """Grass on valley floors."""
    lush: str
    """Grass and shrubs along streams."""
    heath: str
    """Dry grass above the trees."""
    soil: str
    rock: str
    dark_rock: str
    pale_rock: str
    scree: str
    sand: str
    gravel: str
    """Of river banks and the heads of fans."""
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
    bare_line: float = 0.62
    """Where plants begin to give way to rock, whatever the slope."""
    snow_line: float | None = 0.84
    """None: no snow unless a height is asked for."""
    snow_needs_relief: bool = True
    """Whether hills stay free of snow."""
    plain: bool = False
    """Soil everywhere, beds of strata apart, in clear air before a plain backdrop: to compare shapes."""

    def colour(self, name: str) -> Floats:
        """Linear-light colour of one of the materials."""
        return linear(getattr(self, name))


PALETTES = {
    "alpine": Palette(
        doc="Conifers and meadows below grey rock and snow.",
        forest="#2f3d27", forest_mixed="#46502e", grass="#69703f", meadow="#6f7848", lush="#4e6534", heath="#897f57",
        soil="#85735a", rock="#877b6c", dark_rock="#5f564c", pale_rock="#aa9c86", scree="#9a9185", sand="#b0a181",
        gravel="#a39b8c",
    ),
    "autumn": Palette(
        doc="Larches and beeches in October, straw-coloured grass, first snow.",
        forest="#4a4526", forest_mixed="#7f5b33", grass="#8d7c42", meadow="#8d8549", lush="#7d6a34", heath="#a0804a",
        soil="#80684e", rock="#817970", dark_rock="#5b5550", pale_rock="#9f968a", scree="#978c80", sand="#b29f7c",
        gravel="#a1978a", snow_line=0.76,
    ),
    "winter": Palette(
        doc="Snow down to the valleys, dark trees and bare rock where it is too steep for it.",
        forest="#2c352f", forest_mixed="#3b4238", grass="#8f8f80", meadow="#9a9a8c", lush="#7f8273", heath="#97917f",
        soil="#7d7468", rock="#77736f", dark_rock="#55524f", pale_rock="#94908a", scree="#8f8c88", sand="#a8a193",
        gravel="#98948c", snow="#dde4ec", wooded=0.8, snow_line=0.02, snow_needs_relief=False,
    ),
    "desert": Palette(
        doc="Layered red and ochre rock, sand floors, shrubs along the dry streams.",
        forest="#5c5a3a", forest_mixed="#6f6640", grass="#a98a5e", meadow="#93834f", lush="#6f7040", heath="#ab8457",
        soil="#a8794e", rock="#a8714a", dark_rock="#7b4c34", pale_rock="#d0a478", scree="#b88a62", sand="#d2b083",
        gravel="#c0a587", wooded=0.22, green_floors=0.12, rock_slope=-10.0, bands=2.2, tree_line=0.9, snow_line=None,
    ),
    "green": Palette(
        doc="Woods and pastures up to the tops, as on hills, coasts and islands; rock only where it is steep.",
        forest="#2f4426", forest_mixed="#4a592c", grass="#6b7a3c", meadow="#758546", lush="#4d6a32", heath="#7f8049",
        soil="#847758", rock="#857b6e", dark_rock="#5d564e", pale_rock="#a89d8a", scree="#928a7a", sand="#b8a883",
        gravel="#a39b8c", wooded=0.7, tree_line=1.1, bare_line=1.4, snow_line=None,
    ),
    "plain": Palette(
        doc="One colour of clay without plants, rock, snow or haze, to compare shapes.",
        forest="#958a79", forest_mixed="#958a79", grass="#958a79", meadow="#958a79", lush="#958a79", heath="#958a79",
        soil="#958a79", rock="#958a79", dark_rock="#6d5a4a", pale_rock="#b8a27e", scree="#958a79", sand="#958a79",
        gravel="#958a79", wooded=0.0, green_floors=0.0, bands=0.0, snow_line=None, plain=True,
    ),
}  # fmt: skip


_DESERT_SEASONS: dict[str | None, dict[str, Any]] = {
    "autumn": {"forest": "#7a5f36", "lush": "#9a7a3a", "meadow": "#a08249"},
    "winter": {"snow_line": 0.45, "snow_needs_relief": False, "lush": "#8a7a55"},
}
"""What changes in a desert over the year: the shrubs, and snow on its mesas."""


def find_palette(name: str, season: str | None = None) -> Palette:
    """Return the palette of that name, as it is in a season, or raise an error that suggests the nearest.

    >>> find_palette("desert").snow_line is None, find_palette("alpine", "winter") == PALETTES["winter"]
    (True, True)
    """
    if name not in PALETTES:
        raise unknown_name("palette", name, PALETTES)
    if season is not None and season not in get_args(Season):
        raise unknown_name("season", season, get_args(Season))
    if name == "desert" or season == "desert":
        return replace(PALETTES["desert"], **_DESERT_SEASONS.get(season, {}))
    return PALETTES[{None: name, "summer": "alpine"}.get(season, str(season))]


def palettes() -> dict[str, Palette]:
    """Return the palettes by name.

    >>> palettes()["desert"].sand
    '#d2b083'
    """
    return dict(PALETTES)


def palette_names() -> list[str]:
    """Return the names that `palette=` accepts.

    >>> palette_names()
    ['alpine', 'autumn', 'winter', 'desert', 'green', 'plain']
    """
    return list(PALETTES)
