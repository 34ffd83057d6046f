"""What the simulation's thread passes to the pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import slopewash as sw


@dataclass(frozen=True)
class Snapshot:
    """The state at one moment, as copies that stay as they are."""

    version: int
    run: int
    step: int
    time: float
    cell_size: float
    layers: dict[str, Any]
    units: dict[str, str]
    """Unit of each layer."""
    start: sw.Terrain | None
    """None on the way from another process, which has sent that of this run before."""
    start_range: tuple[float, float]
    """Lowest and highest ground of the start: the page keeps its colours and levels to them."""
    asked: frozenset[str] = frozenset()
    """Layers that were asked for, whether the model has them or not."""
    particles: Any = None
    vertices: Any = None
    triangles: Any = None
    triangulation: int = 0
    """Changes whenever the triangles do."""


@dataclass(frozen=True)
class Demand:
    """What viewers wait for: these layers, newer than that version."""

    layers: frozenset[str] = frozenset()
    newer_than: int = 0
