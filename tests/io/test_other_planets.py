"""Maps of other planets: no coordinates lead from them to the earth, and what can be done without is done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.io.windows import by_tiles

import slopewash as sw
from slopewash.cli import main

rasterio = pytest.importorskip("rasterio")
SHAPE = (20, 28)
PLACE = (200.0, 0.0, 1000.0, 0.0, -200.0, 9000.0)
HEIGHTS = np.add.outer(np.arange(20.0), np.arange(28.0)).astype(np.float32)
MARS = {
    "by parameters": "+proj=eqc +a=3396190 +b=3396190 +lat_ts=0 +units=m +no_defs",
    "of the IAU": "IAU_2015:49910",
    "of Esri": "ESRI:103885",
}


@pytest.fixture(params=MARS)
def mars(request: pytest.FixtureRequest) -> str:
    """Text of a CRS of Mars as files give it."""
    return str(rasterio.crs.CRS.from_user_input(MARS[request.param]).to_wkt())


def terrain(crs: str) -> sw.Terrain:
    return sw.Terrain(HEIGHTS, crs=crs, transform=PLACE, cell_size=200.0)


def saved(path: Path, crs: str, values: object = HEIGHTS) -> Path:
    with rasterio.open(
        path, "w", driver="GTiff", height=SHAPE[0], width=SHAPE[1], count=1, dtype="float32", crs=crs,
        transform=rasterio.Affine(*PLACE),
    ) as file:  # fmt: skip
        file.write(values, 1)
    return path


def test_a_geotiff_is_read_whole_and_by_windows(tmp_path: Path, mars: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path / "mars.tif", mars)
    for ground in (sw.read(path), by_tiles(path, {})):
        assert_array_equal(ground["elevation"], HEIGHTS)
        assert (ground.cell_size, ground.transform) == (200.0, PLACE)
    assert main(["info", str(path)]) == 0
    assert "200" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["mars.tif", "mars.asc", "mars.npz"])
def test_what_is_written_is_read_back(tmp_path: Path, mars: str, name: str) -> None:
    back = sw.read(sw.write(terrain(mars), tmp_path / name))
    assert_array_equal(back["elevation"], HEIGHTS)
    assert (back.cell_size, back.transform) == (200.0, PLACE)
    assert "3396190" in str(back.crs)


def test_a_zarr_group_is_a_source_and_its_result_a_geotiff(tmp_path: Path, mars: str) -> None:
    group, store, out = tmp_path / "mars.zarr", tmp_path / "out.zarr", tmp_path / "out.tif"
    terrain(mars).to_xarray().to_zarr(group, consolidated=False)
    sw.erode_tiled(group, sw.SteepestTalus(), steps=1, tile=16, out=store, workers=0, backend="reference")
    sw.write_tiled_geotiff(store, out)
    whole = sw.erode(sw.read(saved(tmp_path / "mars.tif", mars)), sw.SteepestTalus(), steps=1, backend="reference")
    back = sw.read(out)
    assert_array_equal(back["elevation"], whole["elevation"])
    assert (back.cell_size, back.transform) == (200.0, PLACE)


def test_layers_lie_in_their_place_on_the_same_planet_only(tmp_path: Path, mars: str) -> None:
    ground = terrain(mars)
    other = str(rasterio.crs.CRS.from_user_input("+proj=sinu +a=3396190 +b=3396190 +units=m").to_wkt())
    for crs in (mars, other):
        layer = saved(tmp_path / "rain.tif", crs, HEIGHTS + 1)
        for tiled in (False, True):
            recipe = sw.Recipe(
                source=sw.FromTerrain(terrain=ground), layers={"rainfall": sw.LayerFile(path=layer)},
                stages=(sw.Stage(model=sw.VirtualPipes(), steps=1),), backend="reference",
            )  # fmt: skip
            if tiled:
                sw.erode_tiled(None, recipe, out=tmp_path / "out.zarr", tile=16, workers=0)
                rain = sw.read_tiled(tmp_path / "out.zarr")["rainfall"]
            else:
                rain = recipe.run().terrain["rainfall"]
            assert np.abs(rain - (HEIGHTS + 1)).max() < 0.1


@pytest.mark.parametrize("layer_on_mars", [True, False])
def test_a_layer_of_another_planet_is_refused_in_a_sentence(tmp_path: Path, mars: str, *, layer_on_mars: bool) -> None:
    ground = terrain("EPSG:32632" if layer_on_mars else mars)
    layer = saved(tmp_path / "rain.tif", mars if layer_on_mars else "EPSG:32632")
    recipe = sw.Recipe(
        source=sw.FromTerrain(terrain=ground), layers={"rainfall": sw.LayerFile(path=layer)},
        stages=(sw.Stage(model=sw.VirtualPipes(), steps=1),), backend="reference",
    )  # fmt: skip
    with pytest.raises(sw.InvalidFile, match="lies in a CRS to which nothing leads from that of the terrain"):
        recipe.run()
    with pytest.raises(sw.InvalidFile, match="lies in a CRS to which nothing leads from that of the terrain"):
        sw.erode_tiled(None, recipe, out=tmp_path / "out.zarr", tile=16, workers=0)


def test_it_is_not_reprojected_to_the_earth(mars: str) -> None:
    for target in ("utm", "EPSG:32632"):
        with pytest.raises(sw.InvalidParameter, match="nothing leads from the CRS of the terrain to that one"):
            sw.reproject(terrain(mars), target)
