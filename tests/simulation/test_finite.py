"""A run that goes wrong says in which layer and where."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from slopewash import NotFinite, Simulation, Terrain, VirtualPipes, generate, preset

HILL = generate("dome", size=40, seed=1, cell_size=5.0)
ROW, COLUMN = 29, 11
"""Far from every edge and from where a search begins."""
FIELDS = ("elevation", "suspended", "water")
MODELS = {"table2": VirtualPipes(), "single_grid": preset("single_grid"), "jako2011": preset("jako2011")}

pytestmark = pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])


def spoilt(backend: str, model: Any, layer: str, bad: float, row: int = ROW, column: int = COLUMN) -> Simulation:
    simulation = Simulation(HILL, model, backend=backend, edges="closed")
    state = simulation._state
    values = np.array(state[layer])
    values[row, column] = bad
    state[layer] = values
    return simulation


def named(error: pytest.ExceptionInfo[NotFinite]) -> tuple[str, int, int]:
    found = re.match(r"(\w+) is no longer finite at row (\d+), column (\d+) by step \d+;", str(error.value))
    assert found is not None, error.value
    return found[1], int(found[2]), int(found[3])


@pytest.mark.product
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("layer", FIELDS)
@pytest.mark.parametrize("name", sorted(MODELS))
def test_one_step_on_the_named_cell_is_near_and_bad(backend: str, name: str, layer: str, bad: float) -> None:
    simulation = spoilt(backend, MODELS[name], layer, bad)
    with np.errstate(all="ignore"), pytest.raises(NotFinite) as error:
        simulation.run(1)
    said, row, column = named(error)
    halo = VirtualPipes.halo
    assert max(abs(row - ROW), abs(column - COLUMN)) <= halo
    state = simulation._state
    assert not np.isfinite(state[said][row, column])
    for field in FIELDS:  # and nothing further away has caught it
        far = np.array(state[field])
        far[ROW - halo : ROW + halo + 1, COLUMN - halo : COLUMN + halo + 1] = 0
        assert np.isfinite(far).all()


@pytest.mark.parametrize("layer", ["water", "suspended"])
def test_a_layer_that_nothing_touches_is_named_itself(backend: str, layer: str) -> None:
    simulation = spoilt(backend, VirtualPipes(processes="thermal"), layer, np.nan)
    with pytest.raises(NotFinite, match="by step 1;") as error:
        simulation.run(1)
    assert named(error) == (layer, ROW, COLUMN)


@pytest.mark.parametrize(("layer", "said"), [("elevation",) * 2, ("water",) * 2, ("suspended", "elevation")])
def test_laying_down_the_load_looks_too(backend: str, layer: str, said: str) -> None:
    simulation = spoilt(backend, VirtualPipes(), layer, np.nan)
    with pytest.raises(NotFinite, match="by step 0;") as error:
        simulation.settle(0)
    assert named(error) == (said, ROW, COLUMN)


@pytest.mark.parametrize("cell", [(0, 0), (0, 39), (39, 0), (39, 39)])
def test_corners_are_looked_at(backend: str, cell: tuple[int, int]) -> None:
    simulation = spoilt(backend, VirtualPipes(processes="thermal"), "water", np.nan, *cell)
    with pytest.raises(NotFinite) as error:
        simulation.run(1)
    assert named(error) == ("water", *cell)


def test_cells_without_ground_raise_no_alarm(backend: str) -> None:
    holes = np.zeros(HILL.shape, bool)
    holes[10:14, 20:25] = True
    terrain = Terrain(HILL["elevation"], cell_size=5.0, nodata=holes)
    simulation = Simulation(terrain, VirtualPipes(), backend=backend)
    simulation.run(2)
    assert simulation.step == 2
