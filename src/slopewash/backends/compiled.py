"""How kernels are compiled: results are bit-identical for any number of threads and any width.

Fast-math flags that change results are off: `reassoc`, `arcp` and `afn` let the vector part of a loop round differently
from its remainder, and `contract` breaks mirror symmetry (`a*b + c*d` becomes `fma(a, b, c*d)`) and makes results
depend on whether the CPU has fused multiply-add. The remaining flags cannot change a finite result.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.compiler import Compiler

from slopewash.backends.ingredients import Ingredient, with_lowering
from slopewash.backends.late import LateKernel, LateRow, check_compiled
from slopewash.backends.row_calls import RowLowering

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""Threads of OpenMP, on which Numba runs, sleep between kernels. Otherwise they spin, which doubles the CPU time of
models with many short kernels and takes turns away from whatever else the machine does. It is read when the first
parallel kernel runs."""

EXACT = frozenset({"nsz", "nnan", "ninf"})
"""No signed zero, no NaN, no infinity."""

SWITCHED_OFF: bool = getattr(numba.config, "DISABLE_JIT", False)
"""By NUMBA_DISABLE_JIT: kernels are plain functions."""

CHECKED: bool = bool(getattr(numba.config, "BOUNDSCHECK", False))
"""By NUMBA_BOUNDSCHECK: an index outside an array is an error."""

Kernel = Callable[..., Any]


class DistinctArrays(Compiler):
    """Compiles under the assumption that arrays which are written do not alias other arguments.

    Without it LLVM compares the bounds of every pair of arrays before each row, and keeps a scalar loop as a fallback.
    """

    def define_pipelines(self) -> Any:
        """Build the usual passes, with the no-alias assumption."""
        self.state.flags.noalias = True
        return super().define_pipelines()  # type: ignore[no-untyped-call]


class DistinctRows(DistinctArrays):
    """The same, for a function that kernels call with rows."""

    def define_pipelines(self) -> Any:
        """Build those passes, with an entry for rows."""
        self.state.flags.no_cfunc_wrapper = False
        return with_lowering(super().define_pipelines(), RowLowering)


def _sources() -> str:
    """Fingerprint of every source file a kernel may be built from."""
    package = Path(__file__).parent.parent
    stamp = hashlib.sha256()
    for folder in ("analysis", "backends", "models"):
        for file in sorted((package / folder).rglob("*.py")):
            stamp.update(file.read_bytes())
    return stamp.hexdigest()


SOURCES = _sources()


class SourcesCache(FunctionCache):
    """Cache of compiled kernels on disk, valid until the source of any kernel changes.

    Numba's own cache checks only the file of the outermost function: after an edit of a row function it would keep
    running the old one.
    """

    def __init__(self, function: Kernel, options: Mapping[str, Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._inside = options.get("no_cpython_wrapper", False)

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        return (*super()._index_key(signature, codegen), SOURCES, self._inside)  # type: ignore[no-untyped-call]


def _options(flags: frozenset[str] = EXACT, **options: Any) -> dict[str, Any]:
    """Options of every kernel; none is called from C, so the wrapper for that is left out."""
    return {"error_model": "numpy", "nogil": True, "fastmath": set(flags), "no_cfunc_wrapper": True, **options}


def _compile(function: Kernel, flags: frozenset[str] = EXACT, **options: Any) -> Kernel:
    compiled: Any = numba.njit(**_options(flags, **options))(function)
    with contextlib.suppress(RuntimeError):  # no writable folder: kernels are compiled at every start
        compiled._cache = SourcesCache(function, options)
    return compiled


def kernel(function: Kernel) -> Kernel:
    """Compile a function of arrays and numbers, and cache the result on disk.

    Arrays are not reference-counted inside: thousands of row views are created, and threads would contend for the
    counter.
    """
    return _compile(function, _nrt=False)


def stage_kernel(function: Kernel) -> Kernel:
    """Inline into the caller: passing a dozen arrays for every row would cost as much as a short row.

    Never call one from Python.
    """
    return numba.njit(
        **_options(_nrt=False, forceinline=True, pipeline_class=Ingredient, no_cpython_wrapper=True)
    )(function)  # fmt: skip


def inlined(function: Kernel) -> Kernel:
    """Compile as part of the callers; the only way for a kernel to return a view."""
    return numba.njit(inline="always")(function)


def row_kernel(function: Kernel) -> Kernel:
    """Compile a loop along rows that do not alias each other if written, when a kernel first calls it."""
    if SWITCHED_OFF:
        return function
    if CHECKED:  # the entry for rows reports no errors
        return LateKernel(_compile(function, pipeline_class=DistinctArrays, _nrt=False))
    return LateRow(
        _compile(function, pipeline_class=DistinctRows, _nrt=False, no_cpython_wrapper=True),
        lambda: _compile(function, pipeline_class=DistinctArrays, _nrt=False),
    )


def band_kernel(function: Kernel) -> Kernel:
    """Compile the work of one thread, which a parallel kernel would otherwise copy and optimise again."""
    return function if SWITCHED_OFF else LateKernel(kernel(function))


def summing_kernel(function: Kernel) -> Kernel:
    """Compile a sum of one row: `reassoc` vectorises it; its order depends only on the width of the row and the CPU."""
    return _compile(function, EXACT | {"reassoc"}, _nrt=False)


def parallel_kernel(function: Kernel) -> Kernel:
    """Compile a function whose outermost loop runs in parallel on Numba's threads."""
    compiled: Any = _compile(function, parallel=True)

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            return compiled(*arguments)
        finally:
            check_compiled()

    call.py_func = function  # type: ignore[attr-defined]
    return call
