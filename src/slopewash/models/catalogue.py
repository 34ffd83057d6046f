"""Presets: named parameter sets, each with what it is best used with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.models.base import Model, find_model
from slopewash.models.state import Edges
from slopewash.terrain import Strata

Basins = Literal["kept", "breached", "lakes"]

SHORTEST_SETTLING = 20
"""Steps in which the power to erode still fades little by little."""
USUAL_CELLS = 512
"""Cells along a side of the terrain that the number of steps of a preset with levels is meant for."""


@dataclass(frozen=True, kw_only=True)
class Level:
    """What a preset does on a grid with so many cells along its longer side, on the way from coarse to fine."""

    cells: int
    steps: int
    settle: int
    parameters: Mapping[str, float]
    """Values that differ from the preset's model."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A parameter set with a name, and what it is best used with when the user asks for nothing else."""

    name: str
    doc: str
    model: Model
    edges: Edges
    steps: int
    settle: int = 0
    """Steps of settling after that many; 0 for none."""
    generator: str
    """Kind of terrain it starts from when none is given."""
    start: Mapping[str, Any] = field(default_factory=dict)
    """Options of that generator."""
    levels: tuple[Level, ...] = ()
    """From coarse to fine: where there are some, `erode` runs them one after another, up to the terrain's own size."""
    detail: float = 0.0
    """Height of the noise that each level adds, in cells on a slope of one."""
    restored: float = 1.0
    """Share of the start's own fine detail that returns at each level."""
    basins: Basins = "kept"
    """What the first level does about closed basins: drains them ("breached"), fills them with water ("lakes")."""
    low_water: Mapping[str, float | str] = field(default_factory=dict)
    """Values for the steps after the last level, in which the flood recedes."""
    gullies: float = 0.0
    """Depth of the gullies that are drawn at the end, as `add_gullies` takes it."""
    strata: Strata | None = None
    """Layers for a terrain that has none of its own, their thicknesses as shares of its relief."""

    def check_model(self, name: str) -> None:
        """Refuse a model named beside the preset that is not its own."""
        if not isinstance(self.model, find_model(name)):
            raise InvalidParameter(f"preset {self.name} belongs to model {self.model.name}, not {name}; name one only")

    def settling(self, steps: int) -> int:
        """Steps of settling for a run of `steps`: the same share of a shorter run, so that it does not swamp it.

        At least `SHORTEST_SETTLING`, or as many as the run has.

        >>> import slopewash as sw
        >>> [sw.find_preset("single_grid").settling(steps) for steps in (4000, 2000, 50)]
        [600, 300, 20]
        """
        share = round(self.settle * min(1.0, steps / self.steps))
        return min(self.settle, max(share, min(steps, SHORTEST_SETTLING)))


class Presets(dict[str, Preset]):
    """Presets by name, listed one a line."""

    def __missing__(self, name: str) -> Preset:
        raise unknown_name("preset", str(name), self)

    def __repr__(self) -> str:
        width = max(map(len, self), default=0) + 2
        return "\n".join(f"{name:<{width}}{preset.doc}" for name, preset in self.items())


_presets = Presets()


def register_preset(preset: Preset) -> Preset:
    """Make a preset known by its name."""
    _presets[preset.name] = preset
    return preset


def presets() -> Presets:
    """Every preset by name, each with its suggested edges, steps and start.

    >>> import slopewash as sw
    >>> sw.presets()["landscape"].edges
    'open'
    """
    return Presets(_presets)


def find_preset(name: str) -> Preset:
    """Preset of that name.

    >>> import slopewash as sw
    >>> sw.find_preset("outerrain").steps
    300
    """
    return _presets[name]


def preset(name: str) -> Model:
    """Model of a preset, ready to run or to `replace` parameters in.

    >>> import slopewash as sw
    >>> sw.preset("jako2011").pipe_area
    20.0
    """
    return find_preset(name).model
