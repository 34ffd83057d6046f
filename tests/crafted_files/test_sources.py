"""Crafted files of heights, and what lies beside them: whatever they name, nothing else is opened."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.crafted import Place
from tests.crafted_files.conftest import NO_FILES, heights, replace

import slopewash as sw
from slopewash.crs_texts import names_files
from slopewash.errors import InvalidParameter

TMERC = (
    'PROJCS["x",GEOGCS["y",DATUM["z",SPHEROID["w",6378137,298.257]{datum}],PRIMEM["Greenwich",0],UNIT["degree",'
    '0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["central_meridian",-117],PARAMETER["scale_factor"'
    ',0.9996],PARAMETER["false_easting",500000],UNIT["metre",1]{more}]'
)
CRSS = {
    "a path": "{file}",
    "a URL": "file://{file}",
    "a path after a word": "ESRI::{file}",
    "a table of codes": "+init={file}:4326",
    "grids": "+proj=utm +zone=11 +nadgrids={file} +type=crs",
    "grids in quotes": '+proj=utm +zone=11 +nadgrids="{file}"',
    "grids with spaces": "+proj=utm +zone=11 +nadgrids = @null,{file}",
    "grids of geoids": "+proj=utm +zone=11 +datum=WGS84 +geoidgrids={file} +vunits=m +type=crs",
    "grids in text": TMERC.format(datum=',EXTENSION["PROJ4_GRIDS","{file}"]', more=""),
    "a text in text": TMERC.format(datum="", more=',EXTENSION["PROJ4","+proj=tmerc +nadgrids={file} +lon_0=-117"]'),
    "a parameter": 'BOUNDCRS[SOURCECRS[X],ABRIDGEDTRANSFORMATION["n",PARAMETERFILE["f","{file}"]]]',
    "curly quotes": "BOUNDCRS[SOURCECRS[X],ABRIDGEDTRANSFORMATION[“n”,PARAMETERFILE(“f”,“{file}”)]]",
    "JSON": '{{"type": "BoundCRS", "transformation": {{"parameters": [{{"name": "f", "value": "{file}"}}]}}}}',
    "JSON of PROJ": '{{"proj": "utm", "zone": 11, "nadgrids": "{file}"}}',
}  # fmt: skip


def archive(path: Path, **arrays: Any) -> None:
    """An .npz of arrays as they are."""
    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, np.asarray(array), allow_pickle=False)
            file.writestr(f"{name}.npy", data.getvalue())


@pytest.mark.parametrize("kind", CRSS)
def test_a_crs_makes_no_library_open_a_file(kind: str, crafted: Place) -> None:
    """PROJ and GDAL open files in C, which no audit hook sees: whoever opens the pipe waits for ever."""
    pytest.importorskip("rasterio")
    text = CRSS[kind].format(file=crafted.home / "pipe")
    assert names_files(text)
    place = np.array([10.0, 0, 500_000, 0, -10, 4_000_000])
    archive(crafted.work / "evil.npz", elevation=heights(), crs=text, transform=place, cell_size=10.0)
    sw.write(sw.Terrain(heights(), cell_size=10.0), crafted.work / "evil.asc")
    (crafted.work / "evil.prj").write_text(text, encoding="utf-8")
    for source in ("evil.npz", "evil.asc"):
        for words in (("info",), ("convert", "-o", "out.tif"), ("convert", "-o", "out.npz", "--reproject", "utm")):
            crafted.check(crafted.run(words[0], source, *words[1:]), refused=True if "--reproject" in words else None)


@pytest.mark.parametrize(
    "text",
    [
        "EPSG:32611", "epsg:4326", "ESRI:102008", "EPSG:4326+5773", "urn:ogc:def:crs:EPSG::4326", "OGC:CRS84", "WGS84",
        "+init=epsg:4326", "+proj=utm +zone=11 +datum=WGS84", "+proj=merc +a=6378137 +nadgrids=@null +wktext",
        "+proj=tmerc +nadgrids=ntv2_0.gsb,@null", "http://www.opengis.net/def/crs/EPSG/0/4326",
        TMERC.format(datum=',EXTENSION["PROJ4_GRIDS","conus"]', more=""),
    ],
)  # fmt: skip
def test_usual_texts_of_crss_name_no_files(text: str) -> None:
    assert not names_files(text)


@pytest.mark.parametrize("code", [3857, 32611, 27700, 2193, 28992, 31370, 2056, 5514, 2263, 26911, 31467, 7415])
def test_no_crs_of_the_registry_names_a_file(code: int) -> None:
    crs = pytest.importorskip("pyproj").CRS.from_epsg(code)
    for text in (crs.to_wkt(), crs.to_wkt("WKT1_GDAL"), crs.to_wkt(pretty=True), crs.to_json()):
        assert text is None or not names_files(text)


def test_a_crs_to_reproject_to_names_no_file(tmp_path: Path) -> None:
    pytest.importorskip("rasterio")
    terrain = sw.Terrain(heights(), cell_size=10.0, crs="EPSG:32611", transform=(10, 0, 500_000, 0, -10, 4_000_000))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidParameter, match="names a file"):
        sw.reproject(terrain, f"+proj=utm +zone=12 +nadgrids={tmp_path / 'pipe'}")
    pytest.importorskip("xarray")
    terrain.replace(crs=f"+init={tmp_path / 'pipe'}:1").to_xarray()


STEERING = "\x1b]0;evil\x07\x1b[2J\u202e\x9bm[/bold]"
"""Sequences of terminals, a change of direction, and markup."""
RECIPE = (
    'backend = "reference"\n[source]\ngenerator = "cone"\nsize = 16\n[[stages]]\nmodel = "steepest_talus"\nsteps = 1\n'
)


def escaped(text: str) -> str:
    return '"' + "".join(c if c.isascii() and c.isalnum() else f"\\U{ord(c):08X}" for c in text) + '"'


RECIPES = {
    "a key": f"{escaped(STEERING)} = 1\n{RECIPE}",
    "a backend": RECIPE.replace('"reference"', escaped(STEERING)),
    "a model": RECIPE.replace('"steepest_talus"', escaped(STEERING)),
    "a name": f"{RECIPE}name = {escaped(STEERING)}\n",
    "an output": f"{RECIPE}[[outputs]]\npath = {escaped(STEERING + '.npz')}\n",
    "a layer": f"{RECIPE}[layers]\n{escaped(STEERING)} = 1.0\n",
}


@pytest.mark.parametrize("kind", RECIPES)
def test_names_in_recipes_do_not_steer_the_terminal(kind: str, crafted: Place) -> None:
    (crafted.work / "evil.toml").write_text(RECIPES[kind])
    for words in (("--check",), ("--out", "out")):
        crafted.check(crafted.run("run", "evil.toml", *words), refused=None if kind == "a name" else True)


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_names_in_files_do_not_steer_the_terminal(json: tuple[str, ...], crafted: Place) -> None:
    archive(crafted.work / "evil.npz", **{"elevation": heights(), STEERING: heights(), "crs": STEERING})
    crafted.check(crafted.run("info", "evil.npz", *json), refused=False)
    crafted.check(crafted.run("convert", "evil.npz", "-o", "out.tif", *json), refused=False)
    sw.write(sw.Terrain(heights()), crafted.work / "evil.asc")
    (crafted.work / "evil.prj").write_text(STEERING, encoding="utf-8")
    crafted.check(crafted.run("info", "evil.asc", *json))


def test_the_card_of_an_earlier_export_is_shown_in_part(crafted: Place) -> None:
    sw.write(sw.Terrain(np.tile(heights(), (3, 3))[:33, :33]), crafted.work / "hill.exr")
    words = ("export", "hill.exr", "--target", "godot", "--fit", "resample", "-o", "out")
    (crafted.work / "out").mkdir()
    card = crafted.work / "out" / "import_card.json"
    card.write_text(f'{{"target": "{"x" * 100_000}"}}')
    crafted.check(crafted.run(*words), refused=True)
    card.write_text("[" * 300_000)
    crafted.check(crafted.run(*words), refused=False)


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("name", ["evil.prj", "evil.r16.json"])
def test_what_is_no_file_beside_one_is_left_alone(name: str, kind: str, crafted: Place) -> None:
    source = f"evil.{'asc' if name.endswith('.prj') else 'r16'}"
    sw.write(sw.Terrain(heights(), cell_size=10.0), crafted.work / source)
    (crafted.work / name).unlink(missing_ok=True)
    replace(crafted.work / name, kind)
    crafted.check(crafted.run("info", source))
