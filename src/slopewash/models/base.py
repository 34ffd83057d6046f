"""What every model is: declared parameters and fields, and the physics that does not depend on a backend."""

from __future__ import annotations

import dataclasses
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.models.backend import Backend
from slopewash.models.parameters import Limit, Parameter
from slopewash.models.sliders import Moved, Slider, sliders_of
from slopewash.models.soundness import check_state
from slopewash.models.state import EDGES, Array, Domain, Edges, Patch, Side, Sides, State, Window, with_margin
from slopewash.terrain import Layer, Place, Terrain, TriangleMesh
from slopewash.terrain.fields import FieldSpec

Mask = NDArray[np.bool_]
OF_STRATA = "erodibility comes from this terrain's strata and cannot be changed"


class SeaOnParts(Protocol):
    """A sea as work on parts of a grid needs it: what it covers is found over all parts first, and then given."""

    @property
    def fits(self) -> float:
        """Most that a cell may have to pass on in the end."""

    @property
    def most_passes(self) -> int:
        """In which sediment without room is passed on."""

    @property
    def diagonally(self) -> bool:
        """Whether it passes between two cells that touch at a corner only."""

    def check(self, highest: float) -> None:
        """Refuse a sea that leaves no land."""

    def low(self, b: Array) -> Mask:
        """Ground of a state that it covers where it reaches it."""

    def low_ground(self, heights: Array) -> Mask:
        """The same from heights in metres, NaN where there is no ground."""

    def carried(self, state: State, sea: Mask) -> tuple[Array, Array]:
        """What it carries, and how much fits below its surface."""

    def pass_on(
        self, load: Array, room: Array, sea: Mask, sides: Sides, passes: int, own: Window
    ) -> tuple[Array, list[float]]:
        """Pass on what has no room; returns also the most that a cell of `own` had to pass on before each pass."""

    def sink(self, state: State, domain: Domain, sea: Mask, load: Array) -> None:
        """Lay what it carries on its floor, after it was passed on."""

    def deposit(self, state: State, domain: Domain, sea: Mask) -> None:
        """Deposit all sediment where it is."""

    def evaporate(self, state: State, domain: Domain, sea: Mask) -> None:
        """Let all water evaporate, except for the sea."""


USUAL = 100.0
"""Bytes per cell of a model that declares none."""


@dataclass(frozen=True)
class Footprint:
    """Memory and time of a run for each cell, as measured.

    >>> Footprint(80, 100).pace is None
    True
    """

    held: float
    """Bytes while it is stepped, its start included."""
    peak: float
    """Bytes at most: while it is prepared, or while its layers are worked out at the end."""
    pace: float | None = None
    """Nanoseconds of one core for one step, on 512² cells, sub-steps apart; None where nobody measured."""
    growth: float = 0.0
    """Power of the side over 512 cells by which that grows, where particles cross the whole grid."""
    shared: bool = True
    """Whether all cores share the work."""

    def step(self, shape: tuple[int, int], threads: int) -> float:
        """Seconds of one step on a grid of that shape."""
        if self.pace is None:
            return math.nan
        pace = self.pace * (max(shape) / 512) ** self.growth / (threads if self.shared else 1)
        return 1e-9 * pace * shape[0] * shape[1]


@dataclass(frozen=True, kw_only=True)
class Model(ABC):
    """Parameters and physics of one published system; holds no arrays.

    Subclasses are frozen dataclasses whose dataclass fields are made by `parameter` and `law`. A run of a model is a
    `State` in a `Domain`, which `prepare` works out from a terrain and a backend steps.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]
    fields: ClassVar[tuple[FieldSpec, ...]]
    """Everything a state holds, and the layers derived from it."""
    sums: ClassVar[Mapping[str, type]] = {}
    """Every number a state holds besides, and whether it is whole; not checked where a model declares none."""
    halo: ClassVar[int | None]
    """Cells of neighbourhood one iteration reads; None for models that cannot be cut into tiles."""
    backends: ClassVar[Mapping[str, str | type[Backend]]]
    """Class of each backend: itself, or module and name within the model's own package, imported when it is needed."""
    sides: ClassVar[tuple[Side, ...]] = ("open", "closed", "periodic", "halo")
    """Kinds of side it runs with."""
    particles: ClassVar[bool] = False
    """Whether it has particles, which start from emitters."""
    footprints: ClassVar[Mapping[str, Footprint]] = {}
    """Memory and time of a run, by backend."""
    divisible: ClassVar[bool] = True
    """Whether a step can be interrupted between its sub-steps."""
    moved_by: ClassVar[Mapping[str, Moved]] = {}
    """Parameters that each of the five sliders moves (all but the age, which is the same for all models)."""
    meshed: ClassVar[bool] = False
    """Whether it erodes triangles, not cells."""
    adopted: ClassVar[frozenset[str]] = frozenset()
    """Parameters whose change between two steps alters the state (`adopt`), and not only what happens to it later."""

    def __post_init__(self) -> None:
        for p in self.parameters():
            object.__setattr__(self, p.name, p.check(getattr(self, p.name)))

    # What is declared

    @classmethod
    def footprint(cls, backend: str) -> Footprint:
        """Memory and time of a run on a backend; of a backend without figures, what the largest needs."""
        known = cls.footprints
        if backend in known:
            return known[backend]
        largest = max(known.values(), key=lambda footprint: footprint.peak, default=Footprint(USUAL, USUAL))
        return dataclasses.replace(largest, pace=None)

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Every declared parameter and law, in the order of declaration."""
        return tuple(
            Parameter(name=f.name, default=f.default, **f.metadata)  # type: ignore[arg-type]
            for f in dataclasses.fields(cls)
        )

    @classmethod
    def parameter(cls, name: str) -> Parameter:
        """Look one declaration up, with the nearest name suggested when there is none."""
        by_name = {p.name: p for p in cls.parameters()}
        if name not in by_name:
            raise unknown_name(f"parameter of {cls.name}", name, by_name)
        return by_name[name]

    @classmethod
    def sliders(cls) -> tuple[Slider, ...]:
        """The five sliders that the studio shows above all parameters, and what they move."""
        return sliders_of(cls.moved_by)

    @classmethod
    def layers(cls) -> dict[str, FieldSpec]:
        """Layers that a run may yield, by name."""
        return {spec.name: spec for spec in cls.fields if spec.layer}

    @classmethod
    def layer(cls, name: str) -> FieldSpec:
        """Look a layer up, with the nearest name suggested when there is none."""
        layers = cls.layers()
        if name not in layers:
            raise unknown_name("layer", name, layers)
        return layers[name]

    @classmethod
    def editable(cls) -> tuple[str, ...]:
        """Names of the layers that can be painted between steps."""
        return tuple(spec.name for spec in cls.fields if spec.editable)

    @classmethod
    def has_sources(cls) -> bool:
        """Whether water sources have an effect on it."""
        return any(spec.name == "sources" for spec in cls.fields)

    @classmethod
    def edges(cls) -> tuple[Edges, ...]:
        """Kinds of edge that users may choose from."""
        return tuple(word for word in EDGES if word in cls.sides)

    @classmethod
    def check_sides(cls, sides: Sides) -> None:
        """Refuse sides the model does not run with."""
        unknown = [f"{name} is {side!r}" for name, side in sides.items() if side not in cls.sides]
        if unknown:
            which = f"edges is {sides.word!r}" if sides.word else ", ".join(unknown)
            raise InvalidParameter(f"{cls.name} runs with edges {' or '.join(cls.edges())}; {which}")

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some parameters changed.

        Unknown names are an error that suggests the nearest known one.
        """
        for name in changes:
            self.parameter(name)
        return dataclasses.replace(self, **changes)

    def values(self) -> dict[str, float | str | bool]:
        """Every parameter by name."""
        return {p.name: getattr(self, p.name) for p in self.parameters()}

    def changed(self) -> dict[str, float | str | bool]:
        """Parameters that differ from their defaults."""
        return {p.name: getattr(self, p.name) for p in self.parameters() if getattr(self, p.name) != p.default}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.changed().items())})"

    def limits(self) -> tuple[Limit, ...]:
        """Stability limits of this parameter set, on any terrain; none where every run is stable."""
        return ()

    def limits_in(self, state: State) -> tuple[Limit, ...]:
        """Stability limits of a run in this state, where they depend on what was prepared."""
        return self.limits()

    @property
    def conserved(self) -> frozenset[str]:
        """Which of "water" and "solids" this model conserves: a run whose budget of those does not close is ended."""
        return frozenset({"water", "solids"})

    @property
    def strata_note(self) -> str | None:
        """What a user who adds strata to the terrain should know, if anything."""
        return None

    @property
    def step_time(self) -> float:
        """Model time that passes in one step: the parameter `time_step`, or 1 for models without one."""
        return getattr(self, "time_step", 1.0)

    @property
    def water_beyond(self) -> float:
        """Elevation in metres of the sea beyond open edges; -inf for no sea."""
        return -math.inf

    @property
    def fills_diagonally(self) -> bool:
        """Whether that sea passes between two cells that touch at a corner only."""
        return False

    def with_sea(self, level: float) -> Self:
        """Return the same with a sea at that level, in metres; models without a sea as they are."""
        return self

    def anchored(self, lowest: float) -> Self:
        """Return the same for a run over several grids, whose start has that lowest ground; most count from nothing."""
        return self

    # A run, from start to end

    @abstractmethod
    def prepare(self, terrain: Terrain, *, sides: Sides, seed: int) -> tuple[Domain, State]:
        """Convert a terrain to the model's own units; the only place where global facts are worked out."""

    def prepare_part(self, terrain: Terrain, place: Place, *, sides: Sides, seed: int) -> tuple[Domain, State]:
        """Convert part of a terrain, whose `place` knows the global facts; gives the same bits as `prepare`.

        What follows from the whole border is left to `border_fields`.
        """
        raise self._whole_only()

    def _whole_only(self) -> InvalidParameter:
        return InvalidParameter(f"{self.name} cannot be cut into tiles: any cell may depend on any other")

    def draws(self, given: Collection[str], *, layered: bool) -> int:
        """How many random fields of one sequence over the whole `prepare` needs, with those layers given."""
        return 0

    def border_fields(self, heights: Mapping[str, Array], domain: Domain) -> dict[str, Array]:
        """Fields that follow from the ground along the four sides, in metres, NaN where there is none."""
        return {}

    def sea(self, domain: Domain) -> SeaOnParts | None:
        """Return the sea beyond open edges as work on parts of a grid needs it; None without one."""
        return None

    @classmethod
    def backend(cls, name: str) -> type[Backend]:
        """Class of the backend of that name, imported only now: it may need an extra."""
        declared = cls.backends[name]
        if not isinstance(declared, str):
            return declared
        module, _, backend = declared.rpartition(".")
        return getattr(import_module(f"{cls.__module__.rpartition('.')[0]}.{module}"), backend)

    def tile(self, window: Window, iterations: int, state: State, domain: Domain) -> tuple[Window, Domain, State]:
        """Cut a part out that can take some iterations by itself: then its `window` is what the whole would give.

        Returns the rows and columns with a margin of `halo` cells for each iteration, and their domain and state,
        which is copied. The margin counts in no budget.
        """
        if self.halo is None:
            raise self._whole_only()
        wide, sides = with_margin(window, self.halo * iterations, domain)
        return wide, domain.part(wide, sides, window), state.window(wide, self.fields)

    @abstractmethod
    def coefficients(self, domain: Domain, *, substeps: int, strength: float = 1.0) -> Any:
        """Numbers of one iteration, of which `substeps` make a step; `strength` scales the power to erode."""

    def adopt(self, before: Self, state: State, domain: Domain) -> None:  # noqa: B027
        """Update the state when a run continues with these parameter values instead of those of `before`."""

    def begin_settling(self, state: State, domain: Domain) -> None:  # noqa: B027
        """Deposit at once what would hang where it cannot stay."""

    def lay_down(self, state: State, domain: Domain, *, dry: bool) -> None:  # noqa: B027
        """Deposit everything the water carries; with `dry`, let the water evaporate."""

    @abstractmethod
    def amounts(self, state: State, domain: Domain) -> Mapping[str, float]:
        """Amounts of the mass budget in cubic metres, by the names of `Budget`; those left out are 0."""

    # What comes out

    @abstractmethod
    def derive(self, name: str, state: State, domain: Domain) -> Array:
        """Work a layer out, as users see it; the same on every backend."""

    def derive_all(self, names: Sequence[str], state: State, domain: Domain) -> dict[str, Array]:
        """Work several layers out, for models where they have work in common."""
        return {name: self.derive(name, state, domain) for name in names}

    def yields(self, state: State) -> list[str]:
        """Layers that a run yields in this state; with strata, the erodibility of what is exposed, and the bedrock."""
        exposed = ("bedrock", "erodibility") if "strata_top" in state else ()
        layers = self.layers()
        return [name for name in layers if layers[name].role == "derived" or name in state or name in exposed]

    def mesh(self, state: State, domain: Domain) -> TriangleMesh | None:
        """Return the ground as triangles; None for models on a grid."""
        return None

    def positions(self, state: State, domain: Domain) -> NDArray[np.float32] | None:
        """Particles as rows of x, y, z in metres and place in the flow, 0 .. 1; None for models without."""
        return None

    def first_bad(self, state: State, domain: Domain) -> tuple[str, int, int] | None:
        """Layer, row and column of the first value that is not finite, or None."""
        for name in ("elevation", "water", "suspended"):
            values = state.get(name)
            # A sum is finite whenever every term is: far cheaper than looking at each.
            if values is not None and not np.isfinite(values.sum(dtype=np.float64)):
                row, column = np.argwhere(~np.isfinite(values))[0]
                return name, int(row), int(column)
        return None

    def balance(self, state: State, domain: Domain) -> tuple[dict[str, float], tuple[str, int, int] | None]:
        """Amounts of the mass budget, and layer, row and column of the first value that is not finite, or None."""
        amounts = dict(self.amounts(state, domain))
        # Amounts that are sums of all cells tell what `first_bad` would look for; nodata is left out of them.
        summed = {"solids_now"} | ({"water_now"} if "water" in state else set())
        sound = "nodata" not in state and summed <= set(amounts) and all(map(math.isfinite, amounts.values()))
        return amounts, None if sound else self.first_bad(state, domain)

    def needs(self, domain: Domain) -> tuple[str, ...]:
        """Fields that a state must hold with these parameters, besides those that every state does."""
        return ("strata_top",) if domain.strata else ()

    def check_state(self, state: State, domain: Domain) -> None:
        """Refuse a state that kernels may not trust, such as one from a file that was changed."""
        check_state(state, domain, self.fields, self.sums, self.needs(domain))

    # Edits between steps

    def metres(self, name: str, values: Array, window: Window, state: State, domain: Domain) -> Layer:
        """Convert part of a field to what users see."""
        return in_metres(self.layer(name), values, domain)

    def units(self, name: str, metres: Array, window: Window, state: State, domain: Domain) -> Array:
        """Convert what users see to part of a field, in float64."""
        spec = self.layer(name)
        if spec.units != "m":
            return metres
        return (metres - (domain.datum if spec.height else 0.0)) / domain.cell_size

    def fill(self, name: str, state: State, domain: Domain) -> Array:
        """Work out an input that the state lacks until it is first edited."""
        raise InvalidParameter(OF_STRATA if domain.strata else f"{self.name} has no {name} in this run")

    def edit(self, patch: Patch, state: State, domain: Domain) -> Sequence[Patch]:
        """What else an edit overwrites, which undo must restore with it; nothing is written yet.

        Raised ground is loose; digging exposes the bedrock.
        """
        if patch.name != "elevation" or not domain.strata:
            return ()
        return [Patch("bedrock", np.minimum(state.part("bedrock", patch.window), patch.values), patch.window)]

    def follow(self, name: str, window: Window | None, state: State, domain: Domain) -> Sequence[Patch]:
        """Values of fields that follow from a field that was just written."""
        return ()


def in_metres(spec: FieldSpec, values: Array, domain: Domain) -> Layer:
    """Convert a field in cells to metres; a field that is no length stays as it is."""
    if spec.height:
        heights = np.multiply(values, domain.cell_size, dtype=np.float64)
        heights += domain.datum
        return heights.astype(np.float32)
    if spec.units == "m":
        return (values * values.dtype.type(domain.cell_size)).astype(np.float32)
    return values.astype(np.float32)


_models: dict[str, type[Model]] = {}

M = TypeVar("M", bound=type[Model])


def register(model: M) -> M:
    """Class decorator: make a model known by its name, and misspelt parameters an error that suggests the nearest."""
    made, known = model.__init__, {f.name for f in dataclasses.fields(model)}

    @functools.wraps(made)
    def init(self: Model, *values: Any, **named: Any) -> None:
        for name in named:
            if name not in known:
                model.parameter(name)  # raises
        made(self, *values, **named)

    model.__init__ = init  # type: ignore[method-assign, assignment]
    _models[model.name] = model
    return model


def model_names() -> tuple[str, ...]:
    """Names of every registered model.

    >>> import slopewash as sw
    >>> sw.model_names()
    ('mesh_particles', 'steepest_talus', 'velocity_field', 'virtual_pipes')
    """
    return tuple(_models)


def find_model(name: str) -> type[Model]:
    """Model class of that name, as listings write it or as Python does.

    >>> find_model("VirtualPipes") is find_model("virtual_pipes")
    True
    """
    for model in _models.values():
        if name == model.__name__:
            return model
    if name not in _models:
        raise unknown_name("model", name, _models)
    return _models[name]
