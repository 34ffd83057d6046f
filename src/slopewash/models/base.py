"""What every model is: declared parameters, laws, presets, and an engine that steps its state on a backend."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.terrain import Emitter, Layer, Strata, Terrain, TriangleMesh, WaterSource

Edges = Literal["open", "closed", "periodic"]
EDGES: tuple[Edges, ...] = ("open", "closed", "periodic")


@dataclass(frozen=True)
class Rule:
    """What a parameter's value must satisfy, and how to say it."""

    holds: Callable[[float], bool]
    says: str


positive = Rule(lambda v: math.isfinite(v) and v > 0, "positive")
not_negative = Rule(lambda v: math.isfinite(v) and v >= 0, "zero or more")
not_negative_or_infinite = Rule(lambda v: v >= 0, "zero or more (inf means no limit)")
fraction = Rule(lambda v: 0 <= v <= 1, "between 0 and 1")
positive_fraction = Rule(lambda v: 0 < v <= 1, "above 0 and at most 1")


@dataclass(frozen=True)
class Parameter:
    """One declared parameter or law: feeds validation, listings, `--set` keys, sliders and recipes."""

    name: str
    default: float | str | bool
    symbol: str
    units: str
    doc: str
    eq: str
    group: str
    rule: Rule | None
    typical: tuple[float, float] | None
    log: bool
    choices: tuple[str, ...]

    def check(self, value: Any) -> float | str | bool:
        """Return `value` as this parameter's type, or raise `InvalidParameter`."""
        if self.choices:
            if value not in self.choices:
                raise InvalidParameter(f"{self.name} is {value!r}; it must be one of {', '.join(self.choices)}")
            return str(value)
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise InvalidParameter(f"{self.name} is {value!r}; it must be true or false")
            return value
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise InvalidParameter(f"{self.name} is {value!r}; it must be a number") from None
        if self.rule is not None and not self.rule.holds(number):
            symbol = f" ({self.symbol})" if self.symbol else ""
            units = f" {self.units}" if self.units else ""
            raise InvalidParameter(f"{self.name}{symbol} is {number}{units}; it must be {self.rule.says}")
        return number

    def parse(self, text: str) -> float | str | bool:
        """Read a value as typed on a command line."""
        if isinstance(self.default, bool):
            words = {
                "true": True,
                "yes": True,
                "on": True,
                "1": True,
                "false": False,
                "no": False,
                "off": False,
                "0": False,
            }
            return self.check(words.get(text.strip().lower(), text))
        return self.check(text.strip())


def parameter(
    default: float,
    *,
    doc: str,
    valid: Rule,
    symbol: str = "",
    units: str = "",
    eq: str = "",
    group: str = "",
    typical: tuple[float, float] | None = None,
    log: bool = False,
) -> Any:
    """Declare a number: `valid` is physics and raises, `typical` is a slider's range and never does."""
    facts = {"doc": doc, "rule": valid, "symbol": symbol, "units": units, "eq": eq, "group": group}
    return field(default=default, metadata=facts | {"typical": typical, "log": log, "choices": ()})


def law(default: str | bool, *choices: str, doc: str, eq: str = "", group: str = "laws") -> Any:
    """Declare a variant of the physics: one of `choices`, or true or false when there are none."""
    facts = {"doc": doc, "rule": None, "symbol": "", "units": "", "eq": eq, "group": group}
    return field(default=default, metadata=facts | {"typical": None, "log": False, "choices": choices})


@dataclass(frozen=True)
class Limit:
    """A stability limit: `value`, which grows with the time step, must not exceed `bound`."""

    name: str
    value: float
    bound: float

    @property
    def substeps(self) -> int:
        """Equal sub-steps that bring the value within the bound."""
        # A hair of slack, so that a value meant to sit exactly on the bound is not split by rounding.
        return max(1, math.ceil(self.value / self.bound - 1e-9))


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Amounts in cubic metres, summed where they happen: see `slopewash.simulation.Budget` for what they mean."""

    water_start: float = 0.0
    water_rain: float = 0.0
    water_sources: float = 0.0
    water_evaporated: float = 0.0
    water_exported: float = 0.0
    water_edited: float = 0.0
    water_now: float = 0.0
    solids_start: float = 0.0
    solids_exported: float = 0.0
    solids_moved: float = 0.0
    solids_edited: float = 0.0
    solids_now: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Block:
    """Part of a layer as the engine itself holds it, so that it can be put back to the bit."""

    layer: str
    row: int
    column: int
    values: NDArray[Any]
    beside: Any = None
    """What else the engine has to put back with it."""
    bedrock: NDArray[Any] | None = None
    """Surface of the bedrock beneath an edit of the ground."""

    @property
    def nbytes(self) -> int:
        """Memory it takes, but for what it shares with others."""
        return self.values.nbytes + (0 if self.bedrock is None else self.bedrock.nbytes)


class Engine(ABC):
    """The state of one run of one model on one backend, and the kernels that step it.

    `Simulation` owns an engine and nothing else of a model. Arrays live on the device until `terrain()` is asked for.
    """

    @abstractmethod
    def advance(self, steps: int) -> None:
        """Advance the state by whole time steps."""

    @abstractmethod
    def terrain(self) -> Terrain:
        """Download the state as a terrain in metres, derived layers included."""

    @abstractmethod
    def ledger(self) -> Ledger:
        """Sum up where water and solids are and where they went."""

    @abstractmethod
    def first_bad_cell(self) -> tuple[str, int, int] | None:
        """Layer, row and column of the first value that is not finite, or None."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @abstractmethod
    def set_model(self, model: Any, substeps: int) -> None:
        """Go on with other parameter values of the same model."""

    def mesh(self) -> TriangleMesh | None:
        """Download the ground as triangles; None for models on a grid."""
        return None

    def particles(self) -> NDArray[np.float32] | None:
        """Download particles as rows of x, y, z in metres and place in the flow, 0 .. 1; None for models without."""
        return None

    def set_emitters(self, emitters: Sequence[Emitter]) -> None:
        """Go on with other emitters, for models with particles."""
        raise InvalidParameter("this model has no particles; emitters are for mesh_particles")

    def layers(self, names: Sequence[str]) -> dict[str, Layer]:
        """Download these layers only, in metres, as arrays that nobody else writes to."""
        terrain = self.terrain()
        return {name: terrain[name] for name in names}

    def block(self, layer: str, row: int, column: int, shape: tuple[int, int]) -> Layer:
        """Download part of a layer in metres."""
        return np.array(self.layers([layer])[layer][row : row + shape[0], column : column + shape[1]])

    def edit(self, layer: str, row: int, column: int, values: ArrayLike) -> Block:
        """Overwrite part of a layer, in metres, between two steps, and return what was there.

        Cells whose value is the one `layers` gives stay as they are to the bit, and cells without ground are left
        alone. What is added or taken is booked as edited.
        """
        raise InvalidParameter(f'layer "{layer}" cannot be edited in this run; its model takes no edits')

    def restore(self, block: Block) -> Block:
        """Put back what `edit` or `restore` returned, to the bit, and return what was there."""
        raise InvalidParameter(f'layer "{block.layer}" cannot be edited in this run; its model takes no edits')

    def set_sources(self, sources: Sequence[WaterSource]) -> None:
        """Replace all springs between two steps."""
        if sources:
            raise InvalidParameter(
                f"{len(sources)} water sources were given; this run's model has none, leave them out"
            )

    def traffic(self) -> dict[str, int]:
        """Bytes per cell that each kernel of one iteration must move, where the backend can tell."""
        return {}

    def close(self) -> None:  # noqa: B027
        """Give back what the device holds; nothing may be asked of the engine afterwards."""

    def carry(self, steps: int, strength: float) -> None:  # noqa: B027
        """Advance while the power to erode has faded to `strength` (0 .. 1). Models that carry nothing do nothing."""

    def lay_down(self, *, dry: bool) -> None:  # noqa: B027
        """Lay down everything carried; with `dry`, let the water go. Models that carry nothing do nothing."""


@dataclass(frozen=True, kw_only=True)
class Model(ABC):
    """Parameters and physics of one published system; holds no arrays.

    Subclasses are frozen dataclasses whose fields are made by `parameter` and `law`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]
    halo: ClassVar[int]
    """Cells of neighbourhood one iteration reads."""
    backends: ClassVar[tuple[str, ...]]
    edges: ClassVar[tuple[Edges, ...]] = EDGES
    layers: ClassVar[tuple[str, ...]] = ("elevation", "wear", "deposit", "difference", "slope")
    """Layers every run yields."""
    editable: ClassVar[tuple[str, ...]] = ()
    """Layers that can be painted between steps."""
    springs: ClassVar[bool] = False
    """Whether water sources on the terrain mean anything to it."""
    emits: ClassVar[bool] = False
    """Whether particles start from emitters."""

    def __post_init__(self) -> None:
        for p in self.parameters():
            object.__setattr__(self, p.name, p.check(getattr(self, p.name)))

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

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some parameters changed.

        Unknown names are an error that suggests the nearest known one.
        """
        for name in changes:
            self.parameter(name)
        return dataclasses.replace(self, **changes)

    def changed(self) -> dict[str, float | str | bool]:
        """Parameters that differ from their defaults."""
        return {p.name: getattr(self, p.name) for p in self.parameters() if getattr(self, p.name) != p.default}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.changed().items())})"

    @abstractmethod
    def limits(self) -> tuple[Limit, ...]:
        """Stability limits of this parameter set."""

    @abstractmethod
    def engine(self, terrain: Terrain, *, backend: str, edges: Edges, substeps: int, seed: int) -> Engine:
        """Upload a terrain and return the engine that steps it."""


SHORTEST_SETTLING = 20
"""Steps in which the power to erode still fades little by little."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A parameter set with a name, and what it is best used with when the user says nothing else."""

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
    strata: Strata | None = None
    """Layers for a terrain that has none of its own, their thicknesses as shares of its relief."""

    def settling(self, steps: int) -> int:
        """Steps of settling for a run of `steps`: the same share of a shorter run, so that it does not swamp it.

        At least `SHORTEST_SETTLING`, or as many as the run has.

        >>> import slopewash as sw
        >>> [sw.find_preset("landscape").settling(steps) for steps in (4000, 2000, 50)]
        [600, 300, 20]
        """
        share = round(self.settle * min(1.0, steps / self.steps))
        return min(self.settle, max(share, min(steps, SHORTEST_SETTLING)))


class Presets(dict[str, Preset]):
    """Presets by name, listed one a line."""

    def __repr__(self) -> str:
        return "\n".join(f"{name:<14}{preset.doc}" for name, preset in self.items())


_models: dict[str, type[Model]] = {}
_presets: dict[str, Preset] = {}

M = TypeVar("M", bound=type[Model])


def register(model: M) -> M:
    """Class decorator: make a model known by its name."""
    _models[model.name] = model
    return model


def register_preset(preset: Preset) -> Preset:
    """Make a preset known by its name."""
    _presets[preset.name] = preset
    return preset


def model_names() -> tuple[str, ...]:
    """Names of every registered model."""
    return tuple(_models)


def presets() -> Presets:
    """Every preset by name, each with its suggested edges, steps and start.

    >>> import slopewash as sw
    >>> sw.presets()["landscape"].edges
    'open'
    """
    return Presets(_presets)


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


def find_preset(name: str) -> Preset:
    """Preset of that name."""
    if name not in _presets:
        raise unknown_name("preset", name, _presets)
    return _presets[name]


def preset(name: str) -> Model:
    """Model of a preset, ready to run or to `replace` parameters in.

    >>> import slopewash as sw
    >>> sw.preset("jako2011").pipe_area
    20.0
    """
    return find_preset(name).model
