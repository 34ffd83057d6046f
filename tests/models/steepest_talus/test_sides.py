"""Sides that differ, and parts of a grid with a halo: the same bits as on every backend and as in the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import slopewash as sw
from slopewash.models import Sides
from slopewash.models.backend import Backend
from slopewash.models.state import Domain, State, Window

BACKENDS = ("reference", "cpu", "gpu")
on_every_backend = pytest.mark.parametrize("backend", BACKENDS)
SHAPE = (61, 83)
VARIED = sw.SteepestTalus(talus_law="hard_stands_steeper")


@pytest.fixture(autouse=True, scope="module")
def bands_for_small_grids() -> Iterator[None]:
    """Let threads share even the smallest terrain, as they would a large one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("slopewash.models.steepest_talus.cpu.SMALLEST_BAND", 1)
        yield


def mixed(rows: str, columns: str) -> Sides:
    return Sides.of({"north": rows, "south": rows, "west": columns, "east": columns})


def rough(shape: tuple[int, int] = SHAPE, *, seed: int = 1, relief: float = 40.0, **given: Any) -> sw.Terrain:
    return sw.Terrain(np.random.default_rng(seed).random(shape) * relief, cell_size=5.0, **given)


MIXED = {
    "periodic columns": mixed("closed", "periodic"),
    "periodic rows": mixed("periodic", "closed"),
    "open rows": mixed("open", "periodic"),
    "four kinds": Sides(north="closed", south="open", west="open", east="closed"),
}


@pytest.mark.parametrize("backend", BACKENDS[1:])
@pytest.mark.parametrize("sides", MIXED.values(), ids=MIXED)
@given(
    shape=st.tuples(st.integers(1, 17), st.integers(1, 17)),
    seed=st.integers(0, 2**32 - 1),
    tied=st.booleans(),
    steps=st.integers(1, 13),
    diagonals=st.sampled_from(["true_distance", "printed"]),
    layered=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_backends_agree_bit_for_bit_on_mixed_sides(
    backend: str,
    sides: Sides,
    shape: tuple[int, int],
    seed: int,
    tied: bool,
    steps: int,
    diagonals: str,
    layered: bool,
) -> None:
    terrain = rough(shape, seed=seed)
    if tied:
        terrain = terrain.replace(elevation=np.rint(terrain["elevation"]))
    if layered:
        terrain = terrain.replace(strata=sw.strata_bands(thickness=3.0, dip=10.0))
    model = VARIED.replace(diagonals=diagonals)
    runs = [sw.Simulation(terrain, model, backend=name, edges=sides) for name in ("reference", backend)]
    for simulation in runs:
        simulation.run(steps)
        assert simulation.budget.solids_now == simulation.budget.solids_start
    assert runs[0].budget == runs[1].budget
    for layer in runs[0].terrain:
        assert_array_equal(runs[0].terrain[layer], runs[1].terrain[layer], err_msg=layer)


@on_every_backend
@pytest.mark.parametrize(("axis", "slides"), [(0, False), (1, True)], ids=["rows", "columns"])
def test_soil_slides_into_a_trench_from_beyond_the_edge_only_where_it_is_periodic(
    backend: str, axis: int, slides: bool
) -> None:
    heights = np.full((5, 5), 9.0)
    heights[4] = 0.0
    terrain = sw.Terrain(heights if axis == 0 else heights.T)
    wear = sw.erode(terrain, sw.SteepestTalus(), steps=1, backend=backend, edges=MIXED["periodic columns"])["wear"]
    first, _, _, beside, trench = wear if axis == 0 else wear.T
    assert (beside > 0).all()
    assert (first > 0).all() == (first > 0).any() == slides
    assert not trench.any()


@on_every_backend
def test_ground_rolled_along_its_periodic_columns_gives_the_rolled_result(backend: str) -> None:
    terrain = rough((19, 26))
    rolled = sw.Terrain(np.roll(terrain["elevation"], 7, axis=1), cell_size=terrain.cell_size)
    one, other = (
        sw.erode(t, sw.SteepestTalus(), steps=40, backend=backend, edges=MIXED["periodic columns"])["elevation"]
        for t in (terrain, rolled)
    )
    assert_array_equal(np.roll(one, 7, axis=1), other)


@pytest.mark.gpu
@pytest.mark.parametrize("sides", MIXED.values(), ids=MIXED)
def test_bands_of_rows_leave_no_trace_on_mixed_sides(sides: Sides) -> None:
    from slopewash.models.steepest_talus.gpu import GpuBackend

    terrain = rough((29, 70))
    expected = sw.erode(terrain, VARIED, steps=30, backend="reference", edges=sides)
    domain, state = VARIED.prepare(terrain, sides=sides, seed=0)
    backend = GpuBackend(state, domain, largest_binding=5 * 128 * 8)
    assert len(backend._work.layout.bands) > 5
    backend.advance(VARIED.coefficients(domain, substeps=1), 30)
    assert_array_equal(VARIED.derive("elevation", backend.state, domain), expected["elevation"])
    backend.close()


# Parts of a grid


def missing_cells() -> np.ndarray[Any, Any]:
    """Nodata across the cuts, and at the edges."""
    missing = np.random.default_rng(8).random(SHAPE) < 0.1
    missing[25:40, 30:44] = True
    return missing


BANDS = sw.strata_bands(thickness=6.0, dip=8.0, direction=30.0)
GROUNDS: dict[str, tuple[sw.SteepestTalus, sw.Terrain]] = {
    "uniform": (sw.SteepestTalus(), rough()),
    "published, quick": (sw.SteepestTalus(diagonals="printed", amplitude=1.0), rough(seed=2)),
    "nodata": (sw.SteepestTalus(), rough(nodata=missing_cells())),
    "erodibility guessed, nodata": (VARIED, rough(nodata=missing_cells())),
    "strata": (VARIED, rough(strata=BANDS)),
    "strata, soil, nodata": (VARIED, rough(strata=BANDS, bedrock=rough()["elevation"] - 2.0, nodata=missing_cells())),
}
CORES: dict[str, Window] = {
    "half": np.s_[0:30, 0:83],
    "odd quarter": np.s_[17:48, 33:74],
}
EDGES = {"closed": Sides.of("closed"), "periodic": Sides.of("periodic"), "mixed": MIXED["periodic columns"]}


def advanced(kind: type[Backend], model: sw.SteepestTalus, state: State, domain: Domain, iterations: int) -> State:
    backend = kind(state, domain)
    backend.advance(model.coefficients(domain, substeps=1), iterations)
    after = backend.state.copy()
    backend.close()
    return after


@pytest.mark.product
@on_every_backend
@pytest.mark.parametrize("iterations", [1, 5, 13])
@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("ground", GROUNDS)
def test_a_part_with_a_halo_equals_the_same_part_of_the_whole(
    backend: str, iterations: int, edges: str, core: str, ground: str
) -> None:
    model, terrain = GROUNDS[ground]
    kind = model.backend(backend)
    domain, state = model.prepare(terrain, sides=EDGES[edges], seed=3)
    whole = advanced(kind, model, state, domain, iterations)
    wanted = whole.window(CORES[core], model.fields)

    window, part_domain, part_state = model.tile(CORES[core], iterations, state, domain)
    sides = part_domain.sides
    assert "halo" in sides.kinds()
    part = advanced(kind, model, part_state, part_domain, iterations)
    here: Window = tuple(  # type: ignore[assignment]
        slice(inner.start - outer.start, inner.stop - outer.start)
        for inner, outer in zip(CORES[core], window, strict=True)
    )
    found = part.window(here, model.fields)
    assert set(found.arrays) == set(wanted.arrays)
    for name in wanted.arrays:
        assert_array_equal(found[name], wanted[name], err_msg=name, strict=True)
    assert not np.array_equal(wanted["elevation"], state.window(CORES[core], model.fields)["elevation"])
    same_cells = whole.window(window, model.fields)["elevation"]
    assert not np.array_equal(part["elevation"], same_cells), "the halo was not needed: the test shows nothing"
    part_domain = domain.part(CORES[core], sides)
    for layer in ("elevation", "difference", *(["erodibility"] if model is VARIED else [])):
        one, other = (model.derive(layer, state, part_domain) for state in (found, wanted))
        assert_array_equal(one, other, err_msg=layer)


@on_every_backend
def test_a_window_wider_than_a_periodic_grid_repeats_it(backend: str) -> None:
    model, terrain = sw.SteepestTalus(), rough((14, 18))
    domain, state = model.prepare(terrain, sides=Sides.of("periodic"), seed=0)
    kind = model.backend(backend)
    whole = advanced(kind, model, state, domain, 13)
    window = np.s_[-26:40, -26:44]
    sides = Sides(north="halo", south="halo", west="halo", east="halo")
    part = advanced(kind, model, state.window(window, model.fields), domain.part(window, sides), 13)
    assert_array_equal(part["elevation"][26:-26, 26:-26], whole["elevation"])


def test_erodibility_is_not_guessed_on_part_of_a_terrain() -> None:
    """The guess follows the relief of the whole: a part would guess another one."""
    uniform = sw.SteepestTalus()
    domain, state = uniform.prepare(rough(), sides=Sides.of("closed"), seed=0)
    window, part_domain, part = uniform.tile(CORES["odd quarter"], 1, state, domain)
    with pytest.raises(sw.InvalidParameter, match="cannot be guessed on part of a terrain"):
        VARIED.adopt(uniform, part, part_domain)
    assert "erodibility" not in part
    VARIED.adopt(uniform, state, domain)
    assert_array_equal(state["erodibility"], sw.erodibility_from_elevation(rough(), seed=0))
    part = state.window(window, uniform.fields)
    VARIED.adopt(uniform, part, part_domain)  # nothing is left to guess
    assert_array_equal(part["erodibility"], state["erodibility"][window])
