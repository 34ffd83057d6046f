"""Houdini and other readers of USD: a mesh with layers as primvars, and EXR with a channel per layer."""

from __future__ import annotations

from slopewash.exports.card import Card, Entry
from slopewash.exports.job import Job
from slopewash.exports.sizes import Sizes
from slopewash.exports.surface_mesh import ground_mesh, water_mesh
from slopewash.exports.usd_scene import write_usd
from slopewash.io import write as write_file

SIZES = Sizes(target="houdini", largest=8192, tiled=False)
HEIGHTS = ("exr",)
PAINTED = True
NAMES = r"terrain\.usdc|layers\.exr|(weight_.*|colour|normal|nodata)\.png"


def write(job: Job) -> Card:
    """Write the mesh, every layer, colour and normal map, and one weight map per paint."""
    ground, water = ground_mesh(job.terrain), water_mesh(job.terrain)
    job.files.append(write_usd(ground, water, job.colours, job.folder / "terrain.usdc"))
    job.files.append(write_file(job.terrain, job.folder / "layers.exr"))
    for name, values in job.images():
        job.image(values, f"{name}.png")
    for name, weight in job.weights.items():
        job.image(weight, f"weight_{name}.png")
    rows, columns = job.terrain.shape
    cell = job.terrain.cell_size
    entries = (
        Entry(
            "mesh_file", "USD", "terrain.usdc", "/terrain/ground with vertex colours, and /terrain/water if any; y up"
        ),
        Entry("primvars", "Primvars", tuple(ground.attributes), "one value per vertex"),
        Entry("layers_file", "HeightField File", "layers.exr", "a channel per layer, in the units of slopewash info"),
        Entry("channel", "Height channel", "elevation"),
        Entry("grid_spacing", "Grid spacing", cell, "metres"),
        Entry("size", "Size", (columns * cell, rows * cell), "metres, X and Z"),
        Entry("samples", "Samples", (columns, rows)),
        Entry("height_scale", "Height scale", 1.0),
        Entry("heights", "Heights", (float(job.heights.min()), float(job.heights.max())), "metres"),
    )
    steps = (
        "Solaris: a Sublayer or Reference of terrain.usdc. In a SOP network: USD Import.",
        "As a height field instead: HeightField File with layers.exr, one layer per channel.",
        "x runs east and z south, from the north-west corner.",
    )
    return Card("houdini", "Houdini", entries, steps)
