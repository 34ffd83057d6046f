"""Several runs at once, forked processes, and machines where nothing may be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import numpy as np, slopewash as sw
def result():
    return sw.erode(sw.generate("fbm", size=(260, 200), seed=1), sw.VirtualPipes(), steps=6)["elevation"]
"""


def run(script: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", RUN + script], env={**os.environ, "NUMBA_NUM_THREADS": "2", **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["default", "workqueue"])
def test_runs_in_several_threads_give_the_same_bits(layer: str) -> None:
    script = """
from concurrent.futures import ThreadPoolExecutor
one = result()
with ThreadPoolExecutor(3) as pool:
    assert all(np.array_equal(one, other) for other in pool.map(lambda _: result(), range(6)))
print("same")
"""
    assert "same" in run(script, NUMBA_THREADING_LAYER=layer)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_gives_the_same_bits() -> None:
    script = """
import os
one = result()
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(one, result()) else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("same")
"""
    assert "same" in run(script)


@pytest.mark.slow
def test_nowhere_to_write_compiles_anew(tmp_path: Path) -> None:
    script = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []  # what a read-only install with a read-only home comes to
import slopewash.models.virtual_pipes.rows as rows
rows.copy(np.ones(4, np.float32), np.zeros(4, np.float32))
print("ran")
"""
    assert "ran" in run(script)
