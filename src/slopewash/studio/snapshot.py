"""What the simulation's thread passes to the pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import slopewash as sw

HISTORY = ("wear", "deposit", "flow")
"""What the simulation did to the ground, where the model keeps it."""
GROUND = frozenset((*HISTORY, "bedrock"))
"""What colours the ground; of the bedrock, pages receive the soil above it."""


@dataclass(frozen=True)
class Beside:
    """A keyframe of another branch, to compare with."""

    key: int
    """Its number: the same keyframe is sent once only."""
    branch: int
    moment: int
    elevation: Any
    """None on the way from another process, which has sent it before."""


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
    abridged: bool = False
    """Whether it lacks layers that may be left out from time to time."""
    particles: Any = None
    vertices: Any = None
    triangles: Any = None
    triangulation: int = 0
    """Changes whenever the triangles do."""
    beside: dict[int, Beside | None] = field(default_factory=dict)
    """Keyframes of the branches that were asked for; None where there is none on this grid."""
    pane: int | None = None
    """Its number among panes side by side."""
    others: tuple[Snapshot, ...] = ()
    """The other panes at the same moment."""

    def each(self, change: Callable[[Snapshot], Snapshot]) -> Snapshot:
        """The same with every pane changed."""
        return replace(change(self), others=tuple(change(other) for other in self.others))

    @property
    def panes(self) -> tuple[Snapshot, ...]:
        """All panes in their order; of a single run, itself."""
        return tuple(sorted((self, *self.others), key=lambda snapshot: snapshot.pane or 0))


@dataclass(frozen=True)
class Demand:
    """What viewers wait for: these layers, newer than that version."""

    layers: frozenset[str] = frozenset()
    newer_than: int = 0
    against: frozenset[int] = frozenset()
    """Branches to compare with."""
    now_and_then: frozenset[str] = frozenset()
    """Layers that change slowly: frames of a run may lack them for a moment."""
