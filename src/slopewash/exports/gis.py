"""Geographic information systems: one GeoTIFF per layer, with georeference and nodata."""

from __future__ import annotations

from slopewash.exports.card import Card, Entry
from slopewash.exports.job import Job
from slopewash.exports.sizes import Sizes
from slopewash.io import write as write_file
from slopewash.paths import file_in

SIZES = Sizes(target="gis", largest=65536, tiled=False)
HEIGHTS = ("tif",)
PAINTED = False
NAMES = r"LAYER\.tif"


def write(job: Job) -> Card:
    """Write every layer as it is."""
    terrain = job.terrain
    for name in terrain:
        job.files.append(write_file(terrain, file_in(job.folder, f"{name}.tif", "layer"), layer=name))
    rows, columns = terrain.shape
    entries = [
        Entry("files", "Files", tuple(f"{name}.tif" for name in terrain), "one layer each, float32"),
        Entry("units", "Units", tuple(f"{name}: {terrain.units(name) or 'none'}" for name in terrain)),
        Entry("crs", "Coordinate system", terrain.crs or "none", "" if terrain.crs else "assign one in the program"),
        Entry("cell_size", "Cell size", terrain.cell_size, "metres"),
        Entry("raster_size", "Size", (columns, rows), "cells, east and south"),
        Entry("nodata_cells", "Cells without data", 0 if terrain.nodata is None else int(terrain.nodata.sum())),
    ]
    if terrain.transform is not None:
        entries.append(Entry("transform", "Transform", terrain.transform, "x and y of (column, row)"))
    return Card("gis", "GIS", tuple(entries), ("Open the files as raster layers; QGIS: Layer, Add Raster Layer.",))
