"""The kinds of output that every recipe can have: data and pictures."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slopewash.claims import Claim
from slopewash.errors import InvalidFile, InvalidParameter, RangeWarning, unknown_name
from slopewash.io import is_mesh_file, write
from slopewash.io.formats import format_of
from slopewash.io.masks import mask_names, write_masks
from slopewash.io.notes import MADE_BY, notes_text
from slopewash.io.options import HeightRange
from slopewash.io.raw import sidecar
from slopewash.models import find_model, model_names
from slopewash.paths import make_folder
from slopewash.recipes.entries import Entry
from slopewash.recipes.outputs import Options, OutputKind, register_output
from slopewash.terrain import Terrain

if TYPE_CHECKING:
    from slopewash.recipes.results import Result


WATER_TO_SEE = ("river", "lake")
"""Layers that no model yields: they are drawn along the drainage when asked for."""


def _check_terrain(path: Path, options: Options) -> None:
    format = None if is_mesh_file(path) else format_of(path)
    one_layer = format is not None and not format.all_layers
    is_map = path.suffix.lower() in (".tif", ".tiff")
    takes = {"layer": one_layer, "height_range": format is not None and format.whole_numbers, "cog": is_map}
    if options.get("cog") and not is_map:
        raise InvalidParameter(f"cog is given, but {path} is not a GeoTIFF; name a .tif file, or leave it out")
    for name in options:
        if not takes[name]:
            holds = "one layer in metres" if one_layer else "every layer in metres" if format else "a mesh"
            raise InvalidParameter(f"{name} is given, but {path} holds {holds}; leave it out")


def _write_terrain(result: Result, path: Path, **options: Any) -> Sequence[Path]:
    mesh = result.mesh if is_mesh_file(path) else None
    terrain = result.terrain
    if options.pop("cog", False):
        from slopewash.io.gdal_writing import write_geotiff

        layers = tuple(terrain) if "layer" not in options else (options["layer"],)
        return write_geotiff(terrain, path, layers=layers, notes=result.notes)
    if "height_range" in options:
        terrain = _within(terrain, options.get("layer", "elevation"), options["height_range"], path)
    write(terrain if mesh is None else mesh, path, notes=result.notes, **options)
    return [path, sidecar(path)] if path.suffix.lower() in (".r16", ".raw") else [path]


def _within(terrain: Terrain, layer: str, height_range: HeightRange, path: Path) -> Terrain:
    """Limit a layer to a range: nobody knows before a run how deep it will cut, and its result must not be lost."""
    values, (low, high) = terrain[layer], height_range
    outside = int(((values < low) | (values > high)).sum())
    if not outside:
        return terrain
    found = "{:g} .. {:g}".format(*terrain.range(layer))
    warnings.warn(
        f"{layer} spans {found}, so {outside} cells ({outside / values.size:.2%}) outside {low:g} .. {high:g} are "
        f"black or white in {path}; widen the height range",
        RangeWarning,
        stacklevel=2,
    )
    return terrain.replace(**{layer: values.clip(low, high)})


TERRAIN = register_output(
    OutputKind(
        name="terrain",
        doc="The terrain as data; the suffix of the path selects the format. "
        ".exr and .npz keep every layer, .glb, .obj, .ply and .stl a mesh.",
        options=(
            Entry(
                name="layer", kinds=("text",), default="elevation",
                doc="Layer to write to a format that holds one (.png, .tif, .r16, .raw, .npy).",
            ),
            Entry(
                name="height_range", kinds=("numbers",), count=2, default="the range of the layer", units="m",
                doc="Heights of black and of white in 16-bit files (.png, .r16, .raw).",
            ),
            Entry(
                name="cog", kinds=("boolean",), default="false",
                doc="Write a cloud-optimised .tif: tiled, compressed, with overviews, one band per layer. Needs the "
                "gis extra.",
            ),
        ),
        check=_check_terrain,
        write=_write_terrain,
    )
)  # fmt: skip


def _check_layers(path: Path, options: Options) -> None:
    if path.suffix:
        raise InvalidFile(f"{path} is to hold several layers, so it must be a folder, without a suffix")
    if not options.get("layers"):
        raise InvalidParameter('layers is missing; name the layers to write, such as layers = ["flow", "wear"]')
    check_layer_names(options["layers"])


def check_layer_names(names: Sequence[str]) -> None:
    """Refuse a layer that no model yields."""
    known = [*WATER_TO_SEE, *(name for model in map(find_model, model_names()) for name in model.layers())]
    for name in names:
        if name not in known:
            error = unknown_name("layer", name, known)
            raise type(error)(f"layers: {error}")


def _write_layers(result: Result, path: Path, *, layers: Sequence[str]) -> Sequence[Path]:
    make_folder(path)
    return write_masks(with_rivers(result.terrain, layers), path, layers, result.notes)


def with_rivers(terrain: Terrain, layers: Sequence[str]) -> Terrain:
    """Return the terrain with rivers and lakes along its drainage, where a layer of them is wanted and missing."""
    from slopewash.analysis.rivers import add_water  # which takes long to load

    return add_water(terrain) if any(name in WATER_TO_SEE and name not in terrain for name in layers) else terrain


def _claim_layers(path: Path, options: Options) -> Claim:
    return Claim(path, path, mask_names(options.get("layers", ())))


LAYERS = register_output(
    OutputKind(
        name="layers",
        doc="Layers as 16-bit grey pictures for texturing, in a folder: NAME.png for each, and layers.json with the "
        "scale (linear, or logarithmic for flow), the range and the units of each.",
        options=(
            Entry(
                name="layers",
                kinds=("texts",),
                doc='Names of layers, such as ["flow", "wear", "deposit"]; "river" and "lake" are drawn along the '
                "drainage.",
            ),
        ),
        check=_check_layers,
        write=_write_layers,
        claim=_claim_layers,
    )
)


def _check_picture(path: Path, options: Options) -> None:
    if path.suffix.lower() != ".png":
        raise InvalidFile(f"picture {path} must end in .png")
    view = options.get("view", "map")
    for name in options:
        if view == "map" and name in ("azimuth", "pitch", "zoom", "heading"):
            raise InvalidParameter(f'{name} is given, but the view is a map; add view = "block" or "inside"')


def _write_picture(
    result: Result, path: Path, *, view: str = "map", water: str = "auto", width: int | None = None, **options: Any
) -> Sequence[Path]:
    from slopewash.analysis.rivers import add_water  # a run without pictures does not load what draws them
    from slopewash.rendering import render, render_view
    from slopewash.rendering.picture import save

    terrain = result.terrain
    if water == "rivers":
        water = "auto"
        terrain = terrain if "river" in terrain or "lake" in terrain else add_water(terrain)
    if options.get("snow_line") == "none":
        options["snow_line"] = None
    if view == "map":
        drawn = render(terrain, water=water, width=width, **options)  # type: ignore[arg-type]
    else:
        across = 1600 if width is None else width
        size = (across, round(across * 0.625))
        drawn = render_view(terrain, camera=view, water=water, size=size, **options)  # type: ignore[arg-type]
    save(drawn, path, {MADE_BY: notes_text(result.notes)})
    return [path]


PICTURE = register_output(
    OutputKind(
        name="picture",
        doc="A picture of the terrain as a landscape, a .png file.",
        options=(
            Entry(
                name="view", kinds=("text",), choices=("map", "block", "inside"), default="map",
                doc="From straight above, the whole terrain as a block, or from a valley inside it.",
            ),
            Entry(
                name="water", kinds=("text",), choices=("auto", "rivers", "simulated", "none"), default="auto",
                doc="rivers draws rivers and lakes along the drainage, simulated the depth of the run; auto is rivers "
                "where the terrain has them, else simulated.",
            ),
            Entry(
                name="palette", kinds=("text",), choices=("alpine", "autumn", "winter", "desert", "green", "plain"),
                default="alpine", doc="Colours of ground and plants.",
            ),
            Entry(
                name="season", kinds=("text",), choices=("summer", "autumn", "winter", "desert"), default="summer",
                doc="Plants, stone and snow of a season.",
            ),
            Entry(
                name="sun", kinds=("text", "numbers"), choices=("morning", "noon", "evening", "map"), count=2,
                default="map", units="°", doc="Time of day, or azimuth and altitude of the sun.",
            ),
            Entry(
                name="snow_line", kinds=("number", "text"), choices=("auto", "none"), default="auto", units="m",
                doc="Height above which snow lies.",
            ),
            Entry(
                name="width", kinds=("integer",), default="1600 for a view, one pixel per cell for a map",
                units="pixels", doc="Width of the picture.",
            ),
            Entry(name="exaggeration", kinds=("number",), default="1", doc="Factor on heights."),
            Entry(
                name="azimuth", kinds=("number",), default="205", units="°",
                doc="Direction of the camera as seen from the block, clockwise from north.",
            ),
            Entry(
                name="pitch", kinds=("number",), default="30 for the block", units="°",
                doc="Angle by which the camera looks down.",
            ),
            Entry(name="zoom", kinds=("number",), default="1", doc="Magnification of a view."),
            Entry(
                name="heading", kinds=("number",), default="that with the best view", units="°",
                doc="Direction to look in from inside, clockwise from north.",
            ),
        ),
        check=_check_picture,
        write=_write_picture,
        drawn=True,
    )
)  # fmt: skip
