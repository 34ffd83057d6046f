"""The tables of a recipe file, built from what models, generators, presets and outputs declare."""

from __future__ import annotations

import dataclasses
from typing import get_args

from slopewash.backends import backend_names
from slopewash.generators import generator_names, generator_options
from slopewash.io.units import HEIGHT_UNITS
from slopewash.models import find_model, model_names, presets
from slopewash.models.catalogue import Basins
from slopewash.models.parameters import Parameter
from slopewash.models.state import EDGES, Sides
from slopewash.recipes.entries import Entry, Kind, Table
from slopewash.recipes.layers import input_layers
from slopewash.terrain import Stratum
from slopewash.terrain.fields import LAYERS

NO_STRATA = "none"
"""Says that there are none, where the preset would suggest some."""

GENERATED = ("size", "extent", "cell_size", "relief", "seed")
"""Keys of a generated source that every generator takes."""

_SIZE_DOC = "Cells along the longer side: more are the same ground, finer."


def top_table() -> Table:
    """Keys outside any table, and the tables."""
    return Table(
        name="",
        doc="A slopewash recipe: where the terrain comes from, what is done to it, and what is written.",
        entries=(
            Entry(name="seed", kinds=("integer",), default="0", doc="Random seed, for the generator too."),
            Entry(
                name="backend", kinds=("text",), choices=("auto", *backend_names()), default="auto",
                doc="Where it runs.",
            ),
            Entry(name="source", kinds=("table",), doc="Where the terrain comes from."),
            Entry(name="layers", kinds=("table",), default="none", doc="Layers to add to the terrain."),
            Entry(
                name="strata", kinds=("table", "text"), default="what the file holds or the first preset suggests",
                doc='Geological layers beneath the ground: a table, a .toml file of strata, or "none".',
            ),
            Entry(
                name="water_sources", kinds=("tables",), default="none", doc="Where water wells up: [[water_sources]].",
            ),
            Entry(name="emitters", kinds=("tables",), default="none", doc="Where particles start: [[emitters]]."),
            Entry(name="stages", kinds=("tables",), doc="What is done, one stage after the other."),
            Entry(name="outputs", kinds=("tables",), default="none", doc="What is written at the end."),
        ),
    )  # fmt: skip


def source_table(generator: str | None) -> Table:
    """Keys of the source: a generator with its own options, or a file."""
    return _file_table() if generator is None else _generator_table(generator)


def _generator_table(kind: str) -> Table:
    own = [
        Entry(
            name=option.name, kinds=("integer" if option.whole else "number",), doc=option.doc,
            default="" if option.default is None else f"{option.default:g}",
        )
        for option in generator_options(kind)
    ]  # fmt: skip
    return Table(
        name="source",
        doc="A terrain made by a generator.",
        entries=(
            Entry(name="generator", kinds=("text",), choices=generator_names(), doc="Kind of terrain."),
            Entry(name="size", kinds=("integer",), default="512", doc=_SIZE_DOC),
            Entry(name="extent", kinds=("number",), default="5120", units="m", doc="Side of the ground."),
            Entry(
                name="cell_size", kinds=("number",), units="m",
                doc="Side of a cell, instead of extent: more cells are then more ground.",
            ),
            Entry(
                name="relief", kinds=("number",), default="a quarter of the extent", units="m",
                doc="Height difference between the lowest and the highest ground.",
            ),
            Entry(name="seed", kinds=("integer",), default="that of the recipe", doc="Random seed of the generator."),
            *own,
        ),
    )  # fmt: skip


def _file_table() -> Table:
    return Table(
        name="source",
        doc="A terrain read from a file.",
        entries=(
            Entry(
                name="file", kinds=("text",),
                doc="File with heights, relative to the recipe: .exr, .npz, .npy, .tif, .png (16 bit), .asc and more.",
            ),
            Entry(name="size", kinds=("integer",), default="as the file", doc=_SIZE_DOC),
            Entry(
                name="cell_size", kinds=("number",), default="as the file", units="m",
                doc="Side of a cell, if missing or wrong in the file.",
            ),
            Entry(
                name="height_range", kinds=("numbers",), count=2, units="m",
                doc="Heights of black and of white, the lowest and the highest value that a file of integers can hold.",
            ),
            Entry(
                name="shape", kinds=("integers",), count=2, doc="Rows and columns of a raw file that is not square.",
            ),
            Entry(
                name="allow_8bit", kinds=("boolean",), default="false",
                doc="Accept 8-bit heights, which show as terraces.",
            ),
            Entry(name="max_pixels", kinds=("integer",), doc="Largest number of cells to read."),
            Entry(name="band", kinds=("integer",), doc="Band of a .tif to take as the elevation, from 1."),
            Entry(
                name="height_unit", kinds=("text",), choices=tuple(HEIGHT_UNITS), default="as the file",
                doc="Unit of the heights, if missing or wrong in the file.",
            ),
            Entry(
                name="reproject", kinds=("text",),
                doc='CRS to resample a map to: "utm" for the local zone, or a code such as "EPSG:3035".',
            ),
            Entry(
                name="nodata", kinds=("number",), or_nan=True, default="as the file",
                doc="Number in the file that marks cells without data, besides one that it declares: -9999, or nan.",
            ),
        ),
    )  # fmt: skip


def layers_table() -> Table:
    """Layers that can be added, by name."""
    return Table(
        name="layers",
        doc='Layers to add to the terrain, by name: a number, a file, or { file = "rain.png", range = [0, 2] }, where '
        "range gives the values of black and of white of a file of integers (0 and 1 if not given).",
        entries=tuple(
            Entry(name=name, kinds=("number", "text", "table"), doc=LAYERS[name].doc, units=LAYERS[name].units)
            for name in input_layers()
        ),
    )


def layer_file_table() -> Table:
    """Keys of a layer that is read from a file."""
    return Table(
        name="layers.NAME",
        doc="A layer read from a file.",
        entries=(
            Entry(name="file", kinds=("text",), doc="File of one channel, relative to the recipe; resampled to fit."),
            Entry(
                name="range", kinds=("numbers",), count=2, default="that recorded in the file, or 0 and 1",
                doc="Values of black and of white of a file of integers.",
            ),
        ),
    )  # fmt: skip


def strata_table() -> Table:
    """Keys of the strata."""
    return Table(
        name="strata",
        doc="Geological layers beneath the ground, the highest first.",
        entries=(
            Entry(name="dip", kinds=("number",), default="0", units="°", doc="Tilt, 0 (level) .. 80."),
            Entry(
                name="direction", kinds=("number",), default="0", units="°",
                doc="Direction of the dip, clockwise from north.",
            ),
            Entry(
                name="follow", kinds=("boolean",), default="false",
                doc="Whether the layers follow the surface, without a dip.",
            ),
            Entry(
                name="shares", kinds=("boolean",), default="false",
                doc="Whether thicknesses are shares of the terrain's relief instead of metres.",
            ),
            Entry(
                name="replace", kinds=("boolean",), default="true",
                doc="Whether strata that the file holds already give way.",
            ),
            Entry(name="layers", kinds=("tables",), doc="The layers from the top: [[strata.layers]]."),
        ),
    )  # fmt: skip


def stratum_table() -> Table:
    """Keys of one layer of the strata."""
    docs = {
        "thickness": "Measured vertically, or a share of the relief; the lowest layer has no lower limit.",
        "erodibility": "0 (hard) .. 1 (soft).",
        "flow_erosion": "K_q of velocity_field; by default the model's value times the erodibility.",
        "collision_erosion": "K_e of velocity_field; by default the model's value times the erodibility.",
        "transport_capacity": "K_c of velocity_field; by default the model's value.",
    }
    return Table(
        name="strata.layers",
        doc="One geological layer.",
        entries=tuple(
            Entry(
                name=f.name, kinds=("number",), doc=docs[f.name], units="m" if f.name == "thickness" else "",
                default="1" if f.name == "erodibility" else "",
            )
            for f in dataclasses.fields(Stratum)
        ),
    )  # fmt: skip


def _disc() -> tuple[Entry, ...]:
    return (
        Entry(name="x", kinds=("number",), units="m", doc="Centre, to the east of the north-west corner."),
        Entry(name="y", kinds=("number",), units="m", doc="Centre, to the south of the north-west corner."),
        Entry(name="radius", kinds=("number",), units="m", doc="Of the disc."),
    )


def water_source_table() -> Table:
    """Keys of a water source."""
    rate = Entry(
        name="rate", kinds=("number",), units="m per unit of model time", doc="Depth of water added to each cell of it."
    )
    return Table(name="water_sources", doc="A disc where water wells up.", entries=(*_disc(), rate))


def emitter_table() -> Table:
    """Keys of an emitter."""
    return Table(
        name="emitters",
        doc="A disc where particles start, for models that have them.",
        entries=(
            *_disc(),
            Entry(name="rate", kinds=("number",), units="1/s", doc="Particles per second."),
            Entry(name="speed", kinds=("number",), default="0", units="m/s", doc="Horizontal speed at the start."),
            Entry(name="direction", kinds=("number",), default="0", units="°", doc="Clockwise from north."),
        ),
    )


def stage_table() -> Table:
    """Keys of a stage."""
    return Table(
        name="stages",
        doc="A preset, or a model with its paper's defaults, at work for some steps.",
        entries=(
            Entry(name="name", kinds=("text",), doc="What --set calls the stage, besides its preset or model."),
            Entry(
                name="preset", kinds=("text",), choices=tuple(presets()), default="landscape",
                doc="Parameter set; it brings its steps, settling, edges, levels and strata.",
            ),
            Entry(
                name="model", kinds=("text",), choices=model_names(),
                doc="Model with its paper's defaults instead of a preset: 1000 steps, no settling, open edges.",
            ),
            Entry(
                name="steps", kinds=("integer",), default="that of the preset",
                doc="Iterations to run; those of all levels together.",
            ),
            Entry(
                name="strength", kinds=("number",), default="1",
                doc="Share of the preset's own steps instead of steps: 0.3 for a young landscape.",
            ),
            Entry(
                name="settle", kinds=("integer", "boolean"), default="what suits the preset and the steps",
                doc="Steps in which the water comes to rest before its sediment is deposited; true for the preset's "
                "own number, false leaves the sediment in the water.",
            ),
            Entry(name="dry", kinds=("boolean",), default="false", doc="Whether the water evaporates at the end."),
            Entry(
                name="edges", kinds=("text", "table"), choices=EDGES, default="that of the preset, or open",
                doc="What lies beyond the border, or a table with one word for each side: north, south, west, east.",
            ),
            Entry(
                name="gullies", kinds=("number",), default="that of the preset",
                doc="Depth of fine gullies that are drawn at the end; 0.5 is a good one. Mass is not conserved then.",
            ),
            Entry(
                name="detail", kinds=("number",), default="that of the preset",
                doc="Height of the noise that each level adds, in cells on a slope of one.",
            ),
            Entry(
                name="restored", kinds=("number",), default="that of the preset",
                doc="Share of the start's own fine detail that returns at each level.",
            ),
            Entry(
                name="basins", kinds=("text",), choices=get_args(Basins), default="that of the preset",
                doc="What the first level does about closed basins: drains them (breached), fills them (lakes).",
            ),
            Entry(
                name="parameters", kinds=("table",),
                doc="Parameters of the model, on every level; `slopewash models NAME` lists them.",
            ),
            Entry(
                name="low_water", kinds=("table",), default="that of the preset",
                doc="Parameters for the steps after the last level, when the flood recedes.",
            ),
            Entry(
                name="levels", kinds=("tables",), default="those of the preset",
                doc="What is done on grids from coarse to fine, up to the terrain's own: [[stages.levels]].",
            ),
        ),
    )  # fmt: skip


def edges_table() -> Table:
    """Keys of edges that differ from side to side."""
    return Table(
        name="edges",
        doc="What lies beyond each side.",
        entries=tuple(
            Entry(name=f.name, kinds=("text",), choices=EDGES, doc=f"What lies beyond the {f.name} side.")
            for f in dataclasses.fields(Sides)
        ),
    )


def level_table() -> Table:
    """Keys of a level of a stage."""
    return Table(
        name="stages.levels",
        doc="What is done on a grid of so many cells; grids between two levels do something between.",
        entries=(
            Entry(name="cells", kinds=("integer",), doc="Cells along the longer side."),
            Entry(name="steps", kinds=("integer",), doc="Iterations on it."),
            Entry(name="settle", kinds=("integer",), doc="Steps of settling on it."),
            Entry(name="parameters", kinds=("table",), doc="Parameters that differ from level to level: numbers."),
        ),
    )


def map_table() -> Table:
    """Keys of a parameter that differs from place to place."""
    return Table(
        name="stages.parameters.NAME",
        doc="A map of a parameter: its values come from a file, or from a layer of the terrain.",
        entries=(
            Entry(name="file", kinds=("text",), doc="File of one channel, relative to the recipe; resampled to fit."),
            Entry(name="layer", kinds=("text",), doc="Name of a layer, instead of a file."),
            Entry(
                name="range", kinds=("numbers",), count=2, default="values as they are",
                doc="What 0 and 1 of the map stand for, or black and white of a picture.",
            ),
        ),
    )  # fmt: skip


def parameters_table(model: str) -> Table:
    """Parameters of a model as keys."""
    return Table(
        name="stages.parameters",
        doc=f"Parameters of {model}.",
        entries=tuple(map(_parameter_entry, find_model(model).parameters())),
    )


def _parameter_entry(declared: Parameter) -> Entry:
    kinds: tuple[Kind, ...] = ("number",)
    choices = declared.choices
    if choices:
        kinds = ("text",)
    elif isinstance(declared.default, bool):
        kinds = ("boolean",)
    elif declared.none is not None:
        kinds, choices = ("number", "text"), ("none",)
    elif declared.mappable is not None:
        kinds = ("number", "table")
    default = str(declared.default).lower() if isinstance(declared.default, bool) else str(declared.default)
    if declared.none is not None and declared.default == declared.none:
        default = "none"
    return Entry(
        name=declared.name, kinds=kinds, doc=declared.doc, choices=choices, default=default, units=declared.units,
    )  # fmt: skip
