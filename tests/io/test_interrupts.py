"""Ctrl-C while a file is decoded: between bands, or while a C library works on a thread of its own."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash import patience
from slopewash.io import tiff_pixels


def test_ctrl_c_leaves_a_strip_that_is_decoded_in_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tifffile = pytest.importorskip("tifffile")
    path = tmp_path / "one-strip.tif"
    tifffile.imwrite(path, np.zeros((64, 64), np.float32), compression="deflate", rowsperstrip=64)

    def slow(*given: Any) -> bytes:
        signal.raise_signal(signal.SIGINT)  # of the process: the main thread takes it
        time.sleep(5)
        return b""

    monkeypatch.setattr(patience, "LARGE", 1)
    monkeypatch.setattr(tiff_pixels, "_expand", slow)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sw.read(path)
    assert time.monotonic() - begin < 4


def test_gdal_decodes_bands_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rasterio")
    from slopewash.io import gdal_raster

    heights = np.arange(70 * 50, dtype=np.float32).reshape(70, 50)
    terrain = sw.Terrain(heights, wear=heights / 2, cell_size=2.0)
    path = tmp_path / "bands.tif"
    sw.write_geotiff(terrain, path, layers=("elevation", "wear"))
    whole = sw.read(path)
    monkeypatch.setattr(gdal_raster, "BAND_CELLS", 1)
    monkeypatch.setattr(gdal_raster, "BLOCK", 16)
    decoded = gdal_raster._decoded
    made: list[Any] = []

    def counted(*given: Any) -> Any:
        made.append(given[-1])
        return decoded(*given)

    monkeypatch.setattr(gdal_raster, "_decoded", counted)
    again = sw.read(path)
    assert len(made) == 10
    for name in whole:
        assert np.array_equal(again[name], whole[name])
        assert np.array_equal(again[name], terrain[name])
