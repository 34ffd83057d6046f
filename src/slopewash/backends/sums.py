"""Sums inside loops of other work.

A loop whose sum must keep its order is not vectorised, and the flag that frees the order of a whole function frees its
other additions too, whose results would then depend on the width of a row. Here the flag belongs to one addition.
"""

# mypy: disable-error-code="no-untyped-call"
# Numba's own parts have no types.

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from slopewash.backends.compiled import EXACT, SWITCHED_OFF


def _plain(so_far: Any, more: Any) -> Any:
    """The sum of two numbers."""
    return np.float64(so_far) + more


def _unordered(typing: Any, so_far: Any, more: Any) -> Any:
    """The sum of two numbers, which a loop may add up in the order of its vectors."""

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        added = context.cast(builder, values[1], signature.args[1], types.float64)
        return builder.fadd(values[0], added, flags=[*sorted(EXACT), "reassoc"])

    return types.float64(types.float64, more), lower


add_in_any_order: Any = _plain if SWITCHED_OFF else intrinsic(_unordered)
"""Adds a number to a sum in double precision. As with `summing_kernel`, the order depends only on how many
are added and on the CPU."""
