"""Files that pages begin with: what a reader has already, by the name that pages give it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

import slopewash as sw

CELLS = 40


def heights(cells: int = CELLS, relief: float = 800.0) -> np.ndarray:
    return sw.generate("dome", size=cells, seed=2, relief=relief)["elevation"]


def grey_picture(file: Path) -> None:
    """16 bits, as other programs write them: nothing says what black and white are."""
    Image.fromarray(np.rint(heights(96) / 900 * 65535).astype(np.uint16)).save(file)


def mask(file: Path) -> None:
    """White in the east."""
    Image.fromarray(np.tile(np.linspace(0, 65535, 64), (64, 1)).astype(np.uint16)).save(file)


def survey(file: Path) -> None:
    """A GeoTIFF of a real place, with cells without data."""
    import rasterio

    ground = heights(64).astype(np.float32)
    ground[:3, :3] = -9999.0
    place = rasterio.Affine(30, 0, 500_000, 0, -30, 4_600_000)
    common = {"driver": "GTiff", "width": 64, "height": 64, "count": 1, "dtype": "float32", "nodata": -9999.0}
    with rasterio.open(file, "w", crs="EPSG:32633", transform=place, **common) as raster:
        raster.write(ground, 1)


def degrees(file: Path) -> None:
    """An SRTM tile of three seconds; the name has its corner."""
    ground = np.kron(heights(41), np.ones((30, 30)))[:1201, :1201]
    whole = np.zeros((1201, 1201))
    whole[: ground.shape[0], : ground.shape[1]] = ground
    file.write_bytes(np.rint(whole).astype(">i2").tobytes())


def peak(file: Path) -> None:
    sw.write(sw.generate("cone", size=64, cell_size=30.0), file)


def raw(file: Path) -> None:
    sw.write(sw.generate("dome", size=CELLS, seed=7), file)


def eroded(file: Path) -> None:
    sw.write(sw.erode(sw.generate("dome", size=CELLS, seed=7), "landscape", seed=7), file)


INPUTS: dict[str, Callable[[Path], None]] = {
    "island.png": grey_picture,
    "heightmap.png": grey_picture,
    "rain.png": mask,
    "rock.png": mask,
    "keep.png": mask,
    "dem.tif": survey,
    "mosaic.tif": survey,
    "survey.tif": survey,
    "peak.tif": peak,
    "N37W119.hgt": degrees,
    "raw.exr": raw,
    "eroded.exr": eroded,
}
