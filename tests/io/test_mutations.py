"""Damaged files of every format: each is read, or refused in one sentence, at once and without a word on the terminal.

`make fuzz` tries more of them: FUZZ_FILES sets how many per format.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import slopewash as sw

FILES = int(os.environ.get("FUZZ_FILES", "60"))
RAW_TEXTS = ("unpack", "StopIteration", "No module", "part index", "object", "NoneType", "Error", "attribute", "\n")
"""What a message for users never contains: these are Python's and the libraries' own."""


def strata_file(terrain: sw.Terrain, path: Path) -> None:
    path.write_text("dip = 4\n[[strata]]\nthickness = 30\nerodibility = 0.05\n[[strata]]\nthickness = 60\n")


def compressed(compression: str) -> Callable[[sw.Terrain, Path], object]:
    return lambda terrain, path: Image.fromarray(terrain["elevation"]).save(path, compression=compression)


def flat_layers(terrain: sw.Terrain, path: Path) -> None:
    np.savez_compressed(path, elevation=terrain["elevation"], water=np.zeros(terrain.shape), cell_size=3.0)


FORMATS: dict[str, Callable[[sw.Terrain, Path], object]] = {
    **dict.fromkeys((".exr", ".npy", ".npz", ".png", ".r16", ".tif", ".glb", ".obj", ".ply", ".stl"), sw.write),
    "lzw.tif": compressed("tiff_lzw"),
    "deflate.tif": compressed("tiff_adobe_deflate"),
    "packbits.tif": compressed("packbits"),
    "deflate.npz": flat_layers,
    ".toml": strata_file,
}


def read_any(path: Path) -> object:
    if path.suffix == ".toml":
        return sw.read_strata(path)
    if sw.is_mesh_file(path):
        return sw.read_mesh(path).to_terrain(1000.0)
    return sw.read(path, max_pixels=1 << 24, allow_8bit=True)


def mutated(whole: bytes, draw: random.Random) -> bytes:
    """One to four changes: bytes replaced, cut out, repeated or set to extremes, or the end cut off."""
    data = bytearray(whole)
    for _ in range(draw.randint(1, 4)):
        # Half of the changes hit the header, where lengths and counts are.
        at = draw.randrange(min(len(data), 256) if draw.random() < 0.5 else len(data))
        kind = draw.randrange(6)
        if kind == 0:
            data[at] = draw.randrange(256)
        elif kind == 1:
            data[at : at + draw.choice((1, 2, 4, 8))] = draw.choice(
                (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff")
            )
        elif kind == 2:
            del data[at : at + draw.randint(1, 40)]
        elif kind == 3:
            data[at:at] = data[at : at + draw.randint(1, 40)]
        elif kind == 4:
            del data[at:]
        else:
            data[at] ^= 1 << draw.randrange(8)
        if not data:
            return b"\0"
    return bytes(data)


@pytest.mark.parametrize("ending", FORMATS)
def test_a_damaged_file_is_read_or_refused_in_one_sentence(
    ending: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hill = sw.Terrain(np.random.default_rng(3).normal(900.0, 300.0, (9, 11)), water=0.5, cell_size=3.0)
    path = tmp_path / f"hill{ending}"
    FORMATS[ending](hill, path)
    whole, draw = path.read_bytes(), random.Random(f"slopewash {ending}")
    for number in range(FILES):
        path.write_bytes(mutated(whole, draw))
        before = time.perf_counter()
        try:
            read_any(path)
        except sw.SlopewashError as error:
            text = str(error).replace(str(path), "")
            assert not any(raw in text for raw in RAW_TEXTS), (number, text)
        assert time.perf_counter() - before < 10.0, number
    assert capfd.readouterr() == ("", "")
