"""What the tests of this folder share: a state on a backend, without a simulation around it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slopewash import Terrain, VirtualPipes
from slopewash.models.backend import Backend, HostBackend
from slopewash.models.state import Domain, Sides, State
from slopewash.models.virtual_pipes.fields import BUDGET
from slopewash.models.virtual_pipes.prepare import prepare
from slopewash.models.virtual_pipes.reference import step


class Run:
    """A run of one backend; `dtype` is for the reference, `options` are the backend's own."""

    def __init__(self, backend: str, model: Any, domain: Domain, state: State, **options: Any) -> None:
        self.model: VirtualPipes = model
        self.domain = domain
        self.backend: Backend = (
            HostBackend(state, domain, step, **options)
            if backend == "reference"
            else VirtualPipes.backend(backend)(state, domain, **options)
        )

    @classmethod
    def start(
        cls, backend: str, model: Any, terrain: Terrain, edges: Any, *, dtype: Any = np.float32, **options: Any
    ) -> Run:
        domain, state = prepare(terrain, model, sides=Sides.of(edges), seed=3, dtype=dtype)
        return cls(backend, model, domain, state, **options)

    @property
    def state(self) -> State:
        return self.backend.state

    def advance(self, steps: int, strength: float = 1.0) -> None:
        self.backend.advance(self.model.coefficients(self.domain, substeps=1, strength=strength), steps)

    def set_model(self, model: Any) -> None:
        model.adopt(self.model, self.state, self.domain)
        self.model = model

    def lay_down(self, *, dry: bool) -> None:
        self.model.lay_down(self.state, self.domain, dry=dry)

    def layer(self, name: str) -> Any:
        return self.model.derive(name, self.state, self.domain)

    def budget(self) -> dict[str, float]:
        """What happened, in cells³."""
        amounts = self.model.amounts(self.state, self.domain)
        return {name: amounts[name] / self.domain.cell_size**3 for name in BUDGET}


@pytest.fixture
def start() -> Any:
    """Return `Run.start`."""
    return Run.start


@pytest.fixture
def resume() -> Any:
    """Return `Run` itself: from a state in a domain."""
    return Run


MIXED = {
    "north_open": Sides(north="open", south="closed", west="closed", east="closed"),
    "east_closed": Sides(north="open", south="open", west="open", east="closed"),
    "corner_open": Sides(north="closed", south="open", west="open", east="closed"),
    "columns_wrap": Sides(north="open", south="open", west="periodic", east="periodic"),
    "rows_wrap": Sides(north="periodic", south="periodic", west="closed", east="open"),
}


@pytest.fixture(params=sorted(MIXED))
def mixed(request: pytest.FixtureRequest) -> Sides:
    """Sides that are not all alike."""
    return MIXED[request.param]
