"""A mirrored terrain gives the mirrored result, bit for bit; a turned one the turned result, to rounding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash import Simulation, Terrain, VirtualPipes, WaterSource, preset

MODELS = {
    "table2": VirtualPipes(),
    "single_grid": preset("single_grid"),
    "jako2011": preset("jako2011"),
    "collision": VirtualPipes(capacity="collision", velocity="mean_depth", pipe_area=1.0),
}


def result(heights: NDArray[Any], erodibility: NDArray[Any], model: Any, edges: Any, backend: str, steps: int) -> Any:
    terrain = Terrain(heights, erodibility=erodibility)
    simulation = Simulation(terrain, model, backend=backend, edges=edges)
    simulation.run(steps)
    return simulation.terrain


@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_mirrored_input_gives_mirrored_output(backend: str, name: str, edges: str, rough: NDArray[Any]) -> None:
    soft = np.random.default_rng(8).random(rough.shape)
    straight = result(rough, soft, MODELS[name], edges, backend, 60)
    for flip in (np.fliplr, np.flipud):
        mirrored = result(flip(rough), flip(soft), MODELS[name], edges, backend, 60)
        for layer in straight:
            np.testing.assert_array_equal(flip(mirrored[layer]), straight[layer], err_msg=f"{layer} {flip.__name__}")


@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_mirrored_walls_rain_and_springs(backend: str, name: str, edges: Any, rough: NDArray[Any]) -> None:
    random = np.random.default_rng(9)
    soft, rain, walls = random.random(rough.shape), 2 * random.random(rough.shape), random.random(rough.shape) < 0.06
    walls[20:26, 5:9] = True
    rows, columns = rough.shape
    spring = WaterSource(x=10.5, y=12.5, radius=2.5, rate=0.5)

    def run(flip: Any, at: WaterSource) -> Terrain:
        terrain = Terrain(flip(rough), nodata=flip(walls), sources=[at], erodibility=flip(soft), rainfall=flip(rain))
        simulation = Simulation(terrain, MODELS[name], backend=backend, edges=edges)
        simulation.run(60)
        return simulation.terrain

    straight = run(np.array, spring)
    assert straight["water"].max() > 0
    assert (straight["water"][walls] == 0).all()
    assert (straight["suspended"][walls] == 0).all()
    for flip, at in (
        (np.fliplr, replace(spring, x=columns - spring.x)),
        (np.flipud, replace(spring, y=rows - spring.y)),
    ):
        mirrored = run(flip, at)
        for layer in straight:
            np.testing.assert_array_equal(flip(mirrored[layer]), straight[layer], err_msg=f"{layer} {flip.__name__}")


@pytest.mark.parametrize("name", sorted(MODELS))
def test_transposed_input_gives_transposed_output_to_rounding(backend: str, name: str, rough: NDArray[Any]) -> None:
    soft = np.random.default_rng(8).random(rough.shape)
    straight = result(rough, soft, MODELS[name], "open", backend, 3)
    turned = result(rough.T, soft.T, MODELS[name], "open", backend, 3)
    for layer in ("elevation", "water", "suspended"):
        # Sums over x and y swap their order: a few ulp of the largest height, over few steps.
        np.testing.assert_allclose(turned[layer].T, straight[layer], atol=2e-5, err_msg=layer)
