"""Row functions and bands are compiled on their own, when they are first called, and by any thread."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import prange

from slopewash.backends.compiled import band_kernel, kernel, parallel_kernel, row_kernel, stage_kernel


@row_kernel
def add(a: Any, b: Any, factor: Any, out: Any) -> None:
    """Of arrays and a number."""
    for x in range(out.size):
        out[x] = a[x] + factor * b[x]


@row_kernel
def subtract(a: Any, b: Any, out: Any) -> None:
    """Is compiled only if it is called."""
    for x in range(out.size):
        out[x] = a[x] - b[x]


@row_kernel
def cannot_compile(a: Any) -> None:
    """Numba knows no such attribute."""
    a.nothing_of_the_kind()


@stage_kernel
def stage(adds: Any, a: Any, b: Any, out: Any) -> None:
    """Is part of its callers."""
    if adds:
        add(a, b, np.float32(2), out)
    else:
        subtract(a, b, out)


@band_kernel
def band(adds: Any, a: Any, b: Any, out: Any) -> None:
    """All rows of one band."""
    for y in range(len(a)):
        stage(adds, a[y], b[y], out[y])


@parallel_kernel
def bands(adds: Any, a: Any, b: Any, out: Any) -> None:
    """All bands."""
    for k in prange(len(a)):
        band(adds, a[k], b[k], out[k])


@kernel
def fails(a: Any) -> None:
    """Calls what cannot be compiled."""
    cannot_compile(a)


@parallel_kernel
def fail_in_bands(a: Any) -> None:
    """The same, on the threads that do the upper half."""
    for k in prange(len(a)):
        if k >= len(a) // 2:
            cannot_compile(a[k])


def compiled(late: Any) -> bool:
    """Whether there is code of it for kernels to call."""
    return bool(late.inside.overloads)


def test_laws_are_compiled_when_first_used_by_whichever_thread() -> None:
    a, b = np.random.default_rng(1).random((2, 7, 5, 33)).astype(np.float32)
    out = np.zeros_like(a)
    bands(True, a, b, out)
    np.testing.assert_array_equal(out, a + np.float32(2) * b)
    assert compiled(add)
    assert not compiled(subtract)
    bands(False, a, b, out)
    np.testing.assert_array_equal(out, a - b)
    assert compiled(subtract)


def test_python_can_call_them_too() -> None:
    a, out = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    add(a, a, np.float32(1), out)
    np.testing.assert_array_equal(out, 2 * a)
    band(True, np.stack([a]), np.stack([a]), out[None])
    np.testing.assert_array_equal(out, 3 * a)


def test_what_cannot_be_compiled_raises(capfd: pytest.CaptureFixture[str]) -> None:
    usual = threading.stack_size()
    for calls in (fails, fail_in_bands):
        with pytest.raises(RuntimeError, match="cannot_compile could not be compiled"):
            calls(np.zeros((16, 3), np.float32))
        assert "nothing_of_the_kind" in capfd.readouterr().err
    assert threading.stack_size() == usual


def test_without_a_thread_for_the_compiler_the_caller_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    a, out = np.ones((1, 3), np.float64), np.zeros((1, 3), np.float64)
    band(True, a, a, out)
    np.testing.assert_array_equal(out, 3)


def test_an_index_outside_a_row_is_an_error_where_indices_are_checked(tmp_path: Path) -> None:
    code = (
        "import numpy as np\n"
        "from tests.backends.test_late import band\n"
        "a = np.ones((2, 5), np.float32)\n"
        "band(True, a, a[:, :3].copy(), np.zeros_like(a))\n"
    )
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=Path(__file__).parents[2], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert "IndexError" in done.stderr, done.stderr


def test_kernels_run_as_plain_python_where_numba_is_switched_off() -> None:
    code = (
        "import slopewash as sw;"
        "s = sw.Simulation(sw.generate('cone', size=32), sw.VirtualPipes(rain_rate=0.1), backend='cpu'); s.run(1);"
        "print(s.step, s.budget.water_drift < 1e-6)"  # summed in double precision
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("1 True", 0), done.stderr
