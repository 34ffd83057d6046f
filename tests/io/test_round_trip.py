from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from slopewash.io import probe, read, write
from slopewash.terrain import Terrain


def same(left: np.ndarray, right: np.ndarray) -> bool:
    return left.tobytes() == right.tobytes()


@pytest.mark.parametrize("suffix", [".npz", ".exr"])
def test_formats_with_named_layers_preserve_a_terrain_exactly(terrain: Terrain, tmp_path: Path, suffix: str) -> None:
    back = read(write(terrain, tmp_path / f"all{suffix}"))
    assert sorted(back) == sorted(terrain)
    assert all(same(back[name], terrain[name]) for name in terrain)
    assert back.nodata is not None
    assert terrain.nodata is not None
    assert np.array_equal(back.nodata, terrain.nodata)
    assert (back.cell_size, back.crs, back.transform) == (terrain.cell_size, terrain.crs, terrain.transform)
    assert back.sources == terrain.sources
    assert back.emitters == terrain.emitters


def test_geotiff_preserves_ground_nodata_and_georeference_exactly(terrain: Terrain, tmp_path: Path) -> None:
    back = read(write(terrain, tmp_path / "place.tif"))
    assert same(back["elevation"], terrain["elevation"])
    assert back.nodata is not None
    assert terrain.nodata is not None
    assert np.array_equal(back.nodata, terrain.nodata)
    assert (back.cell_size, back.crs, back.transform) == (terrain.cell_size, terrain.crs, terrain.transform)


@pytest.mark.parametrize("suffix", [".npy", ".tif", ".TIFF", ".npz", ".exr"])
def test_float_formats_preserve_bare_ground_exactly(hill: Terrain, tmp_path: Path, suffix: str) -> None:
    back = read(write(hill, tmp_path / f"hill{suffix}"), cell_size=3.3)
    assert same(back["elevation"], hill["elevation"])
    assert (back.nodata, back.crs, back.transform, back.sources) == (None, None, None, ())


@pytest.mark.parametrize("suffix", [".png", ".r16", ".raw"])
def test_16_bit_formats_keep_ground_to_half_a_step(hill: Terrain, tmp_path: Path, suffix: str) -> None:
    back = read(write(hill, tmp_path / f"hill{suffix}"))
    low, high = hill.range("elevation")
    half_step = (high - low) / 65535 / 2
    rounding = np.spacing(np.float32(high))  # the result is float32
    assert np.abs(back["elevation"] - hill["elevation"]).max() <= half_step + rounding
    assert back.range("elevation") == (low, high)
    assert back.cell_size == 3.3


@pytest.mark.parametrize("suffix", [".png", ".r16"])
def test_flat_ground_stays_flat(tmp_path: Path, suffix: str) -> None:
    flat = Terrain(np.full((3, 3), 1234.5))
    assert same(read(write(flat, tmp_path / f"flat{suffix}"))["elevation"], flat["elevation"])


@pytest.mark.parametrize("suffix", [".png", ".r16"])
def test_second_write_of_16_bit_heights_changes_nothing(hill: Terrain, tmp_path: Path, suffix: str) -> None:
    first = write(hill, tmp_path / f"first{suffix}")
    second = write(read(first), tmp_path / f"second{suffix}")
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".exr", ".tif", ".png", ".r16"])
def test_same_terrain_gives_same_bytes(hill: Terrain, tmp_path: Path, suffix: str) -> None:
    first, second = (write(hill, tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
    assert first == second


@pytest.mark.parametrize("suffix", [".npy", ".tif", ".png", ".raw"])
def test_single_layer_formats_write_the_layer_asked_for(terrain: Terrain, tmp_path: Path, suffix: str) -> None:
    bare = terrain.replace(elevation=terrain["elevation"], nodata=None)
    back = read(write(bare, tmp_path / f"water{suffix}", layer="water"))
    assert np.abs(back["elevation"] - bare["water"]).max() < 1e-5  # a step of 16 bits over less than 1 m


@pytest.mark.parametrize(
    ("suffix", "dtype", "bits"), [(".npy", "float32", 32), (".exr", "float32", 32), (".npz", "float32", 32),
                                  (".tif", "float32", 32), (".png", "uint16", 16), (".raw", "uint16", 16)],
)  # fmt: skip
def test_probe_reports_size_and_depth(hill: Terrain, tmp_path: Path, suffix: str, dtype: str, bits: int) -> None:
    info = probe(write(hill, tmp_path / f"hill{suffix}"))
    assert (info.width, info.height, info.dtype, info.bits) == (7, 5, dtype, bits)
    assert (info.channels, info.layers) == (1, ("elevation",))


@pytest.mark.parametrize("suffix", [".npz", ".exr"])
def test_probe_names_layers(terrain: Terrain, tmp_path: Path, suffix: str) -> None:
    assert sorted(probe(write(terrain, tmp_path / f"all{suffix}")).layers) == ["elevation", "erodibility", "water"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    elevation=arrays(np.float32, st.tuples(st.integers(1, 9), st.integers(1, 9)),
                     elements=st.floats(-1e8, 1e8, width=32)),
    suffix=st.sampled_from([".npy", ".npz", ".exr", ".tif"]),
)  # fmt: skip
def test_any_grid_survives_float_formats(tmp_path: Path, elevation: np.ndarray, suffix: str) -> None:
    assert same(read(write(Terrain(elevation), tmp_path / f"any{suffix}"))["elevation"], elevation)
