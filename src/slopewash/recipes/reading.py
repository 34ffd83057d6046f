"""From a recipe file to a `Recipe`; mistakes are reported with the line and the key they stand at."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from slopewash.claims import twice
from slopewash.errors import InvalidFile, InvalidParameter, InvalidRecipe, SlopewashError, unknown_name
from slopewash.io import read_strata
from slopewash.io.formats import format_of
from slopewash.io.options import ReadOptions
from slopewash.io.toml_nesting import DEEPEST_KEY, too_deep
from slopewash.models import Model, find_model
from slopewash.models.catalogue import Level
from slopewash.models.maps import Map
from slopewash.models.state import Sides
from slopewash.paths import inside
from slopewash.recipes import declaration as declared
from slopewash.recipes.definition import OF_LEVELS, OF_STAGE, Beds, Recipe, Stage, preset_beds
from slopewash.recipes.entries import Table
from slopewash.recipes.facts import MOST_LISTED, check_count
from slopewash.recipes.layers import LayerFile, LayerSource
from slopewash.recipes.library import looks
from slopewash.recipes.outputs import Output, check_output_name, output_kinds, written_twice
from slopewash.recipes.settings import apply_settings
from slopewash.recipes.sources import FromFile, Generated, Source
from slopewash.recipes.toml_lines import Place, key_lines
from slopewash.recipes.writing import recipe_text
from slopewash.simulation.facts import shortened
from slopewash.terrain import Emitter, Strata, Stratum, WaterSource

LARGEST_RECIPE = 1 << 20
"""Bytes. A larger file is certainly not a recipe."""

Facts = Mapping[str, Any]
Disc = TypeVar("Disc", WaterSource, Emitter)


def read_recipe(
    path: str | Path, *, settings: Iterable[str] = (), outputs_anywhere: bool = False, inputs_anywhere: bool = True
) -> Recipe:
    """Read a recipe from a TOML file, and change what `settings` ask for: "stage.key=value".

    Unless its inputs may lie anywhere, those outside its folder are refused without being looked for.
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            raise InvalidFile(
                f"{path} is {'a folder' if path.is_dir() else 'not a regular file'}; name a recipe, a .toml"
            )
        with path.open("rb") as file:
            data = file.read(LARGEST_RECIPE + 1)
    except FileNotFoundError:
        raise InvalidFile(f"{path} does not exist; `slopewash recipes NAME -o FILE` writes one to begin with") from None
    except InvalidFile:
        raise
    except (OSError, ValueError) as error:
        raise InvalidFile(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > LARGEST_RECIPE:
        raise InvalidFile(f"{path} is larger than {LARGEST_RECIPE} bytes, too large for a recipe")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRecipe(f"{path} is not text in UTF-8: {error.reason} at byte {error.start}") from error
    return parse_recipe(
        text, label=str(path), folder=path.absolute().parent, settings=settings, outputs_anywhere=outputs_anywhere,
        inputs_anywhere=inputs_anywhere,
    )  # fmt: skip


def parse_recipe(
    text: str, *, label: str, folder: Path, settings: Iterable[str] = (), outputs_anywhere: bool = False,
    inputs_anywhere: bool = True,
) -> Recipe:  # fmt: skip
    r"""Recipe of a TOML text; files that it names are relative to `folder`, and errors begin with `label`.

    >>> parse_recipe('[source]\ngenerator = "cone"\n[[stages]]\nsteps = 5', label="a.toml", folder=Path()).stage.steps
    5
    """
    if too_deep(text):  # which would keep the parser busy for hours
        raise InvalidRecipe(f"{label}: its keys or tables are nested more than {DEEPEST_KEY} deep")
    try:
        facts = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        what, _, where = str(error).partition(" (at ")
        line = re.match(r"line \d+", where)
        raise InvalidRecipe(f"{label}{f', {line[0]}' if line else ''}: {what[:1].lower()}{what[1:]}") from error
    reader = _Reader(label, folder, key_lines(text), outputs_anywhere, inputs_anywhere)
    for setting, place in apply_settings(facts, settings):
        reader.settings[place] = setting
    return reader.recipe(facts)


def look_recipe(name: str, *, settings: Iterable[str] = ()) -> Recipe:
    """Recipe of the library with outputs, as if it had been written to a file and read.

    >>> look_recipe("mesas", settings=["source.size=64"]).source.size
    64
    """
    look = looks()[name]
    text = recipe_text(look.recipe().replace(outputs=look.outputs), Path.cwd())
    return parse_recipe(text, label=f"recipe {name}", folder=Path.cwd(), settings=settings)


@dataclass
class _Reader:
    label: str
    folder: Path
    lines: Mapping[Place, int]
    outputs_anywhere: bool = False
    inputs_anywhere: bool = True
    settings: dict[Place, str] = field(default_factory=dict)
    """Where a value comes from the command line instead."""

    @contextmanager
    def at(self, *place: str | int) -> Iterator[None]:
        """Let errors say where the value stands; those that say so already pass."""
        try:
            yield
        except InvalidRecipe:
            raise
        except SlopewashError as error:
            # Many sentences begin with the name of what is wrong: a key of this table, or beside this key.
            key = str(error).partition(" ")[0].rstrip(":")
            known = next((near for near in ((*place, key), (*place[:-1], key)) if self.knows(near)), place)
            raise InvalidRecipe(f"{self.where(known)}: {error}") from error

    def knows(self, place: Place) -> bool:
        return place in self.lines or place in self.settings

    def where(self, place: Place) -> str:
        """File, line and key of a value, or the --set it comes from."""
        if place in self.settings:
            return f"--set {self.settings[place]}"
        known: Place = place
        while known and known not in self.lines:
            known = known[:-1]
        line = f", line {self.lines[known]}" if known in self.lines else ""
        key = ""
        for part in place:
            key += f"[{part + 1}]" if isinstance(part, int) else f".{shortened(part)}" if key else shortened(part)
        return f"{self.label}{line}{f', {key}' if key else ''}"

    def entries(self, table: Table, facts: Facts, place: Place) -> dict[str, Any]:
        """Check keys and types of one table."""
        checked = {}
        for name, value in facts.items():
            with self.at(*place, name):
                checked[name] = table.entry(name).check(value)
        return checked

    def required(self, facts: Facts, place: Place, *names: str) -> None:
        for name in names:
            if name not in facts:
                with self.at(*place):
                    raise InvalidParameter(f"{name} is missing; add it")

    def file(self, name: str) -> Path:
        if self.inputs_anywhere:
            return self.folder / Path(name).expanduser()
        try:
            return inside(self.folder, name)
        except InvalidFile:
            last = name.replace("\\", "/").rpartition("/")[2]
            raise InvalidFile(f'it reads "{last}", which is not in the project; open that where it was saved') from None

    # The parts of a recipe

    def recipe(self, facts: Facts) -> Recipe:
        top = self.entries(declared.top_table(), facts, ())
        self.required(top, (), "source", "stages")
        with self.at("stages"):
            check_count(top["stages"])
        for name in ("water_sources", "emitters", "outputs"):
            with self.at(name):
                check_count(top.get(name, ()), MOST_LISTED, name)
        seed = top.get("seed", 0)
        stages = tuple(self.stage(stage, ("stages", number)) for number, stage in enumerate(top["stages"]))
        source = self.source(top["source"], seed)
        outputs = tuple(self.output(output, ("outputs", n)) for n, output in enumerate(top.get("outputs", ())))
        clash = twice([output.claim for output in outputs])
        if clash is not None:
            with self.at("outputs", clash[0], "path"):
                raise InvalidParameter(written_twice(outputs[clash[0]], clash[1]))
        with self.at():
            return Recipe(
                source=source, layers=self.layers(top.get("layers", {})), strata=self.strata(top, stages),
                water_sources=self.discs(WaterSource, declared.water_source_table(), top),
                emitters=self.discs(Emitter, declared.emitter_table(), top),
                stages=stages, seed=seed, backend=top.get("backend", "auto"), outputs=outputs,
                outputs_anywhere=self.outputs_anywhere,
            )  # fmt: skip

    def source(self, facts: Facts, seed: int) -> Source:
        with self.at("source"):
            if ("generator" in facts) == ("file" in facts):
                raise InvalidParameter('name either a generator, such as generator = "dome", or a file')
        if "file" in facts:
            given = self.entries(declared.source_table(None), facts, ("source",))
            with self.at("source", "file"):
                path = self.file(given.pop("file"))
            size = given.pop("size", None)
            with self.at("source"):
                ReadOptions(**given)
                if size is not None and size < 1:
                    raise InvalidParameter(f"size is {size}; it must be at least one cell")
            with self.at("source", "file"):
                _check_input(path)
            return FromFile(path=path, options=given, size=size)
        with self.at("source", "generator"):
            kind = declared.source_table("dome").entry("generator").check(facts["generator"])
        table = declared.source_table(kind)
        given = {"seed": seed, **self.entries(table, facts, ("source",))}
        common = {name: given.pop(name) for name in declared.GENERATED if name in given}
        with self.at("source"):
            if "extent" in common and "cell_size" in common:
                raise InvalidParameter("it has both extent and cell_size; give one of them")
        source = Generated(kind=kind, options={k: v for k, v in given.items() if k != "generator"}, **common)
        with self.at("source"):
            source.check()
        return source

    def layers(self, facts: Facts) -> dict[str, LayerSource]:
        layers: dict[str, LayerSource] = {}
        for name, value in self.entries(declared.layers_table(), facts, ("layers",)).items():
            if isinstance(value, str):
                with self.at("layers", name):
                    _check_input(self.file(value))
                layers[name] = LayerFile(path=self.file(value))
            elif isinstance(value, Mapping):
                given = self.entries(declared.layer_file_table(), value, ("layers", name))
                self.required(given, ("layers", name), "file")
                with self.at("layers", name, "file"):
                    _check_input(self.file(given["file"]))
                with self.at("layers", name, "range"):
                    layers[name] = LayerFile(path=self.file(given["file"]), range=given.get("range"))
            else:
                layers[name] = value
        return layers

    def strata(self, top: Facts, stages: Sequence[Stage]) -> Beds | None:
        facts = top.get("strata")
        if facts is None:
            return preset_beds(stages[0].preset) if stages else None
        if isinstance(facts, str):
            with self.at("strata"):
                if facts == declared.NO_STRATA:
                    return None
                if not facts.endswith(".toml"):
                    raise InvalidParameter(f'strata is "{facts}"; it must be a table, a .toml file or "none"')
                return Beds(read_strata(self.file(facts)))
        given = self.entries(declared.strata_table(), facts, ("strata",))
        self.required(given, ("strata",), "layers")
        with self.at("strata", "layers"):
            check_count(given["layers"], MOST_LISTED, "layers")
        layers = []
        for number, layer in enumerate(given.pop("layers")):
            place: Place = ("strata", "layers", number)
            values = self.entries(declared.stratum_table(), layer, place)
            self.required(values, place, "thickness")
            with self.at(*place):
                layers.append(Stratum(**values))
        shares, replace = given.pop("shares", False), given.pop("replace", True)
        with self.at("strata"):
            return Beds(Strata(layers, **given), shares=shares, replace=replace)

    def discs(self, kind: Callable[..., Disc], table: Table, top: Facts) -> tuple[Disc, ...]:
        """Water sources or emitters."""
        found = []
        for number, facts in enumerate(top.get(table.name, ())):
            place: Place = (table.name, number)
            given = self.entries(table, facts, place)
            self.required(given, place, "x", "y", "radius", "rate")
            with self.at(*place):
                found.append(kind(**given))
        return tuple(found)

    def output(self, facts: Facts, place: Place) -> Output:
        self.required(facts, place, "path")
        kind = facts.get("kind", "terrain")
        with self.at(*place, "kind"):
            if kind not in output_kinds():
                raise unknown_name("kind of output", str(kind), output_kinds())
        given = self.entries(output_kinds()[kind].table, facts, place)
        name = given.pop("path")
        path = Path(name)
        with self.at(*place, "path"):
            if name.startswith("~"):
                raise InvalidFile(f'"{name}" begins with ~, which only a shell knows; write the name without it')
            if not self.outputs_anywhere:
                check_output_name(name)
            options = {name: value for name, value in given.items() if name != "kind"}
            output_kinds()[kind].check(path, options)
            return Output(path, kind, options)

    def stage(self, facts: Facts, place: Place) -> Stage:
        for name in facts:
            with self.at(*place, name):
                _check_place_of(name, facts)
        given = self.entries(declared.stage_table(), facts, place)
        with self.at(*place, "model"):
            if "model" in given and "preset" in given:
                raise InvalidParameter("it has both a preset and a model; name one of them")
        model = find_model(given["model"]) if "model" in given else None
        kind = model or type(Stage.of(given.get("preset")).model)
        values = self.parameters(kind, given.get("parameters", {}), (*place, "parameters"))
        if isinstance(given.get("edges"), Mapping):
            sides = self.entries(declared.edges_table(), given["edges"], (*place, "edges"))
            with self.at(*place, "edges"):
                given["edges"] = Sides.of(sides)
        changes: dict[str, Any] = {name: given[name] for name in (*OF_LEVELS, "name") if name in given}
        if "low_water" in given:
            changes["low_water"] = self.parameters(kind, given["low_water"], (*place, "low_water"))
            for name, value in changes["low_water"].items():
                with self.at(*place, "low_water", name):
                    if isinstance(value, Map):
                        raise InvalidParameter(f"{name} is a map; low water takes numbers, and keeps the map's pattern")
        if "levels" in given:
            changes["levels"] = self.levels(kind, given["levels"], (*place, "levels"))
        options = {name: given[name] for name in OF_STAGE if name in given}
        with self.at(*place):
            if "levels" in changes and not changes["levels"]:  # one grid, where the preset has several
                options = {"steps": Stage.of(given.get("preset")).steps} | options
            if model is None:
                stage = Stage.of(given.get("preset"), **options).replace(**changes).with_parameters(**values)
            else:
                stage = Stage.of(model(**values), **options).replace(**changes)
        for name in OF_LEVELS if not stage.levels else ():
            with self.at(*place, name):
                if name in given:
                    raise InvalidParameter(f"{name} is for levels, and the stage has none; leave it out, or add levels")
        return stage

    def parameters(self, model: type[Model], facts: Facts, place: Place) -> dict[str, Any]:
        """Values of a model's parameters."""
        values = {}
        for name, value in facts.items():
            with self.at(*place, name):
                parameter = model.parameter(name)
                declared.parameters_table(model.name).entry(name).check(value)
            given = self.map(value, (*place, name)) if isinstance(value, Mapping) else value
            with self.at(*place, name):
                values[name] = parameter.check(given)
        return values

    def map(self, facts: Facts, place: Place) -> Map:
        """A parameter that differs from place to place."""
        given = self.entries(declared.map_table(), facts, place)
        with self.at(*place):
            if ("file" in given) == ("layer" in given):
                raise InvalidParameter('name either a file, such as file = "rain.tif", or a layer')
        if "file" in given:
            with self.at(*place, "file"):
                _check_input(self.file(given["file"]))
        with self.at(*place):
            span = given.get("range", ())
            return Map(self.file(given["file"]), *span) if "file" in given else Map.of_layer(given["layer"], *span)

    def levels(self, model: type[Model], facts: Sequence[Facts], place: Place) -> tuple[Level, ...]:
        levels: list[Level] = []
        for number, level in enumerate(facts):
            here = (*place, number)
            given = self.entries(declared.level_table(), level, here)
            self.required(given, here, "cells", "steps")
            values = self.parameters(model, given.get("parameters", {}), (*here, "parameters"))
            with self.at(*here):
                _check_level(given["cells"], values, levels)
            settle = given.get("settle", 0)
            levels.append(Level(cells=given["cells"], steps=given["steps"], settle=settle, parameters=values))
        return tuple(levels)


def _check_input(path: Path) -> None:
    if not path.is_file():
        raise InvalidFile(f"{path} does not exist" if not path.exists() else f"{path} is not a file")
    format_of(path, reads=True)


def _check_level(cells: int, values: Facts, before: Sequence[Level]) -> None:
    if cells <= (before[-1].cells if before else 0):
        raise InvalidParameter(f"cells is {cells}; it must be more than those of the level before, and positive")
    for name, value in values.items():
        if not isinstance(value, float):
            raise InvalidParameter(f"{name} is {value!r}; only numbers differ from level to level, others go above")
    if before and set(values) != set(before[0].parameters):
        missing = sorted(set(values) ^ set(before[0].parameters))
        raise InvalidParameter(f"{missing[0]} is given for some levels only; give it for each")


def _check_place_of(name: str, facts: Facts) -> None:
    """Name the table that a parameter belongs in, where it stands beside the keys of the stage."""
    table = declared.stage_table()
    if name in table.names():
        return
    known = facts.get("model") or facts.get("preset") or "landscape"
    try:
        model = find_model(known) if "model" in facts else type(Stage.of(known).model)
        model.parameter(name)
    except SlopewashError:
        return
    raise InvalidParameter(f'"{name}" is a parameter of {model.name}; put it under [stages.parameters]')
