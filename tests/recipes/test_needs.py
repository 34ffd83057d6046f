"""What is declared of memory agrees with what is allocated, and what a job needs grows as it should."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.generators.registry import generator_cost
from slopewash.needs import LAYER, Needs, Part
from slopewash.recipes.needs import reading_part

WITHIN = 0.25
"""Share by which a figure may be off; between two sizes, so that what does not grow with the cells drops out."""


def allocated(work: Callable[[int], Any], small: int, large: int) -> float:
    """Bytes per cell that some work allocates at its peak."""
    work(24)
    return (peak(work, large) - peak(work, small)) / (large**2 - small**2)


def peak(work: Callable[[int], Any], size: int) -> int:
    """The smaller of two: kernels may be compiled meanwhile."""
    peaks = []
    for _ in range(2):
        gc.collect()
        tracemalloc.start()
        work(size)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return min(peaks)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        ("steepest_talus", (128, 256)),
        ("virtual_pipes", (128, 256)),
        ("velocity_field", (24, 48)),
        ("mesh_particles", (256, 512)),
    ],
)
def test_a_run_takes_the_memory_that_its_model_declares(model: str, sizes: tuple[int, int], backend: str) -> None:
    grounds = {size: sw.generate("dome", size=size, seed=3) for size in (24, *sizes)}

    def work(size: int) -> sw.Terrain:
        with sw.Simulation(grounds[size], sw.find_model(model)(), backend=backend) as simulation:
            simulation.run(1)
            return simulation.terrain

    declared = sw.find_model(model).footprint(backend)
    assert declared.held < declared.peak
    assert LAYER + allocated(work, *sizes) == pytest.approx(declared.peak, rel=WITHIN)


def test_a_generator_that_sees_the_whole_takes_the_memory_that_it_declares() -> None:
    taken = allocated(lambda size: sw.generate("diamond_square", size=size), 256, 512)
    assert taken == pytest.approx(generator_cost("diamond_square").memory, rel=WITHIN)


def test_a_job_needs_what_its_largest_part_does_and_a_process() -> None:
    parts = [Part("reading", 5e9, 1.0), Part("running", 2e9, 3.0, compiled=True), Part("drawing", 1e9)]
    assert Needs(parts).widest.name == "reading"
    assert 5.0e9 < Needs(parts).memory < 5.1e9
    assert Needs(parts[1:]).memory - 2e9 > Needs(parts[:1]).memory - 5e9  # kernels are loaded


def test_more_cells_steps_pictures_and_stages_need_more() -> None:
    def recipe(size: int = 512, **options: Any) -> sw.Recipe:
        return sw.recipe("single_grid", size=size, backend="reference", **options)

    few, many = recipe(steps=10).needs(), recipe(steps=1000).needs()
    assert few.memory == many.memory
    assert few.seconds < many.seconds
    assert recipe(size=2048).needs().memory > 2 * few.memory
    drawn = recipe(steps=10).replace(outputs=(sw.Output(Path("view.png"), "picture", {"view": "block"}),))
    assert drawn.needs().memory > few.memory
    twice = recipe(steps=10).replace(stages=2 * recipe(steps=10).stages)
    assert few.seconds < twice.needs().seconds < many.seconds


def test_a_file_is_counted_from_its_header(tmp_path: Path) -> None:
    path = sw.write(sw.generate("hill", size=256), tmp_path / "hill.npy")
    made = sw.recipe("single_grid", size=256, steps=10, backend="reference")
    read = made.replace(source=sw.FromFile(path=path))
    assert read.needs().memory == pytest.approx(made.needs().memory, rel=0.05)
    assert read.replace(source=sw.FromFile(path=path, size=512)).needs().memory > 1.2 * made.needs().memory


READ = r"""
import pathlib, re, sys, warnings
import slopewash as sw
warnings.simplefilter("ignore")
sw.read(sys.argv[1])
status = pathlib.Path("/proc/self/status").read_text()
print(1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]))
"""


@pytest.mark.parametrize(
    ("suffix", "sample", "options"),
    [
        (".tif", "float32", {}), (".tif", "float64", {"nodata": float("nan")}), (".tif", "int16", {"nodata": -9999}),
        (".tif", "int32", {}), (".tif", "float32", {"compress": "lzw"}), (".tif", "int16", {"compress": "zstd"}),
        (".npy", "float64", {}), (".png", "uint16", {}), (".exr", "float32", {}), (".asc", "float32", {}),
    ],
)  # fmt: skip
def test_a_file_takes_the_memory_that_its_header_tells(
    suffix: str, sample: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """In a process of its own: what libraries allocate counts too."""
    rasterio = pytest.importorskip("rasterio")
    used, declared = {}, {}
    for size in (256, 1536):
        heights = np.arange(size * size).reshape(size, size) % 3000 + 500.5
        path = tmp_path / f"hill{size}{suffix}"
        if suffix == ".tif":
            place = {"crs": "EPSG:32611", "transform": rasterio.Affine(9, 0, 0, 0, -9, 0)}
            shape = {"width": size, "height": size, "count": 1, "dtype": sample}
            with rasterio.open(path, "w", driver="GTiff", **place, **shape, **options) as file:
                file.write(heights.astype(sample), 1)
        elif suffix == ".npy":
            np.save(path, heights.astype(sample))
        else:
            sw.write(sw.Terrain(heights), path)
        used[size] = float(subprocess.run([sys.executable, "-c", READ, path], stdout=-1, text=True, check=True).stdout)
        declared[size] = reading_part(path, {}).part.memory
    assert declared[1536] - declared[256] == pytest.approx(used[1536] - used[256], rel=0.35)


def test_a_layer_finer_than_the_terrain_is_counted(tmp_path: Path) -> None:
    for size in (64, 8192):
        np.lib.format.open_memmap(tmp_path / f"{size}.npy", "w+", np.float32, (size, size))
    recipe = sw.recipe("single_grid", size=64, steps=1, backend="reference")
    layers = [{"rainfall": sw.LayerFile(path=tmp_path / f"{size}.npy")} for size in (64, 8192)]
    needs = [recipe.replace(layers=layer).needs().memory for layer in layers]
    assert needs[1] - needs[0] > 8 * 8192**2


def test_sub_steps_are_counted() -> None:
    recipe = sw.recipe("jako2011", size=512, steps=1000, backend="cpu")
    whole, parted = (
        recipe.replace(stages=(recipe.stage.with_parameters(time_step=step),)).needs().seconds for step in (0.02, 0.2)
    )
    assert parted > 3 * whole
