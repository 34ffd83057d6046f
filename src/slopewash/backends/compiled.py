"""How kernels are compiled: results are bit-identical for any number of threads and any width.

Fast-math flags that change results are off: `reassoc`, `arcp` and `afn` let the vector part of a loop round differently
from its remainder, and `contract` breaks mirror symmetry (`a*b + c*d` becomes `fma(a, b, c*d)`) and makes results
depend on whether the CPU has fused multiply-add. The remaining flags cannot change a finite result.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.compiler import Compiler

EXACT = frozenset({"nsz", "nnan", "ninf"})
"""No signed zero, no NaN, no infinity."""

Kernel = Callable[..., Any]


class DistinctArrays(Compiler):
    """Compiles under the assumption that arrays which are written do not alias other arguments.

    Without it LLVM compares the bounds of every pair of arrays before each row, and keeps a scalar loop as a fallback.
    """

    def define_pipelines(self) -> Any:
        """Build the usual passes, with the no-alias assumption."""
        self.state.flags.noalias = True
        return super().define_pipelines()  # type: ignore[no-untyped-call]


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

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        return (*super()._index_key(signature, codegen), SOURCES)  # type: ignore[no-untyped-call]


def _compile(function: Kernel, flags: frozenset[str] = EXACT, **options: Any) -> Kernel:
    compiled: Any = numba.njit(error_model="numpy", nogil=True, fastmath=set(flags), **options)(function)
    with contextlib.suppress(RuntimeError):  # no writable folder: kernels are compiled at every start
        compiled._cache = SourcesCache(function)  # type: ignore[no-untyped-call]
    return compiled


def kernel(function: Kernel) -> Kernel:
    """Compile a function of arrays and numbers, and cache the result on disk.

    Arrays are not reference-counted inside: thousands of row views are created, and threads would contend for the
    counter.
    """
    return _compile(function, _nrt=False)


def stage_kernel(function: Kernel) -> Kernel:
    """Inline into the caller: passing a dozen arrays for every row would cost as much as a short row."""
    return _compile(function, _nrt=False, forceinline=True)


def inlined(function: Kernel) -> Kernel:
    """Compile as part of the callers; the only way for a kernel to return a view."""
    return numba.njit(inline="always")(function)


def row_kernel(function: Kernel) -> Kernel:
    """Compile a loop along rows that do not alias each other if written."""
    return _compile(function, pipeline_class=DistinctArrays, _nrt=False)


def summing_kernel(function: Kernel) -> Kernel:
    """Compile a sum of one row: `reassoc` vectorises it; its order depends only on the width of the row and the CPU."""
    return _compile(function, EXACT | {"reassoc"}, _nrt=False)


def parallel_kernel(function: Kernel) -> Kernel:
    """Compile a function whose outermost loop runs in parallel on Numba's threads."""
    return _compile(function, parallel=True)
