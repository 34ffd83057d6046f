"""What is said of the file of a layer or map: its own name, and only remedies that such a file has."""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.cli.remedies import flags_of

import slopewash as sw
from slopewash.errors import SlopewashError
from slopewash.io.options import ReadOptions
from slopewash.recipes.layers import with_layers
from slopewash.recipes.maps import place_maps
from slopewash.remedies import Place, read_in
from slopewash.tiles import inputs
from slopewash.tiles.digests import Digests, using
from slopewash.tiles.fill import keep
from slopewash.tiles.store import Store

rasterio = pytest.importorskip("rasterio")

SHAPE = (8, 12)
FLOATS = np.arange(96, dtype=np.float32).reshape(SHAPE)
NAMES = ("rainfall", "bedrock", "rain_rate")
"""Numbers, heights, and a parameter with a map."""


def array(values: Any) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        np.save(folder / "layer.npy", values)
        return folder / "layer.npy"

    return make


def bands(*names: str, unit: str = "", fill: float = 1) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        with rasterio.open(
            folder / "layer.tif", "w", driver="GTiff", height=8, width=12, count=len(names), dtype="float32",
            transform=rasterio.Affine(10, 0, 0, 0, -10, 80),
        ) as file:  # fmt: skip
            for number, name in enumerate(names, 1):
                file.write(np.full(SHAPE, fill, np.float32), number)
                file.set_band_description(number, name)
                file.set_band_unit(number, unit)
        return folder / "layer.tif"

    return make


def giant(folder: Path) -> Path:
    with (folder / "layer.npy").open("wb") as file:
        header: Any = {"descr": "<f4", "fortran_order": False, "shape": (1 << 15, 1 << 15)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 4 * (1 << 30))  # a hole
    return folder / "layer.npy"


def raw(folder: Path) -> Path:
    (folder / "layer.raw").write_bytes(bytes(2 * 96))
    return folder / "layer.raw"


def picture(mode: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        Image.new(mode, SHAPE[::-1]).save(folder / "layer.png")
        return folder / "layer.png"

    return make


def archive(folder: Path) -> Path:
    np.savez(folder / "layer.npz", water=FLOATS, suspended=FLOATS)
    return folder / "layer.npz"


def text(folder: Path) -> Path:
    return sw.write(sw.Terrain(FLOATS), folder / "layer.asc")


def gap(value: float) -> Any:
    values = FLOATS.copy()
    values[3, 4] = value
    return values


FILES: dict[str, Callable[[Path], Path]] = {
    "NaN": array(gap(np.nan)), "NaN by windows": bands("", fill=np.nan), "infinity": array(gap(np.inf)),
    "-9999": array(gap(-9999)), "heights that are none": array(gap(1e30)), "two bands": bands("", ""),
    "two bands of one name": bands("elevation", "elevation"), "an unknown unit": bands("", unit="smoots"),
    "too many cells": giant, "no rows and columns": raw, "colours": picture("RGB"), "whole numbers": picture("I;16"),
    "layers without ground": archive, "text": text,
    "missing": lambda folder: folder / "layer.tif", "floats": array(FLOATS),
}  # fmt: skip
OPTIONS = [field.name for field in dataclasses.fields(ReadOptions)]
OF_GROUND = re.compile(
    "|".join([rf"--{name.replace('_', '-')}\b|\b{name}\b(?=[ =,;]|$)" for name in OPTIONS if name != "nodata"])
    + r"|--nodata|nodata=|\[source\]|option of reading|layer elevation"
)
"""Options of the file of a terrain, however they are written; and what a single layer is called inside."""


def ground() -> sw.Terrain:
    return sw.Terrain(FLOATS + 1000, cell_size=10.0)


def stage(path: Path, options: dict[str, Any]) -> sw.Stage:
    low, high = options.get("range", (None, None))
    return sw.Stage(model=sw.VirtualPipes(rain_rate=sw.Map(path, low, high)), steps=1)


def in_memory(path: Path, name: str, options: dict[str, Any], folder: Path) -> object:
    if name == "rain_rate":
        return place_maps((stage(path, options),), ground())
    return with_layers(ground(), {name: sw.LayerFile(path=path, **options)})


def on_tiles(path: Path, name: str, options: dict[str, Any], folder: Path) -> object:
    def each(task: Callable[..., Any], calls: Sequence[tuple[Any, ...]], label: str) -> list[Any]:
        return [task(*call) for call in calls]

    with using(Digests()):
        start, _ = keep(Store(str(folder / "store.zarr")), ground(), 6)
        if name == "rain_rate":
            return inputs.with_maps(start, (stage(path, options),), each)
        return inputs.with_layers(start, {name: sw.LayerFile(path=path, **options)}, each)


def said(read: Callable[..., object], *arguments: Any) -> Iterator[str]:
    """Sentences that a user gets."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            read(*arguments)
        except SlopewashError as error:
            yield str(error)
    yield from (str(warning.message) for warning in caught)


@pytest.mark.parametrize("kind", FILES)
def test_messages_name_the_layer_and_remedies_that_it_has(tmp_path: Path, kind: str) -> None:
    path, sentences = FILES[kind](tmp_path), 0
    places: tuple[Place, ...] = ("anywhere", "command", "recipe", "page")
    for name in NAMES:
        for options in ({}, {"range": (0.0, 0.5)}):
            for place in places:
                with ExitStack() as stack:
                    stack.enter_context(read_in(place))
                    whole, tiled = (list(said(read, path, name, options, tmp_path)) for read in (in_memory, on_tiles))
                assert tiled == whole
                for sentence in whole:
                    assert OF_GROUND.search(sentence.replace(str(path), "FILE")) is None, sentence
                    assert str(path) in sentence or name in sentence
                    assert name in sentence or sentence.startswith("1 cell of"), sentence
                    assert set(re.findall(r"--[a-z-]+", sentence.replace("gdal_translate -", ""))) <= flags_of("erode")
                sentences += len(whole)
    assert sentences


def test_a_height_names_its_range() -> None:
    with pytest.raises(sw.InvalidParameter, match=r"^range is \(5, 1\); it must be two finite numbers"):
        sw.LayerFile(path=Path("rock.png"), range=(5, 1))


@pytest.mark.parametrize(
    ("place", "remedy"),
    [
        ("anywhere", r"with range=\(low, high\) of its LayerFile, or --layer bedrock=FILE:LOW\.\.HIGH$"),
        ("command", r"with --layer bedrock=FILE:LOW\.\.HIGH$"),
        ("recipe", r"with range = \[low, high\] in \[layers\.bedrock\]$"),
    ],
)
def test_a_picture_of_bedrock_needs_its_range(tmp_path: Path, place: Place, remedy: str) -> None:
    path = picture("I;16")(tmp_path)
    with read_in(place), pytest.raises(sw.InvalidParameter, match=rf"^layer bedrock: .* contains integers.* {remedy}"):
        in_memory(path, "bedrock", {}, tmp_path)
    assert in_memory(path, "bedrock", {"range": (0.0, 900.0)}, tmp_path)
