"""The terrain as a block: its extent about its centre, and the rays that cross it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.camera import Camera
from slopewash.rendering.walls import Rock

Floats = NDArray[np.float32]

BASE_RELIEF, BASE_EXTENT = 0.15, 0.05
"""The block reaches this fraction of its relief, or of its extent, below the lowest ground, whichever is more."""


class Ground(Protocol):
    """What a block is fitted around: heights in exaggerated metres, and metres between neighbours."""

    @property
    def bed(self) -> Floats: ...  # noqa: D102
    @property
    def surface(self) -> Floats: ...  # noqa: D102
    @property
    def cell_size(self) -> float: ...  # noqa: D102


class Bare(NamedTuple):
    """Ground that is not drawn, but that the camera is placed for."""

    bed: Floats
    surface: Floats
    cell_size: float


@dataclass(frozen=True)
class Block:
    """Extent in metres, and rock."""

    east: float
    north: float
    base: float
    diagonal: float
    rock: Rock

    @classmethod
    def around(cls, scene: Ground, rock: Rock) -> Block:
        """Fit a block around a scene."""
        rows, columns = scene.surface.shape
        east, north = (columns - 1) * scene.cell_size / 2, (rows - 1) * scene.cell_size / 2
        low, high = float(scene.bed.min()), float(scene.surface.max())
        depth = max(BASE_RELIEF * (high - low), BASE_EXTENT * 2 * max(east, north))
        return cls(east, north, low - depth, 2 * math.hypot(east, north), rock)

    def outline(self, scene: Ground) -> NDArray[np.float64]:
        """Return points that must be in the picture: corners of the base and a sample of the surface."""
        rows, columns = scene.surface.shape
        i, j = (np.unique(np.linspace(0, n - 1, 48).astype(int)) for n in (rows, columns))
        north, east = np.meshgrid(self.north - i * scene.cell_size, j * scene.cell_size - self.east, indexing="ij")
        top = np.stack([east, north, scene.surface[np.ix_(i, j)]], axis=-1).reshape(-1, 3)
        corners = [(e, n, self.base) for e in (-self.east, self.east) for n in (-self.north, self.north)]
        return np.concatenate([top, corners]).astype(np.float64)

    @property
    def corner(self) -> Floats:
        """East and north of the centre, as kernels take it."""
        return np.array([self.east, self.north], dtype=np.float32)


@dataclass(frozen=True)
class Rays:
    """Horizontal rays from the camera, one per column, and where they enter and leave the block."""

    east: Floats
    north: Floats
    enter: Floats
    leave: Floats
    through_side: NDArray[np.bool_]
    """True where the ray enters through the east or west wall."""
    from_inside: bool
    """Whether the camera stands within the block: then there is no wall to see."""

    @classmethod
    def into(cls, block: Block, camera: Camera, sideways: Floats, near: float) -> Rays:
        """Send rays through the columns of an upright picture."""
        east = np.float32(camera.forward[0]) + sideways * np.float32(camera.right[0])
        north = np.float32(camera.forward[1]) + sideways * np.float32(camera.right[1])
        x_in, x_out = _crossing(camera.eye[0], east, block.east)
        y_in, y_out = _crossing(camera.eye[1], north, block.north)
        inside = abs(camera.eye[0]) < block.east and abs(camera.eye[1]) < block.north
        enter = np.maximum(np.maximum(x_in, y_in), np.float32(near) if inside else -np.inf)
        return cls(east, north, enter.astype(np.float32), np.minimum(x_out, y_out), x_in > y_in, inside)


def _crossing(start: float, direction: Floats, half: float) -> tuple[Floats, Floats]:
    steady = np.where(np.abs(direction) < 1e-9, np.float32(1e-9), direction)
    first, second = (np.float32(-half - start) / steady, np.float32(half - start) / steady)
    return np.minimum(first, second), np.maximum(first, second)
