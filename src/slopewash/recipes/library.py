"""A library of looks: named recipes, each for a landscape of its own kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slopewash.errors import unknown_name
from slopewash.models.catalogue import Basins, Level
from slopewash.recipes.definition import Beds, Recipe, Stage
from slopewash.recipes.sources import Generated
from slopewash.terrain import Strata


@dataclass(frozen=True, kw_only=True)
class Look:
    """A landscape with a name: where it starts, what happens to it, and how to draw it.

    >>> looks()["alpine"].recipe(size=64).source.size
    64
    """

    name: str
    doc: str
    start: Generated
    preset: str = "landscape"
    strength: float = 1.0
    """Share of the preset's steps."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that hold on every level."""
    scaled: Mapping[str, float] = field(default_factory=dict)
    """Factors for parameters that differ from level to level."""
    sea: float | None = None
    """Sea level as a share of the start's relief."""
    basins: Basins = "breached"
    strata: Strata | None = None
    """Layers, their thicknesses as shares of the relief."""
    picture: Mapping[str, Any] = field(default_factory=dict)
    """Options of `render` and `render_view` that suit it."""

    def recipe(
        self,
        *,
        size: int | None = None,
        seed: int | None = None,
        backend: str = "auto",
        strength: float | None = None,
        steps: int | None = None,
    ) -> Recipe:
        """Return its recipe; another seed is another landscape of the same kind."""
        start = self.start if size is None else self.start.resized(size)
        start = start if seed is None else dataclasses.replace(start, seed=seed)
        share = self.strength * (1.0 if strength is None else strength) if steps is None else None
        stage = Stage.of(self.preset, steps=steps, strength=share)
        stage = stage.replace(levels=tuple(map(self._scaled, stage.levels)), basins=self.basins)
        settings = dict(self.settings)
        if self.sea is not None:
            assert start.relief is not None
            settings["sea_level"] = self.sea * start.relief
        return Recipe(
            source=start,
            strata=None if self.strata is None else Beds(self.strata, shares=True),
            stages=(stage.with_parameters(**settings),),
            seed=start.seed,
            backend=backend,
        )

    def _scaled(self, level: Level) -> Level:
        values = {name: value * self.scaled.get(name, 1.0) for name, value in level.parameters.items()}
        return dataclasses.replace(level, parameters=values)


class Looks(dict[str, Look]):
    """Looks by name, listed one a line."""

    def __missing__(self, name: str) -> Look:
        raise unknown_name("recipe", str(name), self)

    def __repr__(self) -> str:
        return "\n".join(f"{name:<18}{look.doc}" for name, look in self.items())


def looks() -> Looks:
    """Every recipe of the library by name.

    >>> len(looks()) >= 12
    True
    """
    return Looks({look.name: look for look in LIBRARY})


def _start(kind: str, seed: int, relief: float, **options: Any) -> Generated:
    return Generated(kind=kind, seed=seed, relief=relief, options=options)


def _layers(*layers: tuple[float, float], **geometry: Any) -> Strata:
    """Strata of thickness, as a share of the relief, and erodibility."""
    return Strata.from_table([{"thickness": t, "erodibility": e} for t, e in layers], **geometry)


_DRY = {"season": "desert", "snow_line": None}

LIBRARY = (
    Look(
        name="alpine",
        doc="A range with knife ridges, snow and tributaries of several orders.",
        start=_start("dome", 7, 1250.0),
        settings={"cover": "loose", "creep_rate": 0.05, "bed_contrast": 0.15, "bed_thickness": 80.0},
    ),
    Look(
        name="rolling_hills",
        doc="Old, soft, green hills with meandering valleys between them.",
        start=_start("fbm", 3, 420.0, persistence=0.42),
        strength=0.6,
        settings={"creep_rate": 0.12, "fan_slope": 0.15},
        scaled={"talus_slope_bias": 0.6, "talus_slope_range": 0.6, "capacity_half": 0.4},
    ),
    Look(
        name="badlands",
        doc="Soft rock cut into gullies and sharp spurs, banded in colour, almost bare.",
        start=_start("fbm", 11, 520.0, persistence=0.55),
        settings={"bed_contrast": 0.2, "bed_thickness": 30.0, "bed_dip": 2.0, "fan_slope": 0.2},
        scaled={"capacity_half": 1.6, "talus_slope_bias": 1.1},
        picture=_DRY,
    ),
    Look(
        name="mesas",
        doc="Mesas and canyons: hard layers form cliffs and benches, soft ones the slopes below them.",
        start=_start("scarp", 5, 760.0, noise=0.25, edge=0.55),
        strata=_layers((0.16, 0.08), (0.16, 0.9), (0.1, 0.1), (0.2, 0.9), (0.1, 0.12), (0.28, 0.8)),
        picture=_DRY,
    ),
    Look(
        name="volcanic_island",
        doc="A young volcano in the sea, its flanks furrowed by radial valleys.",
        start=_start("volcano", 4, 1500.0),
        sea=0.16,
        strength=0.45,
        picture={"snow_line": None},
    ),
    Look(
        name="archipelago",
        doc="Islands of several sizes with bays and drowned valleys.",
        start=_start("islands", 8, 1000.0),
        sea=0.55,
        strength=0.35,
        picture={"snow_line": None},
    ),
    Look(
        name="lake_district",
        doc="A ridged massif whose closed basins hold lakes.",
        start=_start("ridged", 4, 1000.0),
        basins="lakes",
        strength=0.25,
    ),
    Look(
        name="alluvial_fans",
        doc="A dry mountain front, whose valleys end in fans on the plain.",
        start=_start("front", 3, 1100.0),
        settings={"fan_slope": 0.5, "cover": "loose"},
        picture=_DRY,
    ),
    Look(
        name="desert_wash",
        doc="Low desert hills with wide, sandy, branching washes.",
        start=_start("diamond_square", 7, 480.0),
        settings={"fan_slope": 0.35},
        scaled={"capacity_half": 0.6},
        picture=_DRY,
    ),
    Look(
        name="plateau_gorges",
        doc="The edge of a green plateau, cut back by gorges.",
        start=_start("scarp", 9, 900.0, noise=0.12, edge=0.62, steepness=9.0),
        strata=_layers((0.22, 0.15), (0.3, 0.7), (0.12, 0.15), (0.36, 0.7)),
        strength=0.6,
    ),
    Look(
        name="sea_cliffs",
        doc="A coast of cliffs and bays below a plateau.",
        start=_start("scarp", 2, 800.0, noise=0.12, edge=0.55, steepness=12.0),
        sea=0.35,
        strength=0.3,
        strata=_layers((0.6, 0.25), (0.4, 0.6)),
        picture={"snow_line": None},
    ),
    Look(
        name="hogbacks",
        doc="Steeply tilted hard layers stand as parallel ridges, with valleys in the soft rock between.",
        start=_start("dome", 31, 700.0),
        strata=_layers(*((0.16, e) for e in (0.12, 0.9) * 14), dip=28.0, direction=75.0),
        strength=0.8,
        picture={"season": "autumn"},
    ),
    Look(
        name="winter_range",
        doc="A ridged range under snow.",
        start=_start("ridged", 9, 1150.0),
        settings={"cover": "loose"},
        picture={"season": "winter"},
    ),
)
