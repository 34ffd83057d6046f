"""The scripts of the papers run at a size where their pictures are worth nothing, and write what their pages show."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from PIL import Image

SCRIPTS = Path(__file__).parents[2] / "examples" / "papers"
WRITTEN = {
    "jako2011": (
        {"jako-fig5-6", "jako-fig7-table2", "jako-fig7-preset", "jako-fig7d", "jako-fig8", "jako-fig9", "jako-mei"},
        {"figures", "banks", "mei", "table1", "table2"},
    ),
    "salamin": ({"salamin-fig1"}, {"figure1", "table1"}),
    "outerrain": ({"outerrain-before-after", "outerrain-maps", "outerrain-piles"}, {"figures", "times"}),
    "chiba1998": (
        {"chiba-fig2", "chiba-fig3", "chiba-fig4", "chiba-turned", "chiba-plate1", "chiba-plate2"},
        {"figures", "laws", "table1"},
    ),
    "bezin2010": (
        {"bezin-levels", "bezin-streams", "bezin-before-after", "bezin-change", "bezin-canyon"},
        {"figures", "speed", "phases"},
    ),
    "one_terrain": ({"one-terrain"}, {"models", "times"}),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::slopewash.errors.StabilityWarning")  # coarse meshes have other contact periods
@pytest.mark.parametrize("source", WRITTEN)
def test_a_script_draws_every_figure_and_records_every_table(source: str, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location(source, SCRIPTS / f"{source}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(["--quick", "--out", str(tmp_path)])
    pictures, tables = WRITTEN[source]
    assert {file.stem for file in (tmp_path / source).glob("*.jpg")} == pictures
    for file in (tmp_path / source).glob("*.jpg"):
        with Image.open(file) as picture:
            assert min(picture.size) > 100
    record = json.loads((tmp_path / source / f"{source}.json").read_text(encoding="utf-8"))
    assert set(record["tables"]) == tables
    assert record["quick"] is True
    for table in record["tables"].values():
        assert all(table["measured"][fact] for fact in ("date", "commit", "machine", "versions"))


def test_the_pages_show_records_of_full_runs() -> None:
    files = sorted((SCRIPTS.parents[1] / "docs/papers/results").glob("*.json"))
    assert {file.stem for file in files} == set(WRITTEN)
    for file in files:
        record = json.loads(file.read_text(encoding="utf-8"))
        assert record["quick"] is False
        assert set(record["tables"]) == WRITTEN[file.stem][1]
