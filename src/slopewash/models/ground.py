"""Ground as every grid model sees it: neighbours, nodata, slopes, and the layers of what a run changed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.models.state import Sides

Field = NDArray[Any]

WALL = 1.0e18
"""Height of nodata, and beyond closed edges: nothing flows or slides up there, and squares stay finite in float32."""
IS_WALL = 0.5e18
"""Whatever is above this is no ground."""


class Around(NamedTuple):
    """A field as seen from each cell's neighbours."""

    w: Field
    e: Field
    n: Field
    s: Field
    nw: Field
    ne: Field
    sw: Field
    se: Field


def around(a: Field, sides: Sides, beyond: float, at_open: Field | None = None) -> Around:
    """Neighbours of every cell; beyond the edges there is `beyond`, or past open ones the edge cell's own `at_open`.

    >>> around(np.array([[1, 2, 3]]), Sides.of("closed"), 9).e
    array([[2, 3, 9]])
    """
    p = np.pad(a, 1, constant_values=beyond)
    bed = a if at_open is None else at_open
    opened = [] if at_open is None else list(sides.items())
    for name, side in opened:
        if side == "open" and name in ("north", "south"):
            p[0 if name == "north" else -1, 1:-1] = bed[0 if name == "north" else -1]
    if sides.wraps_columns:
        p[:, 0], p[:, -1] = p[:, -2], p[:, 1]
    for name, side in opened:
        if side == "open" and name in ("west", "east"):
            p[1:-1, 0 if name == "west" else -1] = bed[:, 0 if name == "west" else -1]
    if sides.wraps_rows:  # with what lies past their ends
        p[0], p[-1] = p[-2], p[1]
    return Around(
        w=p[1:-1, :-2], e=p[1:-1, 2:], n=p[:-2, 1:-1], s=p[2:, 1:-1],
        nw=p[:-2, :-2], ne=p[:-2, 2:], sw=p[2:, :-2], se=p[2:, 2:],
    )  # fmt: skip


def gradient(b: Field, sides: Sides) -> tuple[Field, Field]:
    """Slope of the ground to the east and to the south; one-sided beside edges and nodata."""
    near = around(b, sides, WALL)
    return _difference(near.w, b, near.e), _difference(near.n, b, near.s)


def _difference(before: Field, here: Field, after: Field) -> Field:
    has_before, has_after = before < IS_WALL, after < IS_WALL
    span = np.where(has_before & has_after, here.dtype.type(0.5), here.dtype.type(1))
    return (np.where(has_after, after, here) - np.where(has_before, before, here)) * span


def slope_degrees(b: Field, sides: Sides) -> Field:
    """Steepness of the ground in degrees, one-sided beside edges and nodata."""
    gx, gy = gradient(b, sides)
    return np.degrees(np.arctan(np.hypot(gx, gy))).astype(np.float32)


def change_layers(change: Field) -> dict[str, Field]:
    """Layers of ground lost and gained, from the change of elevation in metres.

    >>> change_layers(np.array([[-1.0, 2.0]]))["wear"]
    array([[1., 0.]])
    """
    return {"wear": np.maximum(-change, 0), "deposit": np.maximum(change, 0), "difference": change}
