"""Layers as 16-bit masks: exact to half a step by the mapping that is recorded."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import slopewash as sw
from slopewash.errors import UnknownName
from slopewash.io.masks import Mapping16, write_masks

RANDOM = np.random.default_rng(4)
SHAPE = (24, 31)
TERRAIN = sw.Terrain(
    RANDOM.normal(size=SHAPE),
    cell_size=5.0,
    flow=np.exp(RANDOM.normal(0, 3, SHAPE)),
    wear=RANDOM.random(SHAPE) * 40,
    difference=RANDOM.normal(0, 8, SHAPE),
    water=np.zeros(SHAPE),
)
LAYERS = ["elevation", "flow", "wear", "difference", "water"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_masks(TERRAIN, tmp_path, LAYERS)
    return tmp_path


@pytest.mark.parametrize("layer", LAYERS)
def test_values_come_back_to_half_a_step_by_the_recorded_formula(folder: Path, layer: str) -> None:
    noted = json.loads((folder / "layers.json").read_text())["layers"][layer]
    with Image.open(folder / f"{layer}.png") as image:  # Pillow is the independent reader
        assert image.mode == "I;16"
        sample = np.asarray(image).astype(np.float64)
    low, high, values = noted["low"], noted["high"], TERRAIN[layer].astype(np.float64)
    if noted["scale"] == "log":
        back = low * (high / low) ** (sample / 65535)
        values = np.maximum(values, low)
        assert np.abs(np.log(back / values)).max() <= 0.5001 * np.log(high / low) / 65535
    else:
        back = low + (high - low) * sample / 65535
        assert np.abs(back - values).max() <= 0.5001 * (high - low) / 65535
    assert noted["units"] == TERRAIN.units(layer)


def test_flow_is_spread_over_the_whole_range_of_grey(folder: Path) -> None:
    with Image.open(folder / "flow.png") as image:
        flow = np.asarray(image)
    linear = 65535 * TERRAIN["flow"] / TERRAIN["flow"].max()
    assert np.median(linear) < 1000  # almost black
    assert 20000 < np.median(flow) < 45000
    assert flow.max() == 65535


def test_no_change_is_middle_grey(folder: Path) -> None:
    assert Mapping16.of(TERRAIN, "difference").samples(np.zeros((1, 1), np.float32))[0, 0] in (32767, 32768)


def test_linear_masks_are_read_with_their_values_and_logarithmic_ones_are_not_mistaken(folder: Path) -> None:
    step = (TERRAIN["wear"].max() - TERRAIN["wear"].min()) / 65535
    np.testing.assert_allclose(sw.read(folder / "wear.png")["elevation"], TERRAIN["wear"], atol=0.6 * step)
    assert sw.probe(folder / "flow.png").height_range is None


def test_nodata_is_black(tmp_path: Path) -> None:
    hole = np.zeros(SHAPE, bool)
    hole[3, 4] = True
    write_masks(TERRAIN.replace(nodata=hole), tmp_path, ["difference"])
    with Image.open(tmp_path / "difference.png") as image:
        samples = np.asarray(image)
    assert samples[3, 4] == 0
    assert samples[3, 5] > 0


def test_an_unknown_layer_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean"):
        write_masks(TERRAIN, tmp_path, ["flow", "waer"])
    assert not list(tmp_path.iterdir())


def test_two_calls_write_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    for file in write_masks(TERRAIN, again, LAYERS):
        assert file.read_bytes() == (folder / file.name).read_bytes()
