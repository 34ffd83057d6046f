"""Blender: GLB with texture and water, PLY with layers as vertex attributes, EXR of the heights."""

from __future__ import annotations

import numpy as np

from slopewash.exports.card import Card, Entry
from slopewash.exports.files import write_rgb_exr
from slopewash.exports.glb_scene import write_glb
from slopewash.exports.job import Job
from slopewash.exports.sizes import Sizes
from slopewash.exports.surface_mesh import ground_mesh, water_mesh
from slopewash.io import ply
from slopewash.io.mesh_parts import Parts

SIZES = Sizes(target="blender", largest=8192, tiled=False)
HEIGHTS = ("exr",)
PAINTED = True
NAMES = r"terrain\.(glb|ply)|height\.exr|(weight_.*|colour|normal|nodata)\.png"


def write(job: Job) -> Card:
    """Write the meshes, the heights, colour and normal map, and one weight map per paint."""
    ground, water = ground_mesh(job.terrain), water_mesh(job.terrain)
    job.files.append(write_glb(ground, water, job.colours, job.folder / "terrain.glb"))
    points = ground.points[:, [0, 2, 1]].astype(np.float64) * np.array([1.0, -1.0, 1.0])
    cloud = job.folder / "terrain.ply"
    ply.write(Parts(points, ground.triangles.astype(np.int32), ground.attributes), cloud)
    job.files.append(cloud)
    job.files.append(write_rgb_exr(job.heights, job.folder / "height.exr"))
    for name, values in job.images():
        job.image(values, f"{name}.png")
    for name, weight in job.weights.items():
        job.image(weight, f"weight_{name}.png")
    return _card(job, triangles=2 * len(ground.quads), attributes=list(ground.attributes), watery=water is not None)


def _card(job: Job, *, triangles: int, attributes: list[str], watery: bool) -> Card:
    rows, columns = job.terrain.shape
    cell = job.terrain.cell_size
    entries = (
        Entry("mesh_file", "Mesh", "terrain.glb", f"{triangles} triangles{', with a water surface' if watery else ''}"),
        Entry("attributes_file", "Mesh with layers", "terrain.ply", "File, Import, Stanford PLY: Forward Y, Up Z"),
        Entry("attributes", "Vertex attributes", tuple(attributes)),
        Entry("height_file", "Displacement", "height.exr", "Non-Color; metres in R, G and B"),
        Entry("plane_size", "Size of the plane", ((columns - 1) * cell, (rows - 1) * cell), "metres, X and Y"),
        Entry("subdivisions", "Grid of the plane", (columns, rows), "vertices: one per pixel"),
        Entry("displacement_strength", "Strength", 1.0),
        Entry("displacement_midlevel", "Midlevel", 0.0),
        Entry("clip_end", "View, Clip End", float(4 * max(rows, columns) * cell), "metres, to see all of it"),
        Entry("heights", "Heights", (float(job.heights.min()), float(job.heights.max())), "metres"),
    )
    steps = (
        "File, Import, glTF 2.0: terrain.glb comes with its texture; north is +Y, east is +X.",
        "For displacement instead: a grid of this size and these vertices, a Displace modifier with height.exr.",
        "normal.png has green to the north (OpenGL) and is Non-Color.",
    )
    return Card("blender", "Blender", entries, steps)
