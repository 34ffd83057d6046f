"""Unreal Engine: 16-bit PNG or .r16 with rows from the north, and 8-bit weights that sum to 255."""

from __future__ import annotations

from slopewash.exports.card import Card, Entry
from slopewash.exports.heights16 import write_png, write_raw
from slopewash.exports.job import Job
from slopewash.exports.sizes import UNREAL, Sizes
from slopewash.exports.tiles import cut

SIZES = Sizes(target="unreal", sides=UNREAL, largest=UNREAL[-1], shared_edges=True)
HEIGHTS = ("png", "r16")
PAINTED = True
NAMES = r"(height|weight_.*|colour|normal|nodata)(_x\d+_y\d+)?\.(png|r16)"

STEPS_PER_SCALE = 128
"""A 16-bit step is 1/128 of the Z scale, in centimetres."""
MIDDLE = 32768
"""The step at the height of the landscape actor."""


def tile_suffix(x: int, y: int) -> str:
    """Name tiles from the north-west; Unreal takes numbers joined by x, as in 2x2, for a size.

    >>> tile_suffix(1, 0)
    '_x1_y0'
    """
    return f"_x{x}_y{y}"


def write(job: Job) -> Card:
    """Write heights, one weight map per paint, colour and normal map."""
    heights, texts = job.steps, job.steps.texts(job.notes)
    for tile in cut(job.plan, tile_suffix):
        path = job.folder / f"height{tile.suffix}.{job.heights_as}"
        samples = tile.of(heights.samples)
        job.files.append(
            write_png(samples, path, job.terrain.cell_size, texts)
            if job.heights_as == "png"
            else write_raw(samples, path)
        )
        for name, weight in job.weights.items():
            job.image(tile.of(weight), f"weight_{name}{tile.suffix}.png")
    for name, values in job.images(green_up=False):
        for tile in cut(job.plan, tile_suffix):
            job.image(tile.of(values), f"{name}{tile.suffix}.png")
    return _card(job)


def _card(job: Job) -> Card:
    heights, spacing, side = job.steps, job.terrain.cell_size, job.plan.tile[0]
    first = next(iter(cut(job.plan, tile_suffix))).suffix
    entries = (
        Entry("height_file", "Heightmap file", f"height{first}.{job.heights_as}", _tiles_remark(job)),
        Entry("resolution", "Overall resolution", (side, side), "vertices of one file"),
        Entry("scale_x", "Scale X", 100 * spacing, "centimetres between vertices"),
        Entry("scale_y", "Scale Y", 100 * spacing),
        Entry("scale_z", "Scale Z", 100 * heights.step * STEPS_PER_SCALE, "height range in m x 100 / 512"),
        Entry(
            "location_z", "Location Z", 100 * (heights.low + MIDDLE * heights.step),
            "centimetres; puts heights at their true elevation",
        ),
        Entry("height_range", "Height range", (heights.low, heights.high), "metres of the steps 0 and 65535"),
        Entry("step", "One step", heights.step, "metres"),
        Entry("extent", "Extent", tuple((n - 1) * spacing for n in job.plan.whole[::-1]), "metres, east and south"),
        Entry("layers", "Weight layers", tuple(job.weights), "weight-blended; they sum to 255 in every pixel"),
    )  # fmt: skip
    steps = [
        "Landscape mode, Manage, New, Import from File: choose the heightmap file.",
        "Type in Scale and Location, then Import. Resolution and components follow from the file.",
        "Assign a landscape material with layers of these names. In Paint, create a weight-blended layer info for "
        "each, then right-click it, Import from File: weight_NAME.png.",
        "colour.png is sRGB; normal.png has green to the south (DirectX), as Unreal expects.",
    ]
    if job.plan.tiles != (1, 1):
        edges = (
            "share their edge vertices (World Composition)" if job.plan.shared else "do not overlap (World Partition)"
        )
        steps.insert(1, f"Tiles count from the north-west, x to the east and y to the south; they {edges}.")
    if job.missing is not None:
        steps.append("nodata.png is white where the terrain has no data; heights are filled in there.")
    return Card("unreal", "Unreal Engine", entries, tuple(steps))


def _tiles_remark(job: Job) -> str:
    columns, rows = job.plan.tiles
    return "" if (columns, rows) == (1, 1) else f"{columns} columns and {rows} rows of files, _xCOLUMN_yROW"
