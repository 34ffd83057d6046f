"""Fresh fields are first written by the threads that later work on them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from slopewash import Terrain, VirtualPipes
from slopewash.backends import first_touch
from slopewash.backends.aligned import aligned_rows
from slopewash.models.state import Sides
from slopewash.models.virtual_pipes.cpu import CpuBackend

SCRIPT = """
import numba, numpy as np
from slopewash.backends.compiled import parallel_kernel
from slopewash.backends.first_touch import touch_in_bands
@numba.njit(parallel=True)
def work(by):
    for i in numba.prange(by.size):
        by[i] = numba.get_thread_id()
rows = np.full((2 + 3 * 50, 3000), 7, np.float32)
touched, worked = touch_in_bands(rows, [2, 102], 50, 3), np.zeros(3, np.int64)
work(worked)
if numba.threading_layer() == "omp":  # others do not promise which thread takes which part
    assert sorted(touched) == [0, 1, 2], touched
    assert (touched == worked).all(), (touched, worked)
pages = rows[:, ::1024]
assert (pages[2:52] == 0).all() and (pages[102:] == 0).all()
assert (rows[:2] == 7).all() and (rows[52:102] == 7).all()
"""


def test_each_band_is_written_by_its_own_thread() -> None:
    # Waiting threads must sleep: more of them than cores would otherwise spin in each other's way.
    environment = {**os.environ, "NUMBA_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive"}
    subprocess.run([sys.executable, "-c", SCRIPT], env=environment, check=True)


@pytest.mark.parametrize(
    ("memories", "rows", "bands", "wanted"),
    [(2, 4096, 2, True), (1, 4096, 2, False), (2, 512, 2, False), (2, 4096, 1, False)],
)
def test_only_large_fields_of_several_threads_and_memories_are_touched(
    monkeypatch: pytest.MonkeyPatch, memories: int, rows: int, bands: int, wanted: bool
) -> None:
    monkeypatch.setattr(first_touch, "memories", lambda: memories)
    assert first_touch.matters(aligned_rows(1, width=rows), rows, bands) == wanted


def test_fields_that_are_uploaded_are_touched_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    touched: list[Any] = []
    monkeypatch.setattr(first_touch, "matters", lambda rows, height, bands: bands > 1)
    monkeypatch.setattr(first_touch, "touch_in_bands", lambda *arguments: touched.append(arguments))
    model = VirtualPipes()
    domain, state = model.prepare(Terrain(np.ones((40, 30))), sides=Sides.of("closed"), seed=1)
    CpuBackend(state, domain, bands=1)
    assert not touched
    run = CpuBackend(state, domain, bands=4)
    ((memory, starts, height, bands),) = touched
    assert (height, bands) == (40, 4)
    places = {int(memory[start].ctypes.data) for start in starts}
    uploaded = [*run.read("outflow"), *(run.read(name) for name in ("elevation", "water", "suspended", "erodibility"))]
    first = {int(field.ctypes.data) - field.itemsize for field in [*uploaded, run.read("flow")]}
    assert places == first
