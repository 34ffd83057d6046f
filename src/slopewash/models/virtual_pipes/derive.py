"""Layers in metres from a state in cells: the same on every backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from slopewash.models.base import in_metres
from slopewash.models.ground import change_layers, slope_degrees
from slopewash.models.state import Array, Domain, Sides, State
from slopewash.models.virtual_pipes.coefficients import SHALLOW, Coefficients
from slopewash.models.virtual_pipes.prepare import ground
from slopewash.models.virtual_pipes.reference import discharge, paired
from slopewash.terrain.fields import LAYERS

CHANGES = ("wear", "deposit", "difference")


def derive_all(names: Sequence[str], state: State, domain: Domain, c: Coefficients) -> dict[str, Array]:
    """Work several layers out: those of what changed have the change in common."""
    changes = _changes(state, domain) if any(name in CHANGES for name in names) else {}
    return {name: changes[name] if name in changes else derive(name, state, domain, c) for name in names}


def _changes(state: State, domain: Domain) -> dict[str, Array]:
    now, start = state["elevation"], state["start"]
    if "nodata" in state:
        now, start = ground(now), ground(start)
    return change_layers((now - start) * np.float32(domain.cell_size))


def derive(name: str, state: State, domain: Domain, c: Coefficients) -> Array:
    """Work one layer out."""
    size, sides = np.float32(domain.cell_size), domain.sides
    if name in CHANGES:
        return _changes(state, domain)[name]
    if name == "flow":
        per_iteration = domain.cell_size**2 / max(state.scalars["iterations"], 1)
        return state["flow"] * np.float32(per_iteration)
    if name == "velocity":
        return _velocity(state, sides, c) * size
    if name == "slope":
        return by_rows(slope_degrees, state["elevation"], sides)
    values = state[name]
    spec = LAYERS[name]
    return in_metres(spec, ground(values) if spec.height and "nodata" in state else values, domain)


def _velocity(state: State, sides: Sides, c: Coefficients) -> Array:
    """Eq. 8 for the state as it is, in cells per unit of time."""
    discharged = paired(state["outflow"]) if c.eight else by_rows(speed, state["outflow"], sides)
    if not c.mean_depth:
        return discharged
    depth: Array = np.maximum(state["water"] + c.kappa * state["suspended"], np.float32(SHALLOW))
    return discharged / depth


def speed(f: Array, sides: Sides) -> Array:
    """Discharge per unit width, in any direction."""
    u, v = discharge(f, sides)
    return np.hypot(u, v)


def by_rows(measure: Callable[[Array, Sides], Array], a: Array, sides: Sides, block: int = 256) -> Array:
    """Apply a measure of neighbouring cells to blocks of rows: whole fields would need several times the memory."""
    height = a.shape[-2]
    result = np.empty(a.shape[-2:], np.float32)
    for y0 in range(0, height, block):
        y1 = min(y0 + block, height)
        if sides.wraps_rows:
            rows, first = np.arange(y0 - 1, y1 + 1) % height, 1
        else:
            rows, first = np.arange(max(y0 - 1, 0), min(y1 + 1, height)), min(y0, 1)
        result[y0:y1] = measure(a[..., rows, :], sides)[first : first + y1 - y0]
    return result
