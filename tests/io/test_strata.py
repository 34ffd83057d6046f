"""Strata in files: stored exactly with the layers of a terrain, and read from a TOML file."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import OpenEXR
import pytest

from slopewash.errors import InvalidFile, SlopewashError
from slopewash.io import probe, read, read_strata, write
from slopewash.io.strata import from_metadata
from slopewash.terrain import Strata, Stratum, Terrain

LAYERS = [
    Stratum(thickness=20.1, erodibility=0.1),
    Stratum(thickness=1 / 3, flow_erosion=1e-3, collision_erosion=0.0, transport_capacity=2.5),
    Stratum(thickness=math.inf, erodibility=0.7),
]
LYING: dict[str, dict[str, Any]] = {
    "level": {},
    "placed": {"top": 1234.567},
    "tilted": {"dip": 7.3, "direction": 123.4},
    "following": {"follow": True},
    "warped": {"top": np.random.default_rng(2).random((5, 7)) * 900},
}


@pytest.fixture(params=sorted(LYING))
def layered(request: pytest.FixtureRequest, terrain: Terrain) -> Terrain:
    return terrain.replace(strata=Strata(LAYERS, **LYING[request.param]), bedrock=terrain["elevation"])


@pytest.mark.parametrize("suffix", [".npz", ".exr"])
def test_formats_with_named_layers_preserve_strata_exactly(layered: Terrain, tmp_path: Path, suffix: str) -> None:
    path = write(layered, tmp_path / f"all{suffix}")
    back = read(path).strata
    assert back is not None
    assert layered.strata is not None
    assert back.layers == layered.strata.layers
    assert (back.dip, back.direction, back.follow) == (
        layered.strata.dip,
        layered.strata.direction,
        layered.strata.follow,
    )
    np.testing.assert_array_equal(back.top, layered.strata.top)
    assert sorted(read(path)) == sorted(layered) == sorted(probe(path).layers)


@pytest.mark.parametrize("suffix", [".npz", ".exr"])
def test_other_cells_and_eroded_ground_do_not_move_the_layers(terrain: Terrain, tmp_path: Path, suffix: str) -> None:
    start = terrain.replace(strata=Strata(LAYERS, dip=20, direction=45))
    worn = start.replace(elevation=start["elevation"] - 100)
    back = read(write(worn, tmp_path / f"worn{suffix}"), cell_size=50.0)
    assert back.strata is not None
    assert start.strata is not None
    np.testing.assert_array_equal(back.strata.top, start.strata.top)


def test_a_level_top_needs_no_channel(terrain: Terrain, tmp_path: Path) -> None:
    path = write(terrain.replace(strata=Strata(LAYERS)), tmp_path / "level.exr")
    with OpenEXR.File(str(path), separate_channels=True) as file:
        assert sorted(file.channels()) == sorted(terrain)
        note = json.loads(file.header()["slopewash:strata"])
    assert note["layers"][0] == {"thickness": 20.1, "erodibility": 0.1}
    assert note["top"] == terrain.range("elevation")[1]


@pytest.mark.parametrize(
    ("note", "problem"),
    [
        ("no JSON", "JSONDecodeError"),
        ("[]", "TypeError"),
        ('{"top": 1.0}', "KeyError 'layers'"),
        (
            '{"top": null, "layers": [{"thickness": 1}], "dip": 0, "direction": 0, "follow": false}',
            "strata_top is missing",
        ),
        ('{"top": 1.0, "layers": [{"thickness": -1}], "dip": 0, "direction": 0, "follow": false}', "must be positive"),
        ('{"top": NaN, "layers": [{"thickness": 1}], "dip": 0, "direction": 0, "follow": false}', "finite"),
        ('{"top": 1.0, "layers": 3, "dip": 0, "direction": 0, "follow": false}', "TypeError"),
        ("[" * 100_000, "RecursionError"),
    ],
)
def test_damaged_strata_are_reported_in_one_sentence(note: str, problem: str) -> None:
    with pytest.raises(InvalidFile, match=r"hill\.exr: its strata are damaged: ") as caught:
        from_metadata(Path("hill.exr"), note, None, (2, 3))
    assert problem in str(caught.value)


def test_an_archive_with_a_forged_text_is_rejected_by_its_header(hill: Terrain, tmp_path: Path) -> None:
    path = write(hill, tmp_path / "forged.npz")
    with zipfile.ZipFile(path, "a") as archive, archive.open("strata.npy", "w") as file:
        np.lib.format.write_array(file, np.zeros(3))
    with pytest.raises(InvalidFile, match="strata has shape"):
        read(path)


TABLE = """
dip = 4
direction = 90
[[strata]]
thickness = 30
erodibility = 0.05
[[strata]]
thickness = 60
flow_erosion = 1e-3
"""


def test_a_table_gives_layers_and_how_they_lie(tmp_path: Path) -> None:
    path = tmp_path / "mesa.toml"
    path.write_text(TABLE)
    strata = read_strata(path)
    assert strata.layers == (Stratum(thickness=30, erodibility=0.05), Stratum(thickness=60, flow_erosion=1e-3))
    assert (strata.dip, strata.direction, strata.follow, strata.top) == (4.0, 90.0, False, None)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (b"dip = ", "is not a readable TOML file"),
        (b"\xff\xfe", "is not a readable TOML file"),
        (b"", "write a [[strata]] table"),
        (b"strata = 3", "write a [[strata]] table"),
        (b"strata = [3]", "write a [[strata]] table"),
        (b"[[stratum]]\nthickness = 3", 'did you mean "strata"'),
        (b"[[strata]]\nthicknes = 3", 'did you mean "thickness"'),
        (b"[[strata]]\nerodibility = 0.3", "has no thickness"),
        (b"[[strata]]\nthickness = -3", "must be positive"),
        (b'[[strata]]\nthickness = "thick"', "must be a number"),
        (b"dip = 95\n[[strata]]\nthickness = 3", "within 0 .. 80 degrees"),
        (b"follow = 1\n[[strata]]\nthickness = 3", "true or false"),
        (b'top = "high"\n[[strata]]\nthickness = 3', "must be metres"),
        (b"#" * (1 << 21), "larger than"),
        (b"[[strata]]\nthickness = 1" + 400 * b"0", "must be a number"),
        (b"dip = 1" + 400 * b"0" + b"\n[[strata]]\nthickness = 3", "within 0 .. 80 degrees"),
        (b"top = 1" + 400 * b"0" + b"\n[[strata]]\nthickness = 3", "must be metres"),
        (b"dip = " + 5000 * b"[", "is not a readable TOML file"),
    ],
)
def test_a_bad_table_is_rejected_in_one_sentence_with_its_name(tmp_path: Path, table: bytes, problem: str) -> None:
    path = tmp_path / "mesa.toml"
    path.write_bytes(table)
    with pytest.raises(SlopewashError) as caught:
        read_strata(path)
    assert problem in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_missing_tables_and_folders_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="does not exist"):
        read_strata(tmp_path / "none.toml")
    with pytest.raises(InvalidFile, match="is a folder; name a table of strata"):
        read_strata(tmp_path)
