"""Files beside a map that another program wrote: neither replaced nor removed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import slopewash as sw
from slopewash.cli import main
from slopewash.errors import InvalidFile

PLACED = {"crs": "EPSG:32611", "transform": (10.0, 0.0, 400000.0, 0.0, -10.0, 5000000.0), "cell_size": 10.0}


def hill(*, placed: bool = False) -> sw.Terrain:
    values = np.add.outer(np.arange(4.0), np.arange(4.0))
    return sw.Terrain(values, **PLACED) if placed else sw.Terrain(values)  # type: ignore[arg-type]


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize(
    ("name", "side"), [("roads.asc", "roads.prj"), ("roads.r16", "roads.r16.json"), ("roads.raw", "roads.raw.json")]
)
def test_a_side_file_without_its_map_is_of_something_else(name: str, side: str, placed: bool, tmp_path: Path) -> None:
    (tmp_path / side).write_text('{"lanes": 2}')
    with pytest.raises(InvalidFile, match=rf"{side} is there, and belongs to something else; move it, or choose"):
        sw.write(hill(placed=placed), tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [side]
    assert (tmp_path / side).read_text() == '{"lanes": 2}'


def test_a_shapefile_keeps_its_crs_though_a_grid_of_the_same_name_is_there(tmp_path: Path) -> None:
    for ending in ("asc", "shp", "prj"):
        (tmp_path / f"roads.{ending}").write_text(ending)
    with pytest.raises(InvalidFile, match=r"roads\.prj is there"):
        sw.write(hill(), tmp_path / "roads.asc")
    assert (tmp_path / "roads.prj").read_text() == "prj"


@pytest.mark.parametrize("name", ["hill.asc", "hill.r16"])
def test_what_is_written_again_takes_its_side_file_along(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for placed in (True, False, True):
        sw.write(hill(placed=placed), path)
        if name == "hill.asc":
            assert path.with_suffix(".prj").exists() == placed
    path.unlink()
    if name == "hill.r16":  # what an interrupted writer leaves
        sw.write(hill(), path)
        assert sw.read(path, cell_size=1.0)["elevation"].max() == 6.0


@pytest.mark.parametrize("command", ["convert", "erode", "run"])
def test_commands_refuse_it_before_they_begin(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sw.write(hill(), "in.npz")
    Path("out").mkdir()
    Path("out/roads.prj").write_text("of a shapefile")
    Path("job.toml").write_text(
        '[source]\nfile = "in.npz"\n[[stages]]\nmodel = "steepest_talus"\nsteps = 2\n[[outputs]]\npath = "roads.asc"\n'
    )
    words = {
        "convert": ["convert", "in.npz", "-o", "out/roads.asc"],
        "erode": ["erode", "in.npz", "-o", "out/roads.asc", "--model", "steepest_talus", "--steps", "2"],
        "run": ["run", "job.toml", "-o", "out"],
    }
    monkeypatch.setattr(sw.Running, "run", lambda *_, **__: pytest.fail("it runs"))
    assert main(words[command]) == 2
    assert "roads.prj is there, and belongs to something else" in capsys.readouterr().err
    assert sorted(path.name for path in Path("out").iterdir()) == ["roads.prj"]
