"""The scripts of the papers run at a size where their pictures are worth nothing, and write what their pages show."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import slopewash as sw

SCRIPTS = Path(__file__).parents[2] / "examples" / "papers"
WRITTEN = {
    "jako2011": (
        {
            "jako-fig5-6",
            "jako-fig5-6-sections",
            "jako-fig7-table2",
            "jako-fig7-preset",
            "jako-fig7d",
            "jako-fig7d-sections",
            "jako-fig8",
            "jako-fig9",
            "jako-fig9-section",
            "jako-mei",
        },
        {"figures", "regular", "banks", "losses", "starts", "mei", "mei_readings", "table1", "table2"},
    ),
    "salamin": ({"salamin-fig1"}, {"figure1", "table1"}),
    "outerrain": ({"outerrain-before-after", "outerrain-maps", "outerrain-piles"}, {"figures", "times"}),
    "chiba1998": (
        {
            "chiba-fig2",
            "chiba-fig3",
            "chiba-fig4",
            "chiba-fig4-sections",
            "chiba-turned",
            "chiba-plate1",
            "chiba-plate2",
        },
        {"figures", "laws", "table1"},
    ),
    "bezin2010": (
        {
            "bezin-levels",
            "bezin-streams",
            "bezin-before-after",
            "bezin-change",
            "bezin-canyon",
            "bezin-canyon-section",
        },
        {"figures", "speed", "phases"},
    ),
    "one_terrain": ({"one-terrain"}, {"models", "times"}),
}


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::slopewash.errors.StabilityWarning")  # coarse meshes have other contact periods
@pytest.mark.parametrize("source", WRITTEN)
def test_a_script_draws_every_figure_and_records_every_table(source: str, tmp_path: Path) -> None:
    script(source).main(["--quick", "--out", str(tmp_path)])
    pictures, tables = WRITTEN[source]
    assert {file.stem for file in (tmp_path / source).iterdir() if file.suffix in (".jpg", ".svg")} == pictures
    for file in (tmp_path / source).glob("*.jpg"):
        with Image.open(file) as picture:
            assert min(picture.size) > 100
    for file in (tmp_path / source).glob("*.svg"):
        lines = ElementTree.parse(file).getroot().iter("{http://www.w3.org/2000/svg}polyline")
        assert sum("nan" not in line.attrib["points"] for line in lines) >= 2
    record = json.loads((tmp_path / source / f"{source}.json").read_text(encoding="utf-8"))
    assert set(record["tables"]) == tables
    assert record["quick"] is True
    for table in record["tables"].values():
        assert all(table["measured"][fact] for fact in ("date", "commit", "machine", "versions"))


def test_thin_water_and_small_ponds_are_not_drawn() -> None:
    water = np.full((64, 64), 0.05)  # of cells of 1 m: what rain has left
    water[4:8, 4:8] = 2.0  # a pond of 16 cells
    water[20:60, 20:60] = 2.0  # a lake, and a river that meets it at a corner
    for k in range(1, 10):
        water[20 - k, 20 - k] = 1.0
    terrain = sw.Terrain(np.zeros((64, 64)), water=water)
    look = script("look")
    kept = look.without_ponds(terrain)["water"]
    assert not kept[4:8, 4:8].any()
    np.testing.assert_array_equal(kept[20:60, 20:60], terrain["water"][20:60, 20:60])
    assert kept[11, 11] == 1.0
    bare = np.asarray(look.plan(terrain, 64, water=False)).astype(int)
    drawn = np.abs(np.asarray(look.plan(terrain, 64)).astype(int) - bare).sum(axis=2)
    assert drawn[4:8, 4:8].max() < 12
    assert drawn[50, 5] < 12
    assert drawn[40, 40] > 100


def test_the_pages_show_records_of_full_runs() -> None:
    files = sorted((SCRIPTS.parents[1] / "docs/papers/results").glob("*.json"))
    assert {file.stem for file in files} == set(WRITTEN)
    for file in files:
        record = json.loads(file.read_text(encoding="utf-8"))
        assert record["quick"] is False
        assert set(record["tables"]) == WRITTEN[file.stem][1]
