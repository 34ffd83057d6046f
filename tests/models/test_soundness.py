"""A state that kernels could not trust is refused before it reaches one: they follow shapes and indices blindly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.models.state import Domain, State

ROUGH = sw.Terrain(60.0 * np.random.default_rng(6).random((7, 9)), cell_size=10.0)
MODELS: dict[str, sw.Model] = {
    "virtual_pipes": sw.VirtualPipes(),
    "steepest_talus": sw.SteepestTalus(talus_law="hard_stands_steeper"),
    "velocity_field": sw.VelocityField(),
    "mesh_particles": sw.MeshParticles(triangles=60),
}
BEDS = sw.strata_bands(thickness=12.0)


def prepared(name: str, terrain: sw.Terrain = ROUGH) -> tuple[Domain, State]:
    domain, state = MODELS[name].prepare(terrain, sides=sw.Sides.of("open"), seed=1)
    return domain, state.copy()


def with_particles(count: int = 3) -> tuple[Domain, State]:
    domain, state = prepared("mesh_particles")
    middle = state["vertices"].mean(axis=0)
    state.arrays.update({
        "particle_position": np.tile(middle, (count, 1)), "particle_velocity": np.zeros((count, 3)),
        "particle_birth": np.zeros(count), "particle_triangle": np.zeros(count, np.int32),
        "particle_fate": np.zeros(count, np.int8), "grain_carrier": np.zeros(1, np.int32),
        "grain_steps": np.ones(1, np.int32), "grain_volume": np.ones(1),
    })  # fmt: skip
    return domain, state


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("strata", [None, BEDS])
def test_every_prepared_state_is_sound(name: str, strata: sw.Strata | None) -> None:
    terrain = ROUGH if strata is None else ROUGH.replace(strata=strata)
    domain, state = prepared(name, terrain)
    MODELS[name].check_state(state, domain)
    assert set(state.scalars) <= set(MODELS[name].sums)


def test_particles_and_grains_on_the_mesh_are_sound() -> None:
    domain, state = with_particles()
    MODELS["mesh_particles"].check_state(state, domain)


@pytest.mark.parametrize("name", MODELS)
def test_no_field_may_be_missing_of_another_shape_or_of_another_type(name: str) -> None:
    model, (domain, sound) = MODELS[name], prepared(name)
    specs = {spec.name: spec for spec in model.fields}
    for field in sound.arrays:
        array = sound[field]
        wrong: list[Any] = [
            array.astype(np.complex128), array.astype(object), array.astype("S8"), array.astype("M8[s]"),
            np.zeros(array.shape, [("a", "f4")]), array[None], np.zeros(()),
        ]  # fmt: skip
        if specs[field].place != "list":
            wrong += [np.zeros((1,) * array.ndim, array.dtype), array[..., :-1]]
        for value in wrong:
            state = sound.copy()
            state[field] = value
            with pytest.raises(InvalidParameter, match=field):
                model.check_state(state, domain)
        if specs[field].required:
            state = sound.copy()
            del state.arrays[field]
            with pytest.raises(InvalidParameter, match=f"the state has no {field}"):
                model.check_state(state, domain)
    for bad in (np.nan, np.inf, 1e300):
        state = sound.copy()
        field = "vertices" if name == "mesh_particles" else "rainfall" if "rainfall" in sound else "start_elevation"
        with np.errstate(over="ignore"):
            state[field].flat[-1] = bad
        with pytest.raises(InvalidParameter, match=field):
            model.check_state(state, domain)


Change = Callable[[State], object]


def put(name: str, value: Any) -> Change:
    return lambda state: state.arrays.update({name: value})


def at(name: str, value: Any) -> Change:
    def change(state: State) -> None:
        state[name].flat[0] = value

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (at("triangles", 10**6), "triangles points to number 1000000 of"),
        (at("triangles", -1), "triangles points to number -1 of"),
        (at("first_triangles", 2**31 - 1), "first_triangles points to"),
        (at("particle_triangle", 10**6), "particle_triangle points to"),
        (at("grain_carrier", 3), "grain_carrier points to number 3 of 3 particles"),
        (at("particle_fate", 9), "particle_fate has the value 9"),
        (at("particle_position", 1e9), "a particle lies beyond the mesh"),
        (at("particle_position", np.nan), "particle_position has the value nan"),
        (put("particle_birth", np.zeros(2)), "particle_birth is a list of 2, but particle_position one of 3"),
        (put("vertex_bedrock", np.zeros(5)), "vertex_bedrock is a list of 5"),
        (put("areas_at_start", np.zeros(1)), "areas_at_start is a list of 1"),
        (put("triangles", np.zeros((0, 3), np.int32)), "no triangles|list of"),
        (put("emitter_due", np.zeros(40)), "emitter_due is a list of 40"),
        (put("emitters", np.zeros((1, 5))), "emitters has shape"),
        (lambda state: state.scalars.update(edge=0.0), "the mesh has an edge of 0.0 m"),
        (lambda state: state.scalars.update(edge=1e-9), "overlap|needs about"),
        (lambda state: state.scalars.update(edge=float("nan")), "edge is nan"),
        (lambda state: state.scalars.update(born=0.5), "born is 0.5"),
        (lambda state: state.scalars.update(more=1), "the state has a sum 'more'"),
        (lambda state: state.scalars.pop("left"), "the state has no left"),
        (put("anything", np.zeros(4)), "the state has a field 'anything'"),
    ],
)
def test_a_mesh_that_points_beyond_its_lists_is_refused(change: Change, reason: str) -> None:
    domain, state = with_particles()
    change(state)
    with pytest.raises(InvalidParameter, match=reason):
        MODELS["mesh_particles"].check_state(state, domain)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("virtual_pipes", put("outflow", np.zeros((8, 7, 9), np.float32)), "outflow has 8 values"),
        ("virtual_pipes", put("outflow", np.zeros((2, 7, 9), np.float32)), "outflow has shape"),
        ("virtual_pipes", put("budget", np.zeros((0, 7))), "budget has 0 values"),
        ("virtual_pipes", put("budget", np.zeros((1, 3))), "budget has shape"),
        ("virtual_pipes", put("base_version", np.zeros(0, np.int64)), "base_version has 0 values"),
        ("virtual_pipes", at("water", -1.0), "water has the value -1.0"),
        ("virtual_pipes", at("erodibility", 7.0), "erodibility has the value 7.0"),
        ("virtual_pipes", put("base_north", np.zeros(7, np.float32)), "base_north has shape"),
        ("steepest_talus", at("elevation", 2**30), "elevation has the value"),
        ("velocity_field", at("elevation", 1e200), "elevation has the value"),
    ],
)
def test_values_that_no_run_leads_to_are_refused(name: str, change: Change, reason: str) -> None:
    domain, state = prepared(name)
    change(state)
    with pytest.raises(InvalidParameter, match=reason):
        MODELS[name].check_state(state, domain)


@pytest.mark.parametrize("name", MODELS)
def test_a_domain_with_strata_needs_what_they_are_counted_from(name: str) -> None:
    domain, state = prepared(name, ROUGH.replace(strata=BEDS))
    del state.arrays["strata_top"]
    with pytest.raises(InvalidParameter, match="the state has no strata_top"):
        MODELS[name].check_state(state, domain)
