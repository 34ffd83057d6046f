"""How kernels are compiled: the same bits for any number of threads and any width.

Fast-math flags that change results are off: `reassoc`, `arcp` and `afn` let the vector part of a loop round differently
from its remainder, and `contract` breaks mirror symmetry (`a*b + c*d` becomes `fma(a, b, c*d)`) and ties the result to
CPUs with fused multiply-add. What is left cannot change a finite result.
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
    """Compiles on the promise that no array written is another argument too.

    Without it LLVM compares the bounds of every pair of arrays before each row, and keeps a scalar loop in case.
    """

    def define_pipelines(self) -> Any:
        """Make the usual passes, with the promise in force."""
        self.state.flags.noalias = True
        return super().define_pipelines()  # type: ignore[no-untyped-call]


def _sources() -> str:
    """Fingerprint of every source file a kernel may be built from."""
    package = Path(__file__).parent.parent
    stamp = hashlib.sha256()
    for folder in ("backends", "models"):
        for file in sorted((package / folder).rglob("*.py")):
            stamp.update(file.read_bytes())
    return stamp.hexdigest()


SOURCES = _sources()


class SourcesCache(FunctionCache):
    """Kernels kept on disk until any kernel's source changes.

    Numba's own cache looks only at the file of the outermost function: after an edit of a row function it would go on
    running the old one.
    """

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        return (*super()._index_key(signature, codegen), SOURCES)  # type: ignore[no-untyped-call]


def _compile(function: Kernel, flags: frozenset[str] = EXACT, **options: Any) -> Kernel:
    compiled: Any = numba.njit(error_model="numpy", nogil=True, fastmath=set(flags), **options)(function)
    with contextlib.suppress(RuntimeError):  # nowhere to write: every start compiles anew
        compiled._cache = SourcesCache(function)  # type: ignore[no-untyped-call]
    return compiled


def kernel(function: Kernel) -> Kernel:
    """Compile a function on arrays and numbers, and keep the result on disk.

    Arrays are not reference-counted inside: views of rows are made by the thousand, and threads would fight for the
    counter.
    """
    return _compile(function, _nrt=False)


def stage_kernel(function: Kernel) -> Kernel:
    """Compile into its caller: handing a dozen arrays over for every row would cost as much as a short row."""
    return _compile(function, _nrt=False, forceinline=True)


def inlined(function: Kernel) -> Kernel:
    """Compile as part of the callers; the only way for a kernel to hand back a view."""
    compiled: Kernel = numba.njit(inline="always")(function)
    return compiled


def row_kernel(function: Kernel) -> Kernel:
    """Compile a loop along rows, none of which is written and also read under another name."""
    return _compile(function, pipeline_class=DistinctArrays, _nrt=False)


def summing_kernel(function: Kernel) -> Kernel:
    """Compile a sum of one row: `reassoc` vectorises it; its order depends on the row's width and the CPU alone."""
    return _compile(function, EXACT | {"reassoc"}, _nrt=False)


def parallel_kernel(function: Kernel) -> Kernel:
    """Compile a function whose outermost loop is shared out to Numba's threads."""
    return _compile(function, parallel=True)
