"""GeoTIFFs that need GDAL to be read in full: a CRS without a code, several bands, heights in feet, rare compressions.

The driver is always named: GDAL would open whatever it recognises under any suffix, and a VRT reads other files.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidFile
from slopewash.io import wkt
from slopewash.io.cells import cannot_measure, metres_per_cell
from slopewash.io.decoding import decoding
from slopewash.io.gathering import gather
from slopewash.io.gdal import ENVIRONMENT, rasterio_for
from slopewash.io.heights import as_float32, as_metres
from slopewash.io.info import FileInfo
from slopewash.io.options import ReadOptions
from slopewash.io.units import metres_per
from slopewash.remedies import option
from slopewash.terrain import Layer, Terrain
from slopewash.terrain.fields import layer_spec

CELL_SIZE_TAG = "slopewash_cell_size"
NOWHERE = ('LOCAL_CS["unnamed"', 'LOCAL_CS["unknown"', 'ENGCRS["unnamed"', 'ENGCRS["unknown"')
"""What GDAL makes of a file that names no CRS."""
"""Where the cell size stands that the transform may not give, or not to the last digit."""


def read(path: Path, info: FileInfo, options: ReadOptions, reason: str) -> Terrain:
    """Read a GeoTIFF with GDAL; `reason` is why nothing less will do."""
    with _opened(path, reason) as source:
        names = _layer_names(path, source, options)
        _check_size(path, info, source, len(names), options)
        crs = crs_text(source.crs)
        cell_size = options.cell_size or _metres_per_cell(path, source)
        placed = source.crs is not None or not source.transform.is_identity
        layers, nodata = {}, None
        with decoding(path, "TIFF"):
            for name, band in names.items():
                samples, missing = _samples(source, band)
                nodata = missing if name == "elevation" else nodata
                layers[name] = (samples, _height_factor(source, band, name, crs, options))
    metres = {
        name: _in_metres(path, samples, factor, placed or name != "elevation", options)
        for name, (samples, factor) in layers.items()
    }
    return gather(
        path,
        metres,
        cell_size=cell_size,
        nodata=nodata,
        crs=crs,
        transform=tuple(source.transform)[:6] if placed else None,
    )


def crs_text(crs: Any) -> str | None:
    """Return "EPSG:n" where that is the whole CRS, else its well-known text, in which nothing is lost."""
    if not crs:
        return None
    text = _well_known_text(crs)
    if text.startswith(NOWHERE):
        return None
    code = crs.to_epsg()
    if code is not None and not wkt.is_compound(text) and type(crs).from_epsg(code) == crs:
        return f"EPSG:{code}"
    return text


def _well_known_text(crs: Any) -> str:
    """Version 1 where it holds the whole CRS, else version 2: GDAL 3.10 writes compound CRSs in full from 1 only."""
    rasterio = rasterio_for("a CRS")
    try:
        text = str(crs.to_wkt())
        if text and type(crs).from_wkt(text) == crs:
            return text
    except rasterio.errors.CRSError:
        pass
    return str(crs.to_wkt(version="WKT2_2019"))


@contextmanager
def _opened(path: Path, reason: str) -> Iterator[Any]:
    rasterio = rasterio_for(reason)
    whole = path.resolve()  # so that nothing in a name is taken for the address of another file system
    with (
        decoding(path, "TIFF"),
        rasterio.Env(**ENVIRONMENT),
        rasterio.open(whole, driver="GTiff", sharing=False) as source,
    ):
        yield source


def _check_size(path: Path, info: FileInfo, source: Any, bands: int, options: ReadOptions) -> None:
    """Reject more values than were asked for, and a size other than that of the header that was checked."""
    if (source.width, source.height) != (info.width, info.height):
        raise InvalidFile(f"{path} is not a readable TIFF file: its tags give two sizes")
    if source.width * source.height * bands > options.max_pixels:
        raise InvalidFile(
            f"{path} has {bands} layers of {source.width} x {source.height} cells, more than {options.max_pixels} "
            f"values; choose one with {option('band')}; or raise {option('max_pixels')}"
        )


def _layer_names(path: Path, source: Any, options: ReadOptions) -> dict[str, int]:
    """Bands by the layer they hold: their descriptions, or the one that was asked for as elevation."""
    if options.band is not None:
        if not 1 <= options.band <= source.count:
            raise InvalidFile(f"{path} has {source.count} bands; band {options.band} is not one of them")
        return {"elevation": options.band}
    if source.count == 1:
        return {"elevation": 1}
    named = band_layers(source.descriptions)
    if "elevation" not in named:
        raise InvalidFile(no_elevation(path, source.descriptions))
    return named


def band_layers(descriptions: Sequence[str | None]) -> dict[str, int]:
    """Bands that have a name, by name.

    >>> band_layers(("elevation", None, "flow"))
    {'elevation': 1, 'flow': 3}
    """
    return {text: band for band, text in enumerate(descriptions, start=1) if text}


def no_elevation(path: Path, descriptions: Sequence[str | None]) -> str:
    """Sentence for a file in which no band is called elevation."""
    names = ", ".join(f"{band} ({text})" if text else f"{band}" for band, text in enumerate(descriptions, start=1))
    return (
        f"{path} has bands {names}, none called elevation; heights need a single grey channel: choose one with "
        f"{option('band')}"
    )


def _samples(source: Any, band: int) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    samples = source.read(band)
    scale, offset = source.scales[band - 1], source.offsets[band - 1]
    missing = source.read_masks(band) == 0
    if samples.dtype.kind == "f" and source.nodata is not None:
        missing |= np.isnan(samples)
    if (scale, offset) != (1.0, 0.0):
        samples = samples * scale + offset
    return samples, missing if missing.any() else None


def _height_factor(source: Any, band: int, layer: str, crs: str | None, options: ReadOptions) -> float:
    """Metres per unit of a band, by its own unit or by the CRS; 1 where the user names the unit."""
    if layer_spec(layer).units != "m" or options.height_unit is not None:
        return 1.0
    stated = metres_per(source.units[band - 1])
    if stated is None and layer_spec(layer).height and crs is not None:
        stated = wkt.vertical_unit(crs)
    return 1.0 if stated is None else stated


def _in_metres(path: Path, samples: NDArray[Any], factor: float, placed: bool, options: ReadOptions) -> Layer:
    if samples.dtype.kind in "iu" and not (placed and options.height_range is None):
        return as_metres(path, samples, options.height_range)
    if options.height_range is not None:
        return as_metres(path, samples, options.height_range)
    return as_float32(samples if factor == 1.0 else samples.astype(np.float64) * factor)


def _metres_per_cell(path: Path, source: Any) -> float | None:
    noted = source.tags().get(CELL_SIZE_TAG)
    if noted is not None:
        with decoding(path, "TIFF"):
            return float(noted)
    if source.transform.is_identity:
        return None
    a, b, _, d, e, _ = tuple(source.transform)[:6]
    across, down = math.hypot(a, d), math.hypot(b, e)
    geographic = bool(source.crs) and source.crs.is_geographic
    metres = 1.0
    if source.crs and not geographic:
        metres = wkt.horizontal_unit(source.crs.to_wkt(version="WKT2_2019")) or 1.0
    size, obstacle = metres_per_cell((across, down), geographic=geographic, unit=metres)
    if obstacle is not None:
        raise InvalidFile(cannot_measure(path, obstacle))
    return size
