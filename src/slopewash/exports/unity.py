"""Unity: RAW of 16 bits, little-endian, rows from the south, and RGBA splat maps of four paints each."""

from __future__ import annotations

import numpy as np

from slopewash.exports.card import Card, Entry
from slopewash.exports.heights16 import write_raw
from slopewash.exports.job import Job
from slopewash.exports.sizes import UNITY, Sizes
from slopewash.exports.surface_maps import mean_of_four
from slopewash.exports.tiles import cut
from slopewash.exports.weights import as_bytes, between_vertices

SIZES = Sizes(target="unity", sides=UNITY, largest=UNITY[-1], shared_edges=True)
HEIGHTS = ("raw",)
PAINTED = True
NAMES = r"height(_\d+_\d+)?\.raw|(splat_\d+|colour|normal|nodata)(_\d+_\d+)?\.png"

CHANNELS = 4


def write(job: Job) -> Card:
    """Write heights at 2ⁿ + 1 vertices, and splats, colours and normals for the 2ⁿ cells between them."""
    rows = job.plan.tiles[1]

    def suffix(x: int, y: int) -> str:
        return f"_{x}_{rows - 1 - y}"  # Unity counts along z, which runs north

    for tile in cut(job.plan, suffix):
        flipped = tile.of(job.steps.samples)[::-1]
        job.files.append(write_raw(flipped, job.folder / f"height{tile.suffix}.raw"))
    weights = as_bytes(between_vertices(job.shares))
    layers = [*weights.values()]
    layers += [np.zeros_like(layers[0])] * (-len(layers) % CHANNELS)
    splats = [np.stack(layers[k : k + CHANNELS], axis=-1) for k in range(0, len(layers), CHANNELS)]
    images = [(f"splat_{number}", splat) for number, splat in enumerate(splats)]
    images += [(name, mean_of_four(values)) for name, values in job.images()]
    for name, values in images:
        for tile in cut(job.plan, suffix, cells=True):
            job.image(tile.of(values), f"{name}{tile.suffix}.png")
    return _card(job, list(weights), next(iter(cut(job.plan, suffix))).suffix)


def _card(job: Job, paints: list[str], first: str) -> Card:
    heights, spacing, side = job.steps, job.terrain.cell_size, job.plan.tile[0]
    extent = (side - 1) * spacing
    entries = (
        Entry("height_file", "Raw file", f"height{first}.raw", _tiles_remark(job)),
        Entry("depth", "Depth", "Bit 16"),
        Entry("resolution", "Resolution", side, "width and height of the raw file"),
        Entry("byte_order", "Byte order", "Windows", "little-endian"),
        Entry("flip_vertically", "Flip vertically", False, "rows run from south to north already"),
        Entry("terrain_width", "Terrain width (X)", extent, "metres"),
        Entry("terrain_length", "Terrain length (Z)", extent, "metres"),
        Entry("terrain_height", "Terrain height (Y)", heights.high - heights.low, "metres"),
        Entry("position_y", "Position Y", heights.low, "metres; puts heights at their true elevation"),
        Entry("control_resolution", "Control texture resolution", side - 1, "of the splat maps"),
        Entry("layers", "Terrain layers", tuple(paints), "in the order of R, G, B, A of splat_0, then splat_1"),
    )
    steps = [
        "Terrain settings, Import Raw: choose the raw file and type in the numbers.",
        "Create a terrain layer for each name, in this order.",
        "Splat maps have north at the top, as textures do: import them without compression and sRGB, and copy their "
        "channels with TerrainData.SetAlphamaps.",
        "normal.png has green to the north (OpenGL), as Unity expects.",
    ]
    if job.plan.tiles != (1, 1):
        steps.insert(1, "Tiles are named _X_Z from the south-west, X to the east and Z to the north; they share edges.")
    if job.missing is not None:
        steps.append("nodata.png is white where the terrain has no data; heights are filled in there.")
    return Card("unity", "Unity", entries, tuple(steps))


def _tiles_remark(job: Job) -> str:
    columns, rows = job.plan.tiles
    return "" if (columns, rows) == (1, 1) else f"{columns} x {rows} files, _X_Z"
