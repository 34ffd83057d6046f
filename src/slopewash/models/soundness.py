"""Whether a state is one that kernels may trust: they follow its shapes, types and indices without a look.

States come from checkpoints, which a failing disk or somebody else may have changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from slopewash.errors import InvalidParameter
from slopewash.models.state import Array, Domain, State
from slopewash.terrain.fields import FieldSpec

REAL = "biuf"
"""Kinds of types that fields may have: no complex numbers, dates, texts and objects."""
ROUNDING = 1e-3
"""How far a layer may lie outside its range: devices round."""
LARGEST_COUNT = 2**63


def check_state(
    state: State, domain: Domain, fields: Iterable[FieldSpec], sums: Mapping[str, type], needed: Iterable[str] = ()
) -> None:
    """Refuse a state whose fields are not what was declared, or that has not all that are `needed`."""
    specs = {spec.name: spec for spec in fields}
    replaced = {specs[name].stands_for for name in state.arrays if name in specs}
    for name in (*(name for name, spec in specs.items() if spec.required), *needed):
        if name not in state and name not in replaced:
            raise InvalidParameter(f"the state has no {name}")
    for name, array in state.arrays.items():
        if name not in specs:
            raise InvalidParameter(f"the state has a field {name!r}, which this model does not have")
        check_field(specs[name], array, domain)
    _check_lists({name: specs[name] for name in state.arrays}, state)
    _check_sums(state, sums)


def check_field(spec: FieldSpec, array: Array, domain: Domain) -> None:
    """Refuse an array that is not of the field's type and shape, or has a value out of its range."""
    kinds = spec.dtypes or ("a real number",)
    if array.dtype.kind not in REAL or (spec.dtypes and array.dtype.name not in spec.dtypes):
        raise InvalidParameter(f"{spec.name} is of type {array.dtype}; it must be {' or '.join(kinds)}")
    if not _has_shape(spec, array.shape, domain.shape):
        raise InvalidParameter(
            f"{spec.name} has shape {array.shape}, which does not fit {domain.shape[0]} rows and {domain.shape[1]} "
            "columns"
        )
    check_range(spec, array)


def check_range(spec: FieldSpec, array: Array) -> None:
    """Refuse values of a field out of its range, and those that are no numbers."""
    if array.size == 0 or array.dtype.kind == "b":
        return
    low, high = spec.within
    if spec.layer and not spec.height:
        low = max(low, spec.lowest - ROUNDING)
        high = min(high, spec.highest + ROUNDING)
    with np.errstate(invalid="ignore"):
        lowest, highest = array.min(), array.max()
    if not (low <= lowest and highest <= high):
        worst = highest if low <= lowest else lowest
        raise InvalidParameter(f"{spec.name} has the value {worst}; it must lie within {low:g} .. {high:g}")


def _has_shape(spec: FieldSpec, shape: tuple[int, ...], grid: tuple[int, int]) -> bool:
    rows, columns = grid
    if spec.place == "rows":
        return shape == (rows,)
    if spec.place == "columns":
        return shape == (columns,)
    if spec.place == "list":
        if not spec.dtypes:  # nor columns, as in models of one's own
            return len(shape) > 0
        return len(shape) > 0 and shape[1:] == ((spec.columns,) if spec.columns else ())
    if not spec.dtypes:  # nor planes, then
        return shape[-2:] == grid
    planes = shape[:-2]
    return shape[-2:] == grid and (len(planes) == 1 and planes[0] in spec.planes if spec.planes else not planes)


def _check_lists(specs: Mapping[str, FieldSpec], state: State) -> None:
    """Refuse lists of the same things that differ in length, and places beyond the end of one."""
    lengths: dict[str, tuple[str, int]] = {}
    for name, spec in specs.items():
        if not spec.each:
            continue
        first, length = lengths.setdefault(spec.each, (name, len(state[name])))
        if len(state[name]) != length:
            raise InvalidParameter(f"{name} is a list of {len(state[name])}, but {first} one of {length}")
    for name, spec in specs.items():
        if not spec.points_to:
            continue
        places, (_, length) = state[name], lengths.get(spec.points_to, ("", 0))
        if places.size and not (places.min() >= 0 and places.max() < length):
            worst = int(places.min()) if places.min() < 0 else int(places.max())
            raise InvalidParameter(f"{name} points to number {worst} of {length} {spec.points_to}")


def _check_sums(state: State, sums: Mapping[str, type]) -> None:
    for name in sums:
        if name not in state.scalars and not name.startswith(("device_", "pending_")):
            raise InvalidParameter(f"the state has no {name}")
    for name, value in state.scalars.items():
        if sums and name not in sums:
            raise InvalidParameter(f"the state has a sum {name!r}, which this model does not have")
        if not is_sum(value, sums.get(name, float)):
            raise InvalidParameter(f"{name} is {value!r}; it must be a finite number")


def is_sum(value: Any, kind: type) -> bool:
    """Whether a value is a finite number, and a whole one where that is asked for."""
    if isinstance(value, bool) or not isinstance(value, Integral if kind is int else Real):
        return False
    return abs(int(value)) < LARGEST_COUNT if isinstance(value, Integral) else math.isfinite(value)
