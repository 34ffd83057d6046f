"""How kernels are compiled: the same bits for any number of threads, any width and any machine.

Fast-math flags are off. `reassoc`, `arcp` and `afn` let the vector part of a loop round differently from its remainder,
and `contract` breaks mirror symmetry (`a*b + c*d` becomes `fma(a, b, c*d)`) and ties the result to CPUs with fused
multiply-add. Only the flags that cannot change a finite result are left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import binding

# Kernels with 20 arrays need more overlap checks than LLVM's default allows; it would silently stay scalar.
for threshold in ("runtime-memory-check-threshold", "vectorize-memory-check-threshold"):
    binding.set_option("slopewash", f"--{threshold}=1000")

EXACT = frozenset({"nsz", "nnan", "ninf"})
"""No NaN, no infinity, no signed zero: what cannot change a finite result."""

Kernel = Callable[..., Any]


def kernel(function: Kernel) -> Kernel:
    """Compile a function on arrays and numbers, and keep the result on disk."""
    compiled: Kernel = numba.njit(cache=True, error_model="numpy", fastmath=set(EXACT), nogil=True)(function)
    return compiled


def summing_kernel(function: Kernel) -> Kernel:
    """Compile a sum of one row: `reassoc` vectorises it, and its order depends on the row's width alone."""
    flags = set(EXACT | {"reassoc"})
    compiled: Kernel = numba.njit(cache=True, error_model="numpy", fastmath=flags, nogil=True)(function)
    return compiled


def parallel_kernel(function: Kernel) -> Kernel:
    """Compile a function whose outermost loop is shared out to Numba's threads."""
    compiled: Kernel = numba.njit(cache=True, error_model="numpy", fastmath=set(EXACT), nogil=True, parallel=True)(
        function
    )
    return compiled
