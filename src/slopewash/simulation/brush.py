"""Brushes: tools that change layers of a terrain between two steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter, unknown_name

Field = NDArray[np.float64]
Dab = Callable[[Field, Field, float, float], Field]

MOST_POINTS = 100_000
"""Most dabs of one edit."""


@dataclass(frozen=True, kw_only=True)
class Brush:
    """One tool: the layer it changes, and how a dab changes it.

    `dab(values, weight, strength, level)` returns new values of a window. `weight` is 0 (outside) .. 1, and `level`,
    which `flatten` uses, is the height of the ground where the stroke began.
    """

    name: str
    doc: str
    layer: str
    unit: str
    strength: float
    """Default; for tools in metres a share of the terrain's relief, so that a dab is visible on any terrain."""
    dab: Dab
    signed: bool = False
    """Whether the strength may be negative."""
    most: float = math.inf
    """Largest strength."""

    def usual(self, relief: float) -> float:
        """Default strength on ground of that relief in metres.

        >>> BRUSHES["raise"].usual(1000.0), BRUSHES["smooth"].usual(1000.0)
        (10.0, 0.5)
        """
        return self.strength * relief if self.unit == "m" else self.strength


def _smooth(values: Field, weight: Field, strength: float, level: float) -> Field:
    padded = np.pad(values, 1, mode="edge")
    rows, columns = values.shape
    mean = sum(padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)) / 9.0
    return values + strength * weight * (mean - values)


def _flatten(values: Field, weight: Field, strength: float, level: float) -> Field:
    return values + strength * weight * (level - values)


def _shift(sign: int, low: float = -math.inf, high: float = math.inf) -> Dab:
    """Add the strength or take it, within the range of the layer."""
    return lambda values, weight, strength, level: np.clip(values + sign * strength * weight, low, high)


BRUSHES = {
    brush.name: brush
    for brush in (
        Brush(name="raise", doc="Add ground.", layer="elevation", unit="m", strength=0.01, dab=_shift(1)),
        Brush(name="lower", doc="Remove ground.", layer="elevation", unit="m", strength=0.01, dab=_shift(-1)),
        Brush(
            name="smooth", doc="Smooth the ground, by a share of the difference from the mean of the neighbours.",
            layer="elevation", unit="", strength=0.5, dab=_smooth, most=1.0,
        ),
        Brush(
            name="flatten", doc="Level the ground to the height where the stroke began, by a share of the difference.",
            layer="elevation", unit="", strength=0.5, dab=_flatten, most=1.0,
        ),
        Brush(name="add_water", doc="Add water.", layer="water", unit="m", strength=0.002, dab=_shift(1, 0)),
        Brush(name="remove_water", doc="Remove water.", layer="water", unit="m", strength=0.002, dab=_shift(-1, 0)),
        Brush(
            name="rain", doc="Increase the rainfall, or decrease it with a negative strength.", layer="rainfall",
            unit="", strength=0.5, dab=_shift(1, 0), signed=True,
        ),
        Brush(
            name="harden", doc="Decrease the erodibility.", layer="erodibility", unit="", strength=0.2,
            dab=_shift(-1, 0, 1), most=1.0,
        ),
        Brush(
            name="soften", doc="Increase the erodibility.", layer="erodibility", unit="", strength=0.2,
            dab=_shift(1, 0, 1), most=1.0,
        ),
        Brush(
            name="evaporation", doc="Increase the share of evaporation, or decrease it with a negative strength.",
            layer="evaporation", unit="", strength=-0.5, dab=_shift(1, 0, 1), signed=True, most=1.0,
        ),
        Brush(
            name="capacity", doc="Let water carry more sediment, or less with a negative strength.", layer="capacity",
            unit="", strength=0.5, dab=_shift(1, 0), signed=True,
        ),
        Brush(
            name="talus", doc="Let ground stand steeper, or less steep with a negative strength.", layer="talus",
            unit="", strength=0.5, dab=_shift(1, 0), signed=True,
        ),
        Brush(
            name="sliding", doc="Increase the share of slides, or decrease it with a negative strength.",
            layer="sliding", unit="", strength=-0.5, dab=_shift(1, 0, 1), signed=True, most=1.0,
        ),
    )
}  # fmt: skip


def brushes() -> Sequence[Brush]:
    """Every tool of `Simulation.paint`.

    >>> [brush.name for brush in brushes()][:2]
    ['raise', 'lower']
    """
    return tuple(BRUSHES.values())


def find_brush(name: str) -> Brush:
    """Tool of that name."""
    if name not in BRUSHES:
        raise unknown_name("tool", str(name), BRUSHES)
    return BRUSHES[name]


@dataclass(frozen=True)
class Stroke:
    """Dabs of one tool, checked, in metres."""

    brush: Brush
    points: tuple[tuple[float, float], ...]
    radius: float
    strength: float
    falloff: float

    def window(self, shape: tuple[int, int], cell_size: float) -> tuple[int, int, int, int]:
        """First row, first column, rows and columns of the cells that dabs may touch; no rows if all miss the grid."""
        x0, x1 = _span([x for x, _ in self.points], self.radius, cell_size, shape[1])
        y0, y1 = _span([y for _, y in self.points], self.radius, cell_size, shape[0])
        return y0, x0, max(0, y1 - y0), max(0, x1 - x0)

    def apply(self, values: Field, row: int, column: int, cell_size: float, level: float) -> Field:
        """Values of a block that begins at `row` and `column` after all dabs, one after another."""
        values = values.copy()
        rows, columns = values.shape
        for x, y in self.points:
            x0, x1 = _span([x - column * cell_size], self.radius, cell_size, columns)
            y0, y1 = _span([y - row * cell_size], self.radius, cell_size, rows)
            if y1 > y0 and x1 > x0:
                dx = (np.arange(x0, x1) + (column + 0.5)) * cell_size - x
                dy = (np.arange(y0, y1) + (row + 0.5)) * cell_size - y
                weight = self._weight(np.sqrt(dx[None, :] ** 2 + dy[:, None] ** 2) / self.radius)
                part = values[y0:y1, x0:x1]
                new = self.brush.dab(part, weight, self.strength, level)
                values[y0:y1, x0:x1] = np.where(weight > 0, new, part)
        return values

    def _weight(self, distance: Field) -> Field:
        """1 within the hard core, then smoothly down to 0 at the radius; `distance` is relative to the radius."""
        if self.falloff == 0:
            return (distance <= 1).astype(np.float64)
        t = np.clip((1 - distance) / self.falloff, 0.0, 1.0)
        return t * t * (3 - 2 * t)


def make_stroke(
    tool: str,
    points: Iterable[Sequence[float]],
    radius: float,
    strength: float | None,
    falloff: float,
    *,
    relief: float,
) -> Stroke:
    """Validate a stroke on ground of that relief.

    >>> make_stroke("raise", [(50.0, 50.0)], 20.0, None, 0.5, relief=500.0).strength
    5.0
    """
    brush = find_brush(tool)
    places = tuple(_point(point) for point in points)
    if not 1 <= len(places) <= MOST_POINTS:
        raise InvalidParameter(f"points has {len(places)} items; an edit takes 1 .. {MOST_POINTS}")
    wanted = brush.usual(relief) if strength is None else _number("strength", strength)
    if wanted > brush.most or wanted < (-brush.most if brush.signed else 0.0):
        bounds = f"within {0 if not brush.signed else -brush.most:g} .. {brush.most:g}"
        raise InvalidParameter(f"strength of {tool} is {wanted:g}; it must be {bounds}")
    stroke = Stroke(brush, places, _number("radius", radius), wanted, _number("falloff", falloff))
    if not 0 < stroke.radius <= 1e9:
        raise InvalidParameter(f"radius is {stroke.radius:g} m; it must be positive, and at most 1e9")
    if not 0 <= stroke.falloff <= 1:
        raise InvalidParameter(f"falloff is {stroke.falloff:g}; it must be within 0 (hard rim) .. 1 (soft)")
    return stroke


def _point(point: Sequence[float]) -> tuple[float, float]:
    try:
        x, y = point
    except (TypeError, ValueError):
        raise InvalidParameter(f"points holds {point!r}; each must be x and y in metres") from None
    return _number("x", x), _number("y", y)


def _number(name: str, value: object) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise InvalidParameter(f"{name} is {value!r}; it must be a finite number")
    return float(value)


def _span(centres: Sequence[float], radius: float, cell_size: float, cells: int) -> tuple[int, int]:
    """First and one past the last cell along an axis whose centre may lie within the radius of one of `centres`."""
    low, high = (min(centres) - radius) / cell_size - 0.5, (max(centres) + radius) / cell_size - 0.5
    return int(np.clip(math.floor(low), 0, cells)), int(np.clip(math.ceil(high) + 1, 0, cells))
