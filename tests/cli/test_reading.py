"""Options of reading on the command line: each counts, or is refused, for files that are no plain grids too."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.cli.conftest import Run

import slopewash as sw
from slopewash.cli.reading import Reading

VALUES = {
    "cell_size": "7", "height_range": "0..3000", "height_unit": "ft", "reproject": "utm", "band": "1", "nodata": "0",
    "shape": "3,4", "max_pixels": "1",
}  # fmt: skip


def test_every_option_of_reading_has_a_case() -> None:
    assert {field.name for field in dataclasses.fields(Reading)} == set(VALUES)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result on tiles, a mesh and a folder."""
    folder = tmp_path_factory.mktemp("places")
    cone = sw.generate("cone", size=16)
    still = sw.SteepestTalus(talus_angle=89.0)
    sw.erode_tiled(cone, still, steps=1, tile=16, out=folder / "result.zarr", workers=0, backend="reference")
    sw.write(cone, folder / "mesh.ply")
    (folder / "kept").mkdir()
    return folder


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize(
    "words",
    [
        ("convert", "result.zarr", "-o", "out.tif"),
        ("convert", "result.zarr", "-o", "out.exr"),
        ("convert", "mesh.ply", "-o", "out.glb"),
        ("analyse", "result.zarr"),
        ("render", "result.zarr", "-o", "out.png"),
        ("info", "result.zarr"),
        ("info", "kept"),
        ("render", "kept", "-o", "out.webm"),
    ],
    ids=" ".join,
)
def test_options_that_a_file_cannot_honour_are_refused(
    run: Run, places: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], name: str
) -> None:
    monkeypatch.chdir(places)
    done = run(*words, f"--{name.replace('_', '-')}", VALUES[name], *(("--force",) if "-o" in words else ()))
    assert done.code != 0, done.out
    assert "Traceback" not in done.err
    assert f"--{name.replace('_', '-')}" in done.err
