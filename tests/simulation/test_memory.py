"""How much memory looking at a run takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import slopewash as sw

SIZE = 512
LAYER = SIZE * SIZE * 4


def measured(call: Callable[[], object]) -> tuple[float, float]:
    """Memory at most during a call and after it, in layers of float32."""
    tracemalloc.start()
    try:
        result = call()
        now, peak = tracemalloc.get_traced_memory()
        del result
        return peak / LAYER, now / LAYER
    finally:
        tracemalloc.stop()


def started(backend: str, preset: str = "single_grid") -> sw.Simulation:
    simulation = sw.Simulation(sw.generate("dome", size=SIZE), sw.preset(preset), backend=backend)
    simulation.run(1)
    return simulation


def test_a_terrain_takes_little_more_memory_than_its_layers() -> None:
    simulation = started("cpu")
    layers = len(simulation.terrain)
    peak, _ = measured(lambda: simulation.terrain)
    assert peak < layers + 5  # what one layer is worked out from, by blocks of rows or in float64


def test_a_checkpoint_leaves_no_copy_of_the_device_s_fields_in_memory(tmp_path: Path) -> None:
    simulation = started("gpu")
    _, kept = measured(lambda: simulation.checkpoint(tmp_path))
    assert kept < 1


@pytest.mark.parametrize("preset", ["single_grid", "outerrain", "chiba_fig2"])
@pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])
def test_layers_are_the_caller_s_own(backend: str, preset: str) -> None:
    simulation = sw.Simulation(sw.generate("dome", size=24), sw.preset(preset), backend=backend)
    simulation.run(1)
    names = [*simulation.terrain]
    before = {name: layer.copy() for name, layer in simulation.layers(*names).items()}
    for layer in simulation.layers(*names).values():
        layer += 7
    for name, layer in simulation.layers(*names).items():
        np.testing.assert_array_equal(layer, before[name], err_msg=name)
