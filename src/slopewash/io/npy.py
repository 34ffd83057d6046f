"""NumPy's own files: `.npy` for one layer in metres, `.npz` for all layers and their metadata."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from slopewash.drafts import staged
from slopewash.errors import InvalidFile
from slopewash.io.cells import side_of_cell
from slopewash.io.crs import Crs, known
from slopewash.io.decoding import Damaged, decoding
from slopewash.io.heights import check_no_nodata
from slopewash.io.info import FileInfo
from slopewash.io.limits import LARGEST_ARRAY_HEADER, MAXIMUM_LAYERS, WIDEST_SAMPLE, grid_allowance
from slopewash.io.meaning import Meaning, plain_band
from slopewash.io.options import HeightRange, ReadOptions
from slopewash.io.strata import LARGEST_TABLE, from_metadata, metadata_of
from slopewash.terrain import Emitter, Terrain, WaterSource
from slopewash.terrain.fields import ATTRIBUTES, STRATA_TOP

_NOTES = (*ATTRIBUTES, STRATA_TOP)
_LONGEST_TEXT = {"crs": 1 << 16, "strata": 4 * LARGEST_TABLE}
_DISCS = {"sources": ("x", "y", "radius", "rate"), "emitters": ("x", "y", "radius", "rate", "speed", "direction")}
"""Columns of each array; every disc is a row."""
_MOST_DISCS = 1 << 16

_Header = tuple[tuple[int, ...], np.dtype[Any]]


def probe_npy(path: Path, options: ReadOptions) -> FileInfo:
    """Read the array header."""
    with decoding(path, "NPY"), path.open("rb") as file:
        shape, dtype = _header(file)
    return _info(path, "NPY", shape, dtype, ("elevation",))


def read_npy(path: Path, info: FileInfo, options: ReadOptions) -> Terrain:
    """Read heights in metres."""
    with decoding(path, "NPY"), path.open("rb") as file:
        samples = npy_format.read_array(file, allow_pickle=False)
    meaning = Meaning(path=path, shape=samples.shape, bands=(plain_band(options),), cell_size=options.cell_size)
    return meaning.terrain(lambda band: (samples, None))


def write_npy(terrain: Terrain, path: Path, layer: str, height_range: HeightRange | None) -> None:
    """Write one layer as float32."""
    check_no_nodata(terrain, ".npy")
    with staged(path) as temporary, temporary.open("wb") as file:
        npy_format.write_array(file, terrain[layer], allow_pickle=False)


def probe_npz(path: Path, options: ReadOptions) -> FileInfo:
    """Read the header of every array; the elevation's is reported."""
    with decoding(path, "NPZ"), zipfile.ZipFile(path) as archive:
        headers = _headers(path, archive)
    layers = tuple(name for name in headers if name not in _NOTES)
    if "elevation" not in layers:
        raise InvalidFile(f"{path} contains {', '.join(layers) or 'nothing'}; one layer must be called elevation")
    for name, (shape, dtype) in headers.items():
        _check_header(path, name, shape, dtype, headers["elevation"][0])
    return _info(path, "NPZ", *headers["elevation"], layers)


def read_npz(path: Path, info: FileInfo, options: ReadOptions) -> Terrain:
    """Read all layers, cell size, mask, georeference, water sources, emitters and strata."""
    with decoding(path, "NPZ"), zipfile.ZipFile(path) as archive:
        arrays, allowance = {}, grid_allowance(path, options.max_pixels)
        for shape, dtype in _headers(path, archive).values():
            allowance.take(math.prod(shape) * dtype.itemsize)
        for entry in archive.namelist():
            with archive.open(entry) as file:
                arrays[entry.removesuffix(".npy")] = npy_format.read_array(file, allow_pickle=False)
        notes = {name: arrays.pop(name) for name in _NOTES if name in arrays}
        cell_size = float(notes["cell_size"]) if "cell_size" in notes else None
        sources, emitters = (
            [dict(zip(columns, row, strict=True)) for row in notes[name].tolist()] if name in notes else []
            for name, columns in _DISCS.items()
        )
        water_sources = [WaterSource(**source) for source in sources]
        discs = [Emitter(**emitter) for emitter in emitters]
    strata = None
    if "strata" in notes:
        strata = from_metadata(path, str(notes["strata"]), notes.get(STRATA_TOP), (info.height, info.width))
    crs = str(notes["crs"]) if "crs" in notes else None
    transform = notes["transform"].tolist() if "transform" in notes else None
    nodata = np.asarray(notes["nodata"], np.bool_) if "nodata" in notes else None
    meaning = Meaning(
        path=path,
        shape=(info.height, info.width),
        bands=tuple(
            plain_band(options, layer=name) for name in ("elevation", *(name for name in arrays if name != "elevation"))
        ),
        cell_size=options.cell_size or cell_size or _side(path, crs, transform),
        crs=crs,
        transform=transform,
    )
    return meaning.terrain(
        lambda band: (arrays[band.layer], nodata if band.layer == "elevation" else None),
        sources=water_sources,
        emitters=discs,
        strata=strata,
    )


def _side(path: Path, crs: str | None, transform: Sequence[float] | None) -> float | None:
    """Side of a cell in a file of another program that gives a place and no cell size."""
    if transform is None:
        return None
    a, b, _, d, e, _ = transform
    place = Crs(unit=1.0) if crs is None else known(path, crs)
    return side_of_cell(
        path, (math.hypot(a, d), math.hypot(b, e)), noted=None, geographic=place.geographic, unit=place.unit,
        obstacle="has a CRS without a unit",
    )  # fmt: skip


def write_npz(terrain: Terrain, path: Path, layer: str, height_range: HeightRange | None) -> None:
    """Write all layers and their metadata; the same terrain always gives the same bytes.

    `numpy.savez` takes names as keywords, so that a layer called "file" would break it, and stores a timestamp.
    """
    arrays: dict[str, NDArray[Any]] = dict(terrain)
    arrays["cell_size"] = np.array(terrain.cell_size, dtype=np.float64)
    if terrain.nodata is not None:
        arrays["nodata"] = terrain.nodata
    if terrain.crs is not None:
        arrays["crs"] = np.array(terrain.crs)
    if terrain.transform is not None:
        arrays["transform"] = np.array(terrain.transform, dtype=np.float64)
    for name, columns in _DISCS.items():
        if discs := getattr(terrain, name):
            arrays[name] = np.array([[getattr(disc, column) for column in columns] for disc in discs], np.float64)
    if terrain.strata is not None:
        note, top = metadata_of(terrain.strata)
        arrays["strata"] = np.array(note)
        if top is not None:
            arrays[STRATA_TOP] = top
    with staged(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as file:
                npy_format.write_array(file, array, allow_pickle=False)


def _headers(path: Path, archive: zipfile.ZipFile) -> dict[str, _Header]:
    names, most = archive.namelist(), MAXIMUM_LAYERS + len(_NOTES)
    if len(names) > most:
        raise InvalidFile(f"{path} contains {len(names)} arrays; at most {most} are read")
    if len({name.removesuffix(".npy") for name in names}) < len(names):
        raise Damaged("it contains two arrays of the same name")
    headers = {}
    for name in names:
        with archive.open(name) as file:
            headers[name.removesuffix(".npy")] = _header(file)
    return headers


def _header(stream: IO[bytes]) -> _Header:
    file = io.BytesIO(stream.read(LARGEST_ARRAY_HEADER))  # a forged length would have gigabytes read
    version = npy_format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = npy_format.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, _, dtype = npy_format.read_array_header_2_0(file)
    else:  # version 3 is for field names beyond Latin-1, which no grid has
        raise Damaged(f"its arrays have format version {version[0]}")
    return shape, dtype


def _check_header(path: Path, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], grid: tuple[int, ...]) -> None:
    """Reject, based on the header, what would be costly or impossible to decode."""
    if name in _LONGEST_TEXT:
        fits = dtype.kind == "U" and shape == () and dtype.itemsize <= _LONGEST_TEXT[name]
    elif name in _DISCS:
        fits = dtype.kind in "iuf" and shape[1:] == (len(_DISCS[name]),) and shape[0] <= _MOST_DISCS
    elif name in ("cell_size", "transform"):
        fits = dtype.kind in "iuf" and shape == (() if name == "cell_size" else (6,))
    else:
        fits = dtype.kind in "biuf" and shape == grid and dtype.itemsize <= WIDEST_SAMPLE
    if not fits:
        raise InvalidFile(f"{path}: {name} has shape {shape} and type {dtype}, which does not fit a grid of {grid}")


def _info(path: Path, format: str, shape: tuple[int, ...], dtype: np.dtype[Any], layers: tuple[str, ...]) -> FileInfo:
    if len(shape) != 2 or 0 in shape:
        raise InvalidFile(f"{path} contains an array of shape {shape}; heights need two dimensions, rows and columns")
    if dtype.kind not in "iuf" or dtype.itemsize > WIDEST_SAMPLE:
        raise InvalidFile(f"{path} contains values of type {dtype}; heights must be real numbers of at most 64 bits")
    return FileInfo(
        format=format,
        width=shape[1],
        height=shape[0],
        bits=dtype.itemsize * 8,
        dtype=dtype.newbyteorder("=").name,
        channels=len(layers),
        layers=layers,
    )
