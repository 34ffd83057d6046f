"""Geological layers beneath the surface, and which of them is exposed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopewash.errors import InvalidTerrain, unknown_name

Field = NDArray[np.float64]

LOOSE = -1
"""Number of the loose soil that lies above the bedrock."""


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """One geological layer.

    >>> Stratum(thickness=20, erodibility=0.1)
    Stratum(20 m, erodibility=0.1)
    """

    thickness: float
    """Metres, measured vertically; the lowest layer has no lower limit, so `inf` is allowed for it."""
    erodibility: float = 1.0
    """0 (hard) .. 1 (soft)"""
    flow_erosion: float | None = None
    """K_q of `VelocityField`; the default is the model's value times the erodibility"""
    collision_erosion: float | None = None
    """K_e of `VelocityField`; the default is the model's value times the erodibility"""
    transport_capacity: float | None = None
    """K_c of `VelocityField`; the default is the model's value"""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                raise InvalidTerrain(f"stratum: {field.name} is {value!r}; it must be a number") from None
            object.__setattr__(self, field.name, number)
            if field.name == "thickness":
                if not number > 0:
                    raise InvalidTerrain(f"stratum: thickness is {number} m; it must be positive")
            elif field.name == "erodibility":
                if not 0 <= number <= 1:
                    raise InvalidTerrain(f"stratum: erodibility is {number}; it must lie within 0 (hard) .. 1 (soft)")
            elif not (math.isfinite(number) and number >= 0):
                raise InvalidTerrain(f"stratum: {field.name} is {number}; it must be finite and not negative")

    @property
    def hardness(self) -> float:
        """0 (soft) .. 1 (hard), for drawing; K_q, if given, is mapped over six powers of ten.

        >>> Stratum(thickness=20, erodibility=0.25).hardness
        0.75
        """
        if self.flow_erosion is None:
            return 1.0 - self.erodibility
        return min(max(-math.log10(self.flow_erosion) / 6, 0.0), 1.0) if self.flow_erosion else 1.0

    def __repr__(self) -> str:
        facts = [f"{self.thickness:g} m"] + [
            f"{f.name}={getattr(self, f.name):g}"
            for f in dataclasses.fields(self)
            if f.name != "thickness" and getattr(self, f.name) is not None
        ]
        return f"Stratum({', '.join(facts)})"


class Strata:
    """Layers from the top: level, tilted, or following the surface.

    Strata without a top take it from the first terrain they are assigned to: a plane through its highest point, so that
    the first layer forms the summit, or its surface if they follow it. `terrain.strata` has that top and keeps it while
    the terrain erodes. Soil deposited on the bedrock is loose and belongs to no layer.

    Parameters
    ----------
    layers
        From the top. The lowest has no lower limit.
    dip
        Tilt in degrees, 0 (level) .. 80.
    direction
        Direction of dip, in degrees clockwise from north.
    follow
        Whether the layers follow the surface, without a dip.
    top
        Elevation of the top of the first layer in metres, for every cell, or one number for the centre of the grid.

    >>> strata = Strata([Stratum(thickness=10), Stratum(thickness=30, erodibility=0.1)], dip=5, direction=90)
    >>> strata
    Strata of 2 layers, dipping 5° towards 90°
      10 m        erodibility 1
      below       erodibility 0.1
    >>> level = Strata([Stratum(thickness=10), Stratum(thickness=30)], top=100.0).on(np.zeros((1, 3)), 1.0)
    >>> level.exposed([[100.0, 90.1, 90.0]], [[95.0, 95.0, 95.0]]).tolist()
    [[-1, 0, 1]]
    """

    def __init__(
        self,
        layers: Iterable[Stratum],
        *,
        dip: float = 0.0,
        direction: float = 0.0,
        follow: bool = False,
        top: ArrayLike | None = None,
    ) -> None:
        self.layers = _checked_layers(layers)
        self.dip = _number("dip", dip, "within 0 .. 80 degrees", 0.0, 80.0)
        self.direction = _number("direction", direction, "a finite number of degrees", -math.inf, math.inf)
        self.follow = bool(follow)
        if self.follow and self.dip:
            raise InvalidTerrain(f"strata: dip is {self.dip:g}; layers that follow the surface cannot dip")
        self.top = _checked_top(top)
        self.depths: Field = np.cumsum([0.0] + [layer.thickness for layer in self.layers[:-1]])
        """Depth below the top at which each layer begins, in metres; the lowest has no lower limit."""
        self.depths.setflags(write=False)

    @classmethod
    def from_table(cls, table: Sequence[Mapping[str, Any]], **geometry: Any) -> Self:
        """Read layers from rows such as those of a recipe.

        >>> Strata.from_table([{"thickness": 5, "erodibility": 0.2}, {"thickness": 9}], follow=True)
        Strata of 2 layers, following the surface
          5 m         erodibility 0.2
          below       erodibility 1
        """
        known = [field.name for field in dataclasses.fields(Stratum)]
        for row in table:
            for name in row:
                if name not in known:
                    raise unknown_name("property of a stratum", str(name), known)
            if "thickness" not in row:
                raise InvalidTerrain(f"stratum {dict(row)!r} has no thickness; give one in metres")
        return cls([Stratum(**row) for row in table], **geometry)

    def replace(self, **changes: Any) -> Strata:
        """Return a copy with other layers, geometry or top.

        Another dip, direction or `follow` also places layers anew that a terrain has placed, unless a top is given.

        >>> placed = Strata([Stratum(thickness=10), Stratum(thickness=30)]).on(np.zeros((3, 3)), 10.0)
        >>> float(np.ptp(placed.replace(dip=45.0).on(np.zeros((3, 3)), 10.0).top).round(3))
        20.0
        """
        if self.top is not None and self.top.ndim == 2 and {"dip", "direction", "follow"} & set(changes):
            changes.setdefault("top", None)
        values: dict[str, Any] = {name: getattr(self, name) for name in ("layers", "dip", "direction", "follow", "top")}
        return Strata(**(values | changes))

    def fitted(self, total: float) -> Strata:
        """Return a copy whose finite thicknesses are scaled to add up to `total` metres.

        >>> Strata([Stratum(thickness=1), Stratum(thickness=3)]).fitted(100.0).layers[1].thickness
        75.0
        """
        total = _number("total thickness", total, "positive and finite", 5e-324, 1e300)
        scale = total / sum(layer.thickness for layer in self.layers if math.isfinite(layer.thickness))
        return self.replace(layers=[dataclasses.replace(s, thickness=s.thickness * scale) for s in self.layers])

    def on(self, elevation: ArrayLike, cell_size: float) -> Strata:
        """Return the strata with a top for every cell of a grid, as `Terrain` does for its strata."""
        ground = np.asarray(elevation, dtype=np.float64)
        if self.top is not None and self.top.ndim == 2:
            if self.top.shape != ground.shape:
                raise InvalidTerrain(
                    f"strata: top has shape {self.top.shape}; it must be {ground.shape}, as elevation is"
                )
            return self
        if self.follow:
            top = ground if self.top is None else ground + float(self.top)
        else:
            plane = self.plane((ground.shape[0], ground.shape[1]), cell_size)
            # As low as possible without leaving ground above the first layer.
            top = plane + ((ground - plane).max() if self.top is None else float(self.top))
        return self.replace(top=top)

    def plane(self, shape: tuple[int, int], cell_size: float, window: tuple[slice, slice] | None = None) -> Field:
        """Height of a dipping plane through the centre of a grid, or of a window of it."""
        (rows, columns), (south, east) = shape, window or (slice(0, shape[0]), slice(0, shape[1]))
        north = (0.5 * (rows - 1) - np.arange(south.start, south.stop))[:, None] * cell_size
        right = (np.arange(east.start, east.stop) - 0.5 * (columns - 1))[None, :] * cell_size
        turn = math.radians(self.direction)
        return -math.tan(math.radians(self.dip)) * (math.cos(turn) * north + math.sin(turn) * right)

    def exposed(self, elevation: ArrayLike, bedrock: ArrayLike) -> NDArray[np.int64]:
        """Number of the layer that is exposed in every cell, from 0 at the top; `LOOSE` where soil covers the bedrock.

        Parameters
        ----------
        elevation
            Elevation of the ground in metres.
        bedrock
            Elevation of the bedrock surface: the lowest elevation the ground ever had.
        """
        ground, rock = np.asarray(elevation, dtype=np.float64), np.asarray(bedrock, dtype=np.float64)
        depth = self._tops() - np.minimum(ground, rock)
        # A layer excludes the top of the next one; ground above the top belongs to the first.
        layer = np.clip(np.searchsorted(self.depths, depth, side="right") - 1, 0, None)
        return np.where(ground > rock, LOOSE, layer)

    def bottom(self, exposed: NDArray[np.int64]) -> Field:
        """Elevation at which the exposed layers end, in metres; -inf for the lowest and for loose soil."""
        ends = np.append(self.depths[1:], [np.inf, np.inf])  # the last is what LOOSE, -1, looks up
        return self._tops() - ends[exposed]

    def lookup(self, name: str, exposed: NDArray[np.int64], *, otherwise: float | Field) -> Field:
        """Property of the exposed layers; `otherwise` for loose soil and for layers without it."""
        values = [getattr(layer, name) for layer in self.layers]
        table = np.array([np.nan if value is None else value for value in [*values, None]])
        found = table[exposed]
        return np.where(np.isnan(found), otherwise, found)

    def _tops(self) -> Field:
        if self.top is None or self.top.ndim != 2:
            raise InvalidTerrain("these strata have no terrain yet; use Terrain(..., strata=strata).strata")
        return self.top

    def __repr__(self) -> str:
        place = ", following the surface" if self.follow else ", level"
        if self.dip:
            place = f", dipping {self.dip:g}° towards {self.direction:g}°"
        lines = [f"Strata of {len(self.layers)} layer{'s'[: len(self.layers) != 1]}{place}"]
        for k, layer in enumerate(self.layers):
            extent = "below" if k == len(self.layers) - 1 else f"{layer.thickness:g} m"
            rates = [
                f"{symbol} {value:g}"
                for symbol, value in (("K_q", layer.flow_erosion), ("K_e", layer.collision_erosion))
                if value is not None
            ]
            lines.append(f"  {extent:<11} " + ", ".join([f"erodibility {layer.erodibility:g}", *rates]))
        return "\n".join(lines)


def _checked_layers(layers: Iterable[Stratum]) -> tuple[Stratum, ...]:
    try:
        strata = tuple(layers)
    except TypeError:
        raise InvalidTerrain(f"strata: layers is {layers!r}; it must be a sequence of Stratum") from None
    if not strata:
        raise InvalidTerrain("strata have no layers; give at least one Stratum")
    for k, layer in enumerate(strata):
        if not isinstance(layer, Stratum):
            raise InvalidTerrain(f"strata contain {layer!r}; each layer must be a Stratum")
        if math.isinf(layer.thickness) and k < len(strata) - 1:
            raise InvalidTerrain(f"stratum {k} from the top is infinitely thick; only the lowest may be")
    return strata


def _number(name: str, value: float, wanted: str, low: float, high: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidTerrain(f"strata: {name} is {value!r}; it must be {wanted}") from None
    if not (math.isfinite(number) and low <= number <= high):
        raise InvalidTerrain(f"strata: {name} is {number:g}; it must be {wanted}")
    return number


def _checked_top(top: ArrayLike | None) -> Field | None:
    if top is None:
        return None
    try:
        surface = np.array(top, dtype=np.float64)
        if surface.ndim == 2:  # float32 as the layers of a terrain, so that files store it exactly
            with np.errstate(over="ignore"):  # what overflows float32 becomes infinite and raises below
                surface = surface.astype(np.float32).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidTerrain(f"strata: top is {top!r}; it must be metres, one number or one for each cell") from None
    if surface.ndim not in (0, 2) or not np.isfinite(surface).all():
        raise InvalidTerrain("strata: top must be finite metres, one number or one for each cell")
    surface.setflags(write=False)
    return surface
