"""Exports, the session as a script, videos: files that other programs read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import OpenEXR
import pytest
import tifffile
from PIL import Image

pytestmark = pytest.mark.slow


FLOATS = {".npy", ".npz", ".tif", ".tiff", ".exr"}
HEADLESS = {".r16", ".raw"}
MESHES = {".glb", ".obj", ".ply", ".stl"}


@pytest.fixture
def eroded(studio: Any) -> Any:
    studio.ask(type="step", count=5)
    studio.wait("studio.store.state.step === 5 && !studio.store.state.playing")
    studio.tab("export")
    return studio


def export(studio: Any, suffix: str, folder: Path) -> Path:
    return studio.download(lambda: studio.page.click(f"[data-suffix='{suffix}']"), folder)


def test_every_format_the_server_names_has_a_button(eroded: Any) -> None:
    suffixes = eroded.page.evaluate("studio.store.welcome.formats.map(f => f.suffix)")
    assert suffixes
    for suffix in suffixes:
        assert eroded.page.locator(f"[data-suffix='{suffix}']").is_visible()
    # Each of them is read back by a test below; a new one needs its reader.
    assert set(suffixes) == FLOATS | HEADLESS | MESHES | {".png"}


@pytest.mark.parametrize("suffix", sorted(FLOATS))
def test_float_exports_hold_the_very_heights(eroded: Any, tmp_path: Path, suffix: str) -> None:
    heights = eroded.layer("elevation")
    file = export(eroded, suffix, tmp_path)
    if suffix == ".npy":
        read = np.load(file)
    elif suffix == ".npz":
        with np.load(file) as layers:
            read = layers["elevation"]
    elif suffix == ".exr":
        channels = OpenEXR.File(str(file), separate_channels=True).channels()
        read = next(c.pixels for name, c in channels.items() if name in ("elevation", "Y"))
    else:
        read = tifffile.imread(file)
    assert np.array_equal(read, heights)


def test_the_grey_picture_spans_its_range(eroded: Any, tmp_path: Path) -> None:
    heights = eroded.layer("elevation").astype(np.float64)
    grey = np.asarray(Image.open(export(eroded, ".png", tmp_path))).astype(np.float64)
    assert grey.max() > 65000
    slope, offset = np.polyfit(grey.ravel(), heights.ravel(), 1)
    assert np.abs(slope * grey + offset - heights).max() <= 0.51 * slope  # half a 16-bit step


@pytest.mark.parametrize("suffix", sorted(HEADLESS))
def test_headless_exports_are_little_endian_and_come_with_their_range(eroded: Any, tmp_path: Path, suffix: str) -> None:
    heights = eroded.layer("elevation").astype(np.float64)
    files: dict[str, Any] = {}
    eroded.page.once("download", lambda first: eroded.page.once("download", lambda side: files.update(side=side)))
    values = np.fromfile(export(eroded, suffix, tmp_path), "<u2").reshape(heights.shape).astype(np.float64)
    slope, offset = np.polyfit(values.ravel(), heights.ravel(), 1)
    assert np.abs(slope * values + offset - heights).max() <= 0.51 * slope
    for _ in range(600):
        if "side" in files:
            break
        eroded.page.wait_for_timeout(100)
    files["side"].save_as(tmp_path / "side.json")
    side = json.loads((tmp_path / "side.json").read_text())
    low, high = side["height_range"]
    assert (low, high) == pytest.approx((heights.min(), heights.max()), abs=1e-3)


def corners_of(file: Path) -> np.ndarray:
    """Corners of the triangles in a file, read by the format's own definition."""
    data = file.read_bytes()
    if file.suffix == ".obj":
        return np.array([line.split()[1:4] for line in data.decode().splitlines() if line.startswith("v ")], float)
    if file.suffix == ".stl":
        facets = np.frombuffer(data, [("normal", "<3f4"), ("corners", "<9f4"), ("rest", "<u2")], offset=84)
        assert len(facets) == int.from_bytes(data[80:84], "little")
        return facets["corners"].reshape(-1, 3)
    if file.suffix == ".ply":
        header, _, body = data.partition(b"end_header\n")
        lines = header.decode().splitlines()
        assert "format binary_little_endian 1.0" in lines
        count = next(int(line.split()[2]) for line in lines if line.startswith("element vertex"))
        vertex = lines[
            lines.index(f"element vertex {count}") + 1 : next(i for i, s in enumerate(lines) if "element face" in s)
        ]
        kinds = {"float": "<f4", "float32": "<f4", "double": "<f8", "uchar": "u1"}
        fields = [(line.split()[2], kinds[line.split()[1]]) for line in vertex]
        vertices = np.frombuffer(body, fields, count)
        return np.stack([vertices[axis] for axis in "xyz"], axis=1)
    assert data[:4] == b"glTF"
    length = int.from_bytes(data[12:16], "little")
    scene = json.loads(data[20 : 20 + length])
    accessor = scene["accessors"][scene["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]
    view = scene["bufferViews"][accessor["bufferView"]]
    start = 28 + length + view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    return np.frombuffer(data, "<f4", 3 * accessor["count"], start).reshape(-1, 3)


@pytest.mark.parametrize("suffix", sorted(MESHES))
def test_triangles_have_the_terrains_heights(eroded: Any, tmp_path: Path, suffix: str) -> None:
    heights = eroded.layer("elevation").astype(np.float64)
    corners = corners_of(export(eroded, suffix, tmp_path)).astype(np.float64)
    # glTF points y up, z south; the others z up, y north.
    east, south, up = corners.T[[0, 2, 1]] if suffix == ".glb" else corners.T * np.array([[1], [-1], [1]])
    assert len(np.unique(corners, axis=0)) >= heights.size // 2
    assert (np.ptp(east), np.ptp(south)) == pytest.approx((1270.0, 1270.0))  # between the middles of outer cells
    column, row = np.clip(east / 10 - 0.5, 0, 127), np.clip(south / 10 - 0.5, 0, 127)
    x, y = np.minimum(column.astype(int), 126), np.minimum(row.astype(int), 126)
    tx, ty = column - x, row - y
    north = heights[y, x] * (1 - tx) + heights[y, x + 1] * tx
    below = heights[y + 1, x] * (1 - tx) + heights[y + 1, x + 1] * tx
    assert np.abs(north * (1 - ty) + below * ty - up).max() < 0.01  # metres


def test_the_script_replays_the_session_to_the_same_bits(studio: Any, tmp_path: Path) -> None:
    studio.ask(type="step", count=4)
    studio.wait("studio.store.state.step === 4 && !studio.store.state.playing")
    studio.take_tool("raise")
    x, y = studio.place_on_screen(640.0, 1000.0)
    studio.page.mouse.move(x, y)
    studio.page.mouse.down()
    studio.page.mouse.move(x + 60, y + 10, steps=5)
    studio.page.mouse.up()
    studio.wait("studio.store.state.can_undo")
    studio.tab("model")
    studio.page.evaluate("document.querySelector('[data-role=all-parameters]').open = true")
    field = studio.page.locator("[data-parameter=rain_rate] [data-role=value]")
    field.fill("0.07")
    field.press("Enter")
    studio.wait("studio.store.state.parameters.rain_rate === 0.07")
    studio.ask(type="step", count=6)
    studio.wait("studio.store.state.step === 10 && !studio.store.state.playing")
    expected = {name: studio.layer(name) for name in ("elevation", "water", "suspended")}
    studio.tab("export")
    script = studio.download(lambda: studio.click("script"), tmp_path)
    source = Path(sys.modules["slopewash"].__file__ or "").parents[1]
    environment = os.environ | {"PYTHONPATH": str(source)}
    run = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    with np.load(tmp_path / "session.npz") as replayed:
        for name, layer in expected.items():
            assert np.array_equal(replayed[name], layer), name


def test_a_video_is_recorded(eroded: Any, tmp_path: Path) -> None:
    eroded.click("record")
    eroded.ask(type="play")
    eroded.wait("studio.output.video.bytes > 10000")  # encoding takes its time without a GPU
    eroded.ask(type="pause")
    video = eroded.download(lambda: eroded.click("record"), tmp_path)
    assert video.suffix == ".webm"
    assert video.read_bytes()[:4] == b"\x1a\x45\xdf\xa3"  # EBML, as every WebM begins
    assert video.stat().st_size > 5000
