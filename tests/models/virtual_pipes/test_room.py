"""Fields that are read into the backend's own memory, whatever that held before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from slopewash import Terrain, VirtualPipes, preset
from slopewash.models.state import Sides
from slopewash.models.virtual_pipes.cpu import CpuBackend

CASES: dict[str, Any] = {
    "plain": VirtualPipes(),
    "cover": preset("single_grid").replace(cover="loose", weathering_rate=0.02),
    "eight": VirtualPipes(pipes="eight", capacity="along_flow", transport="donor_cell", pipe_area=10.0),
    "slides alone": VirtualPipes(processes="thermal"),
}


def dirty(length: int) -> NDArray[np.uint8]:
    """Memory full of what is no number."""
    return np.full(length // 4, np.nan, np.float32).view(np.uint8)


@pytest.mark.parametrize("edges", ["open", "periodic"])
@pytest.mark.parametrize("name", CASES)
def test_what_memory_held_before_does_not_matter(name: str, edges: str) -> None:
    model = CASES[name]
    terrain = Terrain(5 * np.random.default_rng(3).random((31, 23)), water=0.1)
    domain, state = model.prepare(terrain, sides=Sides.of(edges), seed=1)
    usual = CpuBackend(state.copy(), domain)
    components = {field: 1 if values.ndim == 2 else len(values) for field, values in state.arrays.items()}
    ready = CpuBackend.room(components, domain, dirty)
    for field, place in ready.places.items():
        place[...] = state[field]
    state.arrays.update(ready.places)
    reused = ready.begin(state)
    for backend in (usual, reused):
        backend.advance(model.coefficients(domain, substeps=1), 11)
    assert sorted(usual.names) == sorted(reused.names)
    for field in usual.names:
        assert_array_equal(reused.read(field), usual.read(field), err_msg=field)
