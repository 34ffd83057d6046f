"""Long runs: mass is conserved and memory does not grow. `make soak` takes ten times as many steps."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import slopewash as sw

STEPS = int(os.environ.get("SOAK_STEPS", "20000"))
PER_THOUSAND = 2e-7
"""Mass-balance error per thousand steps that float32 fields may have, relative to what moved (docs/limits.md)."""

RUNS = {
    "virtual_pipes": (sw.VirtualPipes(), 1),
    "steepest_talus": (sw.SteepestTalus(), 1),
    "velocity_field": (sw.VelocityField(maximum_steps=100), 100),
    "mesh_particles": (sw.MeshParticles(triangles=200, maximum_particles=100), 20),
}
"""Models, and how many times dearer than those of virtual_pipes their steps are."""


def resident() -> int:
    """Bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_long_run_conserves_mass_and_memory(name: str) -> None:
    model, dearer = RUNS[name]
    steps = STEPS // dearer
    simulation = sw.Simulation(sw.generate("fbm", size=24, seed=3), model, backend="cpu")
    simulation.run(steps // 10)
    before = resident()
    simulation.run(steps - steps // 10)
    allowed = PER_THOUSAND * max(1.0, steps / 1000)
    budget = simulation.budget
    assert abs(budget.water_drift) < allowed
    assert abs(budget.solids_drift) < allowed
    assert np.isfinite(simulation.terrain["elevation"]).all()
    assert resident() - before < 64 << 20
