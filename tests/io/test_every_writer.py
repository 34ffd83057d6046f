"""Every writer of the table of formats with every CRS and unit: the terrain is read again, or what is lost is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.io.test_writers_and_units import PLACES, crs_text

import slopewash as sw
from slopewash.errors import SlopewashError
from slopewash.io.formats import FORMATS

rasterio = pytest.importorskip("rasterio")
pytestmark = pytest.mark.filterwarnings("ignore::slopewash.errors.GeoreferenceWarning")

KEEPS_PLACE = {".asc", ".exr", ".npz", ".tif", ".tiff"}
KEEPS_SIZE = {*KEEPS_PLACE, ".png", ".r16", ".raw"}
STEPS = {".png", ".r16", ".raw"}
"""Formats of 65536 steps."""
ONE_DEGREE = {".hgt"}
"""Formats for tiles in degrees alone, which refuse all others."""


def test_every_format_is_known() -> None:
    assert set(FORMATS) == KEEPS_SIZE | ONE_DEGREE | {".npy"}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("gdal", [True, False], ids=["with GDAL", "without GDAL"])
def test_what_is_written_is_read_again(tmp_path: Path, suffix: str, place: str, *, gdal: bool) -> None:
    code, on_the_ground, _ = PLACES[place]
    crs = None if code is None else crs_text(code)
    cell_size = 10.0 * on_the_ground
    heights = (1000 + 50 * np.random.default_rng(3).random((7, 9))).astype(np.float32)
    transform = None if crs is None else (10.0, 0.0, 4e5, 0.0, -10.0, 4e6)
    terrain = sw.Terrain(heights, cell_size=cell_size, crs=crs, transform=transform)
    if suffix in ONE_DEGREE:
        with pytest.raises(SlopewashError, match=r"write \.tif instead"):
            sw.write(terrain, tmp_path / f"N34W117{suffix}")
        return
    path = sw.write(terrain, tmp_path / f"one{suffix}")
    if not gdal:
        with sw.without_gdal():
            try:
                read = sw.read(path)
            except SlopewashError:
                assert suffix in (".tif", ".tiff", ".asc")
                return
    else:
        read = sw.read(path)
    step = 50.0 / 65535 if suffix in STEPS else 0.0
    assert_allclose(read["elevation"], heights, rtol=3e-7, atol=step)
    assert read.cell_size == pytest.approx(cell_size if suffix in KEEPS_SIZE else 1.0, rel=1e-9)
    if suffix in KEEPS_PLACE and gdal:
        found = None if read.crs is None else rasterio.crs.CRS.from_user_input(read.crs)
        assert found == (None if crs is None else rasterio.crs.CRS.from_user_input(crs))
        if crs is not None:
            assert read.transform == pytest.approx(transform)
    elif suffix not in KEEPS_PLACE:
        assert read.crs is None


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_arrays_mean_the_same_in_any_order_of_bytes_and_axes(
    tmp_path: Path, suffix: str, order: str, dtype: str
) -> None:
    heights = np.arange(63, dtype=np.float32).reshape(7, 9)
    stored = np.array(heights, dtype=dtype, order="F" if order == "F" else "C")
    if suffix == ".npy":
        np.save(tmp_path / "one.npy", stored)
    else:
        np.savez(tmp_path / "one.npz", elevation=stored)
    np.testing.assert_array_equal(sw.read(tmp_path / f"one{suffix}")["elevation"], heights)
