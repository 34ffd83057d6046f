"""What the tags of a TIFF say that its samples stand for, for every decoder alike.

Tags decide. GDAL is asked for one thing only: a CRS, and its units, that keys and codes do not give.
"""

from __future__ import annotations

import dataclasses
import html
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slopewash.errors import GeoreferenceWarning, InvalidFile
from slopewash.io import gdal, tiff, wkt
from slopewash.io.cells import SQUARE, side_of_cell
from slopewash.io.crs import Crs
from slopewash.io.decoding import Damaged, decoding
from slopewash.io.geotiff import (
    CAMERA_MODEL,
    GDAL_METADATA,
    GDAL_NODATA,
    GEO_DOUBLES,
    KEY_DIRECTORY,
    PIXEL_SCALE,
    TIEPOINT,
    TRANSFORMATION,
    Georeference,
    is_metric_code,
    read_georeference,
)  # fmt: skip
from slopewash.io.grids import Grid
from slopewash.io.ground_scale import question_scale
from slopewash.io.info import FileInfo, not_grey
from slopewash.io.meaning import Band, Meaning, metres_of
from slopewash.io.options import ReadOptions
from slopewash.io.orientation import is_mirrored
from slopewash.io.side_files import question_side_files
from slopewash.io.tiff_directories import subfile_types
from slopewash.remedies import by_file, option
from slopewash.terrain.fields import RESERVED

_COMPRESSION, _PHOTOMETRIC, _ORIENTATION, _PREDICTOR, _EXTRA_SAMPLES = 259, 262, 274, 317, 338
_READ = (
    _COMPRESSION, _PHOTOMETRIC, _ORIENTATION, _PREDICTOR, _EXTRA_SAMPLES, PIXEL_SCALE, TIEPOINT, TRANSFORMATION,
    KEY_DIRECTORY, GEO_DOUBLES, CAMERA_MODEL, GDAL_METADATA, GDAL_NODATA,
)  # fmt: skip
_WHITE_IS_ZERO = 0
_ALPHAS = (1, 2)
_IS_MASK = 4
_WITHOUT_PREDICTOR = (1, 32773)
_WITHOUT_EXTRA = {1, 5, 8, 32773, 32946, 34925}
"""Compressions that need no package of ours beyond tifffile and Pillow: none, LZW, deflate, PackBits, LZMA."""


@dataclass(frozen=True, kw_only=True)
class TiffRaster:
    """A TIFF whose meaning is known, and what decoding it takes."""

    meaning: Meaning
    dtype: str
    needs_gdal: str | None = None
    """Why nothing less than GDAL can decode it."""
    has_mask: bool = False
    alpha: int | None = None
    """Band that is 0 where there is no data, from 1."""


@dataclass(frozen=True, kw_only=True)
class _Facts:
    """Tags of a TIFF."""

    tags: Mapping[int, Any]
    place: Georeference
    has_mask: bool
    items: Mapping[tuple[int, str], str]
    """What GDAL notes of bands, by their index and its word for it."""


def resolve(path: Path, info: FileInfo, options: ReadOptions) -> TiffRaster:
    """Work out what a TIFF stands for; refuses what would be read wrongly."""
    with decoding(path, "TIFF"):  # tags may be of any type
        facts = _facts(path)
        nodata = _nodata(facts)
        orientation = int(facts.tags.get(_ORIENTATION, 1))
        alpha = _alpha(facts, info)
        needs_gdal = _beyond_tifffile(path, info, facts)
    place = facts.place
    named = _named_bands(path, info, facts, options)
    _check_samples(path, info, facts)
    _check_predictor(path, facts)
    if place.off_grid and (options.cell_size is None or options.reproject is not None):
        raise InvalidFile(
            f"{path} {place.off_grid}, not by a grid; warp it first, as gdalwarp does, or name the side of a cell in "
            f"metres with {option('cell_size')}"
        )
    if place.unclear is not None:
        raise InvalidFile(f"{path} {place.unclear}; place it anew, as gdal_translate -a_ullr does")
    if not 1 <= orientation <= 8:
        raise InvalidFile(f"{path} has orientation {orientation}; it must be within 1 .. 8")
    if orientation != 1 and (place.transform is not None or place.has_crs):
        raise InvalidFile(
            f"{path} has orientation {orientation} and a place on a map, which contradict each other; save it with "
            "orientation 1"
        )
    if needs_gdal is not None:
        gdal.rasterio_for(needs_gdal)
    crs = _crs(path, place)
    meaning = Meaning(
        path=path,
        shape=(info.height, info.width) if orientation < 5 else (info.width, info.height),
        bands=tuple(
            Band(
                layer=layer,
                number=number,
                nodata=nodata if options.nodata is None or layer != "elevation" else (*nodata, float(options.nodata)),
                scale=_number(path, facts, number, "scale", 1.0),
                offset=_number(path, facts, number, "offset", 0.0),
                metres=_metres(path, facts, number, layer, crs, options),
                numbers=layer != "elevation" or place.present or _stated_unit(facts, number) is not None,
                asked=options.nodata if layer == "elevation" else None,
                span=options.height_range if layer == "elevation" else None,
                is_ground=layer == "elevation" and options.kind == "height",
            )
            for layer, number in named.items()
        ),
        cell_size=options.cell_size
        or side_of_cell(
            path,
            place.sizes,
            noted=place.noted,
            geographic=place.geographic,
            # Without a CRS coordinates are taken for metres, unless we wrote them and know better.
            unit=None if place.noted_for_step and not place.has_crs else crs.unit,
            obstacle=place.unit_problem,
        ),
        crs=crs.text,
        transform=place.transform,
        orientation=orientation,
        from_the_south=place.has_crs and place.transform is not None and is_mirrored(place.transform),
        may_lack_data=bool(nodata) or options.nodata is not None or facts.has_mask or alpha is not None,
    )
    _warn_of_lost_crs(path, place)
    question_side_files(meaning)
    if options.kind == "height" and options.cell_size is None and orientation == 1 and not crs.geographic:
        question_scale(str(path), Grid(meaning.shape, crs.text, meaning.transform), meaning.cell_size)
    return TiffRaster(
        meaning=meaning,
        dtype=info.dtype,
        needs_gdal=needs_gdal,
        has_mask=facts.has_mask,
        alpha=alpha,
    )


def descriptions(path: Path, bands: int) -> list[str | None]:
    """Names of the bands, None for those without one."""
    items = _facts(path).items
    return [items.get((band, "description")) for band in range(bands)]


def _facts(path: Path) -> _Facts:
    with tiff.first_page(path) as page:
        tags = {code: page.tags.valueof(code) for code in _READ if code in page.tags}
    return _Facts(
        tags=tags,
        place=read_georeference(tags.get),
        has_mask=any(kind & _IS_MASK for kind in subfile_types(path)),
        items=_items(str(tags.get(GDAL_METADATA) or "")),
    )


def _items(xml: str) -> dict[tuple[int, str], str]:
    found = {}
    for attributes, text in re.findall(r"<Item\s([^>]*)>([^<]*)</Item>", xml):
        named = dict(re.findall(r"""(\w+)\s*=\s*["']([^"']*)["']""", attributes))
        if {"role", "sample"} <= named.keys():  # without a sample it is of no band
            found[int(named["sample"]), named["role"].lower()] = html.unescape(text).strip()
    return found


def _named_bands(path: Path, info: FileInfo, facts: _Facts, options: ReadOptions) -> dict[str, int]:
    """Bands by the layer they hold: by their descriptions, or the one that was asked for as elevation."""
    if options.band is not None:
        if options.band > info.channels:
            raise InvalidFile(f"{path} has {info.channels} bands; band {options.band} is not one of them")
        return {"elevation": options.band}
    if info.channels == 1:
        if info.layers != ("elevation",):
            raise not_grey(path, info)
        return {"elevation": 1}
    names = [facts.items.get((band, "description")) for band in range(info.channels)]
    named = {text: number for number, text in enumerate(names, start=1) if text}
    if "elevation" not in named:
        listed = ", ".join(f"{number} ({text})" if text else f"{number}" for number, text in enumerate(names, start=1))
        raise InvalidFile(
            f"{path} has bands {listed}, none called elevation, and a single grey one is needed: {_one_band()}"
        )
    for text in named:
        if names.count(text) > 1:
            raise InvalidFile(f"{path} has several bands called {text}; {_one_band()}")
        if text in RESERVED:
            raise InvalidFile(f'{path} contains a layer called "{text}", which is a reserved name; rename it')
    if info.width * info.height * len(named) > options.max_pixels:
        raise InvalidFile(
            f"{path} has {len(named)} layers of {info.width} x {info.height} cells, more than {options.max_pixels} "
            f"values; {_one_band()}" + by_file(ground=f"; or raise {option('max_pixels')}", other="")
        )
    return named


def _one_band() -> str:
    return by_file(ground=f"choose one with {option('band')}", other="save one alone, as gdal_translate -b does")


def _check_samples(path: Path, info: FileInfo, facts: _Facts) -> None:
    if info.bits not in (8, 16, 32, 64) or not info.dtype.startswith(("int", "uint", "float")):
        raise InvalidFile(f"{path} contains {info.bits}-bit {info.dtype}; heights need 16, 32 or 64 bits")
    inverted = facts.tags.get(_PHOTOMETRIC) == _WHITE_IS_ZERO and np.dtype(info.dtype).kind in "iu"
    if inverted and not facts.place.present:
        raise InvalidFile(f"{path} stores white as 0; save it with black as 0, so that larger values are higher")


def _check_predictor(path: Path, facts: _Facts) -> None:
    """Refuse what decoders disagree on: some apply a predictor to samples that are not compressed, others do not."""
    if facts.tags.get(_PREDICTOR, 1) != 1 and facts.tags.get(_COMPRESSION, 1) in _WITHOUT_PREDICTOR:
        raise InvalidFile(f"{path} has a predictor, which goes with LZW or deflate, and is not compressed by them")


def _beyond_tifffile(path: Path, info: FileInfo, facts: _Facts) -> str | None:
    if info.channels > 1:
        return f"{path} has {info.channels} bands"
    compression = facts.tags.get(_COMPRESSION, 1)
    if int(compression) not in _WITHOUT_EXTRA:
        return f"{path} has compression {compression!r}"
    return f"{path} has a mask" if facts.has_mask else None


def _nodata(facts: _Facts) -> tuple[float, ...]:
    declared = facts.tags.get(GDAL_NODATA)
    return () if declared is None else (float(str(declared).strip(" \0")),)


def _alpha(facts: _Facts, info: FileInfo) -> int | None:
    extra = facts.tags.get(_EXTRA_SAMPLES, ())
    extra = extra if isinstance(extra, tuple) else (extra,)
    first = info.channels - len(extra) + 1
    return next((first + index for index, kind in enumerate(extra) if int(kind) in _ALPHAS), None)


def _number(path: Path, facts: _Facts, band: int, role: str, usual: float) -> float:
    text = facts.items.get((band - 1, role))
    with decoding(path, "TIFF"):
        number = usual if text is None else float(text)
        if not np.isfinite(number) or (role == "scale" and number == 0):
            raise Damaged(f"the {role} of band {band} is {text}")
    return number


def _stated_unit(facts: _Facts, band: int) -> str | None:
    return facts.items.get((band - 1, "unittype")) or None


def _metres(path: Path, facts: _Facts, number: int, layer: str, crs: Crs, options: ReadOptions) -> float:
    return metres_of(
        path,
        options,
        layer,
        _stated_unit(facts, number),
        what=f"band {number} ({layer})",
        crs=crs,
        is_own=facts.place.noted is not None,
    )


def _crs(path: Path, place: Georeference) -> Crs:
    """CRS by keys and codes, else by GDAL; without GDAL one that needs it is left out."""
    by_keys = Crs(
        text=place.crs, geographic=place.geographic, unit=place.unit, has_heights=place.has_heights,
        height_unit=place.height_unit, downwards=place.counts_downwards,
    )  # fmt: skip
    if place.unit is not None and place.code:
        _check_unit(path, place.code, place.unit)
    if place.beyond_keys is None and (not place.lacks_unit or place.geographic or place.noted is not None):
        return by_keys
    if not gdal.is_available():
        return dataclasses.replace(by_keys, text=None) if place.beyond_keys else by_keys
    from slopewash.io import gdal_raster

    found = gdal_raster.crs_of(path)
    return dataclasses.replace(
        by_keys,
        text=found.text,
        unit=found.unit if place.lacks_unit else place.unit,
        height_unit=place.height_unit or found.height_unit,
        downwards=place.counts_downwards or found.downwards,
    )


def _check_unit(path: Path, code: int, stated: float) -> None:
    """Refuse cells in another unit than that of the code of their CRS, as far as that is known."""
    unit = 1.0 if is_metric_code(code) else None
    if unit is None and gdal.is_available():
        from slopewash.io import gdal_raster

        whole = gdal_raster.parsed(f"EPSG:{code}")
        unit = None if whole is None else wkt.horizontal_unit(whole[1])
    if unit is not None and abs(unit - stated) > SQUARE * stated:
        raise InvalidFile(
            f"{path} has EPSG:{code}, whose unit is {unit:.9g} m, and cells in units of {stated:.9g} m; give it the "
            "right CRS, as gdal_translate -a_srs does"
        )


def _warn_of_lost_crs(path: Path, place: Georeference) -> None:
    if place.beyond_keys is not None and not gdal.is_available():
        how = "GDAL is switched off here" if gdal.is_installed() else f"to keep it: {gdal.EXTRA}"
        warnings.warn(f"{path} {place.beyond_keys}, which is left out; {how}", GeoreferenceWarning, stacklevel=6)
