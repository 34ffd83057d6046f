"""Sources that never exist as a whole: the same bits as those that do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from numpy.testing import assert_array_equal
from tests.tiles.conftest import assert_same_bits, rough

import slopewash as sw
from slopewash.generators.registry import plan
from slopewash.recipes.definition import usual_preset_of
from slopewash.recipes.sources import as_source

BY_POSITION = [name for name in sw.generator_names() if name not in ("diamond_square", "islands")]
WINDOW = (slice(11, 30), slice(5, 38))
TALUS = sw.SteepestTalus()


@pytest.mark.parametrize("kind", BY_POSITION)
def test_part_of_a_generated_terrain_is_that_of_the_whole(kind: str) -> None:
    planned = plan(kind, size=(41, 53), seed=4)
    whole = planned.raw()
    part = planned.raw(WINDOW)
    assert_array_equal(part, whole[WINDOW], strict=True)
    planned.fit(part, whole.min(), whole.max())
    assert_array_equal(part.astype(np.float32), sw.generate(kind, size=(41, 53), seed=4)["elevation"][WINDOW])


@pytest.mark.parametrize("kind", ["diamond_square", "islands"])
def test_what_must_see_the_whole_says_so(kind: str) -> None:
    with pytest.raises(sw.InvalidParameter, match="must see all of its ground at once"):
        plan(kind, size=32).raw(WINDOW)


@pytest.mark.parametrize(
    ("source", "model"),
    [
        (sw.Generated(kind="dome", size=61, seed=3), sw.VirtualPipes()),
        (sw.Generated(kind="dome", size=61, seed=3), sw.VirtualPipes(default_erodibility="from_elevation_fine")),
        (sw.Generated(kind="ridged", size=61, seed=3, options={"feature_size": 900.0}), sw.preset("landscape")),
        (sw.Generated(kind="diamond_square", size=61, seed=3), TALUS),
    ],
    ids=["dome", "fine noise", "anchored", "whole"],
)
def test_a_generator_fills_the_store_tile_by_tile(tmp_path: Path, source: sw.Generated, model: sw.Model) -> None:
    sw.erode_tiled(source, model, steps=3, tile=(23, 31), out=tmp_path / "out.zarr", workers=0, seed=5)
    assert_same_bits(tmp_path / "out.zarr", sw.erode(source.make(), model, steps=3, seed=5, backend="cpu"))


@pytest.mark.parametrize("follow", [False, True], ids=["dipping", "following"])
def test_strata_are_laid_tile_by_tile(tmp_path: Path, follow: bool) -> None:
    strata = sw.strata_bands(thickness=40.0, dip=0.0 if follow else 7.0, direction=40.0, follow=follow)
    source = sw.Generated(kind="hill", size=61, seed=3)
    recipe = sw.Recipe(
        source=source, strata=sw.Beds(strata), stages=(sw.Stage(model=sw.VirtualPipes(), steps=3),), backend="cpu"
    )
    sw.erode_tiled(None, recipe, tile=(23, 31), out=tmp_path / "out.zarr", workers=0)
    assert_same_bits(tmp_path / "out.zarr", recipe.run().terrain)


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_a_geotiff_of_no_place_stays_of_no_place(tmp_path: Path) -> None:
    sw.write(sw.generate("cone", size=24), tmp_path / "raw.tif")
    sw.erode_tiled(tmp_path / "raw.tif", TALUS, steps=1, tile=30, out=tmp_path / "out.zarr", workers=0)
    assert sw.read_tiled(tmp_path / "out.zarr").crs is None


def test_a_geotiff_is_read_by_windows(tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio")
    terrain = rough(nodata=None, sources=())
    heights = np.array(terrain["elevation"])
    heights[3, 5] = -9999
    with rasterio.open(
        tmp_path / "dem.tif", "w", driver="GTiff", width=heights.shape[1], height=heights.shape[0], count=1,
        dtype="float32", nodata=-9999, crs="EPSG:32632", transform=rasterio.Affine(10, 0, 5e5, 0, -10, 5.2e6),
    ) as file:  # fmt: skip
        file.write(heights, 1)
    sw.erode_tiled(tmp_path / "dem.tif", TALUS, steps=3, tile=30, out=tmp_path / "out.zarr", workers=0)
    whole = sw.Terrain(heights, nodata=heights == -9999, cell_size=10.0)
    assert_same_bits(tmp_path / "out.zarr", sw.erode(whole, TALUS, steps=3, backend="cpu"))
    data = sw.open(tmp_path / "out.zarr")
    assert float(data["x"][0]) == 5e5 + 5
    assert float(data["y"][0]) == 5.2e6 - 5
    assert np.isnan(data["elevation"].values[3, 5])
    assert data.attrs["proj:code"] == "EPSG:32632"


def test_a_zarr_group_is_read_by_windows(tmp_path: Path) -> None:
    terrain = rough(sources=(), suspended=None)
    group = zarr.open_group(str(tmp_path / "in.zarr"), mode="w")
    group.attrs["cell_size"] = 2.0
    for name in ("elevation", "water", "rainfall"):
        group.create_array(name, data=np.array(terrain[name]), chunks=(20, 20))
    group.create_array("nodata", data=np.array(terrain.nodata), chunks=(20, 20))
    model: Any = sw.VirtualPipes()
    sw.erode_tiled(tmp_path / "in.zarr", model, steps=3, tile=30, out=tmp_path / "out.zarr", workers=0)
    assert_same_bits(tmp_path / "out.zarr", sw.erode(terrain, model, steps=3, backend="cpu"))


def test_a_real_place_gets_the_same_usual_preset_on_tiles(tmp_path: Path) -> None:
    ground = sw.generate("cone", size=32)
    real = ground.replace(crs="EPSG:32611", transform=(30.0, 0.0, 5e5, 0.0, -30.0, 4e6), cell_size=30.0)
    sw.write(real, tmp_path / "real.npz")
    sw.write(real, tmp_path / "real.tif")
    found = {
        name: usual_preset_of(as_source(source))
        for name, source in {"ground": ground, "real": real, "file": tmp_path / "real.npz"}.items()
    }
    assert found == {"ground": "landscape", "real": "gentle", "file": "gentle"}
    with pytest.raises(sw.InvalidParameter, match=r"real\.tif may be a real place; with tiles, name a preset"):
        sw.erode_tiled(tmp_path / "real.tif", out=tmp_path / "out.zarr", workers=0)
