"""Arrays as they are given: what must not be lost of them on the way into a terrain, and who may keep them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopewash.errors import InvalidTerrain


def as_real(what: str, values: ArrayLike) -> NDArray[Any]:
    """Return an array of real numbers, without its mask, or raise.

    >>> as_real("layer water", [[0, 1]])
    array([[0, 1]])
    """
    _refuse_what_holds_more(what, values)
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidTerrain(f"{what} is ragged; all its rows must be equally long") from None
    if array.dtype.kind not in "buif":
        raise InvalidTerrain(f"{what} has dtype {array.dtype}; it must hold real numbers")
    return array


def mask_of(values: ArrayLike) -> NDArray[np.bool_] | None:
    """Cells that a masked array masks, or a list of them; None where none is.

    >>> mask_of(np.ma.masked_equal([[1, 9999]], 9999))
    array([[False,  True]])
    """
    if isinstance(values, (list, tuple)) and any(isinstance(row, np.ma.MaskedArray) for row in values):
        values = np.ma.array(values)
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    return mask if mask is not None and mask.any() else None


def is_placed(values: Any) -> bool:
    """Whether an array has coordinates of its own, as those of xarray have."""
    return bool(getattr(values, "ndim", 0) and len(getattr(values, "coords", ())))


def _refuse_what_holds_more(what: str, values: Any) -> None:
    kind = type(values).__name__
    if isinstance(values, Mapping):
        raise InvalidTerrain(f'{what} is a {kind}; pass one of its layers, such as its ["elevation"]')
    if is_placed(values):
        raise InvalidTerrain(
            f"{what} is a {kind} with coordinates, which are not read; pass its .values, row 0 in the north, with "
            'cell_size=, or write it with .rio.to_raster("dem.tif") and read that'
        )


class _Owner(np.ndarray[Any, Any]):
    """Marks memory that only layers hold."""


def handed_over(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that nobody else holds as one that nobody can write to, which a terrain keeps without a copy.

    It is the caller who knows that there is no other view of it. NumPy lets the owner of memory make it writeable
    again; what is seen through a read-only buffer stays as it is.

    >>> layer = handed_over(np.zeros((2, 2), np.float32))
    >>> layer.setflags(write=True)
    Traceback (most recent call last):
        ...
    ValueError: cannot set WRITEABLE flag to True of this array
    """
    if is_ours(array) or not array.flags.c_contiguous:
        return array
    owner: Any = array.view(_Owner)
    return np.asarray(memoryview(owner).toreadonly())


def is_ours(array: NDArray[Any]) -> bool:
    """Whether an array was handed over: then a copy would only take memory."""
    return isinstance(array.base, memoryview) and isinstance(array.base.obj, _Owner)
