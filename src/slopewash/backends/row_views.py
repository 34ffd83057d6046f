"""Views of rows inside kernels.

A kernel that names a hundred rows of one array spends most of its time in the compiler on slices: Numba allows for
negative and missing ends and for steps, every time. The view made here is an address and a length.
"""

# mypy: disable-error-code="no-untyped-call"
# Numba's own parts have no types.

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from slopewash.backends.compiled import CHECKED, SWITCHED_OFF, inlined


def _sliced(rows: Any, number: Any, width: Any) -> Any:
    """The first `width` values of a row."""
    return rows[number, :width]


def _view(typing: Any, rows: Any, number: Any, width: Any) -> Any:
    """The first `width` values of a row, which must exist."""
    view = types.Array(rows.dtype, 1, "C")

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = signature.args
        whole = arrayobj.make_array(kinds[0])(context, builder, values[0])
        place = context.cast(builder, values[1], kinds[1], types.intp)
        length = context.cast(builder, values[2], kinds[2], types.intp)
        stride = cgutils.unpack_tuple(builder, whole.shape, 2)[1]
        result = arrayobj.make_array(view)(context, builder)
        arrayobj.populate_array(
            result,
            data=builder.gep(whole.data, [builder.mul(place, stride)]),
            shape=[length],
            strides=[whole.itemsize],
            itemsize=whole.itemsize,
            meminfo=None,
        )
        return result._getvalue()

    return view(rows, number, width), lower


row_of: Any = inlined(_sliced) if CHECKED or SWITCHED_OFF else intrinsic(_view)
"""The first `width` values of a row of a two-dimensional array, which must be contiguous."""
