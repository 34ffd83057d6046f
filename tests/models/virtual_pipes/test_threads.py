"""Real threads: Numba fixes their number when it is first imported, so each count gets a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import hashlib, warnings
import numba, numpy as np, slopewash as sw
from slopewash.models.virtual_pipes.cpu import CpuBackend
terrain = sw.generate("fbm", size=(97, 131), seed=5)
stamp = hashlib.sha256()
layered = terrain.replace(strata=sw.strata_bands(thickness=terrain.relief / 8, dip=3))
pipes, landscape = sw.VirtualPipes(), sw.preset("single_grid")
eight = landscape.replace(pipes="eight", pipe_area=10.0, capacity_three_quarters=4.0)
runs = [(pipes, terrain, "closed"), (landscape, terrain, "open"), (pipes, terrain, "periodic")]
runs += [(landscape, layered, "open"), (eight, layered, "open"), (eight, terrain, "periodic")]
runs += [(landscape.replace(cover="loose"), ground, "open") for ground in (terrain, layered)]
runs += [(eight.replace(cover="loose", bed_contrast=0.2, bed_thickness=terrain.relief / 5), terrain, "open")]
for model, ground, edges in runs:
    domain, state = model.prepare(ground, sides=sw.models.Sides.of(edges), seed=1)
    backend = CpuBackend(state, domain, bands=numba.get_num_threads())
    backend.advance(model.coefficients(domain, substeps=1), 30)
    for name in ("elevation", "water", "suspended", "erodibility", "outflow", "flow", "bedrock", "budget"):
        if name not in backend.names:
            continue
        stamp.update(np.ascontiguousarray(backend.read(name)).tobytes())
print(numba.get_num_threads(), stamp.hexdigest())
"""


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_bits() -> None:
    results = {}
    for threads in (1, 2, 3, 7):
        # Waiting threads must sleep: more of them than cores would otherwise spin in each other's way.
        environment = {**os.environ, "NUMBA_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        used, stamp = run.stdout.split()
        assert int(used) == threads
        results[threads] = stamp
    assert len(set(results.values())) == 1, results
