"""OpenEXR: every layer is a float32 channel of the same name, in metres."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from pathlib import Path

import numpy as np

from slopewash.drafts import staged
from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.io.decoding import Damaged, decoding, quiet
from slopewash.io.exr_header import read_header
from slopewash.io.heights import with_nan
from slopewash.io.info import FileInfo
from slopewash.io.meaning import Meaning, plain_band
from slopewash.io.notes import MADE_BY, Notes, notes_from, notes_text
from slopewash.io.options import HeightRange, ReadOptions
from slopewash.io.strata import from_metadata, metadata_of
from slopewash.terrain import Emitter, Terrain, WaterSource
from slopewash.terrain.fields import STRATA_TOP

_CELL_SIZE, _CRS, _TRANSFORM = "slopewash:cell_size", "slopewash:crs", "slopewash:transform"
_NODATA, _STRATA = "slopewash:nodata", "slopewash:strata"
_SOURCES, _EMITTERS = "slopewash:sources", "slopewash:emitters"


LONGEST_NAME = 255
"""Bytes of the name of a channel; the library cuts off the rest."""


def probe(path: Path, options: ReadOptions) -> FileInfo:
    """Read the header; the elevation's type is reported."""
    with decoding(path, "OpenEXR"):
        header = read_header(path)
    names = tuple(name for name in header.channels if not (name == STRATA_TOP and _STRATA in header.texts))
    dtype = np.dtype(header.channels.get("elevation") or next(iter(header.channels.values()), "float32"))
    return FileInfo(
        format="OpenEXR",
        width=header.width,
        height=header.height,
        bits=dtype.itemsize * 8,
        dtype=dtype.name,
        channels=len(names),
        layers=names,
        made_by=notes_from(header.texts.get(MADE_BY)),
    )


def read(path: Path, info: FileInfo, options: ReadOptions) -> Terrain:
    """Read every channel as a layer; a single channel is the elevation, whatever its name."""
    if info.channels > 1 and "elevation" not in info.layers:
        raise InvalidFile(
            f"{path} has the channels {', '.join(info.layers)}; heights need a single channel, or one called elevation"
        )
    import OpenEXR

    with decoding(path, "OpenEXR"):
        texts = read_header(path).texts
        cell_size = float(texts[_CELL_SIZE]) if _CELL_SIZE in texts else None
        transform = json.loads(texts[_TRANSFORM]) if _TRANSFORM in texts else None
        sources = [WaterSource(**source) for source in json.loads(texts.get(_SOURCES, "[]"))]
        emitters = [Emitter(**emitter) for emitter in json.loads(texts.get(_EMITTERS, "[]"))]
        with quiet() as said, OpenEXR.File(_utf8(path), separate_channels=True) as file:
            layers = {name: channel.pixels for name, channel in file.channels().items()}
        if any(said):  # the library prints that pixels cannot be decoded, and returns zeros
            raise Damaged("its pixels are damaged")
        top = layers.pop(STRATA_TOP, None) if _STRATA in texts else None
        if len(layers) == 1:
            layers = {"elevation": layers.popitem()[1]}
    strata = None
    if _STRATA in texts:
        strata = from_metadata(path, texts[_STRATA], top, (info.height, info.width))
    names = ("elevation", *sorted(layers.keys() - {"elevation"}))
    nodata = (math.nan,) if _NODATA in texts else ()
    meaning = Meaning(
        path=path,
        shape=(info.height, info.width),
        bands=tuple(plain_band(options, layer=name, nodata=nodata if name == "elevation" else ()) for name in names),
        cell_size=options.cell_size or cell_size,
        crs=texts.get(_CRS),
        transform=transform,
    )
    return meaning.terrain(lambda band: (layers[band.layer], None), sources=sources, emitters=emitters, strata=strata)


def write(terrain: Terrain, path: Path, layer: str, height_range: HeightRange | None, notes: Notes) -> None:
    """Write every layer, NaN in nodata cells; numbers are stored as text, since numeric attributes are float32."""
    import OpenEXR

    for name in terrain:
        if len(name.encode()) > LONGEST_NAME:
            raise InvalidParameter(
                f'layer "{name[:20]}..." has a name of {len(name.encode())} bytes; {path} holds up to {LONGEST_NAME}: '
                "rename it, or write .npz"
            )
    header = {
        "compression": OpenEXR.ZIP_COMPRESSION,
        "type": OpenEXR.scanlineimage,
        _CELL_SIZE: repr(terrain.cell_size),
    }
    if notes:
        header[MADE_BY] = notes_text(notes)
    if terrain.crs is not None:
        header[_CRS] = terrain.crs
    if terrain.transform is not None:
        header[_TRANSFORM] = json.dumps(terrain.transform)
    if terrain.nodata is not None:
        header[_NODATA] = "nan"
    for key, discs in ((_SOURCES, terrain.sources), (_EMITTERS, terrain.emitters)):
        if discs:
            # json cannot serialise NumPy integers.
            header[key] = json.dumps([{k: float(v) for k, v in dataclasses.asdict(disc).items()} for disc in discs])
    channels = {name: with_nan(terrain, name) for name in terrain}
    if terrain.strata is not None:
        header[_STRATA], top = metadata_of(terrain.strata)
        if top is not None:
            channels[STRATA_TOP] = top
    with staged(path) as temporary:
        try:
            with OpenEXR.File(header, channels) as file:
                file.write(_utf8(temporary))
        except (RuntimeError, ValueError) as error:  # a full disk, or a folder whose name it cannot take
            raise InvalidFile(f"cannot write {path}: {error}") from error


def _utf8(path: Path) -> str:
    """Return the name so that the library, which encodes it as UTF-8, finds the same bytes in any locale."""
    return os.fsencode(path).decode("utf-8")
