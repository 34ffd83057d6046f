"""A library of looks: named recipes, each for a landscape of its own kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slopewash.errors import unknown_name
from slopewash.models.catalogue import Basins, Level
from slopewash.recipes.definition import Beds, Recipe, Stage, check_strength
from slopewash.recipes.outputs import Output
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
    drowned: float | None = None
    """Level to which the sea rises when all is eroded, likewise: it floods valleys, which become bays."""
    basins: Basins = "breached"
    stage: Mapping[str, Any] = field(default_factory=dict)
    """Other parts of the stage, such as `detail`."""
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
        **stage_options: Any,
    ) -> Recipe:
        """Return its recipe; another seed is another landscape of the same kind. Options are those of `Stage.of`."""
        check_strength(strength, steps)
        start = self.start if size is None else self.start.resized(size)
        start = start if seed is None else dataclasses.replace(start, seed=seed)
        share = self.strength * (1.0 if strength is None else strength) if steps is None else None
        stage = Stage.of(self.preset, steps=steps, strength=share, **stage_options)
        own = {name: value for name, value in self.stage.items() if stage_options.get(name) is None}
        stage = stage.replace(levels=tuple(map(self._scaled, stage.levels)), basins=self.basins, **own)
        relief = start.relief or start.make().relief
        settings = dict(self.settings)
        if self.sea is not None:
            settings["sea_level"] = self.sea * relief
        if self.drowned is not None:
            stage = stage.replace(low_water={**stage.low_water, "sea_level": self.drowned * relief})
        return Recipe(
            source=start,
            strata=None if self.strata is None else Beds(_in_metres(self.strata, relief)),
            stages=(stage.with_parameters(**settings),),
            seed=start.seed,
            backend=backend,
        )

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What its recipe writes as a file: the data, a view and a map, drawn as suits it."""
        options = {name: "none" if value is None else value for name, value in self.picture.items()}
        if options.get("water") != "none":
            options["water"] = "rivers"
        view, plan = ({"view": view, **options} for view in ("block", "map"))
        return (Output(Path("terrain.exr")), *(
            Output(Path(f"{name}.png"), "picture", each) for name, each in (("view", view), ("map", plan))
        ))  # fmt: skip

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


def _in_metres(strata: Strata, relief: float) -> Strata:
    """The strata with the thicknesses that are shares of a relief in metres; unlike `fitted`, whatever their sum."""
    layers = [dataclasses.replace(s, thickness=round(s.thickness * relief, 6)) for s in strata.layers]
    return strata.replace(layers=layers)


def _layers(*layers: tuple[float, float], **geometry: Any) -> Strata:
    """Strata of thickness, as a share of the relief, and erodibility."""
    return Strata.from_table([{"thickness": t, "erodibility": e} for t, e in layers], **geometry)


_DRY = {"season": "desert", "snow_line": None, "water": "none"}

_GREEN = {"palette": "green"}

LIBRARY = (
    Look(
        name="alpine",
        doc="A range with knife ridges, snow and tributaries of several orders.",
        start=_start("range", 7, 1400.0, noise=0.65),
        settings={"cover": "loose", "creep_rate": 0.05, "bed_contrast": 0.15, "bed_thickness": 80.0},
        picture={"snow_line": 700.0},
    ),
    Look(
        name="rolling_hills",
        doc="Old, soft, green hills with wide valleys between them.",
        start=_start("fbm", 3, 560.0, feature_size=1500.0, persistence=0.42),
        strength=0.6,
        stage={"detail": 0.3},
        settings={"creep_rate": 0.02, "fan_slope": 0.15, "capacity_half": 1.5},
        scaled={"talus_slope_bias": 0.7, "capacity_three_quarters": 0.6},
        picture={**_GREEN, "sun": (300.0, 24.0)},
    ),
    Look(
        name="badlands",
        doc="Soft rock cut into gullies and sharp spurs, banded in colour, almost bare.",
        start=_start("fbm", 11, 600.0, persistence=0.6, feature_size=1200.0),
        strata=_layers(*((0.04, e) for e in (0.5, 1.0, 0.7, 1.0, 0.4, 0.9) * 5)),
        strength=0.42,
        settings={"fan_slope": 0.1},
        scaled={"capacity_half": 2.0, "talus_slope_bias": 1.1},
        picture=_DRY,
    ),
    Look(
        name="mesas",
        doc="Mesas and canyons: hard layers form cliffs and benches, soft ones the slopes below them.",
        start=_start("scarp", 11, 760.0, noise=0.15, edge=0.5, bays=2.4),
        strength=0.7,
        strata=_layers((0.16, 0.08), (0.16, 0.9), (0.1, 0.1), (0.2, 0.9), (0.1, 0.12), (0.28, 0.8)),
        picture=_DRY,
    ),
    Look(
        name="volcanic_island",
        doc="A volcano in the sea: a crater open to one side, and flanks furrowed by radial valleys.",
        start=_start("volcano", 4, 1300.0, crater=0.11, width=0.78),
        sea=0.1,
        drowned=0.16,
        basins="kept",
        strength=0.5,
        stage={"restored": 1.0},
        picture=_GREEN,
    ),
    Look(
        name="archipelago",
        doc="Islands of all sizes, with bays, drowned valleys and straits between them.",
        start=_start("islands", 5, 800.0),
        sea=0.2,
        drowned=0.4,
        strength=0.34,
        picture=_GREEN,
    ),
    Look(
        name="fjords",
        doc="A snowy highland whose deep, branching valleys the sea has flooded.",
        start=_start("troughs", 5, 1150.0),
        sea=0.34,  # keeps the troughs deep: on their floors nothing moves
        drowned=0.42,
        strength=0.05,
        # On walls this steep little water carries much sediment, and it needs 125 steps (1/KdΔt) to drop two thirds of
        # it: after a settling in proportion to the strength, the rest would stand as spires.
        stage={"settle": 600},
        scaled={"talus_slope_bias": 2.2, "creep_rate": 0.2},  # walls of hard rock
        picture={"snow_line": 560.0},
    ),
    Look(
        name="lake_district",
        doc="A ridged massif whose closed basins hold lakes.",
        start=_start("ridged", 5, 1000.0, feature_size=1900.0),
        basins="lakes",
        strength=0.12,
    ),
    Look(
        name="alluvial_fans",
        doc="A dry mountain front, whose valleys end in an apron of fans on the plain.",
        start=_start("front", 3, 1100.0),
        settings={"fan_slope": 0.5, "cover": "loose"},
        picture={**_DRY, "water": "auto", "sun": (300.0, 24.0)},  # their channels show the fans
    ),
    Look(
        name="desert_wash",
        doc="Low desert hills with wide, sandy, branching washes.",
        start=_start("diamond_square", 7, 620.0),
        strength=0.85,
        settings={"fan_slope": 0.3},
        scaled={"capacity_half": 0.6},
        picture={**_DRY, "sun": (300.0, 26.0)},
    ),
    Look(
        name="plateau_gorges",
        doc="The edge of a green plateau, cut back by gorges.",
        start=_start("scarp", 9, 900.0, noise=0.15, edge=0.8, steepness=7.0, tilt=0.3),
        strata=_layers((0.12, 0.15), (0.35, 0.9), (0.12, 0.2), (0.6, 0.9)),
        strength=0.85,
        # Capacity grows with the discharge itself: rivers cut gorges and rills leave the plateau alone.
        settings={"capacity_half": 0.0, "sediment_capacity": 8.0},
        scaled={"talus_slope_bias": 1.6, "capacity_three_quarters": 0.2},
        picture=_GREEN,
    ),
    Look(
        name="sea_cliffs",
        doc="A coast of cliffs, bays and sea stacks below a green plateau.",
        start=_start("coast", 5, 600.0, edge=0.6, steepness=40.0),
        sea=0.05,
        drowned=0.2,
        strength=0.2,
        stage={"restored": 1.0},
        strata=_layers((0.7, 0.15), (0.5, 0.3)),
        settings={"talus_slope_bias": 1.5, "talus_slope_range": 1.5, "capacity_half": 0.5, "thermal_rate": 0.5},
        scaled={"capacity_three_quarters": 0.3},
        picture=_GREEN,
    ),
    Look(
        name="hogbacks",
        doc="Steeply tilted hard layers stand as parallel ridges, with valleys in the soft rock between.",
        start=_start("fbm", 31, 640.0, persistence=0.42),
        strata=_layers(*((t, e) for t in (0.3, 0.22, 0.4, 0.26) * 4 for e in (0.08, 1.0)), dip=35.0, direction=75.0),
        strength=0.6,
        picture={"season": "autumn", "snow_line": None, "sun": (255.0, 26.0)},
    ),
    Look(
        name="winter_range",
        doc="A ridged range under snow.",
        start=_start("ridged", 9, 1150.0),
        strength=0.5,
        settings={"cover": "loose"},
        picture={"season": "winter", "water": "none"},
    ),
)
