"""Esri's ASCII grid (`.asc`): a header and rows of numbers from the north, with the CRS in a `.prj` file."""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from slopewash.drafts import staged
from slopewash.errors import GeoreferenceWarning, InvalidFile, InvalidParameter
from slopewash.io import arcinfo, gdal, wkt
from slopewash.io.cells import side_of_cell
from slopewash.io.crs import Crs, UnknownCrs, described, known, short
from slopewash.io.decoding import decoding
from slopewash.io.grids import Grid
from slopewash.io.ground_scale import question_scale, question_step
from slopewash.io.height_units import as_in_crs
from slopewash.io.heights import with_nan
from slopewash.io.info import FileInfo
from slopewash.io.meaning import Meaning, metres_of, plain_band
from slopewash.io.options import HeightRange, ReadOptions
from slopewash.io.side_files import check_replaceable, question_side_files, side_of_another
from slopewash.paths import read_beside, remove_file
from slopewash.remedies import by_file, option
from slopewash.terrain import Layer, Terrain

_NODATA = -9999.0
_LONGEST_HEADER, _LONGEST_PRJ = 4096, 1 << 16
_KEYS = (
    "ncols", "nrows", "xllcorner", "yllcorner", "xllcenter", "yllcenter", "cellsize", "dx", "dy", "nodata_value",
)  # fmt: skip


@dataclass(frozen=True)
class _Header:
    rows: int
    columns: int
    sizes: tuple[float, float]
    place: tuple[float, ...] | None
    """None where the header gives no corner."""
    nodata: float
    lines: int


def probe(path: Path, options: ReadOptions) -> FileInfo:
    """Read the header, and compare it with the size of the file."""
    header = _header(path)
    least = 2 * header.rows * header.columns - 1  # a digit and a blank each
    if path.stat().st_size < least:
        raise InvalidFile(
            f"{path} is not a readable ASCII grid file: {header.columns} x {header.rows} numbers need {least} bytes"
        )
    return FileInfo(
        format="ASC", width=header.columns, height=header.rows, bits=32, dtype="float32", layers=("elevation",)
    )


def read(path: Path, info: FileInfo, options: ReadOptions) -> Terrain:
    """Read heights in metres or in the unit of the CRS, and that from the `.prj` file beside it."""
    if options.height_range is not None:
        raise InvalidParameter(f"{path} contains heights that need no range; leave out {option('height_range')}")
    header, crs = _header(path), _crs(path, options)
    cell_size = options.cell_size or side_of_cell(
        path, header.sizes, noted=None, geographic=crs.geographic, unit=crs.unit, obstacle="has a CRS without a unit"
    )
    metres = metres_of(path, options, "elevation", None, what="the grid", crs=crs)
    meaning = Meaning(
        path=path,
        shape=(header.rows, header.columns),
        bands=(plain_band(options, nodata=(header.nodata,), unit=metres),),
        cell_size=cell_size,
        crs=crs.text,
        transform=header.place,
    )
    question_side_files(meaning)
    if options.kind == "height" and options.cell_size is None and not crs.geographic:
        question_scale(str(path), Grid(meaning.shape, crs.text, meaning.transform), cell_size)
    return meaning.terrain(lambda band: (_numbers(path, header), None))


def check(path: Path) -> None:
    """Refuse a place where a `.prj` is of another file, such as a shapefile."""
    side_file = path.with_suffix(".prj")
    check_replaceable(side_file, path)
    if os.path.lexists(side_file) and os.path.lexists(path.with_suffix(".shp")):
        raise side_of_another(side_file, path)


def write(terrain: Terrain, path: Path, layer: str, height_range: HeightRange | None) -> None:
    """Write one layer, heights in the unit of the CRS, with as many digits as float32 has, and the CRS beside it."""
    size = terrain.cell_size
    a, b, c, d, e, f = terrain.transform or (size, 0.0, 0.0, 0.0, -size, terrain.height)
    if b or d or a <= 0 or not np.isclose(a, -e, rtol=1e-9):
        raise InvalidParameter(f"{path} cannot hold a rotated or oblong grid; write .tif")
    question_step(path, terrain, keeps_size=False)
    rows, columns = terrain.shape
    values, _ = as_in_crs(with_nan(terrain, layer), layer, terrain.crs if terrain.transform is not None else None)
    nodata = _unused(values)
    lines = [f"ncols {columns}", f"nrows {rows}", f"xllcorner {c!r}", f"yllcorner {f + e * rows!r}", f"cellsize {a!r}"]
    if terrain.nodata is not None or nodata != _NODATA:  # which readers assume where none is named
        lines.append(f"NODATA_value {nodata:.9g}")
    with staged(path) as temporary, temporary.open("w", encoding="ascii", newline="\n") as file:
        file.write("\n".join(lines) + "\n")
        for row in values if terrain.nodata is None else np.where(np.isnan(values), np.float32(nodata), values):
            file.write(" ".join(row.astype(str)) + "\n")
    _write_prj(terrain, path)


def _unused(values: Layer) -> float:
    """A value that no cell has: the usual one, or the first multiple of it by tens that is free."""
    multiples = (float(np.float32(_NODATA * 10.0**power)) for power in range(35))
    return next(value for value in multiples if not (values == np.float32(value)).any())


def _header(path: Path) -> _Header:
    found: dict[str, float] = {}
    with decoding(path, "ASCII grid"), path.open("rb") as file:
        start, lines = file.read(_LONGEST_HEADER), 0
        for line in start.split(b"\n"):
            words = line.decode("ascii").split()
            if len(words) != 2 or words[0].lower() not in _KEYS:
                break
            found[words[0].lower()] = float(words[1])
            lines += 1
        missing = [key for key in ("ncols", "nrows") if key not in found]
        if missing or not ("cellsize" in found or {"dx", "dy"} <= found.keys()):
            raise ValueError(f"its header has no {missing[0] if missing else 'cellsize'}")
        columns, rows = int(found["ncols"]), int(found["nrows"])
        if not (columns > 0 and rows > 0):
            raise ValueError(f"it has {columns} columns and {rows} rows")
        return _Header(rows, columns, *_place(found, rows), found.get("nodata_value", _NODATA), lines)


def _place(found: Mapping[str, float], rows: int) -> tuple[tuple[float, float], tuple[float, ...] | None]:
    """Width and height of a cell, and the transform."""
    across, down = found.get("dx", found.get("cellsize", 0.0)), found.get("dy", found.get("cellsize", 0.0))
    if not (across > 0 and down > 0 and np.isfinite([across, down]).all()):
        raise ValueError(f"its cells are {across:g} x {down:g}")
    left = found["xllcenter"] - across / 2 if "xllcenter" in found else found.get("xllcorner")
    bottom = found["yllcenter"] - down / 2 if "yllcenter" in found else found.get("yllcorner")
    if left is None or bottom is None:
        return (across, down), None
    return (across, down), (across, 0.0, left, 0.0, -down, bottom + rows * down)


def _numbers(path: Path, header: _Header) -> Layer:
    with decoding(path, "ASCII grid"), path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy only warns of what is not a number
        for _ in range(header.lines):
            file.readline()
        values = np.fromstring(file.read().decode("ascii"), dtype=np.float32, sep=" ")
        if values.size != header.rows * header.columns:
            raise ValueError(f"it has {values.size} numbers; {header.columns} x {header.rows} were announced")
    return values.reshape(header.rows, header.columns)


def _crs(path: Path, options: ReadOptions) -> Crs:
    """The CRS in the file beside it, as other formats give it where GDAL is there to convert Esri's dialect."""
    for suffix in (".prj", ".PRJ"):
        side_file = path.with_suffix(suffix)
        with decoding(side_file, "CRS"):
            text = (read_beside(side_file, _LONGEST_PRJ) or b"").decode("utf-8", "replace").strip()
        if text and wkt.parse(text) is None:
            return _without_brackets(side_file, text, options)
        if text:  # what Esri writes of heights is behind the text that GDAL reads
            return dataclasses.replace(described(text, text), text=_standard(text))
    return Crs(unit=1.0)


def _without_brackets(side_file: Path, text: str, options: ReadOptions) -> Crs:
    """The CRS of a text that is not well known: a code, or the keys of ArcInfo.

    It is left out, aloud, where the side of a cell is known without it.
    """
    keys = arcinfo.keys_of(text)
    crs = None if keys is None else arcinfo.described(keys)
    if crs is None:
        try:
            return known(side_file, text)
        except UnknownCrs as error:
            if not by_file(ground="a terrain", other=""):
                raise
            if options.cell_size is None:
                raise InvalidFile(
                    f"{error}; or name the side of a cell in metres with {option('cell_size')}, and it is left out"
                ) from None
            crs = Crs()
    if crs.text is None:
        warnings.warn(
            f"{side_file} has the CRS {short(' '.join(text.split()))}, for which no code is known here; it is left out",
            GeoreferenceWarning,
            stacklevel=2,
        )
    return crs


def _standard(crs: str) -> str:
    if not gdal.is_available():
        return crs
    from slopewash.io.gdal_raster import crs_text
    from slopewash.io.gdal_writing import knows_crs, parsed_crs

    return (crs_text(parsed_crs(crs)) if knows_crs(crs) else None) or crs


def _write_prj(terrain: Terrain, path: Path) -> None:
    side_file, text = path.with_suffix(".prj"), terrain.crs
    if text is None or terrain.transform is None:
        remove_file(side_file)  # one that is there belongs to another place
        return
    if gdal.is_available():
        from slopewash.io.gdal_writing import knows_crs, parsed_crs

        text = str(parsed_crs(text).to_wkt(version="WKT1_ESRI")) if knows_crs(text) else text
    if wkt.parse(text) is None:
        how = "no program would know it" if gdal.is_available() else f"to write it: {gdal.EXTRA}"
        warnings.warn(f"{path} is written without its CRS {text}; {how}", GeoreferenceWarning, stacklevel=4)
        remove_file(side_file)
        return
    with staged(side_file, follow=False) as temporary:
        temporary.write_text(text, encoding="utf-8")
