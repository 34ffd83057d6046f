"""TIFF and GeoTIFF: reads integers or floats of any depth, writes float32 metres."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidFile
from slopewash.io.cells import cannot_measure
from slopewash.io.decoding import Damaged, decoding
from slopewash.io.gathering import gather
from slopewash.io.geotiff import GDAL_NODATA, georeference_tags, read_georeference
from slopewash.io.heights import as_float32, as_metres, with_nan
from slopewash.io.info import FileInfo
from slopewash.io.notes import Notes, notes_from, notes_text
from slopewash.io.options import HeightRange, ReadOptions
from slopewash.io.staging import staged
from slopewash.io.tiff_directories import subfile_types
from slopewash.io.tiff_pixels import read_pixels
from slopewash.terrain import Terrain

if TYPE_CHECKING:
    from tifffile import TiffPage

_WHITE_IS_ZERO, _PALETTE = 0, 3
_REDUCED_OR_MASK = 1 | 4
_ROWS_PER_STRIP = 64


def probe(path: Path, options: ReadOptions) -> FileInfo:
    """Read the tags of the first image."""
    with _first_page(path) as page:
        channels = int(page.samplesperpixel)
        names = ("palette",) if page.photometric == _PALETTE else ("elevation",)
        described = page.tags.valueof("ImageDescription")
        return FileInfo(
            format="TIFF",
            made_by=notes_from(described if isinstance(described, str) else None),
            width=int(page.imagewidth),
            height=int(page.imagelength),
            bits=int(page.bitspersample),
            dtype=str(np.dtype(page.dtype).name) if page.dtype is not None else "unknown",
            channels=channels,
            layers=names if channels == 1 else tuple(f"band {band + 1}" for band in range(channels)),
        )


def read(path: Path, info: FileInfo, options: ReadOptions) -> Terrain:
    """Read one band of heights with its georeference and nodata cells."""
    if info.layers != ("elevation",):
        raise InvalidFile(f"{path} is an image with {', '.join(info.layers)}; heights need a single grey channel")
    if info.bits not in (8, 16, 32, 64) or not info.dtype.startswith(("int", "uint", "float")):
        raise InvalidFile(f"{path} contains {info.bits}-bit {info.dtype}; heights need 16, 32 or 64 bits")
    with _first_page(path) as page:
        place = read_georeference(page.tags.valueof)
        if place.obstacle and options.cell_size is None:
            raise InvalidFile(cannot_measure(path, place.obstacle))
        if page.photometric == _WHITE_IS_ZERO and np.dtype(info.dtype).kind in "iu" and not place.present:
            raise InvalidFile(f"{path} stores white as 0; save it with black as 0, so that larger values are higher")
        nodata_text = page.tags.valueof(GDAL_NODATA)
        samples = read_pixels(path, page)
        nodata = _nodata_mask(samples, nodata_text)
    in_metres = place.present and samples.dtype.kind in "iu" and options.height_range is None
    elevation = as_float32(samples) if in_metres else as_metres(path, samples, options.height_range)
    del samples
    return gather(
        path,
        {"elevation": elevation},
        cell_size=options.cell_size or place.cell_size,
        nodata=nodata,
        crs=place.crs,
        transform=place.transform,
    )


def write(terrain: Terrain, path: Path, layer: str, height_range: HeightRange | None, notes: Notes) -> None:
    """Write one layer as float32 with its georeference, NaN in nodata cells."""
    import tifffile

    values = with_nan(terrain, layer)
    tags = georeference_tags(terrain)
    if terrain.nodata is not None:
        tags.append((GDAL_NODATA, "s", 0, "nan", True))
    with staged(path) as temporary, temporary.open("wb") as file:
        tifffile.imwrite(
            file,
            values,
            byteorder="<",
            photometric="minisblack",
            rowsperstrip=_ROWS_PER_STRIP,
            software="slopewash",
            description=notes_text(notes) if notes else None,
            metadata=None,
            extratags=tags,
        )


@contextmanager
def _first_page(path: Path) -> Iterator[TiffPage]:
    """Open the full image; overviews and masks may follow it, other images may not."""
    import tifffile

    # Without a handler, the library's log messages about a damaged file would reach stderr.
    logger = logging.getLogger("tifffile")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    with decoding(path, "TIFF"):
        images = 1 + sum(not kind & _REDUCED_OR_MASK for kind in subfile_types(path)[1:])
        if images > 1:
            raise InvalidFile(f"{path} contains {images} images; a height field needs a single one")
        with tifffile.TiffFile(path) as file:
            page = file.pages.first
            if not (page.imagewidth > 0 and page.imagelength > 0) or page.imagedepth != 1:
                raise Damaged("its first image is not a flat grid")
            yield page


def _nodata_mask(samples: NDArray[Any], nodata_text: Any) -> NDArray[np.bool_] | None:
    """Mask of the nodata value and of NaN, where the file has a nodata value."""
    if nodata_text is None:
        return None
    value = float(str(nodata_text).strip(" \0"))
    if samples.dtype.kind == "f":
        with np.errstate(over="ignore"):
            mask = np.isnan(samples) | (samples == samples.dtype.type(value))
        return np.asarray(mask, dtype=np.bool_)
    limits = np.iinfo(samples.dtype)
    return samples == int(value) if value.is_integer() and limits.min <= value <= limits.max else None
