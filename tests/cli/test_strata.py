"""Strata on the command line: given by the user, kept in files, or suggested by a preset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw

Run = Callable[..., Any]

TABLE = """
dip = 4
direction = 90

[[strata]]
thickness = 30
erodibility = 0.05

[[strata]]
thickness = 60
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mesa.toml"
    path.write_text(TABLE)
    return path


def strata_of(path: Path) -> sw.Strata:
    strata = sw.read(path).strata
    assert strata is not None
    return strata


@pytest.mark.parametrize("suffix", [".exr", ".npz"])
def test_a_table_of_strata_is_put_beneath_a_generated_terrain(
    run: Run, tmp_path: Path, table: Path, suffix: str
) -> None:
    out = tmp_path / f"raw{suffix}"
    done = run("generate", "dome", "-o", out, "--size", 24, "--strata", table)
    assert done.code == 0
    assert "Strata of 2 layers, dipping 4° towards 90°" in done.out
    assert strata_of(out).layers == sw.read_strata(table).layers


def test_erosion_meets_the_strata_that_are_given(run: Run, raw: Path, tmp_path: Path, table: Path) -> None:
    bare, layered = tmp_path / "bare.exr", tmp_path / "layered.exr"
    assert run("erode", raw, "-o", bare, "--steps", 20).code == 0
    assert run("erode", raw, "-o", layered, "--steps", 20, "--strata", table).code == 0
    assert sw.read(bare).strata is None
    after = sw.read(layered)
    assert strata_of(layered).dip == 4.0
    assert (after["bedrock"] <= after["elevation"]).all()
    assert not np.array_equal(after["elevation"], sw.read(bare)["elevation"])


def test_a_run_goes_on_with_the_strata_of_its_file(run: Run, tmp_path: Path, table: Path) -> None:
    start, once, twice = (tmp_path / f"{name}.npz" for name in ("start", "once", "twice"))
    assert run("generate", "dome", "-o", start, "--size", 24, "--strata", table).code == 0
    assert run("erode", start, "-o", once, "--steps", 5).code == 0
    assert run("erode", once, "-o", twice, "--steps", 5, "--preset", "chiba_strata").code == 0
    first, last = strata_of(start), strata_of(twice)
    assert first.top is not None
    assert last.top is not None
    np.testing.assert_array_equal(last.top, first.top)
    assert last.layers == sw.read_strata(table).layers  # not the preset's


def test_bands_span_the_relief(run: Run, raw: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.exr"
    assert run("erode", raw, "-o", out, "--steps", 1, "--strata", "bands").code == 0
    layers = strata_of(out).layers
    assert sum(layer.thickness for layer in layers) == pytest.approx(sw.read(raw).relief)
    assert layers[0].erodibility < layers[1].erodibility


def test_a_preset_brings_its_strata_where_there_are_none(run: Run, raw: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.exr"
    assert run("erode", raw, "-o", out, "--steps", 1, "--preset", "chiba_strata").code == 0
    layers = strata_of(out).layers
    assert [layer.flow_erosion for layer in layers] == [1e-3, 1e-6, 1e-2, 1e-4, 1e-3]
    assert layers[0].thickness == pytest.approx(sw.read(raw).relief / 5)


@pytest.mark.slow
def test_demo_of_a_preset_starts_as_described(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--out", tmp_path / "demo", "--preset", "chiba_strata", "--size", 24, "--steps", 2, "--json")
    assert done.code == 0
    assert done.json["preset"] == "chiba_strata"
    after = sw.read(tmp_path / "demo" / "terrain.exr")
    assert after.shape == (24, 24)
    assert len(strata_of(tmp_path / "demo" / "terrain.exr").layers) == 5
    start = sw.preset_source("chiba_strata", size=24, seed=7).make()["elevation"]
    assert np.abs(after["elevation"] - after["difference"] - start).max() < 1e-3


def test_a_talus_that_is_the_same_everywhere_is_reported(run: Run, raw: Path, tmp_path: Path, table: Path) -> None:
    words = ("erode", raw, "-o", tmp_path / "out.exr", "--model", "steepest_talus", "--steps", 2, "--strata", table)
    assert "--set talus_law=hard_stands_steeper" in run(*words).err
    assert run(*words, "--set", "talus_law=hard_stands_steeper").err == ""


def test_models_reports_the_strata_of_a_preset(run: Run) -> None:
    assert "from noisy_cylinder over 5 strata." in run("models", "chiba_strata").out
    facts = run("models", "chiba_strata", "--json").json
    assert facts["start"]["size"] == 128
    assert [layer["flow_erosion"] for layer in facts["strata"]] == [1e-3, 1e-6, 1e-2, 1e-4, 1e-3]
    assert run("models", "single_grid", "--json").json["strata"] is None


def test_info_reports_the_layers(run: Run, tmp_path: Path, table: Path, raw: Path) -> None:
    out = tmp_path / "raw.npz"
    assert run("generate", "dome", "-o", out, "--size", 24, "--strata", table).code == 0
    done = run("info", out)
    assert done.code == 0
    assert "2 layers, dipping 4° towards 90°, top at" in done.out
    assert "30 m      erodibility 0.05" in done.out
    facts = run("info", out, "--json").json["strata"]
    assert facts["layers"] == [{"thickness": 30.0, "erodibility": 0.05}, {"thickness": 60.0, "erodibility": 1.0}]
    assert (facts["dip"], facts["direction"], facts["follow"]) == (4.0, 90.0, False)
    assert run("info", raw, "--json").json["strata"] is None


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["outerrain", "bezin2010"])
def test_demo_draws_what_a_model_has(run: Run, tmp_path: Path, preset: str) -> None:
    done = run("demo", "--out", tmp_path / "demo", "--preset", preset, "--size", 17, "--steps", 2)
    assert done.code == 0, done.err
    assert (tmp_path / "demo" / "view.png").exists()
    assert not (tmp_path / "demo" / "flow.png").exists()  # neither leaves such a layer
