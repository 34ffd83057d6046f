"""Godot with Terrain3D: heights in metres as EXR with channels R, G and B, and a control map."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from slopewash.errors import InvalidParameter
from slopewash.exports.card import Card, Entry
from slopewash.exports.files import write_exr, write_rgb_exr
from slopewash.exports.heights16 import write_raw
from slopewash.exports.job import Job
from slopewash.exports.sizes import Shape, Sizes
from slopewash.exports.terrain3d import control_map
from slopewash.exports.tiles import cut
from slopewash.remedies import option

MOST_REGIONS = 32
"""Along a side of the world."""
REGION_SIZES = (64, 128, 256, 512, 1024, 2048)
USUAL_REGION = 256
SIZES = Sizes(target="godot", largest=16384)
HEIGHTS = ("exr", "r16")
PAINTED = True
NAMES = r"(height|control)(_\d+_\d+)?\.(exr|r16)|(colour|normal)(_\d+_\d+)?\.png"

NEUTRAL = 128
"""Alpha of the colour map: it changes the roughness of a texture, and half leaves it as it is."""


def tile_suffix(x: int, y: int) -> str:
    """Name tiles from the north-west, as x and z count in Godot.

    >>> tile_suffix(1, 0)
    '_1_0'
    """
    return f"_{x}_{y}"


def write(job: Job) -> Card:
    """Write heights, control map, colour map and normal map."""
    region_size(job.plan.whole, job.plan.tile)  # what does not fit raises before anything is written
    control = control_map(job.shares, job.terrain.nodata)
    empty = np.zeros_like(control)
    colours = np.dstack([job.colours, np.full(job.colours.shape[:2], NEUTRAL, np.uint8)])
    for tile in cut(job.plan, tile_suffix):
        if job.heights_as == "exr":
            path = write_rgb_exr(tile.of(job.heights), job.folder / f"height{tile.suffix}.exr")
        else:
            path = write_raw(tile.of(job.steps.samples), job.folder / f"height{tile.suffix}.r16")
        job.files.append(path)
        bits = {"R": tile.of(control), "G": tile.of(empty), "B": tile.of(empty)}
        job.files.append(write_exr(bits, job.folder / f"control{tile.suffix}.exr"))
        job.image(tile.of(colours), f"colour{tile.suffix}.png")
        job.image(tile.of(job.normals()), f"normal{tile.suffix}.png")
    return _card(job)


def region_size(whole: Shape, tile: Shape) -> int:
    """Return the smallest region, from the usual 256 up, of which 32 span the terrain; tiles must fill their regions.

    >>> region_size((2048, 2048), (2048, 2048)), region_size((16384, 8192), (4096, 4096))
    (256, 512)
    """
    enough = [size for size in REGION_SIZES if size >= -(-max(whole) // MOST_REGIONS)]
    if tile == whole:  # the rest of the last region is padded by Terrain3D
        return max(USUAL_REGION, enough[0])
    filled = [size for size in enough if tile[0] % size == 0 and tile[1] % size == 0]
    if not filled:
        step = enough[0]
        below = max(max(tile) // step * step, step)
        raise InvalidParameter(
            f"tiles of {tile[1]} x {tile[0]} vertices do not fill the regions of Terrain3D; the nearest sizes are "
            f"{below} and {below + step}; choose one with "
            f"{option('size', table='[[outputs]]')} and {option('fit', table='[[outputs]]')}"
        )
    return min(filled, key=lambda size: abs(size - USUAL_REGION))


def _card(job: Job) -> Card:
    rows, columns = job.plan.whole
    region = region_size(job.plan.whole, job.plan.tile)
    west, north = (-(-n // (2 * region)) * region for n in (columns, rows))
    low, high = float(job.heights.min()), float(job.heights.max())
    entries = [
        Entry("height_file", "Height file name", f"height{_first(job)}.{job.heights_as}"),
        Entry("control_file", "Control file name", f"control{_first(job)}.exr"),
        Entry("color_file", "Color file name", f"colour{_first(job)}.png"),
        Entry("resolution", "Size", job.plan.tile[::-1], "vertices, east and south"),
        Entry("vertex_spacing", "Vertex spacing", job.terrain.cell_size, "metres, of your node, not of the importer"),
        Entry("region_size", "Region size", region, "vertices; of the importer and of your node"),
        Entry("import_scale", "Import scale", 1.0, "heights are metres") if job.heights_as == "exr"
        else Entry("r16_range", "R16 range", (job.steps.low, job.steps.high), "metres"),
        Entry("r16_size", "R16 size", job.plan.tile[::-1]) if job.heights_as == "r16"
        else Entry("height_offset", "Height offset", 0.0),
        Entry("height_range", "Heights", (low, high), "metres, for checking"),
        Entry("textures", "Textures", _numbered(job.shares), "numbers of the control map"),
    ]  # fmt: skip
    for tile in cut(job.plan, tile_suffix):
        place = (tile.columns.start - west, 0, tile.rows.start - north)
        label = f"Import position {tile.suffix[1:]}".strip()
        entries.append(Entry(f"import_position{tile.suffix}", label, place, "whole regions, at a vertex spacing of 1"))
    steps = [
        "Open addons/terrain_3d/tools/importer.tscn and choose the files on the Importer node.",
        "Set its region size, type in the numbers, leave its vertex spacing at 1, run the import, save to disk.",
        "Give your own Terrain3D node textures in the order of their numbers, and this vertex spacing and region size.",
        "Rows run from north (-Z) to south (+Z). normal.png has green to the north (OpenGL).",
    ]
    if job.terrain.nodata is not None:
        steps.append("Cells without data are holes in the control map; heights are filled in there.")
    return Card("godot", "Godot with Terrain3D", tuple(entries), tuple(steps))


def _numbered(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{number} {name}" for number, name in enumerate(names))


def _first(job: Job) -> str:
    return next(iter(cut(job.plan, tile_suffix))).suffix
