"""A recipe: one frozen object that the command line, the studio, recordings and presets share."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slopewash.errors import InvalidParameter, SlopewashError, unknown_name
from slopewash.models import Model, Preset, find_model, find_preset, model_names
from slopewash.models.catalogue import Basins, Level
from slopewash.models.maps import maps_of
from slopewash.models.state import Edges, Sides
from slopewash.needs import Needs
from slopewash.plain import plain
from slopewash.recipes.facts import check_recipe, check_stage
from slopewash.recipes.layers import LayerSource, as_layer_sources, layer_facts, layers_from, with_layers
from slopewash.recipes.maps import facts_of, values_of
from slopewash.recipes.masking import MASK
from slopewash.recipes.outputs import Output
from slopewash.recipes.sources import FromFile, FromTerrain, Generated, Source, as_source, source_from
from slopewash.remedies import by_place
from slopewash.simulation.facts import LARGEST_COUNT, shortened
from slopewash.terrain import Emitter, Strata, Terrain, WaterSource
from slopewash.terrain.gullies import DEEPEST
from slopewash.terrain.parts import strata_facts, strata_from

if TYPE_CHECKING:
    from slopewash.recipes.results import Result

DEFAULT_PRESET, GENTLE_PRESET = "landscape", "gentle"
PLACED = (".tif", ".tiff", ".zarr", ".asc", ".hgt")
"""Suffixes of files that often have a CRS, which a run on tiles does not know before it begins."""
PLACED_IN_MEMORY = (".npz", ".exr")
"""The same of files that it reads as a whole."""
STEPS_WITHOUT_PRESET = 1000
PREVIEW = 4
"""Cells of the whole along a side for one of a preview."""
OF_STAGE = ("steps", "settle", "dry", "edges", "strength", "gullies")
"""What `Stage.of` takes besides the model."""
OF_LEVELS = ("detail", "restored", "basins")
"""What a stage without levels has no use for."""


@dataclass(frozen=True)
class Beds:
    """Strata to lay beneath a terrain.

    >>> import slopewash as sw
    >>> beds = sw.preset_beds("chiba_strata")
    >>> len(beds.strata.layers)
    5
    """

    strata: Strata
    shares: bool = False
    """Whether thicknesses are shares of the terrain's relief, not metres."""
    replace: bool = True
    """Whether strata that the terrain has already give way."""

    def under(self, terrain: Terrain) -> Terrain:
        """Return the terrain with the strata beneath it."""
        if terrain.strata is not None and not self.replace:
            return terrain
        if not self.shares:
            return terrain.replace(strata=self.strata)
        if terrain.relief == 0 and not self.replace:
            return terrain
        return terrain.replace(strata=self.strata.fitted(terrain.relief or 1.0))


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A model at work for some steps, and how the water comes to rest afterwards.

    >>> import slopewash as sw
    >>> sw.Stage(model=sw.SteepestTalus(), steps=10).steps
    10
    """

    model: Model
    steps: int
    settle: int | None = 0
    """Steps in which the power to erode fades before all sediment is deposited; None leaves it in the water."""
    dry: bool = False
    """Whether the water evaporates at the end."""
    edges: Edges | Sides = "open"
    preset: str | None = None
    """Preset that the model came from."""
    levels: tuple[Level, ...] = ()
    """From coarse to fine; `steps` are then those of all of them together."""
    strength: float | None = None
    """Share of the steps that the levels ask for, which depend on the terrain; in place of `steps`."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that hold on every level."""
    detail: float = 0.0
    restored: float = 1.0
    basins: Basins = "kept"
    low_water: Mapping[str, float | str] = field(default_factory=dict)
    gullies: float = 0.0
    """As of `Preset`."""
    cells: int | None = None
    """Cells along the longer side of the level that this stage is; None for the terrain as it is."""
    name: str | None = None
    """What `slopewash run --set` calls it, besides its preset or model."""

    def __post_init__(self) -> None:
        for name in ("steps", "settle"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
                raise InvalidParameter(f"{name} is {value!r}; it must be a whole number, zero or more")
            if value is not None and value >= LARGEST_COUNT:
                raise InvalidParameter(f"{name} is {shortened(value)}; it must be below {LARGEST_COUNT}")
        check_strength(self.strength)
        if self.dry and self.settle is None:
            raise InvalidParameter("dry needs settling; leave out settle=False")
        if not 0 <= self.gullies <= DEEPEST:
            raise InvalidParameter(
                f"gullies is {self.gullies:g}; it must be within 0 .. {DEEPEST:g}, 0.5 is a good depth"
            )
        if self.gullies and self.model.meshed:
            raise InvalidParameter(
                f"gullies is {self.gullies:g}, but {self.model.name} erodes a mesh; use add_gullies on its terrain"
            )
        self.model.check_sides(Sides.of(self.edges))

    @classmethod
    def of(
        cls,
        model: Model | Preset | str | None = None,
        *,
        steps: int | None = None,
        settle: int | bool | None = None,
        dry: bool = False,
        edges: Edges | Sides | None = None,
        strength: float | None = None,
        gullies: float | None = None,
    ) -> Stage:
        """Make a stage of a model, a preset or its name, with what suits it where nothing is asked for.

        A run shorter than the preset's own settles for less; `settle` True asks for the preset's own number of steps,
        False leaves the sediment in the water.

        >>> Stage.of("single_grid", steps=2000).settle
        300
        """
        preset = None if isinstance(model, Model) else _as_preset(DEFAULT_PRESET if model is None else model)
        usual = STEPS_WITHOUT_PRESET if preset is None else preset.steps
        check_strength(strength, steps)
        if strength is None and steps is None:
            strength = 1.0
        steps = max(1, round(usual * strength)) if steps is None and strength is not None else steps
        assert steps is not None
        if settle is None:
            settle = 0 if preset is None else preset.settling(steps)
        elif isinstance(settle, bool):
            settle = None if not settle else 0 if preset is None else preset.settle
        if preset is not None:
            return cls(
                model=preset.model, steps=steps, settle=settle, dry=dry, edges=edges or preset.edges,
                preset=preset.name, levels=preset.levels, strength=strength if preset.levels else None,
                detail=preset.detail, restored=preset.restored, basins=preset.basins, low_water=preset.low_water,
                gullies=preset.gullies if gullies is None else gullies,
            )  # fmt: skip
        assert isinstance(model, Model)
        return cls(model=model, steps=steps, settle=settle, dry=dry, edges=edges or "open", gullies=gullies or 0.0)

    def replace(self, **changes: Any) -> Stage:
        """Return a copy with some of it changed; what differs in another model holds on every level."""
        if "steps" in changes:
            changes = {"strength": None, **changes}
        model = changes.get("model", self.model)
        if type(model) is not type(self.model):
            alone: dict[str, Any] = {
                "preset": None,
                "levels": (),
                "strength": None,
                "settings": {},
                "detail": 0.0,
                "low_water": {},
            }
            changes = {**alone, "basins": "kept", "settle": 0 if self.settle else self.settle, **changes}
        elif self.levels and "settings" not in changes:
            before = self.model.values()
            differs = {name: value for name, value in model.values().items() if value != before[name]}
            changes["settings"] = {**self.settings, **differs}
        return dataclasses.replace(self, **changes)

    def with_parameters(self, **values: Any) -> Stage:
        """Return a copy whose model has other parameters, on every level.

        >>> Stage.of("landscape").with_parameters(rain_rate=0.01).settings
        {'rain_rate': 0.01}
        """
        model = self.model.replace(**values)
        checked = {name: getattr(model, name) for name in values}
        return self.replace(model=model, settings={**self.settings, **checked})

    def anchored(self, lowest: float) -> Stage:
        """Return the same for a recipe whose start has that lowest ground."""
        model = self.model.anchored(lowest)
        return self if model is self.model else self.replace(model=model)

    def on_one_grid(self) -> Stage:
        """Return the same without levels, and without what follows the last of them: low water and gullies.

        >>> Stage.of("landscape").on_one_grid().levels
        ()
        """
        return self.replace(levels=(), strength=None, low_water={}, gullies=0.0)

    @property
    def recedes(self) -> bool:
        """Whether there is a flood to recede at the end: not where water or sediment were asked to be otherwise."""
        return bool(self.low_water) and not self.dry and self.settle is not None

    def receding_steps(self, shape: tuple[int, int]) -> int:
        """Steps in which the flood recedes on a grid of that shape: as many as it has cells along its longer side."""
        return max(shape) if self.recedes else 0

    def steps_in_all(self, shape: tuple[int, int]) -> int:
        """Steps on a grid of that shape, with those of settling and of the receding flood.

        >>> stage = Stage(model=find_preset("landscape").model, steps=30, settle=8, low_water={"rain_rate": 0.001})
        >>> stage.steps_in_all((20, 16)), stage.replace(dry=True).steps_in_all((20, 16))
        (58, 38)
        """
        return self.steps + (self.settle or 0) + self.receding_steps(shape)

    @property
    def sea_left(self) -> float | None:
        """Level of the sea beyond open edges at the end of the stage, in metres; None where there is none."""
        level = float(self.model.water_beyond)
        if self.recedes:
            level = float(self.low_water.get("sea_level", level))
        return level if math.isfinite(level) and Sides.of(self.edges).any_open else None

    def check_tiles(self) -> None:
        """Refuse what cannot be done on tiles, before anything is written."""
        model = self.model
        if model.halo is None:
            raise InvalidParameter(
                f"{model.name} runs on one machine alone: what moves in it may cross the whole terrain; leave out the "
                "tiles"
            )
        now, then = model.values(), self.receding(model).values() if self.recedes else {}
        for name in sorted(model.adopted & then.keys()):
            if then[name] != now[name]:
                raise InvalidParameter(
                    f"{name} changes from {now[name]} to {then[name]} when the flood recedes, which needs the whole "
                    "terrain at once; leave out the tiles, or the change of it at the end"
                )

    def receding(self, model: Model) -> Model:
        """Return the model for low water: no more rain than was asked for, and no other processes.

        `model` is that of the flood, with numbers in place of maps: a map has no one number to compare with.
        """
        values = dict(self.low_water)
        if "processes" in self.settings:
            values["processes"] = self.settings["processes"]
        asked = model.values().get("rain_rate")
        if "rain_rate" in self.settings and "rain_rate" in values and isinstance(asked, float):
            values["rain_rate"] = min(asked, values["rain_rate"])
        return model.replace(**values)

    @property
    def usual_steps(self) -> int | None:
        """Steps that the preset is made for; None without one."""
        return None if self.preset is None else find_preset(self.preset).steps

    def usual_settling(self, steps: int) -> int | None:
        """Steps of settling that suit a run of `steps`; None without a preset."""
        return None if self.preset is None else find_preset(self.preset).settling(steps)

    def as_dict(self) -> dict[str, Any]:
        """Facts that JSON and TOML can hold; infinity is "inf"."""
        edges = dict(self.edges.items()) if isinstance(self.edges, Sides) else self.edges
        return {
            "model": self.model.name, "preset": self.preset, "parameters": plain(facts_of(self.model.values())),
            "steps": self.steps, "settle": self.settle, "dry": self.dry, "edges": edges, "strength": self.strength,
            "settings": plain(facts_of(self.settings)),
            "levels": [plain(dataclasses.asdict(level)) for level in self.levels],
            "detail": self.detail, "restored": self.restored,
            "basins": self.basins, "low_water": plain(self.low_water), "gullies": self.gullies,
            "cells": self.cells, "name": self.name,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Stage:
        """Stage that `as_dict` described."""
        check_stage(facts)
        edges: Any = facts["edges"] if isinstance(facts["edges"], str) else Sides.of(facts["edges"])
        model = find_model(facts["model"])(**values_of(facts["parameters"]))
        read_as_is = (
            "steps", "settle", "dry", "preset", "strength", "detail", "restored", "basins", "low_water",
            "gullies", "cells",
        )  # fmt: skip
        levels = tuple(Level(**level) for level in facts["levels"])
        kept = {name: facts[name] for name in read_as_is}
        settings = values_of(facts["settings"])
        return cls(model=model, edges=edges, levels=levels, name=facts.get("name"), settings=settings, **kept)


def check_strength(strength: float | None, steps: int | None = None) -> None:
    """Refuse a share of the steps that is none, and one beside a number of steps."""
    if strength is None:
        return
    if steps is not None:
        raise InvalidParameter(f"steps is {steps} and strength {strength:g}; give one of them")
    if not 0 < strength <= 100:
        raise InvalidParameter(f"strength is {strength:g}; it must be above 0 and at most 100")


def _as_preset(given: Any) -> Preset:
    """Preset of that name, or the preset itself; models are refused with what to pass instead."""
    if isinstance(given, Preset):
        return given
    if isinstance(given, type) and issubclass(given, Model):
        raise InvalidParameter(f"{given.__name__} is a class; pass a model made from it, {given.__name__}(...)")
    if not isinstance(given, str):
        raise InvalidParameter(f"{given!r} is neither a model nor the name of a preset")
    if given in model_names():
        made = find_model(given).__name__
        remedy = by_place(
            python=f"pass {made}(), or the name of one of its presets",
            command="name one of its presets, which slopewash models lists",
            recipe=f'write model = "{given}", or the name of one of its presets',
        )
        raise InvalidParameter(f'"{given}" is a model, not a preset; {remedy}')
    return find_preset(given)


@dataclass(frozen=True, kw_only=True, eq=False)
class Recipe:
    """Source, layers, strata, stages and outputs of one job; `backend` is where it runs.

    >>> made = recipe("outerrain", size=32, seed=3)
    >>> made.stages[0].steps, made.terrain().shape
    (300, (32, 32))
    """

    source: Source
    stages: tuple[Stage, ...]
    layers: Mapping[str, LayerSource] = field(default_factory=dict)
    """Layers to add to the terrain: a number, or a file to read."""
    strata: Beds | None = None
    water_sources: tuple[WaterSource, ...] = ()
    """Discs where water wells up, for models with water."""
    emitters: tuple[Emitter, ...] = ()
    """Discs where particles start, for models with particles."""
    seed: int = 0
    """Random seed for whatever the models draw."""
    backend: str = "auto"
    outputs: tuple[Output, ...] = ()
    """Files that `run` writes; a plain path is one for the terrain."""
    outputs_anywhere: bool = True
    """Whether outputs may lie outside the output folder; not those of a recipe that was read from a file."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", as_source(self.source))
        object.__setattr__(self, "layers", as_layer_sources(self.layers))
        object.__setattr__(self, "stages", _as_tuple("stages", self.stages, Stage))
        object.__setattr__(self, "water_sources", _as_tuple("water_sources", self.water_sources, WaterSource))
        object.__setattr__(self, "emitters", _as_tuple("emitters", self.emitters, Emitter))
        outputs = [self.outputs] if isinstance(self.outputs, str | Path | Output) else self.outputs
        made = tuple(Output(Path(given)) if isinstance(given, str | Path) else given for given in outputs)
        object.__setattr__(self, "outputs", _as_tuple("outputs", made, Output))
        if not self.stages:
            raise InvalidParameter("a recipe has no stages; give it at least one")
        models = [stage.model for stage in self.stages]
        if self.water_sources and not any(model.has_sources() for model in models):
            raise InvalidParameter(f"water_sources are given, but {models[0].name} has none; leave them out")
        if self.emitters and not any(model.particles for model in models):
            raise InvalidParameter(f"emitters are given, but {models[0].name} has no particles; leave them out")

    @property
    def stage(self) -> Stage:
        """The first stage."""
        return self.stages[0]

    @property
    def is_staged(self) -> bool:
        """Whether it is more than one model with numbers on one grid: stages, levels, maps, or a touch at the end.

        >>> recipe("single_grid").is_staged, recipe("landscape").is_staged
        (False, True)
        """
        first = self.stage
        more = first.levels or first.recedes or first.gullies or maps_of(first.model)
        source = self.source
        held = source.terrain if isinstance(source, FromTerrain) else None
        masked = MASK in self.layers or (held is not None and MASK in held)
        return len(self.stages) > 1 or bool(more) or masked

    def replace(self, **changes: Any) -> Recipe:
        """Return a copy with some of it changed; what concerns a stage, or its model's parameters, changes the first.

        A new random seed is the generator's too, and `size` its number of cells. Outputs that are new may lie anywhere:
        who gives them names their places.

        >>> recipe("landscape", size=32).replace(seed=3, steps=10, rain_rate=0.01).source.seed
        3
        """
        of_stage = {f.name for f in dataclasses.fields(Stage)}
        of_model = {p.name for p in self.stage.model.parameters()} - of_stage
        sizes = {"size"} if isinstance(self.source, Generated) else set()
        known = of_stage | of_model | sizes | {f.name for f in dataclasses.fields(self)}
        for name in changes:
            if name not in known:
                raise unknown_name("part of a recipe", name, known)
        if "seed" in changes and "source" not in changes and isinstance(self.source, Generated):
            changes["source"] = dataclasses.replace(self.source, seed=changes["seed"])
        if "size" in changes:
            source = as_source(changes.get("source", self.source))
            if not isinstance(source, Generated):
                raise InvalidParameter(f"{source.name} is not generated; give it another size with resampled()")
            changes["source"] = source.resized(changes.pop("size"))
        if "outputs" in changes:
            given = changes["outputs"]
            changes["outputs"] = (given,) if isinstance(given, str | Path | Output) else tuple(given)
            if any(output not in self.outputs for output in changes["outputs"]):
                changes.setdefault("outputs_anywhere", True)
        stage = {name: changes.pop(name) for name in list(changes) if name in of_stage}
        values = {name: changes.pop(name) for name in list(changes) if name in of_model}
        stages = changes.pop("stages", self.stages)
        if stage or values:
            stages = (stages[0].replace(**stage).with_parameters(**values), *stages[1:])
        return dataclasses.replace(self, stages=stages, **changes)

    def needs(self) -> Needs:
        """Memory and time that it will need, worked out from what is declared, before anything is made.

        >>> recipe("landscape", size=512).needs().memory > recipe("landscape", size=256).needs().memory
        True
        """
        from slopewash.recipes.needs import needs_of

        return needs_of(self)

    def check_memory(self) -> Needs:
        """Refuse it where it needs more memory than is left; what it needs is returned."""
        from slopewash.recipes.needs import check_needs

        return check_needs(self)

    def terrain(self) -> Terrain:
        """Make the terrain it starts from, with its layers and strata."""
        terrain = with_layers(self.source.make(), self.layers)
        if self.water_sources:
            terrain = terrain.replace(sources=self.water_sources)
        if self.emitters:
            terrain = terrain.replace(emitters=self.emitters)
        return terrain if self.strata is None else self.strata.under(terrain)

    def outputs_in(self, folder: Path | None) -> tuple[Output, ...]:
        """The outputs with their paths in a folder; those that lead out of it are refused unless they may."""
        return tuple(output.within(folder, confined=not self.outputs_anywhere) for output in self.outputs)

    def run(self, *, progress: bool = False, folder: str | Path | None = None) -> Result:
        """Run it from start to end, and write its outputs; with `progress`, a bar on the terminal.

        Outputs go into `folder`, with the recipe and a manifest of checksums, or without one each to its own path.
        """
        from slopewash.recipes.calls import run

        return run(self, progress=progress, folder=folder)

    @classmethod
    def read(cls, path: str | Path, *, settings: Iterable[str] = (), outputs_anywhere: bool = False) -> Recipe:
        """Read a recipe from a TOML file; `settings` change it, as --set does: "landscape.rain_rate=0.02".

        The files that it reads are relative to its folder; the outputs keep their names, for `run` to place. They must
        lie in the output folder, or without one in the working folder, unless `outputs_anywhere` is set: a recipe may
        be anyone's.
        """
        from slopewash.recipes.reading import read_recipe

        return read_recipe(path, settings=settings, outputs_anywhere=outputs_anywhere)

    def write(self, path: str | Path) -> Path:
        """Write it to a TOML file, from which `Recipe.read` makes the same recipe."""
        from slopewash.recipes.writing import write_recipe

        return write_recipe(self, path)

    def preview(self) -> Recipe:
        """Return the same on a quarter of the cells along each side, which takes little time.

        >>> recipe("landscape", size=512).preview().source.size
        128
        """
        source = self.source
        if isinstance(source, FromTerrain):
            side = source.size or max(source.make().shape)
            return self.replace(source=dataclasses.replace(source, size=max(1, side // PREVIEW)))
        side = source.size if isinstance(source, Generated) else source.longest
        return self.replace(source=source.resized(max(1, side // PREVIEW)))

    def as_dict(self) -> dict[str, Any]:
        """Facts that JSON and TOML can hold; infinity is "inf"."""
        beds = self.strata
        facts = {
            "source": self.source.as_dict(),
            "layers": layer_facts(self.layers),
            "strata": None if beds is None else
            {**strata_facts(beds.strata), "shares": beds.shares, "replace": beds.replace},
            "water_sources": [dataclasses.asdict(source) for source in self.water_sources],
            "emitters": [dataclasses.asdict(emitter) for emitter in self.emitters],
            "stages": [stage.as_dict() for stage in self.stages],
            "seed": self.seed,
            "backend": self.backend,
            "outputs": [output.as_dict() for output in self.outputs],
        }  # fmt: skip
        return dict(plain(facts))

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Recipe:
        """Recipe that `as_dict` described.

        >>> Recipe.from_dict(recipe("landscape").as_dict()).stage == recipe("landscape").stage
        True
        """
        try:
            check_recipe(facts)
        except (KeyError, InvalidParameter) as error:
            raise _no_description(error) from error
        try:
            return cls._from_dict(facts)
        except SlopewashError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise _no_description(error) from error

    @classmethod
    def _from_dict(cls, facts: Mapping[str, Any]) -> Recipe:
        beds = facts["strata"]
        return cls(
            source=source_from(facts["source"]),
            layers=layers_from(facts.get("layers", {})),
            strata=None if beds is None else Beds(strata_from(beds, None), beds["shares"], beds["replace"]),
            water_sources=tuple(WaterSource(**source) for source in facts.get("water_sources", ())),
            emitters=tuple(Emitter(**emitter) for emitter in facts.get("emitters", ())),
            stages=tuple(Stage.from_dict(stage) for stage in facts["stages"]),
            seed=facts["seed"],
            backend=facts["backend"],
            outputs=tuple(map(Output.from_dict, facts["outputs"])),
        )


def _no_description(error: Exception) -> InvalidParameter:
    why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return InvalidParameter(f"this does not describe a recipe ({why}); pass what as_dict returned")


def _as_tuple(name: str, given: Any, kind: type) -> tuple[Any, ...]:
    """One thing or several of them as a tuple."""
    items = (given,) if isinstance(given, kind) else tuple(given) if isinstance(given, list | tuple) else (given,)
    for item in items:
        if not isinstance(item, kind):
            example = {Stage: "Stage.of(...)", Output: "Output(path)"}.get(kind, f"{kind.__name__}(x=..., y=...)")
            raise InvalidParameter(f"{name} holds {item!r}; pass a tuple of {kind.__name__}s, such as {example}")
    return items


def recipe(
    name: str | Preset = DEFAULT_PRESET,
    *,
    source: Source | Terrain | str | Path | None = None,
    size: int | None = None,
    seed: int | None = None,
    backend: str = "auto",
    **stage: Any,
) -> Recipe:
    """Recipe of that name from the library, or of a preset: its own generator and strata, unless a source is given.

    Parameters
    ----------
    name
        Of the preset, or of a recipe that `looks()` lists.
    source
        Where the terrain comes from instead: a source, a terrain, or a file.
    size
        Cells along a side of the generated terrain; a source has its own.
    seed
        Random seed, for the generator too; 0 if not given, or that of the library.
    backend
        As for `Simulation`.
    stage
        What `Stage.of` takes (steps, settle, dry, edges, strength, gullies), and parameters of the model.

    >>> recipe("landscape", steps=100, rain_rate=0.02).stage.model.rain_rate
    0.02
    """
    if isinstance(name, Model):
        made = type(name).__name__
        raise InvalidParameter(f"recipe takes the name of a preset; set a model by recipe(...).replace(model={made}())")
    from slopewash.recipes.library import looks

    look = looks().get(name) if isinstance(name, str) else None
    preset = _as_preset(name if look is None else look.preset)
    parameters = [p.name for p in preset.model.parameters()]
    for option in stage:
        if option not in (*OF_STAGE, *parameters):
            raise unknown_name("option of a recipe", option, [*OF_STAGE, "source", "size", "seed", *parameters])
    values = {option: stage.pop(option) for option in parameters if option in stage}
    if look is not None:
        if source is not None:
            raise InvalidParameter(f'recipe "{name}" has a start of its own; give a source to a preset instead')
        made = look.recipe(size=size, seed=seed, backend=backend, **stage)
        return made.replace(stages=(made.stage.with_parameters(**values),))
    if source is not None and size is not None:
        raise InvalidParameter(f"size is {size}, but the source has its own; resample it, or leave out size")
    seed = 0 if seed is None else seed
    made_stage = Stage.of(preset, **stage)
    return Recipe(
        source=preset_source(preset.name, size=size, seed=seed) if source is None else as_source(source),
        strata=preset_beds(preset.name),
        stages=(made_stage.with_parameters(**values),),
        seed=seed,
        backend=backend,
    )


def usual_preset(terrain: Terrain) -> str:
    """Preset for a terrain when none is named: a real one, which has a place on the earth, is eroded already.

    >>> usual_preset(Terrain([[1.0, 2.0]])), usual_preset(Terrain([[1.0, 2.0]], crs="EPSG:32611"))
    ('landscape', 'gentle')
    """
    return DEFAULT_PRESET if terrain.crs is None else GENTLE_PRESET


def usual_preset_of(source: Source) -> str:
    """The same for a source that is not made yet: refused where only the whole would tell.

    >>> usual_preset_of(Generated(kind="cone", size=16))
    'landscape'
    """
    if isinstance(source, FromTerrain) and source.terrain is not None:
        return usual_preset(source.terrain)
    suffix = source.path.suffix.lower() if isinstance(source, FromFile) else ""
    if suffix in PLACED:
        named = by_place(python='preset, such as "gentle"', command="--preset, such as gentle")
        raise InvalidParameter(f"{source.name} may be a real place; with tiles, name a {named}")
    return usual_preset(source.make()) if suffix in PLACED_IN_MEMORY else DEFAULT_PRESET


def preset_beds(name: str | None) -> Beds | None:
    """Strata that a preset suggests for a terrain without.

    >>> import slopewash as sw
    >>> sw.preset_beds("landscape") is None
    True
    """
    strata = None if name is None else find_preset(name).strata
    return None if strata is None else Beds(strata, shares=True, replace=False)


def preset_source(
    name: str, *, size: int | None = None, seed: int | None = None, extent: float | None = None
) -> Generated:
    """Generator that a preset starts from; another size has other cells on the same ground.

    >>> preset_source("bezin2010").make().cell_size, preset_source("bezin2010", size=514).make().cell_size
    (10.0, 5.0)
    """
    preset = find_preset(name)
    options = dict(preset.start)
    common = ("size", "cell_size", "extent", "seed", "relief")
    source = Generated(kind=preset.generator, **{key: options.pop(key) for key in common if key in options})
    source = dataclasses.replace(source, options=options, seed=source.seed if seed is None else seed)
    if size is not None and size != source.size:
        source = source.resized(size)
    return source if extent is None else dataclasses.replace(source, extent=extent, cell_size=None)
