"""What happens to a state between steps: other parameters, sediment that settles, and edits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from slopewash.errors import InvalidParameter
from slopewash.models.base import OF_STRATA
from slopewash.models.sea import Mask
from slopewash.models.state import Array, Domain, Patch, State, Window
from slopewash.models.virtual_pipes.base_level import border, border_ring, edge_base, lowered, lowered_by, on_border
from slopewash.models.virtual_pipes.bedding import banding, expose_beds, phase_of
from slopewash.models.virtual_pipes.fields import EVAPORATED, MOVED, SOLIDS_EXPORTED
from slopewash.models.virtual_pipes.prepare import source_rate, total
from slopewash.models.virtual_pipes.sea import (
    check_land,
    displaced,
    flood,
    flooded,
    level_in_cells,
    sea_in,
    sink,
)
from slopewash.models.virtual_pipes.strata import expose, exposed_step

if TYPE_CHECKING:
    from slopewash.models.virtual_pipes.model import VirtualPipes


def adopt(model: VirtualPipes, before: VirtualPipes, state: State, domain: Domain) -> None:
    """Find the base level again if its law has changed, add or remove the pipes to diagonal neighbours, lay beds.

    Ground below the base level stays where it is; new pipes start without flow. Where there was no cover yet, all
    ground is rock. A sea that has risen covers what it reaches at once; where it has fallen, the water runs off.
    """
    risen = model.sea_level != before.sea_level and model.sea_level > -math.inf
    if risen:
        check_land(model, state["elevation"], domain)
    if model.pipes != before.pipes:
        outflow = np.zeros((model.pipe_count, *domain.shape), state["outflow"].dtype)
        kept = min(model.pipe_count, before.pipe_count)
        outflow[:kept] = state["outflow"][:kept]
        state["outflow"] = outflow
    if model.covered and "bedrock" not in state:
        state["bedrock"] = np.array(state["elevation"])
    _adopt_rock(model, before, state, domain)
    if model.edge_base != before.edge_base or (model.edge_base == "graded" and model.sea_level != before.sea_level):
        state.scalars["base_changes"] += 1
        for patch in _base(model, state, domain):
            state[patch.name] = patch.values
    if risen:
        flood(state, model, domain)


def _adopt_rock(model: VirtualPipes, before: VirtualPipes, state: State, domain: Domain) -> None:
    """Lay other beds through the same rock, and look at what lies bare by the laws in force."""
    other_beds = not domain.strata and _beds(model) != _beds(before)
    if not other_beds and model.cover == before.cover:
        return
    if other_beds and not before.bed_contrast:
        state["rock_erodibility"] = np.array(state["erodibility"])
    if other_beds and not model.bed_contrast:
        state["erodibility"] = np.clip(state["rock_erodibility"], 0, 1)
    elif other_beds:
        state["bed_phase"] = phase_of(model, domain, state["rock_erodibility"].dtype)
    if _exposes(model, domain):
        state["erodibility"] = _exposed(model, state["elevation"], state.get("bedrock"), None, state, domain)


def _base(model: VirtualPipes, state: State, domain: Domain) -> list[Patch]:
    """Base level by the law in force, nowhere above the ground."""
    sea_level = level_in_cells(model, domain)
    base = edge_base(state["start"], graded=model.edge_base == "graded", sea_level=sea_level)
    base |= lowered(base, border(state["elevation"]))
    return [*(Patch(name, level) for name, level in base.items()), _base_version(state)]


def begin_settling(model: VirtualPipes, state: State, domain: Domain) -> None:
    """Let what the sea carries sink to its floor."""
    if model.sea_level == -math.inf or not domain.sides.any_open:
        return
    budget = np.array(state["budget"])
    sink(state, model, domain, budget)
    state["budget"] = budget
    expose_again(model, state, domain)


def expose_again(model: VirtualPipes, state: State, domain: Domain) -> None:
    """Look at what lies bare now."""
    if _exposes(model, domain):
        state["erodibility"] = _exposed(model, state["elevation"], state.get("bedrock"), None, state, domain)


def lay_down(model: VirtualPipes, state: State, domain: Domain, *, dry: bool) -> None:
    """Deposit all sediment where it is; with `dry`, let the water evaporate, except for the sea."""
    begin_settling(model, state, domain)
    deposit(model, state, domain)
    if dry:
        evaporate(model, state, domain)


def deposit(model: VirtualPipes, state: State, domain: Domain, sea: Mask | None = None) -> None:
    """Deposit all sediment where it is; of a part of the grid, what the sea covers is given.

    Nothing is deposited on graded open edges above the sea: sediment there is exported. What settles on the floor
    of the sea displaces water, and the surface stays as it was.
    """
    s, budget, own = np.array(state["suspended"]), np.array(state["budget"]), domain.own
    if model.edge_base == "graded" and domain.sides.any_open:
        y, x = _open_ring(domain)
        room = np.maximum(level_in_cells(model, domain) - state["elevation"][y, x], 0)
        settles = np.minimum(s[y, x], room).astype(s.dtype)
        rows, columns = own
        counts = (rows.start <= y) & (y < rows.stop) & (columns.start <= x) & (x < columns.stop)
        budget[0, SOLIDS_EXPORTED] += total((s[y, x] - settles)[counts])
        s[y, x] = settles
    budget[0, MOVED] += total(s[own])
    b = state["elevation"] + s
    if model.sea_level > -math.inf:
        sea = sea_in(state, model, domain) if sea is None else sea
        state["water"] = displaced(state, s, sea, model, domain, budget)
    if _exposes(model, domain):
        state["erodibility"] = _exposed(model, b, state.get("bedrock"), None, state, domain)
    state["elevation"], state["suspended"], state["budget"] = b, np.zeros_like(s), budget


def evaporate(model: VirtualPipes, state: State, domain: Domain, sea: Mask | None = None) -> None:
    """Let all water evaporate, except for the sea."""
    water, budget, b = np.array(state["water"]), np.array(state["budget"]), state["elevation"]
    left = np.minimum(water, flooded(b, np.zeros_like(water), model, domain, sea=sea))
    budget[0, EVAPORATED] += total((water - left)[domain.own])
    state["water"], state["budget"] = left, budget
    state["outflow"] = np.zeros_like(state["outflow"])


def edit(model: VirtualPipes, patch: Patch, state: State, domain: Domain) -> Sequence[Patch]:
    """Raised ground is loose; digging exposes the bedrock, and no base level stays above the ground."""
    if patch.name == "erodibility" and domain.strata:
        raise InvalidParameter(OF_STRATA)
    if patch.name == "erodibility" and _exposes(model, domain):
        # What is painted is what lies bare now; other beds of the same rock differ from it as they did before.
        rock = state.part("bedrock", patch.window) if model.covered else None
        surface = _surface(model, state.part("elevation", patch.window), rock)
        softer = banding(surface, state.part("bed_phase", patch.window), model.coefficients(domain, substeps=1))
        return [Patch("rock_erodibility", (patch.values - softer).astype(np.float32), patch.window)]
    if patch.name != "elevation":
        return ()
    patches = []
    if on_border(patch.window, domain.shape):
        # Ground dug below the base level of an open edge would be lifted back to it at once.
        patches += [Patch(name, level) for name, level in lowered_by(patch, state, domain.shape).items()]
        patches.append(_base_version(state))
    rock = None
    if "bedrock" in state:
        rock = np.minimum(state.part("bedrock", patch.window), patch.values)
        patches.append(Patch("bedrock", rock, patch.window))
    if _exposes(model, domain):
        R = _exposed(model, patch.values, rock, patch.window, state, domain)
        patches.append(Patch("erodibility", R, patch.window))
    return patches


def _exposes(model: VirtualPipes, domain: Domain) -> bool:
    """Whether the erodibility follows from what lies bare."""
    return bool(domain.strata) or model.bed_contrast > 0


def _exposed(
    model: VirtualPipes, b: Array, rock: Array | None, window: Window | None, state: State, domain: Domain
) -> Array:
    """Erodibility of what lies bare in a part of the grid."""
    c = model.coefficients(domain, substeps=1)
    if domain.strata:
        assert rock is not None
        top = state.part("strata_top", window)
        # Of a part of the grid alone, the faces to its surroundings are not known.
        step = exposed_step(b, domain.sides) if window is None else None
        return expose(b, rock, top, domain, c.per_cover, step).astype(top.dtype)
    whole, phase = state.part("rock_erodibility", window), state.part("bed_phase", window)
    return expose_beds(_surface(model, b, rock), whole, phase, c).astype(phase.dtype)


def _surface(model: VirtualPipes, b: Array, rock: Array | None) -> Array:
    """Where the rock ends, above which there are no beds: at the ground, unless cover is set apart."""
    return rock if model.covered and rock is not None else b


def follow(model: VirtualPipes, name: str, window: Window | None, state: State, domain: Domain) -> Sequence[Patch]:
    """What sources feed; and the base level, where an edit is undone from before another law came into force."""
    if name == "sources":
        return [Patch("source_rate", source_rate(state["sources"], domain, state.get("nodata")))]
    patches: list[Patch] = []
    if name == "elevation" and "bedrock" in state:  # which an edit from before there was one does not take back
        rock, ground = state.part("bedrock", window), state.part("elevation", window)
        if (rock > ground).any():
            patches.append(Patch("bedrock", np.minimum(rock, ground), window))
    if name == "elevation" and state["base_version"][0] != state.scalars["base_changes"]:
        patches += _base(model, state, domain)
    return patches


def _beds(model: VirtualPipes) -> tuple[float, ...]:
    """What beds depend on."""
    if not model.bed_contrast:
        return ()
    return model.bed_contrast, model.bed_thickness, model.bed_dip, model.bed_direction, model.bed_datum


def _base_version(state: State) -> Patch:
    """Which of its laws the base level follows, counted in changes so far; an edit of the border keeps it for undo."""
    return Patch("base_version", np.array([state.scalars["base_changes"]], np.int64))


def _open_ring(domain: Domain) -> tuple[Array, Array]:
    """Row and column indices of the cells along open sides."""
    rows, columns = domain.shape
    y, x = border_ring(rows, columns)
    sides = domain.sides
    on = (
        ((y == 0) & (sides.north == "open")) | ((y == rows - 1) & (sides.south == "open"))
        | ((x == 0) & (sides.west == "open")) | ((x == columns - 1) & (sides.east == "open"))
    )  # fmt: skip
    return y[on], x[on]
