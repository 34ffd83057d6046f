"""Moving the vertices: erosion first, then deposits; every volume is what the mesh really lost or gained."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from slopewash.models.mesh_particles.surface import Surface
from slopewash.models.state import Reals

HEAP = 0.02
"""Of the shortest edge: by so much a vertex may be raised above its highest neighbour in one move."""
LEAST_AREA = 0.25
"""Of its area at the start: no triangle becomes smaller by lateral erosion."""
LEAST_SHAPE = 0.15
"""Twice the area by the square of the longest side: a right triangle of equal sides has 0.5, a sliver 0."""


def erode(surface: Surface, pending: Reals, dig_limit: float, smallest: float = 0.0, *, lateral: bool) -> Reals:
    """Lower vertices by the erosion pending, within limits; returns the volume each has lost.

    Where that is less than `smallest`, it goes on adding up in `pending`; elsewhere it begins anew.
    """
    z, dig = surface.z, np.zeros_like(pending)
    some = np.flatnonzero((pending > 0) & ~surface.border)
    dig[some] = np.minimum(pending[some], dig_limit * np.maximum(z[some] - surface.extreme_around(np.minimum, some), 0))
    small = dig * surface.around < 3 * smallest
    pending[:] = np.where(small, dig, 0)
    dig[small] = 0
    if lateral:
        return _erode_along_normals(surface, dig)
    lowered = z - dig
    lost: Reals = (z - lowered) * surface.around / 3
    surface.vertices[:, 2] = lowered
    return lost


def deposit(surface: Surface, pending: Reals, *, limited: bool = True) -> Reals:
    """Raise vertices by the volumes pending there, as far as there is room; returns the volume each has gained."""
    z, rise = surface.z, 3 * pending / surface.around
    if limited:
        some = np.flatnonzero(pending > 0)
        room = np.maximum(surface.extreme_around(np.maximum, some) - z[some], 0) + HEAP * surface.edge
        rise[some] = np.minimum(rise[some], room)
    raised = z + rise
    # Rounding must not deposit more than there is: the mass budget would not know where it came from.
    raised = np.where((raised - z) * surface.around / 3 > pending, np.nextafter(raised, z), raised)
    gained: Reals = (raised - z) * surface.around / 3
    surface.vertices[:, 2] = raised
    return gained


def _erode_along_normals(surface: Surface, dig: Reals) -> Reals:
    """Move vertices into the ground along their normals; the volumes share what the mesh has lost in all."""
    before, start = surface.volume(), surface.vertices.copy()
    up = surface.mean_normals()
    step = -dig[:, None] * up
    free = _free_to_shift(surface, step[:, :2])
    step[~free, :2] = 0
    # The ground in space is larger than in plan by 1/n_z, and a move along the normal sinks by n_z of its length.
    nominal = -step[:, 2] * surface.around / 3 * np.where(free, 1 / up[:, 2] ** 2, 1.0)
    surface.vertices += step
    surface.lay_out()
    lost, total = before - surface.volume(), float(nominal.sum())
    if not (lost > 0 and total > 0):  # too little to tell from rounding
        surface.vertices[:] = start
        surface.lay_out()
        return np.zeros_like(dig)
    return nominal * (lost / total)


def _free_to_shift(surface: Surface, shift: Reals) -> NDArray[np.bool_]:
    """Vertices whose triangles keep area and shape whichever of their corners are shifted and whichever stay.

    So all that are free may go at once, and no triangle turns over.
    """
    corners = surface.vertices[:, :2][surface.triangles]
    moves = shift[surface.triangles]
    safe = np.ones(len(corners), dtype=np.bool_)
    for moved in itertools.product((0.0, 1.0), repeat=3):
        p = corners + moves * np.array(moved)[None, :, None]
        u, v = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
        w = v - u
        twice = u[:, 0] * v[:, 1] - v[:, 0] * u[:, 1]
        longest = np.maximum.reduce([(side * side).sum(axis=1) for side in (u, v, w)])
        safe &= (twice >= 2 * LEAST_AREA * surface.areas_at_start) & (twice >= LEAST_SHAPE * longest)
    free = ~surface.border
    free[surface.triangles[~safe].ravel()] = False
    return free
