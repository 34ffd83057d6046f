from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from slopewash.errors import InvalidFile, InvalidParameter, UnknownName
from slopewash.io import probe, read, write
from slopewash.io.formats import FORMATS
from slopewash.terrain import Terrain

SUFFIXES = sorted(FORMATS)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_empty_and_folder_are_reported(tmp_path: Path, suffix: str) -> None:
    for look in (read, probe):
        with pytest.raises(InvalidFile, match="does not exist"):
            look(tmp_path / f"missing{suffix}")
        (tmp_path / f"folder{suffix}").mkdir(exist_ok=True)
        with pytest.raises(InvalidFile, match="is a folder"):
            look(tmp_path / f"folder{suffix}")
        (tmp_path / f"empty{suffix}").touch()
        with pytest.raises(InvalidFile, match="is empty"):
            look(tmp_path / f"empty{suffix}")


@pytest.mark.parametrize("suffix", [suffix for suffix in SUFFIXES if suffix not in (".r16", ".raw")])
@pytest.mark.parametrize("content", [b"hello, this is not a picture at all\n" * 9, bytes(4096), b"\x89PNG\r\n\x1a\n"])
def test_content_that_does_not_match_the_suffix_is_reported(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"liar{suffix}"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match="is not a readable"):
        read(path)


def test_content_of_another_known_format_is_reported(hill: Terrain, tmp_path: Path) -> None:
    originals = [write(hill, tmp_path / f"hill{suffix}").read_bytes() for suffix in (".npy", ".npz", ".png", ".tif")]
    for content in originals:
        (tmp_path / "liar.exr").write_bytes(content)
        with pytest.raises(InvalidFile, match="is not a readable OpenEXR file"):
            read(tmp_path / "liar.exr")


def test_unknown_suffix_suggests_the_nearest_and_lists_all(hill: Terrain, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r'"\.tfif"; did you mean "\.tif"\? Known suffixes are \.asc, \.exr'):
        write(hill, tmp_path / "hill.tfif")
    with pytest.raises(InvalidFile, match=r'unknown suffix "\.docx"; known suffixes are \.asc'):
        read(tmp_path / "hill.docx")
    with pytest.raises(InvalidFile, match="does not exist"):
        probe(tmp_path / "hill")
    (tmp_path / "hill").write_bytes(b"")
    with pytest.raises(InvalidFile, match="no suffix"):
        probe(tmp_path / "hill")


def test_special_files_and_impossible_names_are_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(InvalidFile, match="not a regular file"):
        read(tmp_path / "pipe.png")
    with pytest.raises(InvalidFile):
        read(tmp_path / "nul\0.png")
    with pytest.raises(InvalidFile):
        read(tmp_path / ("long" * 100 + ".png"))


@pytest.mark.parametrize(
    "options",
    [
        {"cell_size": 0.0},
        {"cell_size": float("nan")},
        {"height_range": (5.0, 5.0)},
        {"height_range": (5.0, float("inf"))},
        {"shape": (0, 4)},
        {"max_pixels": 0},
    ],
)
def test_options_out_of_range_are_rejected(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(options))):
        read(tmp_path / "any.png", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [suffix for suffix in SUFFIXES if suffix != ".hgt"])
def test_size_cap_and_wrong_shape_are_reported(hill: Terrain, tmp_path: Path, suffix: str) -> None:
    path = write(hill, tmp_path / f"hill{suffix}")
    assert read(path, max_pixels=35).shape == (5, 7)
    with pytest.raises(InvalidFile, match="7 x 5 cells, more than 34; raise max_pixels"):
        read(path, max_pixels=34)
    with pytest.raises(InvalidFile):
        read(path, shape=(5, 6))


def test_too_many_layers_are_rejected(tmp_path: Path) -> None:
    np.savez(tmp_path / "many.npz", elevation=np.zeros((2, 2)), **{f"l{i}": np.zeros((2, 2)) for i in range(64)})  # type: ignore[arg-type]
    with pytest.raises(InvalidFile, match="65 layers"):
        read(tmp_path / "many.npz")


def test_unknown_layer_is_reported_before_writing(hill: Terrain, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="elevatoin"):
        write(hill, tmp_path / "hill.png", layer="elevatoin")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".exr", ".npy", ".npz", ".tif"])
def test_range_for_formats_in_metres_is_rejected(hill: Terrain, tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InvalidParameter, match=r"leave out height_range, which is for \.png, \.r16, \.raw only"):
        write(hill, tmp_path / f"hill{suffix}", height_range=(0.0, 5000.0))


def test_write_returns_the_path_it_was_given(hill: Terrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert write(hill, "hill.npy") == Path("hill.npy")
    assert (tmp_path / "hill.npy").is_file()
