"""Maps of other programs, in and out, as rasterio sees them."""

from __future__ import annotations

import contextlib
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
import rioxarray  # its import registers `.rio`
import tifffile
from numpy.typing import NDArray
from rasterio.crs import CRS
from rasterio.transform import Affine

import slopewash as sw
from slopewash.errors import GeoreferenceWarning, InvalidFile, InvalidParameter
from slopewash.io import gdal_raster
from slopewash.io.units import FOOT, US_FOOT

# rasterio 1.4 and rioxarray multiply transforms in a way that affine 3.1 will give up one day.
pytestmark = pytest.mark.filterwarnings("ignore:Use `@` matmul:PendingDeprecationWarning")

LAEA = "+proj=laea +lat_0=47 +lon_0=11 +x_0=1000 +y_0=2000 +ellps=GRS80 +units=m"
NORTH_UP = Affine(30, 0, 512_340, 0, -30, 4_123_450)
IN_AMERICA = Affine(30, 0, 512_340, 0, -30, 123_450)
"""Within ESRI:102008."""
COMPOUND = "EPSG:2229+6360"


def heights(rows: int = 23, columns: int = 31) -> NDArray[np.float32]:
    """Asymmetric in every direction, in quarters, which feet and metres convert without a trace."""
    row, column = np.mgrid[:rows, :columns]
    return (100 + 8 * row + 0.25 * column**2).astype(np.float32)


def save(path: Path, *bands: NDArray[Any], crs: Any = LAEA, transform: Affine = NORTH_UP, **options: Any) -> Path:
    units, names = options.pop("units", None), options.pop("descriptions", None)
    with rasterio.open(
        path, "w", driver="GTiff", height=bands[0].shape[0], width=bands[0].shape[1], count=len(bands),
        dtype=bands[0].dtype, crs=None if crs is None else CRS.from_user_input(crs), transform=transform, **options,
    ) as file:  # fmt: skip
        for number, band in enumerate(bands, start=1):
            file.write(band, number)
        if units:
            file.units = units
        if names:
            file.descriptions = names
    return path


def longitude_latitude(crs: Any) -> list[float]:
    """Where on the earth the corner of the map lies."""
    return [axis[0] for axis in rasterio.warp.transform(crs, "EPSG:4326", [512_340], [4_123_450])]


def same_map(one: Path, other: Path) -> bool:
    """CRS, transform, bounds, mask and every height, as rasterio reads them."""
    with rasterio.open(one) as a, rasterio.open(other) as b:
        ours, theirs = a.read(1, masked=True), b.read(1, masked=True)
        return bool(
            a.crs == b.crs
            and a.transform.almost_equals(b.transform, 1e-9)
            and a.bounds == b.bounds
            and np.array_equal(np.ma.getmaskarray(ours), np.ma.getmaskarray(theirs))
            and np.array_equal(ours.filled(0), theirs.filled(0))
        )


@pytest.mark.parametrize(
    "crs", [LAEA, "ESRI:102008", "+proj=omerc +lat_0=4 +lonc=102 +alpha=323 +k=0.99984 +ellps=evrstSS", "EPSG:3035"]
)
def test_any_crs_comes_back_from_a_file(tmp_path: Path, crs: str) -> None:
    path = save(tmp_path / "in.tif", heights(), crs=crs, transform=IN_AMERICA if "ESRI" in crs else NORTH_UP)
    terrain = sw.read(path)
    assert terrain.cell_size == 30.0
    assert same_map(path, sw.write(terrain, tmp_path / "out.tif"))
    (cog,) = sw.write_geotiff(terrain, tmp_path / "cog.tif")
    assert same_map(path, cog)


def test_crs_without_a_code_survives_erosion_on_the_command_line(tmp_path: Path) -> None:
    from slopewash.cli import main

    path = save(tmp_path / "in.tif", heights())
    words = ["--preset", "mei2007", "--steps", "2", "--backend", "reference"]
    assert main(["erode", str(path), "-o", str(tmp_path / "out.tif"), *words]) == 0
    with rasterio.open(path) as before, rasterio.open(tmp_path / "out.tif") as after:
        assert before.crs == after.crs
        assert before.transform == after.transform
        assert not np.array_equal(before.read(1), after.read(1))


def test_long_crs_is_shown_by_its_name(tmp_path: Path) -> None:
    terrain = sw.read(save(tmp_path / "in.tif", heights(), crs="ESRI:102008", transform=IN_AMERICA))
    assert "North_America_Albers_Equal_Area_Conic" in repr(terrain)
    assert len(repr(terrain).splitlines()[0]) < 120


@pytest.mark.parametrize("value", [-9999.0, np.nan, -3.4028234663852886e38])
def test_nodata_cells_stay_nodata(tmp_path: Path, value: float) -> None:
    ground = heights()
    ground[3, 5] = ground[20, 0] = value
    path = save(tmp_path / "in.tif", ground, nodata=value)
    terrain = sw.read(path)
    assert terrain.nodata is not None
    assert np.argwhere(terrain.nodata).tolist() == [[3, 5], [20, 0]]
    for file in (sw.write(terrain, tmp_path / "out.tif"), *sw.write_geotiff(terrain, tmp_path / "cog.tif")):
        assert same_map(path, file)


@pytest.mark.parametrize("crs", [LAEA, "EPSG:32611"])
def test_south_up_raster_is_turned_round_in_memory_and_back_in_the_file(tmp_path: Path, crs: str) -> None:
    path = save(tmp_path / "in.tif", heights(), crs=crs, transform=Affine(30, 0, 512_340, 0, 30, 4_123_450))
    terrain = sw.read(path)
    assert np.array_equal(terrain["elevation"], heights()[::-1])
    assert terrain.transform == (30.0, 0.0, 512_340.0, 0.0, -30.0, 4_123_450.0 + 23 * 30)
    assert same_map(path, sw.write(terrain, tmp_path / "out.tif"))
    (cog,) = sw.write_geotiff(sw.erode(terrain, sw.VirtualPipes(), steps=0), tmp_path / "cog.tif")
    with rasterio.open(path) as before, rasterio.open(cog) as after:
        assert before.transform == after.transform


def test_y_that_grows_downwards_without_a_crs_is_a_picture(tmp_path: Path) -> None:
    path = save(tmp_path / "in.tif", heights(), crs=None, transform=Affine(2, 0, 10, 0, 2, 20))
    terrain = sw.read(path)
    assert np.array_equal(terrain["elevation"], heights())
    with rasterio.open(path) as before, rasterio.open(sw.write(terrain, tmp_path / "out.tif")) as after:
        assert before.transform == after.transform
        assert np.array_equal(before.read(1), after.read(1))
    assert terrain.to_xarray()["y"].values[:2].tolist() == [21.0, 23.0]


@pytest.mark.parametrize("crs", [LAEA, "EPSG:32611"])
def test_rotated_raster_keeps_its_place(tmp_path: Path, crs: str) -> None:
    path = save(tmp_path / "in.tif", heights(), crs=crs, transform=Affine(24, 18, 512_340, 18, -24, 4_123_450))
    terrain = sw.read(path)
    assert terrain.cell_size == 30.0
    assert same_map(path, sw.write(terrain, tmp_path / "out.tif"))
    data = terrain.to_xarray()
    with rasterio.open(path) as file:
        assert (float(data["xc"][4, 7]), float(data["yc"][4, 7])) == file.xy(4, 7)
        assert data.rio.transform() == file.transform


def test_horizontal_feet_become_metres_and_stay_in_place(tmp_path: Path) -> None:
    path = save(tmp_path / "in.tif", heights(), crs="EPSG:2229")
    with pytest.warns(GeoreferenceWarning, match=r"taken for metres; if they are feet, give .*--height-unit us-ft"):
        terrain = sw.read(path)
    assert terrain.cell_size == pytest.approx(30 * US_FOOT, rel=1e-15)
    out = sw.write(terrain, tmp_path / "out.tif")  # says metres, so that it is not questioned
    assert same_map(path, out)
    with rasterio.open(out) as file:
        assert file.units == ("m",)  # in a CRS in feet, the unit of heights must not be guessed
    assert sw.read(out).cell_size == terrain.cell_size


def test_heights_in_feet_become_metres(tmp_path: Path) -> None:
    path = save(tmp_path / "in.tif", heights(), crs=COMPOUND)
    terrain = sw.read(path)
    assert np.array_equal(terrain["elevation"], (heights() * np.float64(US_FOOT)).astype(np.float32))
    out = sw.write(terrain, tmp_path / "out.tif")  # the CRS says that its heights are in feet
    with rasterio.open(path) as before, rasterio.open(out) as after:
        assert before.crs == after.crs
        assert np.abs(before.read(1) - after.read(1)).max() <= np.spacing(np.float32(600))  # two conversions
    stated = save(tmp_path / "stated.tif", heights(), crs="EPSG:32611", units=("ft",))
    assert np.array_equal(sw.read(stated)["elevation"], (heights() * np.float64(FOOT)).astype(np.float32))
    plain = save(tmp_path / "plain.tif", heights(), crs="EPSG:32611")
    assert np.array_equal(sw.read(plain, height_unit="ft")["elevation"], sw.read(stated)["elevation"])
    assert np.array_equal(sw.read(stated, height_unit="m")["elevation"], heights())
    with pytest.raises(InvalidParameter, match='height_unit is "yd"; it must be one of m, ft, us-ft'):
        sw.read(plain, height_unit="yd")


def test_cells_outside_the_mask_of_a_file_are_nodata(tmp_path: Path) -> None:
    inside = np.ones((23, 31), bool)
    inside[:4] = False
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        path = save(tmp_path / "in.tif", heights(), crs="EPSG:32611")
        with rasterio.open(path, "r+") as file:
            file.write_mask(inside)
    terrain = sw.read(path)
    assert terrain.nodata is not None
    assert np.array_equal(terrain.nodata, ~inside)
    assert same_map(path, sw.write(terrain, tmp_path / "out.tif"))
    with sw.without_gdal(), pytest.raises(InvalidFile, match="has a mask, which needs GDAL"):
        sw.read(path)


def test_scaled_integers_are_unpacked(tmp_path: Path) -> None:
    path = save(tmp_path / "in.tif", np.arange(12, dtype=np.int16).reshape(3, 4))
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = (0.5,), (100.0,)
    assert np.array_equal(sw.read(path)["elevation"], 100 + np.arange(12).reshape(3, 4) / 2)


def test_degrees_are_refused_with_the_remedy_and_reprojected_on_demand(tmp_path: Path) -> None:
    second = 1 / 3600
    # A plane that rises to the east and the north, 1000 m per degree: the value gives the place away.
    row, column = np.mgrid[:120, :100]
    ground = (1000 * (column + 0.5) * second + 1000 * (120 - row - 0.5) * second).astype(np.float32)
    path = save(tmp_path / "in.tif", ground, crs="EPSG:4326", transform=Affine(second, 0, 10, 0, -second, 47))
    with pytest.raises(InvalidFile, match=r'degrees, not metres; give reproject="utm", or --reproject utm'):
        sw.read(path)
    terrain = sw.read(path, reproject="utm")
    assert terrain.crs == "EPSG:32632"
    assert terrain.cell_size == pytest.approx(25.5, abs=0.2)  # 30.9 m by 21.1 m, as a square
    assert terrain.nodata is not None  # the corners that the old grid does not cover
    assert terrain.area == pytest.approx(120 * 100 * 30.88 * 21.11, rel=0.03)
    (file,) = sw.write_geotiff(terrain, tmp_path / "utm.tif")
    with rasterio.open(file) as map_:
        (x,), (y,) = rasterio.warp.transform(CRS.from_epsg(4326), map_.crs, [10.015], [46.98])
        (value,) = next(map_.sample([(x, y)]))
    expected = 1000 * 0.015 + 1000 * (46.98 - (47 - 120 * second))
    assert value == pytest.approx(expected, abs=1000 * second)  # within a cell
    finer = sw.read(path, reproject=LAEA, cell_size=10.0)
    assert (finer.cell_size, finer.transform is not None and finer.transform[0]) == (10.0, 10.0)
    with pytest.raises(InvalidParameter, match="in degrees; name a CRS in metres"):
        sw.read(path, reproject="EPSG:4258")
    with pytest.raises(InvalidParameter, match='CRS "EPSG:1" is unknown'):
        sw.read(path, reproject="EPSG:1")


def test_reprojection_to_feet_has_a_cell_size_in_metres(tmp_path: Path) -> None:
    path = save(tmp_path / "in.tif", heights(), crs="EPSG:32611", transform=Affine(30, 0, 394_000, 0, -30, 3_807_000))
    terrain = sw.read(path, reproject="EPSG:2229", cell_size=30.48)
    assert terrain.transform is not None
    assert terrain.transform[0] == pytest.approx(30.48 / US_FOOT)
    assert terrain.cell_size == 30.48


def test_reprojecting_a_terrain_of_no_place_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="no CRS or no transform"):
        sw.reproject(sw.Terrain(heights()))


def test_bands_are_layers_by_name_and_by_number(tmp_path: Path) -> None:
    terrain = sw.Terrain(
        heights(), water=0.5, own_layers={"forest": heights() / 100}, cell_size=30, crs="EPSG:32611",
        transform=tuple(NORTH_UP)[:6],
    )  # fmt: skip
    (path,) = sw.write_geotiff(terrain, tmp_path / "all.tif", layers="all")
    with rasterio.open(path) as file:
        assert file.descriptions == ("elevation", "water", "forest")
        assert file.units == ("m", "m", None)
    assert sw.probe(path).layers == ("elevation", "water", "forest")
    back = sw.read(path)
    assert sorted(back) == ["elevation", "forest", "water"]
    assert all(np.array_equal(back[name], terrain[name]) for name in back)
    assert np.array_equal(sw.read(path, band=3)["elevation"], terrain["forest"])
    files = sw.write_geotiff(terrain, tmp_path / "one.tif", layers=["elevation", "forest"], split=True)
    assert [file.name for file in files] == ["one_elevation.tif", "one_forest.tif"]
    assert np.array_equal(sw.read(files[1])["elevation"], terrain["forest"])
    with pytest.raises(InvalidFile, match="3 layers of 31 x 23 cells, more than 1000 values; choose one with band"):
        sw.read(path, max_pixels=1000)
    unnamed = save(tmp_path / "unnamed.tif", heights(), heights() + 1)
    with pytest.raises(InvalidFile, match=r"has bands 1, 2, none called elevation, .*: choose one with band"):
        sw.read(unnamed)
    assert np.array_equal(sw.read(unnamed, band=2)["elevation"], heights() + 1)
    with pytest.raises(InvalidFile, match="has 2 bands; band 3"):
        sw.read(unnamed, band=3)


@pytest.mark.parametrize("compression", ["deflate", "lzw", "zstd", "none"])
def test_cloud_optimised_file_has_tiles_and_overviews_and_is_the_same_every_time(
    tmp_path: Path, compression: Any
) -> None:
    terrain = sw.generate("dome", size=1100, cell_size=10.0)
    written = [
        sw.write_geotiff(terrain, tmp_path / f"{name}.tif", compression=compression)[0] for name in ("one", "other")
    ]
    assert written[0].read_bytes() == written[1].read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one.tif", "other.tif"]
    with rasterio.open(written[0]) as file:
        assert file.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
        assert file.overviews(1) == [2, 4]
        assert file.block_shapes == [(512, 512)]
        assert np.array_equal(file.read(1), terrain["elevation"])
    assert np.array_equal(sw.read(written[0])["elevation"], terrain["elevation"])


def test_a_virtual_raster_under_another_name_is_not_opened(tmp_path: Path) -> None:
    secret = save(tmp_path / "secret.tif", heights())
    bait = tmp_path / "bait.tif"
    bait.write_text(
        '<VRTDataset rasterXSize="31" rasterYSize="23"><VRTRasterBand dataType="Float32" band="1"><SimpleSource>'
        f"<SourceFilename>{secret}</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>"
    )
    with pytest.warns(rasterio.errors.NotGeoreferencedWarning), rasterio.open(bait) as file:
        assert file.driver == "VRT"  # what GDAL does unless told otherwise
    with pytest.raises(InvalidFile, match="is not a readable TIFF file"):
        sw.read(bait)
    with pytest.raises(InvalidFile, match="is not a readable TIFF file"):
        gdal_raster.crs_of(bait)


def test_without_the_extra_ground_is_read_and_what_is_lost_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laea = save(tmp_path / "laea.tif", heights())
    bands = save(tmp_path / "bands.tif", heights(), heights(), descriptions=("elevation", "other"))
    feet = save(tmp_path / "feet.tif", heights(), crs=COMPOUND)
    monkeypatch.setitem(sys.modules, "rasterio", None)
    extra = r'pip install "slopewash\[gis\]"'
    with pytest.warns(GeoreferenceWarning, match=rf"laea\.tif has a CRS without an EPSG code.*{extra}"):
        terrain = sw.read(laea)
    assert np.array_equal(terrain["elevation"], heights())
    for refused in (bands, feet):
        with pytest.raises(InvalidFile, match=extra):
            sw.read(refused)
    with pytest.raises(InvalidFile, match=extra):
        sw.read(laea, reproject="utm")
    with pytest.raises(InvalidFile, match=extra):
        sw.write_geotiff(terrain, tmp_path / "out.tif")
    with pytest.warns(GeoreferenceWarning, match=rf"does not show its CRS.*{extra}"):
        sw.write(terrain.replace(crs='PROJCS["own"]'), tmp_path / "out.tif")
    assert sw.read(tmp_path / "out.tif").crs == 'PROJCS["own"]'


def test_xarray_has_the_bounds_crs_and_values_of_rasterio(tmp_path: Path) -> None:
    ground = heights()
    ground[2, 3] = -9999
    path = save(tmp_path / "in.tif", ground, nodata=-9999)
    terrain = sw.read(path)
    data = terrain.to_xarray()
    with rasterio.open(path) as file:
        assert data.rio.bounds() == tuple(file.bounds)
        assert data.rio.crs == file.crs
        assert data.rio.transform() == file.transform
        assert (float(data["x"][4]), float(data["y"][7])) == file.xy(7, 4)
    assert data["x"].attrs["units"] == "metre"
    data["elevation"].rio.to_raster(tmp_path / "out.tif", driver="GTiff")
    assert same_map(path, tmp_path / "out.tif")
    assert np.array_equal(sw.read(tmp_path / "out.tif")["elevation"], terrain["elevation"])
    theirs: Any = rioxarray.open_rasterio(path, masked=True)
    assert np.array_equal(theirs["x"], data["x"])
    assert np.array_equal(theirs["y"], data["y"])
    assert np.array_equal(theirs[0], data["elevation"], equal_nan=True)
    theirs.close()


def test_xarray_without_pyproj_keeps_the_crs_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    terrain = sw.Terrain(heights(), cell_size=30, crs="EPSG:32611", transform=tuple(NORTH_UP)[:6])
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyproj", None)
        data = terrain.to_xarray()
    assert data["x"].attrs["units"] == "m"
    assert data.rio.crs == CRS.from_epsg(32611)


@pytest.mark.parametrize("crs", ["EPSG:32611", "EPSG:2229", LAEA])
def test_ascii_grid_goes_out_and_comes_in(tmp_path: Path, crs: str) -> None:
    ground = heights() / 3
    ground[4, 4] = -9999
    terrain = sw.read(save(tmp_path / "in.tif", ground, crs=crs, nodata=-9999, units=("m",)))
    path = sw.write(terrain, tmp_path / "out.asc")
    with rasterio.open(path, driver="AAIGrid") as file:
        assert file.transform.almost_equals(NORTH_UP, 1e-9)
        assert np.array_equal(file.read(1).astype(np.float32), ground)
        assert file.nodata == -9999
        # Esri's dialect has other names, so that the CRS is compared by what it does.
        assert longitude_latitude(file.crs) == pytest.approx(longitude_latitude(crs), abs=1e-9)
    back = sw.read(path, height_unit="m")  # which it cannot say itself
    assert np.array_equal(back["elevation"], terrain["elevation"])
    assert back.nodata is not None
    assert terrain.nodata is not None
    assert np.array_equal(back.nodata, terrain.nodata)
    assert back.cell_size == pytest.approx(terrain.cell_size, rel=1e-12)
    assert back.transform == pytest.approx(terrain.transform)


@pytest.mark.parametrize("void", [False, True])
@pytest.mark.parametrize("deepest", [-9998.0, -9999.0, -10000.0, -99990.0])
def test_no_height_of_an_ascii_grid_comes_back_as_nodata(tmp_path: Path, deepest: float, void: bool) -> None:
    nodata = np.array([[False, False, void], [False, False, False]])
    terrain = sw.Terrain([[deepest, -9999.0, 5.0], [-9998.0, -5000.0, 0.0]], cell_size=1000.0, nodata=nodata)
    path = sw.write(terrain, tmp_path / "deep.asc")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.NodataWarning)  # heights that look like it are questioned
        back = sw.read(path)
    assert np.array_equal(back["elevation"], terrain["elevation"])
    assert (back.nodata is not None) == void
    assert back.nodata is None or np.array_equal(back.nodata, nodata)
    with rasterio.open(path, driver="AAIGrid") as file:
        assert np.array_equal(file.read_masks(1) == 0, nodata)


def test_ascii_grid_of_another_program_is_read(tmp_path: Path) -> None:
    path = tmp_path / "in.asc"
    path.write_text("NCOLS 3\nNROWS 2\nXLLCENTER 15\nYLLCENTER 25\nCELLSIZE 10\nNODATA_VALUE -1\n1 2 3\n4 -1 6.5\n")
    terrain = sw.read(path)
    assert terrain["elevation"].tolist() == [[1, 2, 3], [4, 0, 6.5]]
    assert (terrain.transform, terrain.cell_size) == ((10.0, 0.0, 10.0, 0.0, -10.0, 40.0), 10.0)
    assert terrain.nodata is not None
    assert terrain.nodata[1, 1]
    (tmp_path / "in.prj").write_text('GEOGCS["WGS 84",UNIT["degree",0.0174532925199433]]')
    with pytest.raises(InvalidFile, match="degrees, not metres"):
        sw.read(path)
    short, odd, big = (tmp_path / name for name in ("short.asc", "odd.asc", "big.asc"))
    short.write_text("ncols 3\nnrows 2\ncellsize 10\n1 2 3 4 5\n")
    odd.write_text("ncols 3\nnrows 2\ncellsize 10\n1 2 three 4 5 6\n")
    big.write_text("ncols 30000\nnrows 20000\ncellsize 10\n1 2 3\n")
    for bad in (short, odd, big):
        with pytest.raises(InvalidFile, match="is not a readable ASCII grid file"):
            sw.read(bad)


def test_an_ascii_grid_without_a_corner_has_no_place(tmp_path: Path) -> None:
    path = tmp_path / "in.asc"
    path.write_text("ncols 3\nnrows 2\nyllcorner 50\ncellsize 10\n1 2 3\n4 5 6\n")
    (tmp_path / "in.prj").write_text(CRS.from_epsg(32611).to_wkt())
    terrain = sw.read(path)
    assert (terrain.transform, terrain.cell_size, terrain.crs) == (None, 10.0, "EPSG:32611")


@pytest.mark.parametrize("suffix", [".prj", ".PRJ"])
@pytest.mark.parametrize(
    ("text", "cell_size"),
    [
        ("EPSG:2229", 10 * US_FOOT),
        (CRS.from_epsg(2229).to_wkt(), 10 * US_FOOT),
        (CRS.from_epsg(32611).to_wkt(), 10.0),
        (CRS.from_epsg(4326).to_wkt(), None),
        (CRS.from_user_input("EPSG:32611+5715").to_wkt(), None),
        ("Projection GEOGRAPHIC\nDatum WGS84\nUnits DD\nParameters", None),
        ("Projection UTM\nZone 11\nUnits FEET\nParameters", None),
        ("Projection UTM\nZone 11\nDatum NAD83\nUnits METERS\nParameters", 10.0),
    ],
)
def test_the_crs_beside_an_ascii_grid_is_understood_or_refused(
    tmp_path: Path, text: str, cell_size: float | None, suffix: str
) -> None:
    path = tmp_path / "in.asc"
    path.write_text("ncols 3\nnrows 2\nxllcorner 1000\nyllcorner 4000\ncellsize 10\n1 2 3\n4 5 6\n")
    path.with_suffix(suffix).write_text(text)
    if cell_size is None:
        with pytest.raises(InvalidFile, match=r"degrees, not metres|depths, which count downwards|the unknown CRS"):
            sw.read(path)
    else:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert sw.read(path).cell_size == pytest.approx(cell_size)
        assert ["heights without a unit" in str(warning.message) for warning in caught] == [True] * (cell_size < 10)
    with sw.without_gdal():  # refused, or the same
        try:
            assert sw.read(path, height_unit="m").cell_size == pytest.approx(cell_size)
        except InvalidFile:
            assert cell_size is None or text == "EPSG:2229"


@pytest.mark.parametrize("gdal", [True, False])
@pytest.mark.parametrize(
    ("keys", "crs"),
    [
        ("Projection    UTM\nZone          11\nDatum         NAD83\nUnits         METERS", "EPSG:26911"),
        ("Projection UTM\nZone 11\nDatum NAD27\nUnits METERS\nXshift 0.0\nYshift 0.0", "EPSG:26711"),
        ("projection utm\nzone 33\ndatum WGS_1984\nunits meters", "EPSG:32633"),
        ("Projection UTM\nZone 55\nDatum WGS84\nUnits METERS\nYshift 10000000.0", "EPSG:32755"),
        ("Projection UTM\nZone 55\nDatum WGS84\nUnits METERS\nYshift 1000.0", None),
        ("Projection UTM\nZone 61\nDatum WGS84\nUnits METERS", None),
        ("Projection UTM\nZone 11\nUnits METERS\nParameters", None),
        ("Projection ALBERS\nDatum NAD83\nUnits METERS\nParameters\n29 30 0.0 /* 1st standard parallel", None),
    ],
)
def test_a_crs_by_the_keys_of_arcinfo_is_a_code_or_left_out_aloud(
    tmp_path: Path, keys: str, crs: str | None, *, gdal: bool
) -> None:
    path = tmp_path / "in.asc"
    path.write_text("ncols 3\nnrows 2\nxllcorner 500000\nyllcorner 4000000\ncellsize 10\n1 2 3\n4 5 6\n")
    path.with_suffix(".prj").write_text(f"{keys}\nZunits        NO\nParameters\n")
    with warnings.catch_warnings(record=True) as caught, contextlib.ExitStack() as stack:
        warnings.simplefilter("always")
        if not gdal:
            stack.enter_context(sw.without_gdal())
        terrain = sw.read(path)
    assert (terrain.cell_size, terrain.crs) == (10.0, crs)
    assert terrain.transform == (10.0, 0.0, 500_000.0, 0.0, -10.0, 4_000_020.0)
    assert [warning.category for warning in caught] == ([] if crs else [GeoreferenceWarning])
    assert crs or "no code is known here; it is left out" in str(caught[0].message)


def test_heights_by_the_keys_of_arcinfo_are_in_their_unit(tmp_path: Path) -> None:
    path = tmp_path / "in.asc"
    path.write_text("ncols 3\nnrows 2\nxllcorner 500000\nyllcorner 4000000\ncellsize 10\n1 2 3\n4 5 6\n")
    keys = "Projection UTM\nZone 11\nDatum NAD83\nUnits METERS\nZunits "
    for unit, metres in (("NO", 1.0), ("METERS", 1.0), ("FEET", 0.3048)):
        path.with_suffix(".prj").write_text(keys + unit)
        assert sw.read(path)["elevation"][1, 2] == np.float32(6 * metres)
    path.with_suffix(".prj").write_text(keys + "100")
    with pytest.raises(InvalidFile, match="a CRS with heights, whose unit it does not give; give it with height_unit"):
        sw.read(path)
    assert sw.read(path, height_unit="ft")["elevation"][1, 2] == np.float32(6 * 0.3048)


@pytest.mark.parametrize(
    "text", ["Projection UTM\nZone 11\nUnits FEET\nParameters", "Projection GEOGRAPHIC\nUnits DS", "zone eleven"]
)
def test_with_the_side_of_a_cell_an_unknown_crs_beside_an_ascii_grid_is_left_out_aloud(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "in.asc"
    path.write_text("ncols 3\nnrows 2\nxllcorner 1000\nyllcorner 4000\ncellsize 10\n1 2 3\n4 5 6\n")
    path.with_suffix(".prj").write_text(text)
    with pytest.raises(InvalidFile, match=r"has the unknown CRS .*; or name the side of a cell in metres"):
        sw.read(path)
    with pytest.warns(GeoreferenceWarning, match="for which no code is known here; it is left out"):
        terrain = sw.read(path, cell_size=3.0)
    assert (terrain.cell_size, terrain.crs) == (3.0, None)
    layer = sw.Recipe(
        source=sw.FromTerrain(terrain=sw.Terrain(np.zeros((2, 3)))), layers={"rainfall": sw.LayerFile(path=path)},
        stages=(sw.Stage(model=sw.VirtualPipes(), steps=1),), backend="reference",
    )  # fmt: skip
    with pytest.raises(InvalidFile, match=r"layer rainfall: .* has the unknown CRS"):
        layer.run()


@pytest.mark.parametrize("how", ["write", "write_geotiff"])
def test_a_noted_cell_size_ends_with_the_grid_that_it_was_noted_for(tmp_path: Path, how: str) -> None:
    in_degrees = sw.Terrain(
        heights(), cell_size=25.0, crs="EPSG:4326", transform=(1 / 3600, 0, 11, 0, -1 / 3600, 47)
    )  # fmt: skip
    path = tmp_path / "out.tif"
    sw.write_geotiff(in_degrees, path, cog=False) if how == "write_geotiff" else sw.write(in_degrees, path)
    assert sw.read(path).cell_size == 25.0
    with rasterio.open(path, "r+") as file:  # as gdal_edit does
        file.transform = file.transform * Affine.scale(2)
    with pytest.raises(InvalidFile, match="degrees, not metres"):
        sw.read(path)


def test_a_terrain_without_a_place_is_given_one_by_another_program(tmp_path: Path) -> None:
    path = sw.write(sw.Terrain(heights(), cell_size=30.0), tmp_path / "out.tif")
    assert sw.read(path).transform is None
    with rasterio.open(path, "r+") as file:
        file.crs, file.transform = "EPSG:32611", NORTH_UP
    terrain = sw.read(path)
    assert (terrain.crs, terrain.transform) == ("EPSG:32611", NORTH_UP[:6])


@pytest.mark.parametrize("suffix", [".tif", ".asc"])
@pytest.mark.parametrize("size", [5.0, 30.0])
def test_cells_that_coordinates_contradict_are_questioned_when_written(
    tmp_path: Path, suffix: str, size: float
) -> None:
    path = save(tmp_path / "in.tif", heights(), crs="EPSG:32611")
    terrain, out = sw.read(path, cell_size=size), tmp_path / f"out{suffix}"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sw.write(terrain, out)
        if suffix == ".tif":
            sw.write_geotiff(terrain, tmp_path / "cog.tif")
    said = [str(warning.message) for warning in caught if "has coordinates with cells of 30 m" in str(warning.message)]
    assert len(said) == (0 if size == 30.0 else 2 if suffix == ".tif" else 1)
    assert sw.read(out).cell_size == 30.0


def test_cells_of_a_local_grid_keep_their_size(tmp_path: Path) -> None:
    grid = sw.Terrain(heights(), cell_size=9.0, transform=(30.0, 0, 500, 0, -30.0, 9000))  # in feet, say
    assert sw.read(sw.write(grid, tmp_path / "out.tif")).cell_size == 9.0
    sw.write_geotiff(grid, tmp_path / "cog.tif")
    assert sw.read(tmp_path / "cog.tif").cell_size == 9.0
    with pytest.warns(GeoreferenceWarning, match="cells of 30 m"):
        sw.write(grid, tmp_path / "out.asc")


@pytest.mark.parametrize("suffix", [".tif", ".asc"])
def test_heights_of_a_compound_code_are_in_its_unit(tmp_path: Path, suffix: str) -> None:
    terrain = sw.Terrain(heights(), cell_size=30 * US_FOOT, crs=COMPOUND, transform=NORTH_UP[:6])
    path = sw.write(terrain, tmp_path / f"out{suffix}")
    back = sw.read(path)
    np.testing.assert_allclose(back["elevation"], terrain["elevation"], rtol=1e-6)
    if suffix == ".tif":
        with rasterio.open(path) as file:
            np.testing.assert_allclose(file.read(1), heights() / US_FOOT, rtol=1e-6)


def test_a_scale_of_no_band_is_left_aside_as_gdal_does(tmp_path: Path) -> None:
    path, xml = tmp_path / "in.tif", '<GDALMetadata><Item name="SCALE" role="scale">0.5</Item></GDALMetadata>'
    tifffile.imwrite(path, heights(), extratags=[(42112, "s", 0, xml, True)], metadata=None)
    with pytest.warns(rasterio.errors.NotGeoreferencedWarning), rasterio.open(path) as file:
        assert file.scales == (1.0,)
    np.testing.assert_array_equal(sw.read(path)["elevation"], heights())


def test_srtm_tile_goes_out_and_comes_in(tmp_path: Path) -> None:
    row, column = np.mgrid[:1201, :1201]
    samples = (row + 2 * column).astype(np.int16)
    samples[5, 7] = -32768
    path = tmp_path / "S34W071.hgt"
    samples.astype(">i2").tofile(path)
    with pytest.raises(InvalidFile, match="degrees, not metres"):
        sw.read(path)
    terrain = sw.read(path, cell_size=90)
    assert terrain.nodata is not None
    assert np.argwhere(terrain.nodata).tolist() == [[5, 7]]
    with rasterio.open(path, driver="SRTMHGT") as file:
        assert terrain.transform == pytest.approx(tuple(file.transform)[:6], abs=1e-12)
        assert np.array_equal(file.read(1), samples)
    (tmp_path / "again").mkdir()
    assert sw.write(terrain, tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    with pytest.raises(InvalidParameter, match="not the name of the tile"):
        sw.write(terrain, tmp_path / "N34W071.hgt")
    with pytest.raises(InvalidParameter, match=r"1201 or 3601 samples a side; write \.tif"):
        sw.write(sw.Terrain(heights()), tmp_path / "N34W071.hgt")
    ground = sw.read(path, reproject="utm", cell_size=500)
    assert (ground.crs, ground.cell_size) == ("EPSG:32719", 500)


def test_info_shows_a_long_crs_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from slopewash.cli import main

    path = save(tmp_path / "in.tif", heights(), crs="ESRI:102008", transform=IN_AMERICA)
    assert main(["info", str(path)]) == 0
    out = capsys.readouterr().out
    assert "North_America_Albers_Equal_Area_Conic (well-known text" in out
