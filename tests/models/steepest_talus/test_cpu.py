"""The compiled kernel: threads and iterations in flight cannot be seen in its result, and it is vectorised."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from typing import Any

import numba
import numpy as np
import pytest

import slopewash as sw
from slopewash.backends.compiled import EXACT
from slopewash.models import Sides
from slopewash.models.steepest_talus import rows
from slopewash.models.steepest_talus.cpu import CpuBackend
from slopewash.models.steepest_talus.sweep import LAG

HASHES = """
import hashlib, numba, numpy as np, slopewash as sw
from slopewash.models.steepest_talus import cpu
cpu.SMALLEST_BAND = 1  # cells: every thread has its band
terrain = sw.Terrain(np.random.default_rng(3).random((37, 53)) * 20)
for threads in (1, 2, 3, 7):
    numba.set_num_threads(threads)
    digest = hashlib.sha256()
    layered = terrain.replace(strata=sw.strata_bands(thickness=4, dip=9))
    stands = sw.SteepestTalus(talus_law="hard_stands_steeper")
    for ground, model in ((terrain, sw.SteepestTalus()), (terrain, sw.preset("outerrain")), (layered, stands)):
        for edges in ("closed", "periodic"):
            simulation = sw.Simulation(ground, model, backend="cpu", edges=edges)
            simulation.run(23)
            digest.update(simulation.terrain["elevation"].tobytes() + repr(simulation.budget).encode())
    print(digest.hexdigest())
"""


def test_any_number_of_threads_gives_the_same_bits() -> None:
    environment = os.environ | {"NUMBA_NUM_THREADS": "7"}
    done = subprocess.run(
        [sys.executable, "-c", HASHES], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    hashes = done.stdout.split()
    assert len(hashes) == 4
    assert len(set(hashes)) == 1


@pytest.mark.product
@pytest.mark.parametrize("depth", [1, 2, 3, 8, 20])
@pytest.mark.parametrize("edges", ["closed", "periodic"])
@pytest.mark.parametrize("smallest_band", [1, 2**15])
def test_any_number_of_iterations_in_flight_gives_the_same_bits(
    depth: int, edges: Any, smallest_band: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slopewash.models.steepest_talus.cpu.SMALLEST_BAND", smallest_band)
    terrain = sw.Terrain(np.random.default_rng(4).random((11, 18)) * 20)
    model = sw.SteepestTalus()
    expected = sw.erode(terrain, model, steps=20, backend="reference", edges=edges)
    domain, state = model.prepare(terrain, sides=Sides.of(edges), seed=0)
    backend = CpuBackend(state, domain, depth=depth)
    backend.advance(model.coefficients(domain, substeps=1), 20)
    np.testing.assert_array_equal(model.derive("elevation", backend.state, domain), expected["elevation"])


def test_blocks_of_a_row_find_their_own_layers() -> None:
    ramp = np.linspace(0, 60, 300) + np.random.default_rng(5).random((9, 300)) * 8  # several blocks, dozens of layers
    terrain = sw.Terrain(ramp, strata=sw.strata_bands(thickness=1.5, dip=2.0), bedrock=ramp - (ramp % 3 > 1.5))
    model = sw.SteepestTalus(talus_law="hard_stands_steeper")
    expected, found = (sw.erode(terrain, model, steps=12, backend=backend) for backend in ("reference", "cpu"))
    assert (expected["elevation"] != terrain["elevation"]).mean() > 0.1
    np.testing.assert_array_equal(found["elevation"], expected["elevation"])


def test_an_iteration_reads_as_far_as_the_model_says() -> None:
    assert sw.SteepestTalus.halo == LAG


HEIGHTS, DIRECTIONS, HEIGHT = numba.int32[::1], numba.int8[::1], numba.int32
PACKED = {
    "choose": ((HEIGHTS,) * 5 + (DIRECTIONS,), r"pminsd\s+.*[xyz]mm"),
    "choose_printed": ((HEIGHTS,) * 4 + (DIRECTIONS,), r"pminsd\s+.*[xyz]mm"),
    "choose_in_layers": ((HEIGHTS,) * 10 + (DIRECTIONS,), r"pminsd\s+.*[xyz]mm"),
    "slide_to_rock": ((HEIGHTS, DIRECTIONS, HEIGHT, HEIGHTS, HEIGHTS, HEIGHTS), r"pmulld\s+.*[xyz]mm"),
    "count": ((DIRECTIONS,) * 4, r"pcmpeqb\s+.*[xyz]mm"),
    "slide": ((HEIGHTS, DIRECTIONS, HEIGHT, HEIGHTS), r"pmulld\s+.*[xyz]mm"),
    "senders": ((DIRECTIONS,), r"padd[dq]\s+.*[xyz]mm"),
}


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names of x86 instructions")
@pytest.mark.parametrize("name", PACKED)
def test_rows_use_packed_instructions(name: str) -> None:
    signature, packed = PACKED[name]
    function: Any = getattr(rows, name)
    fresh = numba.njit(error_model="numpy", fastmath=set(EXACT))(function.py_func)  # cached code cannot be inspected
    fresh.compile(signature)
    (assembly,) = fresh.inspect_asm().values()
    assert re.search(packed, assembly), f"{name} was compiled to scalar code"
