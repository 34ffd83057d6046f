"""A simulation that was closed reports so, whatever is asked of it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import slopewash as sw
from slopewash.errors import SimulationClosed

BACKENDS = ("reference", "cpu", "gpu")
HILL = sw.generate("dome", size=16, seed=1, cell_size=5.0)
ASKED: dict[str, Callable[[sw.Simulation], Any]] = {
    "terrain": lambda s: s.terrain,
    "budget": lambda s: s.budget,
    "layers": lambda s: s.layers("elevation", "slope"),
    "no layers": lambda s: s.layers(),
    "mesh": lambda s: s.mesh,
    "particles": lambda s: s.particles,
    "sources": lambda s: s.sources,
    "set_sources": lambda s: s.set_sources(),
    "traffic": lambda s: s.traffic,
    "run": lambda s: s.run(3),
    "run nothing": lambda s: s.run(0),
    "settle": lambda s: s.settle(3),
    "settle at once": lambda s: s.settle(0),
    "paint": lambda s: s.paint("raise", points=[(40.0, 40.0)], radius=10.0),
    "paint beyond": lambda s: s.paint("raise", points=[(-400.0, 40.0)], radius=10.0),
    "undo": lambda s: s.undo(),
    "redo": lambda s: s.redo(),
    "model": lambda s: setattr(s, "model", sw.VirtualPipes(rain_rate=0.0)),
    "view": lambda s: s.view(),
    "checkpoint": lambda s: s.checkpoint(Path("never written")),
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
}


@pytest.mark.parametrize("how", ["close", "with"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_closed_simulation_reports_so_in_one_sentence(backend: str, how: str) -> None:
    simulation = sw.Simulation(HILL, sw.VirtualPipes(), backend=backend)
    simulation.run(2)
    simulation.paint("lower", points=[(40.0, 40.0)], radius=10.0)
    if how == "close":
        simulation.close()
        simulation.close()  # twice is once
    else:
        with simulation:
            pass
    for name, ask in ASKED.items():
        with pytest.raises(SimulationClosed) as caught:
            ask(simulation)
        words = str(caught.value)
        assert words.startswith("this simulation is closed; "), name
        assert "\n" not in words
    assert not Path("never written").exists()


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_closed_simulation_is_can_still_be_read(backend: str) -> None:
    with sw.Simulation(HILL, sw.VirtualPipes(), backend=backend) as simulation:
        simulation.run(2)
    assert repr(simulation) == (
        f"Simulation of virtual_pipes on 16 x 16 cells, backend {backend}, edges open, step 2, closed"
    )
    assert (simulation.step, simulation.steps_taken, simulation.edges, simulation.seed) == (2, 2, "open", 0)
    assert simulation.model == sw.VirtualPipes()


def test_observers_are_not_called_for_a_closed_simulation() -> None:
    called: list[sw.Simulation] = []
    simulation = sw.Simulation(HILL, sw.VirtualPipes(), backend="reference").add(called.append)
    simulation.close()
    with pytest.raises(SimulationClosed):
        simulation.run(3)
    assert called == []
