"""Layers and height ranges on the command line: `convert`, `erode --layer`, `--layers`, `--out-height-range`."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw

Run = Callable[..., Any]
SHORT = ("--preset", "single_grid", "--steps", 6, "--backend", "reference")


@pytest.fixture
def eroded(raw: Path, run: Run) -> Path:
    out = raw.with_name("eroded.exr")
    assert run("erode", raw, "-o", out, *SHORT).code == 0
    return out


def test_the_range_of_16_bit_output_is_printed_and_kept(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.png")
    done = run("erode", raw, "-o", out, *SHORT)
    low, high = sw.read(out).range("elevation")
    assert done.out.splitlines()[-1] == f"{out}: black is {low:.8g} m, white is {high:.8g} m"
    done = run("erode", raw, "-o", out, *SHORT, "--out-height-range", "-100..500", "--json")
    assert done.json["height_range"] == [-100, 500]
    assert run("info", out, "--json").json["height_range"] == [-100, 500]
    done = run("generate", "ramp", "-o", out, "--size", 8, "--relief", 50, "--out-height-range", "-10..90")
    assert done.out.splitlines()[-1] == f"{out}: black is -10 m, white is 90 m"


def test_a_run_that_cuts_below_black_is_written_all_the_same(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.png")
    done = run("erode", raw, "-o", out, *SHORT, "--out-height-range", "20..40")
    assert done.code == 0
    assert re.search(
        r"note: elevation spans .*, so \d+ cells \(\d+\.\d\d%\) outside 20 \.\. 40 are black or white", done.err
    )
    assert sw.read(out).range("elevation") == (20, 40)


def test_a_file_is_converted_with_its_heights(run: Run, eroded: Path) -> None:
    ground = sw.read(eroded)
    for name in ("a.tif", "a.npy", "a.npz"):
        assert run("convert", eroded, "-o", eroded.with_name(name)).code == 0
        np.testing.assert_array_equal(sw.read(eroded.with_name(name))["elevation"], ground["elevation"])
    out = eroded.with_name("wear.tif")
    assert run("convert", eroded, "-o", out, "--layer", "wear").code == 0
    np.testing.assert_array_equal(sw.read(out)["elevation"], ground["wear"])


def test_16_bits_are_converted_by_the_ranges_given(run: Run, tmp_path: Path) -> None:
    sw.write(sw.Terrain([[0.0, 100.0]]), tmp_path / "a.r16")
    (tmp_path / "a.r16.json").unlink()
    words = ("--shape", "1,2", "--height-range", "0..500", "--out-height-range", "0..1000")
    assert run("convert", tmp_path / "a.r16", "-o", tmp_path / "b.png", *words).code == 0
    np.testing.assert_allclose(sw.read(tmp_path / "b.png")["elevation"], [[0, 500]], atol=0.5 * 1000 / 65535)


def test_heights_in_feet_are_converted(run: Run, tmp_path: Path) -> None:
    sw.write(sw.Terrain([[0.0, 1000.0]]), tmp_path / "feet.npy")
    assert run("convert", tmp_path / "feet.npy", "-o", tmp_path / "a.npy", "--height-unit", "ft").code == 0
    np.testing.assert_allclose(sw.read(tmp_path / "a.npy")["elevation"], [[0, 304.8]], rtol=1e-6)


def test_meshes_are_converted(run: Run, eroded: Path) -> None:
    mesh, back = eroded.with_name("a.glb"), eroded.with_name("b.npz")
    assert run("convert", eroded, "-o", mesh).code == 0
    assert run("convert", mesh, "-o", eroded.with_name("a.ply")).code == 0
    assert "--cell-size" in run("convert", mesh, "-o", back).err
    assert run("convert", mesh, "-o", back, "--cell-size", 10).code == 0
    assert sw.read(back).relief == pytest.approx(sw.read(eroded).relief, rel=0.1)


def test_masks_of_a_run_are_those_of_its_file(run: Run, raw: Path, eroded: Path) -> None:
    first, second = raw.with_name("first"), raw.with_name("second")
    assert run("erode", raw, "-o", first, *SHORT, "--layers", "flow, wear").code == 0
    assert run("convert", eroded, "-o", second, "--layers", "flow,wear").code == 0
    names = ["elevation.png", "flow.png", "layers.json", "wear.png"]
    assert sorted(file.name for file in first.iterdir()) == sorted(file.name for file in second.iterdir()) == names
    assert (first / "layers.json").read_bytes() == (second / "layers.json").read_bytes()
    assert json.loads((first / "layers.json").read_bytes())["layers"]["flow"]["scale"] == "log"


def test_layers_are_read_from_files(run: Run, raw: Path) -> None:
    rain = raw.with_name("rain.png")
    sw.write(sw.Terrain(np.indices((12, 12))[1]), rain, height_range=(0.0, 11.0))
    out = raw.with_name("wet.npz")
    words = ("--layer", f"rainfall={rain}:0..2", "--layer", "erodibility=0.5")
    assert run("erode", raw, "-o", out, *SHORT, *words).code == 0
    model = sw.recipe("single_grid", source=raw, steps=6, backend="reference")
    layers = {"rainfall": sw.LayerFile(path=rain, range=(0.0, 2.0)), "erodibility": 0.5}
    expected = model.replace(layers=layers).run().terrain
    np.testing.assert_array_equal(sw.read(out)["elevation"], expected["elevation"])
    west, east = np.array_split(expected["flow"], 2, axis=1)
    assert west.mean() < 0.5 * east.mean()


def test_the_input_is_overwritten_only_by_force(run: Run, raw: Path, tmp_path: Path) -> None:
    before = raw.read_bytes()
    for words in (("erode", raw, "-o", raw, *SHORT), ("convert", raw, "-o", raw)):
        done = run(*words)
        assert (done.code, done.err) == (
            2,
            f"slopewash: --out {raw} is the input file; name another file, or add --force\n",
        )
        assert raw.read_bytes() == before
    assert run("erode", raw, "-o", raw, *SHORT, "--force").code == 0
    assert raw.read_bytes() != before
    image = sw.write(sw.generate("dome", size=16), tmp_path / "a.png")
    assert "is the input file" in run("render", image, "-o", image).err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("convert", "{raw}", "-o", "{folder}/a.tif", "--layer", "wear"), "has no layer wear; it has elevation"),
        (("convert", "{raw}", "-o", "{folder}/a", "--layers", "flow"), "has no layer flow; it has elevation"),
        (("convert", "{raw}", "-o", "{folder}/a.exr", "--layer", "elevation"), "holds every layer; leave it out"),
        (("convert", "{raw}", "-o", "{folder}/a.tif", "--out-height-range", "0..9"), "a.tif stores metres"),
        (("convert", "{raw}", "-o", "{folder}/a.png", "--out-height-range", "9..0"), "must be below the second"),
        (
            ("convert", "{raw}", "-o", "{folder}/a.png", "--out-height-range", "0.9"),
            "--out-height-range is 0.9; it must",
        ),
        (("convert", "{raw}", "-o", "{folder}/a.png", "--layers", "elevation"), "names one; name a folder"),
        (("convert", "{raw}", "-o", "{folder}/a", "--layers", "flow", "--layer", "flow"), "give one of them"),
        (("erode", "{raw}", "-o", "{folder}/a", "--layers", "flaw"), 'unknown layer "flaw"; did you mean "flow"?'),
        (("erode", "{raw}", "-o", "{folder}/a.exr", "--layer", "rainfall"), "is not a layer; write --layer rainfall="),
        (("erode", "{raw}", "-o", "{folder}/a.exr", "--layer", "rain=2"), 'unknown layer "rain"; did you mean'),
        (("erode", "{raw}", "-o", "{folder}/a.exr", "--layer", "rainfall=no.tif"), "no.tif does not exist"),
    ],
)
def test_bad_layers_and_ranges_are_refused(run: Run, raw: Path, words: tuple[str, ...], expected: str) -> None:
    done = run(*(word.format(raw=raw, folder=raw.parent) for word in words))
    assert done.code == 2
    assert expected in done.err
    assert done.err.count("\n") == 1


def test_the_page_on_files_runs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```sh\n(.*?)```", page, flags=re.S):
        for line in block.splitlines():
            done = run(*shlex.split(line)[1:])
            assert done.code == 0, f"{line}: {done.err}"
    assert sw.read("wet.exr").shape == (64, 64)


def test_a_cloud_optimised_geotiff_has_a_band_for_every_layer(run: Run, raw: Path, eroded: Path) -> None:
    rasterio = pytest.importorskip("rasterio")
    out = raw.with_name("out.tif")
    assert run("erode", raw, "-o", out, *SHORT, "--cog").code == 0
    converted = raw.with_name("converted.tif")
    assert run("convert", eroded, "-o", converted, "--cog").code == 0
    for file in (out, converted):
        with rasterio.open(file) as opened:
            assert opened.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
            names = list(opened.descriptions)
            assert names[0] == "elevation"
            assert "wear" in names
            assert np.array_equal(opened.read(names.index("wear") + 1), sw.read(eroded)["wear"])
    made_by = sw.probe(out).made_by
    assert made_by is not None
    assert made_by["preset"] == "single_grid"
    done = run("convert", eroded, "-o", raw.with_name("out.png"), "--cog")
    assert (done.code, "leave it out, or name a .tif" in done.err) == (2, True)


def test_rivers_and_lakes_are_masks(run: Run, tmp_path: Path) -> None:
    hill = sw.write(sw.generate("fbm", size=48, seed=2, relief=300.0), tmp_path / "hill.npz")
    assert run("convert", hill, "-o", tmp_path / "masks", "--layers", "river,lake").code == 0
    watered = sw.add_water(sw.read(hill))
    for name in ("river", "lake"):
        assert watered[name].any()
        mask = sw.read(tmp_path / "masks" / f"{name}.png")
        assert np.abs(mask["elevation"] - watered[name]).max() < 1e-3
