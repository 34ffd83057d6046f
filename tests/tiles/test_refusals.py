"""A run on tiles that is refused or fails before anything of it counts leaves nothing behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.tiles import run as tiled_run

pytest.importorskip("rasterio")
PLACE: dict[str, Any] = {"cell_size": 10.0, "crs": "EPSG:32611"}
NORTH_WEST = (10.0, 0.0, 400000.0, 0.0, -10.0, 5000000.0)


@pytest.fixture
def dem(tmp_path: Path) -> Path:
    return write(tmp_path / "dem.tif", sw.generate("cone", size=64, cell_size=10.0)["elevation"])


def write(path: Path, values: Any, **given: Any) -> Path:
    sw.write(sw.Terrain(values, **PLACE, transform=NORTH_WEST, **given), path)
    return path


def erode(dem: Path, out: Path, layer: Path) -> sw.TiledResult:
    recipe = sw.Recipe(
        source=sw.FromFile(path=dem), layers={"rainfall": sw.LayerFile(path=layer)},
        stages=(sw.Stage(model=sw.VirtualPipes(), steps=2),), backend="cpu",
    )  # fmt: skip
    return sw.erode_tiled(None, recipe, out=out, tile=32, workers=0)


@pytest.mark.parametrize("out", ["out.zarr", "out.tif"])
def test_a_layer_that_does_not_cover_the_ground_is_refused_before_that_is_read(
    out: str, dem: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quarter = write(tmp_path / "quarter.tif", np.ones((32, 32)))
    monkeypatch.setattr(tiled_run, "fill", lambda *_: pytest.fail("the ground is read"))
    with pytest.raises(sw.InvalidFile, match=r"quarter\.tif covers 25 % of the terrain"):
        erode(dem, tmp_path / out, quarter)
    with pytest.raises(sw.InvalidFile, match=r"missing\.tif"):
        erode(dem, tmp_path / out, tmp_path / "missing.tif")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dem.tif", "quarter.tif"]


def test_what_is_found_only_in_the_cells_leaves_no_store_either(dem: Path, tmp_path: Path) -> None:
    hole = np.zeros((64, 64), bool)
    hole[5, 60] = True
    layer = write(tmp_path / "layer.tif", np.ones((64, 64)), nodata=hole)
    with pytest.raises(sw.InvalidFile, match="has no data in 1 cells"):
        erode(dem, tmp_path / "out.zarr", layer)
    assert not (tmp_path / "out.zarr").exists()


def test_nodata_of_the_ground_need_not_be_covered(tmp_path: Path) -> None:
    hole = np.ones((64, 64), bool)
    hole[:32, :32] = False
    dem = write(tmp_path / "dem.tif", sw.generate("cone", size=64)["elevation"], nodata=hole)
    assert erode(dem, tmp_path / "out.zarr", write(tmp_path / "quarter.tif", np.ones((32, 32)))).tiles == 4


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError, sw.CheckpointError])
def test_what_ends_a_run_before_its_first_manifest_leaves_what_was_there(
    error: type[BaseException], dem: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = write(tmp_path / "layer.tif", np.ones((64, 64)))
    out = tmp_path / "out.zarr"
    out.mkdir()
    for kept in (set(), {"elevation", "zarr.json"}):
        with monkeypatch.context() as patched:

            def fail(store: Any, *_: object) -> None:
                store.write_file("state/source/elevation/c/0/0", b"data")
                raise error

            patched.setattr(tiled_run, "fill", fail)
            with pytest.raises(error):
                erode(dem, out, layer)
        names = {path.name for path in out.iterdir()}
        assert kept <= names
        assert "state" not in names
        assert erode(dem, out, layer).tiles == 4  # the second time over a result
