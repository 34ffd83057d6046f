"""Heights, paints and colours for game engines, read back by other libraries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import OpenEXR
import pytest
from numpy.typing import NDArray
from PIL import Image

import slopewash as sw

from .conftest import letter_heights, reads_as_an_f

Make = Callable[..., sw.Terrain]


def pixels(path: Path) -> NDArray[np.integer]:
    with Image.open(path) as image:
        return np.asarray(image)


def exr_channels(path: Path) -> dict[str, NDArray[np.float32]]:
    with OpenEXR.File(str(path), separate_channels=True) as file:
        return {name: np.array(channel.pixels) for name, channel in file.channels().items()}


@pytest.mark.parametrize("heights", ["png", "r16"])
@pytest.mark.parametrize("side", [127, 253])
def test_unreal_heights_come_back_within_half_a_step(make: Make, tmp_path: Path, heights: str, side: int) -> None:
    terrain = make(side)
    done = sw.export(terrain, "unreal", tmp_path, heights=heights, water="simulated")
    path = tmp_path / f"height.{heights}"
    samples = pixels(path) if heights == "png" else np.fromfile(path, "<u2").reshape(side, side)
    assert samples.dtype == np.uint16
    assert samples.min() == 0
    assert samples.max() == 65535
    # As Unreal computes it: a step is 1/128 of the Z scale, in centimetres, from the middle of the range.
    metres = ((samples.astype(np.float64) - 32768) / 128 * done.card["scale_z"] + done.card["location_z"]) / 100
    half = 0.5 * done.card["step"]
    assert np.abs(metres - terrain["elevation"]).max() <= half * (1 + 1e-6)  # float64 rounding of the card
    assert done.card["scale_x"] == 800.0
    assert done.card["scale_z"] == pytest.approx(terrain.relief * 100 / 512, rel=2e-5)  # 65536 steps, not 65535
    assert reads_as_an_f(samples)


@pytest.mark.slow
def test_unreal_at_a_large_size(tmp_path: Path) -> None:
    terrain = sw.Terrain(letter_heights(2017, 2017), cell_size=2.0)
    sw.export(terrain, "unreal", tmp_path, water="none")
    samples = pixels(tmp_path / "height.png")
    low, high = terrain.range("elevation")
    back = low + samples * ((high - low) / 65535)
    assert np.abs(back - terrain["elevation"]).max() <= 0.5 * (high - low) / 65535 * (1 + 1e-6)
    assert pixels(tmp_path / "colour.png").shape == (2017, 2017, 3)


def test_unreal_weights_sum_to_255_in_every_pixel(make: Make, tmp_path: Path) -> None:
    done = sw.export(make(127), "unreal", tmp_path, water="simulated", season="winter")
    names = done.card["layers"]
    assert names == ("ground", "sediment", "rock", "channel", "water", "snow")
    layers = [pixels(tmp_path / f"weight_{name}.png") for name in names]
    assert all(layer.dtype == np.uint8 and layer.shape == (127, 127) for layer in layers)
    assert (np.sum(layers, axis=0, dtype=int) == 255).all()
    assert all(layer.max() > 100 for layer in layers)


def test_unreal_files_never_have_a_size_in_their_name(make: Make, tmp_path: Path) -> None:
    done = sw.export(make(253), "unreal", tmp_path, tiles=(2, 2), water="none")
    assert (tmp_path / "height_x1_y0.png").exists()
    assert not [path.name for path in done.files if re.search(r"\d+x\d+", path.name)]


def test_unreal_normals_point_south_in_green(tmp_path: Path) -> None:
    heights = np.repeat(np.arange(127.0)[:, None], 127, axis=1)  # rises to the south: it faces north
    sw.export(sw.Terrain(heights), "unreal", tmp_path / "ue", water="none")
    assert pixels(tmp_path / "ue" / "normal.png")[60, 60].tolist() == [128, 37, 218]
    sw.export(sw.Terrain(heights[:65, :65]), "unity", tmp_path / "unity", water="none")
    assert pixels(tmp_path / "unity" / "normal.png")[30, 30].tolist() == [128, 218, 218]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("target", ["unreal", "unity", "godot"])
def test_tiles_reassemble_to_the_whole(make: Make, tmp_path: Path, target: str, shared: bool) -> None:
    side = {"unreal": 127, "unity": 65, "godot": 64}[target]
    rows, columns = (n * (side - shared) + shared for n in (2, 3))
    terrain = make(rows, columns)
    sw.export(terrain, target, tmp_path, tiles=(3, 2), size=side, shared_edges=shared, water="none")
    step = side - shared
    whole = np.full((rows, columns), np.nan)
    for y in range(2):
        for x in range(3):
            tile: NDArray[Any]
            if target == "unreal":
                tile = pixels(tmp_path / f"height_x{x}_y{y}.png")
            elif target == "unity":  # counted from the south, and rows from the south
                tile = np.fromfile(tmp_path / f"height_{x}_{1 - y}.raw", "<u2").reshape(side, side)[::-1]
            else:
                tile = exr_channels(tmp_path / f"height_{x}_{y}.exr")["R"]
            place = whole[y * step : y * step + side, x * step : x * step + side]
            known = ~np.isnan(place)
            assert (place[known] == tile[known]).all()  # shared vertices agree
            place[:] = tile
    if target != "godot":
        low, high = terrain.range("elevation")
        whole = low + whole * ((high - low) / 65535)
        assert np.abs(whole - terrain["elevation"]).max() <= 0.5 * (high - low) / 65535 * (1 + 1e-6)
    else:
        assert (whole == terrain["elevation"]).all()
    assert reads_as_an_f(whole)


@pytest.mark.parametrize("side", [33, 65, 129])
def test_unity_heights_begin_in_the_south(make: Make, tmp_path: Path, side: int) -> None:
    terrain = make(side)
    done = sw.export(terrain, "unity", tmp_path, water="none")
    data = np.fromfile(tmp_path / "height.raw", "<u2").reshape(side, side)
    assert reads_as_an_f(data[::-1])
    assert not reads_as_an_f(data)
    # As Unity computes it: a fraction of the terrain height, above its position.
    metres = data[::-1] / 65535 * done.card["terrain_height"] + done.card["position_y"]
    assert np.abs(metres - terrain["elevation"]).max() <= 0.5 * terrain.relief / 65535 * (1 + 1e-6)
    assert done.card["terrain_width"] == (side - 1) * 8.0


def test_unity_splats_fill_the_cells_between_vertices(make: Make, tmp_path: Path) -> None:
    done = sw.export(make(65), "unity", tmp_path, water="simulated", snow_line=200.0)
    splats = [pixels(tmp_path / f"splat_{k}.png") for k in (0, 1)]
    assert all(splat.shape == (64, 64, 4) for splat in splats)
    channels = np.concatenate(splats, axis=-1).astype(int)
    assert (channels.sum(axis=-1) == 255).all()
    assert not channels[..., len(done.card["layers"]) :].any()
    snow = channels[..., done.card["layers"].index("snow")]
    assert reads_as_an_f(snow)  # the letter is high; images have north at the top


def test_godot_heights_are_exact_metres_in_channels_it_knows(make: Make, tmp_path: Path) -> None:
    terrain = make(64, 96)
    sw.export(terrain, "godot", tmp_path, water="none")
    channels = exr_channels(tmp_path / "height.exr")
    assert set(channels) == {"R", "G", "B"}
    for values in channels.values():
        assert values.dtype == np.float32
        assert (values == terrain["elevation"]).all()
    assert reads_as_an_f(channels["R"])
    assert pixels(tmp_path / "colour.png").shape == (64, 96, 4)
    assert (pixels(tmp_path / "colour.png")[..., 3] == 128).all()


def test_godot_takes_raw_heights_with_their_range(make: Make, tmp_path: Path) -> None:
    terrain = make(64, 96)
    card = sw.export(terrain, "godot", tmp_path, heights="r16", water="none", height_range=(-100, 900)).card
    data = np.fromfile(tmp_path / "height.r16", "<u2").reshape(64, 96)
    assert card["r16_size"] == (96, 64)
    low, high = card["r16_range"]
    assert (low, high) == (-100, 900)
    assert np.abs(low + data * (high - low) / 65535 - terrain["elevation"]).max() <= 0.5 * 1000 / 65535 * (1 + 1e-6)


def decoded(bits: int) -> dict[str, int]:
    """Read a pixel of a Terrain3D control map by the widths of its fields, from the highest bit down."""
    text = f"{bits:032b}"
    fields, at = {}, 0
    for name, width in (("base", 5), ("overlay", 5), ("blend", 8), ("angle", 4), ("scale", 3), ("reserved", 4),
                        ("hole", 1), ("navigation", 1), ("auto", 1)):  # fmt: skip
        fields[name] = int(text[at : at + width], 2)
        at += width
    assert at == 32
    return fields


def test_the_control_map_of_terrain3d_decodes_to_the_paints(make: Make, tmp_path: Path) -> None:
    from slopewash.exports.quantities import quantities_of
    from slopewash.exports.weights import weights_of

    hole = np.zeros((64, 64), bool)
    hole[5, 50] = True
    terrain = make(64, nodata=hole)
    sw.export(terrain, "godot", tmp_path, water="simulated", snow_line=200.0)
    channels = exr_channels(tmp_path / "control.exr")
    assert set(channels) == {"R", "G", "B"}
    shares = weights_of(quantities_of(terrain, palette="alpine", season=None, snow_line=200.0))
    stack = np.stack(list(shares.values()))
    raw = np.frombuffer(channels["R"].tobytes(), np.uint32).reshape(64, 64)
    seen = set()
    for row in range(0, 64, 5):
        for column in range(0, 64, 5):
            found = decoded(int(raw[row, column]))
            here = np.sort(stack[:, row, column])[::-1]
            assert stack[found["base"], row, column] == here[0]
            assert stack[found["overlay"], row, column] == here[1]
            assert found["base"] != found["overlay"]
            assert found["blend"] == pytest.approx(255 * here[1] / (here[0] + here[1]), abs=0.51)
            assert found["hole"] == int(hole[row, column])
            assert [found[k] for k in ("angle", "scale", "reserved", "navigation", "auto")] == [0] * 5
            seen.add(found["base"])
    assert len(seen) > 3


def test_godot_regions_are_large_enough_and_tiles_fill_them(make: Make, tmp_path: Path) -> None:
    from slopewash.exports.godot import region_size

    assert region_size((16384, 16384), (16384, 16384)) == 512
    assert region_size((512, 512), (512, 512)) == 256
    with pytest.raises(sw.InvalidParameter, match="the nearest sizes are 64 and 128"):
        sw.export(make(200), "godot", tmp_path, tiles=(2, 2), water="none")
    assert not list(tmp_path.iterdir())


def test_the_card_is_printed_and_written(make: Make, tmp_path: Path) -> None:
    done = sw.export(make(127), "unreal", tmp_path, water="none")
    text = (tmp_path / "import_card.txt").read_text(encoding="utf-8")
    assert text == f"{done}\n"
    card = json.loads((tmp_path / "import_card.json").read_text(encoding="utf-8"))
    for key, value in card["values"].items():
        assert card["labels"][key] in text
        assert np.array_equal(value, done.card[key])
    assert {path.name for path in done.files} == {*card["files"], "import_card.txt", "import_card.json"}
    assert all((tmp_path / name).is_file() for name in card["files"])


def test_cells_without_data_are_filled_and_marked(make: Make, tmp_path: Path) -> None:
    hole = np.zeros((127, 127), bool)
    hole[100:120, 80:100] = True
    sw.export(make(127, nodata=hole), "unreal", tmp_path, water="none")
    assert ((pixels(tmp_path / "nodata.png") == 255) == hole).all()
    around = pixels(tmp_path / "height.png")[100:120, 80:100].astype(int)
    assert np.ptp(around) < 6000  # no cliff to the lowest step


def test_rivers_are_added_and_painted(tmp_path: Path) -> None:
    valley = sw.Terrain(np.abs(np.arange(65.0) - 32) + np.arange(65.0)[:, None], cell_size=10.0)
    with_rivers = sw.export(valley, "unity", tmp_path / "a").card["layers"]
    without = sw.export(valley, "unity", tmp_path / "b", water="none").card["layers"]
    assert "water" in with_rivers
    assert "water" not in without


def test_exports_are_the_same_bytes_every_time(make: Make, tmp_path: Path) -> None:
    for name in ("unreal", "unity", "godot", "blender"):
        side = {"unreal": 127, "unity": 65}.get(name, 48)
        first, second = (sw.export(make(side), name, tmp_path / f"{name}{k}", water="none") for k in (1, 2))
        for one, two in zip(first.files, second.files, strict=True):
            assert one.read_bytes() == two.read_bytes(), one.name
