"""What changes at the end of a stage is only what tiles can follow: coefficients, and nothing that alters the state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.models import Model, find_model, model_names
from slopewash.models.state import Sides, State

ON_TILES = [name for name in model_names() if find_model(name).halo is not None]
START: dict[str, dict[str, Any]] = {
    "virtual_pipes": {**sw.preset("landscape").values(), "sea_level": 3.0, "bed_contrast": 0.2},
    "steepest_talus": {},
}
"""With laws that may all be exchanged, a sea and beds, so that every change has something to change."""


def other(model: Model, name: str) -> list[Model]:
    """The same model with other values of a parameter, as far as there are valid ones."""
    parameter, now = model.parameter(name), getattr(model, name)
    values: list[Any]
    if parameter.choices:
        values = [choice for choice in parameter.choices if choice != now]
    elif isinstance(now, bool):
        values = [not now]
    else:
        values = [now * 1.25 + 0.125, now * 0.5] if np.isfinite(now) else [2.0]
    made = []
    for value in values:
        try:
            made.append(model.replace(**{name: value}))
        except InvalidParameter:
            continue
    return made


def copied(state: State) -> State:
    return State({name: np.array(array) for name, array in state.arrays.items()}, dict(state.scalars))


def same(one: State, two: State) -> bool:
    return (
        one.arrays.keys() == two.arrays.keys()
        and one.scalars == two.scalars
        and all(np.array_equal(one[name], two[name]) for name in one.arrays)
    )


@pytest.mark.parametrize("name", ON_TILES)
def test_every_parameter_that_alters_the_state_is_declared(name: str) -> None:
    kind = find_model(name)
    known = {p.name for p in kind.parameters()}
    model = kind(**START[name])
    terrain = sw.generate("hill", size=24, relief=40.0, cell_size=5.0)
    domain, state = model.prepare(terrain, sides=Sides.of("open"), seed=3)
    altering = set()
    for parameter in known:
        for changed in other(model, parameter):
            after = copied(state)
            changed.adopt(model, after, domain)
            if not same(state, after):
                altering.add(parameter)
    assert altering <= kind.adopted
    if name == "virtual_pipes":
        assert {"sea_level", "pipes", "cover", "bed_contrast"} <= altering  # the test sees what there is to see


@pytest.mark.parametrize("look", [look for look in sw.looks() if "sea_level" in sw.recipe(look).stage.low_water])
def test_a_sea_that_rises_at_the_end_is_refused_on_tiles(look: str, tmp_path: Path) -> None:
    out = tmp_path / "out.zarr"
    with pytest.raises(InvalidParameter, match=r"sea_level changes from .* leave out the tiles"):
        sw.erode_tiled(None, sw.recipe(look, size=64), out=out, tile=32, workers=0, backend="reference")
    assert not out.exists()
