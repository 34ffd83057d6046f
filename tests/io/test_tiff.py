from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from slopewash.errors import GeoreferenceWarning, InvalidFile, InvalidParameter, InvalidTerrain
from slopewash.io import probe, read, tiff_pixels, write
from slopewash.io.gdal import without_gdal
from slopewash.terrain import Terrain

SCALE, TIEPOINT = (33550, "d", 3, (30.0, 30.0, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, 500.0, 9000.0, 0.0), True)
METRES = np.array([[640, 641, 2295], [-12, 0, 3127]], dtype=np.int16)


def keys(*pairs: tuple[int, int]) -> tuple[Any, ...]:
    numbers = [1, 1, 0, len(pairs), *(number for key, value in pairs for number in (key, 0, 1, value))]
    return (34735, "H", len(numbers), tuple(numbers), True)


UTM = keys((1024, 1), (1025, 1), (3072, 32611), (3076, 9001))


def save(path: Path, samples: np.ndarray, *tags: tuple[Any, ...], **options: Any) -> Path:
    options = {"photometric": "minisblack", "metadata": None} | options
    tifffile.imwrite(path, samples, extratags=tags, **options)
    return path


def geokeys(path: Path) -> dict[str, Any]:
    with tifffile.TiffFile(path) as file:
        return dict(file.pages.first.geotiff_tags or {})


@pytest.mark.parametrize("byteorder", ["<", ">"])
@pytest.mark.parametrize("options", [{}, {"compression": "zlib", "predictor": True}, {"tile": (16, 16)}])
def test_integer_geotiff_is_metres(tmp_path: Path, byteorder: str, options: dict[str, Any]) -> None:
    path = save(tmp_path / "dem.tif", METRES, SCALE, TIEPOINT, UTM, byteorder=byteorder, **options)
    ground = read(path)
    assert np.array_equal(ground["elevation"], METRES)
    assert (ground.cell_size, ground.crs, ground.nodata) == (30.0, "EPSG:32611", None)
    assert ground.transform == (30.0, 0.0, 500.0, 0.0, -30.0, 9000.0)


@pytest.mark.parametrize("dtype", ["u2", "i2", "u4", "i4", "f2", "f4", "f8"])
@pytest.mark.parametrize("byteorder", ["<", ">"])
def test_georeferenced_samples_of_any_depth_are_metres(tmp_path: Path, dtype: str, byteorder: str) -> None:
    samples = np.array([[1, 2, 3], [4, 500, 600]], dtype=dtype)
    ground = read(save(tmp_path / "dem.tif", samples, SCALE, byteorder=byteorder))
    assert np.array_equal(ground["elevation"], samples)
    assert (ground.cell_size, ground.transform) == (30.0, None)


@pytest.mark.parametrize("dtype", ["u2", "i2", "u4", "i4"])
def test_integers_without_georeference_span_the_range_given(tmp_path: Path, dtype: str) -> None:
    limits = np.iinfo(dtype)
    path = save(tmp_path / "plain.tif", np.array([[limits.min, limits.max]], dtype=dtype))
    assert read(path, height_range=(-50.0, 70.0))["elevation"].tolist() == [[-50.0, 70.0]]
    with pytest.raises(InvalidParameter, match=r"--height-range LOW\.\.HIGH"):
        read(path)


def test_range_for_floats_is_rejected(tmp_path: Path) -> None:
    path = save(tmp_path / "plain.tif", np.ones((2, 2), dtype=np.float32))
    with pytest.raises(InvalidParameter, match="already metres; leave out height_range"):
        read(path, height_range=(0.0, 1.0))


def test_point_raster_is_shifted_by_half_a_cell(tmp_path: Path) -> None:
    path = save(tmp_path / "point.tif", METRES, SCALE, TIEPOINT, keys((1024, 1), (1025, 2), (3072, 32611)))
    assert read(path).transform == (30.0, 0.0, 485.0, 0.0, -30.0, 9015.0)


def test_tiepoint_inside_the_raster_is_carried_to_its_corner(tmp_path: Path) -> None:
    inside = (33922, "d", 6, (2.0, 1.0, 0.0, 560.0, 8970.0, 0.0), True)
    assert read(save(tmp_path / "inside.tif", METRES, SCALE, inside)).transform == (
        30.0,
        0.0,
        500.0,
        0.0,
        -30.0,
        9000.0,
    )


def test_rotated_raster_keeps_its_matrix(tmp_path: Path) -> None:
    matrix = (3.0, 4.0, 0.0, 100.0, 4.0, -3.0, 0.0, 200.0) + (0.0,) * 7 + (1.0,)
    ground = read(save(tmp_path / "rotated.tif", METRES, (34264, "d", 16, matrix, True)))
    assert (ground.cell_size, ground.transform) == (5.0, (3.0, 4.0, 100.0, 4.0, -3.0, 200.0))
    assert read(write(ground, tmp_path / "again.tif")).transform == ground.transform


def test_degrees_are_not_metres(tmp_path: Path) -> None:
    second = 1 / 3600
    path = save(
        tmp_path / "degrees.tif", METRES, (33550, "d", 3, (second, second, 0.0), True), TIEPOINT,
        keys((1024, 2), (1025, 1), (2048, 4326)),
    )  # fmt: skip
    with pytest.raises(InvalidFile, match=r"degrees, not metres; give .* cell_size, or --cell-size"):
        read(path)
    ground = read(path, cell_size=30.0)
    assert (ground.cell_size, ground.crs) == (30.0, "EPSG:4326")
    again = read(write(ground, tmp_path / "again.tif"))
    assert (again.cell_size, again.crs, again.transform) == (30.0, "EPSG:4326", ground.transform)
    assert geokeys(tmp_path / "again.tif")["GeographicTypeGeoKey"] == 4326


def test_oblong_cells_need_a_cell_size(tmp_path: Path) -> None:
    path = save(tmp_path / "oblong.tif", METRES, (33550, "d", 3, (30.0, 20.0, 0.0), True), TIEPOINT, UTM)
    with pytest.raises(InvalidFile, match="30 x 20, which are not square"):
        read(path)
    assert read(path, cell_size=25.0).cell_size == 25.0


def test_feet_become_metres_and_stay_so(tmp_path: Path) -> None:
    path = save(tmp_path / "feet.tif", METRES, SCALE, TIEPOINT, keys((1024, 1), (3072, 2229), (3076, 9003)))
    with pytest.warns(GeoreferenceWarning, match="heights without a unit, which are taken for metres"):
        ground = read(path)
    assert ground.cell_size == pytest.approx(30.0 * 1200 / 3937, rel=1e-15)
    assert read(write(ground, tmp_path / "again.tif")).cell_size == ground.cell_size
    odd = save(tmp_path / "odd.tif", METRES, SCALE, TIEPOINT, keys((1024, 1), (3072, 2229), (3076, 9102)))
    with pytest.raises(InvalidFile, match="units of EPSG:9102"):
        read(odd)


def test_user_defined_crs_is_left_out_with_a_warning_where_gdal_is_off(tmp_path: Path) -> None:
    path = save(tmp_path / "own.tif", METRES, SCALE, TIEPOINT, keys((1024, 1), (3072, 32767), (3076, 9001)))
    with without_gdal(), pytest.warns(GeoreferenceWarning, match="a CRS without an EPSG code, which is left out"):
        assert read(path).crs is None


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        (np.array([[-9999, 5]], dtype=np.int16), "-9999"),
        (np.array([[-9999, 5]], dtype=np.float32), "-9999.0"),
        (np.array([[-3.4028234663852886e38, 5]], dtype=np.float32), "-3.4028234663852886e+38"),
        (np.array([[-1.7976931348623157e308, 5]], dtype=np.float64), "-1.7976931348623157e+308"),
        (np.array([[np.nan, 5]], dtype=np.float32), "nan"),
        (np.array([[np.nan, 5]], dtype=np.float32), "-9999"),
    ],
)
def test_value_for_no_data_becomes_nodata(tmp_path: Path, samples: np.ndarray, text: str) -> None:
    ground = read(save(tmp_path / "gap.tif", samples, SCALE, (42113, "s", 0, text, True)))
    assert ground.nodata is not None
    assert ground.nodata.tolist() == [[True, False]]
    assert ground["elevation"].tolist() == [[0.0, 5.0]]


def test_value_for_no_data_that_cannot_occur_is_ignored(tmp_path: Path) -> None:
    assert read(save(tmp_path / "none.tif", METRES, SCALE, (42113, "s", 0, "-99999", True))).nodata is None


def test_undeclared_nan_names_file_and_cell(tmp_path: Path) -> None:
    path = save(tmp_path / "hole.tif", np.array([[1.0, np.nan]], dtype=np.float32))
    with pytest.raises(InvalidTerrain, match=r"hole\.tif: layer elevation is nan.* at row 0, column 1"):
        read(path)


@pytest.mark.parametrize("compression", ["tiff_lzw", "tiff_adobe_deflate"])
@pytest.mark.parametrize("predictor", [1, 2, 3])
def test_compressions_of_common_elevation_models(tmp_path: Path, compression: str, predictor: int) -> None:
    samples = np.random.Generator(np.random.Philox(1)).normal(500, 100, (40, 30)).astype(np.float32)
    Image.fromarray(samples).save(tmp_path / "dem.tif", compression=compression, tiffinfo={317: predictor})
    assert np.array_equal(read(tmp_path / "dem.tif")["elevation"], samples)


@pytest.mark.parametrize("layout", [{"blockysize": 1}, {"blockysize": 6}, {"tiled": True, "blockxsize": 16}])
@pytest.mark.parametrize("compression", ["lzw", "deflate", "none"])
def test_strips_and_tiles_decoded_together_are_those_decoded_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compression: str, layout: dict[str, Any]
) -> None:
    """The last strip is shorter, some are left out, and one that is damaged is not passed over."""
    rasterio = pytest.importorskip("rasterio")
    samples = np.random.Generator(np.random.Philox(1)).normal(500, 100, (40, 30)).astype(np.float32)
    samples[16:32, :16] = -1
    path, tiles = tmp_path / "dem.tif", {"blockysize": 16} if "tiled" in layout else {}
    with rasterio.open(
        path, "w", driver="GTiff", height=40, width=30, count=1, dtype="float32", nodata=-1, sparse_ok=True,
        transform=rasterio.Affine(10, 0, 0, 0, -10, 400),
        compress=compression, predictor=1 if compression == "none" else 3, **layout, **tiles,
    ) as file:  # fmt: skip
        file.write(samples, 1)
    with tifffile.TiffFile(path) as tiff:
        offsets, counts = tiff.pages.first.dataoffsets, tiff.pages.first.databytecounts
    assert (0 in offsets) == ("tiled" in layout)
    for together in (1, 700, 1 << 22):
        monkeypatch.setattr(tiff_pixels, "_AT_ONCE", together)
        with without_gdal():
            found = read(path)["elevation"]
        assert np.array_equal(found[samples != -1], samples[samples != -1])
    if compression == "none":
        return
    data = bytearray(path.read_bytes())
    middle = len(offsets) // 2
    data[offsets[middle] : offsets[middle] + counts[middle]] = b"\xff" * counts[middle]
    path.write_bytes(data)
    with without_gdal(), pytest.raises(InvalidFile, match="damaged"):
        read(path)


def test_lzw_of_16_bits(tmp_path: Path) -> None:
    samples = np.arange(1200, dtype=np.uint16).reshape(40, 30) * 50
    Image.fromarray(samples).save(tmp_path / "plain.tif", compression="tiff_lzw")
    assert np.array_equal(np.rint(read(tmp_path / "plain.tif", height_range=(0.0, 65535.0))["elevation"]), samples)


def test_smaller_copies_are_left_aside_and_further_images_rejected(tmp_path: Path) -> None:
    for kind, path in ((1, tmp_path / "overviews.tif"), (0, tmp_path / "stack.tif")):
        with tifffile.TiffWriter(path) as file:
            file.write(METRES, photometric="minisblack", metadata=None, extratags=[SCALE])
            file.write(METRES[:1, :1], photometric="minisblack", metadata=None, subfiletype=kind)
    assert read(tmp_path / "overviews.tif").shape == METRES.shape
    with pytest.raises(InvalidFile, match="contains 2 images"):
        read(tmp_path / "stack.tif")


def test_colours_palettes_bits_and_inverted_grey_are_rejected(tmp_path: Path) -> None:
    colour = save(tmp_path / "colour.tif", np.zeros((4, 4, 3), dtype=np.uint16), photometric="rgb")
    assert probe(colour).channels == 3
    with pytest.raises(InvalidFile, match="a single grey"):
        read(colour, height_range=(0.0, 1.0))
    Image.new("P", (4, 4)).save(tmp_path / "palette.tif")
    with pytest.raises(InvalidFile, match="palette"):
        read(tmp_path / "palette.tif", height_range=(0.0, 1.0), allow_8bit=True)
    Image.new("1", (4, 4)).save(tmp_path / "bits.tif")
    with pytest.raises(InvalidFile, match="1-bit"):
        read(tmp_path / "bits.tif", height_range=(0.0, 1.0))
    complex_ = save(tmp_path / "complex.tif", np.zeros((4, 4), dtype=np.complex64))
    with pytest.raises(InvalidFile, match="complex64"):
        read(complex_)
    odd = save(tmp_path / "odd.tif", METRES, SCALE)
    data = bytearray(odd.read_bytes())
    struct.pack_into("<H", data, data.index(struct.pack("<HHI", 258, 3, 1)) + 8, 25)
    odd.write_bytes(data)
    with pytest.raises(InvalidFile, match="25-bit unknown; heights need 16, 32 or 64 bits"):
        read(odd)
    white = save(tmp_path / "white.tif", np.zeros((4, 4), dtype=np.uint16), photometric="miniswhite")
    with pytest.raises(InvalidFile, match="white as 0"):
        read(white, height_range=(0.0, 1.0))


def test_8_bit_heights_need_consent(tmp_path: Path) -> None:
    path = save(tmp_path / "stairs.tif", np.array([[0, 255]], dtype=np.uint8), SCALE)
    with pytest.raises(InvalidFile, match="8-bit heights"):
        read(path)
    assert read(path, allow_8bit=True)["elevation"].tolist() == [[0.0, 255.0]]


def test_written_file_reads_elsewhere(terrain: Terrain, tmp_path: Path) -> None:
    path = write(terrain, tmp_path / "out.tif")
    data = path.read_bytes()
    assert data[:4] == b"II*\0"
    expected = np.where(terrain.nodata, np.nan, terrain["elevation"])  # type: ignore[arg-type]
    with Image.open(path) as image:
        assert image.mode == "F"
        assert np.array_equal(np.asarray(image), expected, equal_nan=True)
        tags = dict(image.tag_v2)  # type: ignore[attr-defined]
    assert tags[33550] == (3.3, 3.3, 0.0)
    assert tags[33922] == (0.0, 0.0, 0.0, 394253.6554542635, 3807917.8276283755, 0.0)
    assert tags[34735] == (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32611)
    assert tags[42113].rstrip("\0") == "nan"
    (first_strip,) = struct.unpack_from("<f", data, tags[273][0])
    assert first_strip == terrain["elevation"][0, 0]


def test_terrain_of_no_place_has_its_size_but_no_crs_in_the_tags(tmp_path: Path) -> None:
    free = Terrain(np.ones((2, 3)), cell_size=4.0, crs='LOCAL_CS["Größe <1>"]')
    path = write(free, tmp_path / "free.tif")
    assert geokeys(path)["ModelPixelScale"] == [4.0, 4.0, 0.0]
    assert "ProjectedCSTypeGeoKey" not in geokeys(path)
    back = read(path)
    assert (back.cell_size, back.crs, back.transform) == (4.0, free.crs, None)


def test_every_truncation_is_reported(hill: Terrain, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = write(hill, tmp_path / "whole.tif").read_bytes()
    path = tmp_path / "broken.tif"
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidFile, match=r"broken\.tif is not a readable TIFF file: "):
            read(path)
    assert capfd.readouterr() == ("", "")


def test_huge_header_is_rejected_before_decoding(tmp_path: Path) -> None:
    path = save(tmp_path / "bomb.tif", METRES, SCALE)
    data = bytearray(path.read_bytes())
    for code in (256, 257):
        entry = data.index(struct.pack("<HHI", code, 4, 1))
        struct.pack_into("<I", data, entry + 8, 100_000)
    path.write_bytes(data)
    with pytest.raises(InvalidFile, match="100000 x 100000 cells"):
        read(path)


def test_a_compression_that_is_no_number_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = write(Terrain(np.eye(4)), tmp_path / "hill.tif")
    data = path.read_bytes()
    number, bytes_ = struct.pack("<HHI", 259, 3, 1), struct.pack("<HHI", 259, 7, 3)
    assert data.count(number) == 1
    path.write_bytes(data.replace(number, bytes_))
    with pytest.raises(InvalidFile, match=r"hill\.tif is not a readable TIFF file: it is damaged"):
        read(path)
