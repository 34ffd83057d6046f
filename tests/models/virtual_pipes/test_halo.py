"""Part of a terrain with a halo around it: away from the halo it is what the whole gives, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from slopewash import Strata, Terrain, VirtualPipes, WaterSource, preset, strata_bands
from slopewash.models.state import Window, with_margin

SHAPE = (90, 77)
COMPARED = ("elevation", "water", "suspended", "erodibility", "outflow", "flow", "bedrock")
BACKENDS = ("reference", "cpu", "gpu")
CASES: dict[str, tuple[Any, str]] = {
    "single_grid": (preset("single_grid"), "open"),
    "jako2011": (preset("jako2011"), "periodic"),
    "beds": (preset("single_grid").replace(bed_contrast=0.2, bed_thickness=9.0, bed_dip=20.0), "open"),
    "cover": (preset("single_grid").replace(cover="loose", weathering_rate=0.02), "periodic"),
    "sea": (preset("single_grid").replace(sea_level=5.0), "open"),
}
"""Models with the edges they are used with."""
HALVES = {
    "north": (slice(0, 45), slice(0, 77)),
    "east": (slice(0, 90), slice(38, 77)),
    "quarter": (slice(41, 90), slice(0, 39)),
    "middle": (slice(37, 60), slice(31, 50)),
}
"""Rows and columns that a part answers for."""


def hills(*, strata: Strata | None) -> Terrain:
    """Ground with nodata, uneven rain and water sources, some of it on either side of every cut."""
    random = np.random.default_rng(11)
    coarse = np.kron(random.random((18, 16)), np.ones((5, 5)))[: SHAPE[0], : SHAPE[1]]
    hole = random.random(SHAPE) < 0.02
    hole[40:48, 30:41] = True
    return Terrain(
        9 * coarse + 3 * random.random(SHAPE), nodata=hole, cell_size=2.0, water=0.2, suspended=0.01, strata=strata,
        rainfall=2 * random.random(SHAPE),
        sources=[WaterSource(x=76, y=100, radius=9, rate=0.8), WaterSource(x=20, y=20, radius=6, rate=0.4)],
    )  # fmt: skip


def cut(values: NDArray[Any], core: Window, window: Window) -> NDArray[Any]:
    """The core of a field of the part."""
    rows, columns = (slice(c.start - w.start, c.stop - w.start) for c, w in zip(core, window, strict=True))
    return values[..., rows, columns]


def part_of(resume: Any, backend: str, model: Any, whole: Any, core: Window, iterations: int) -> Any:
    """A tile that is right after so many iterations, and its rows and columns."""
    window, domain, state = model.tile(core, iterations, whole.state, whole.domain)
    return resume(backend, model, domain, state), window


@pytest.mark.product
@pytest.mark.parametrize("layered", [False, True], ids=["plain", "strata"])
@pytest.mark.parametrize("steps", [1, 5, 13])
@pytest.mark.parametrize("core", sorted(HALVES))
@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_part_equals_the_whole_away_from_its_halo(
    start: Any, resume: Any, backend: str, name: str, core: str, steps: int, layered: bool
) -> None:
    model, edges = CASES[name]
    terrain = hills(strata=strata_bands(thickness=2.0, hard=0.1, dip=4.0) if layered else None)
    whole = start(backend, model, terrain, edges)
    whole.advance(6)  # until water runs everywhere
    part, window = part_of(resume, backend, model, whole, HALVES[core], steps)
    assert part.domain.shape != SHAPE or steps == 13  # a halo of 39 cells reaches round most of this ground
    for run in (whole, part):
        run.advance(steps)
    compared = [field for field in COMPARED if field in whole.state]
    assert ("bedrock" in compared) == (layered or name == "cover")
    for field in compared:
        expected = whole.state[field][..., HALVES[core][0], HALVES[core][1]]
        assert_array_equal(cut(part.state[field], HALVES[core], window), expected, err_msg=field)


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_cell_less_than_the_halo_shows_at_the_cut(start: Any, resume: Any, backend: str) -> None:
    """Sediment traced back reads as far as the model declares: a smaller halo would not do."""
    model: Any = preset("jako2011")
    whole = start(backend, model, hills(strata=None), "periodic")
    whole.advance(6)
    core = HALVES["north"]
    window, sides = with_margin(core, model.halo - 1, whole.domain)
    part = resume(backend, model, whole.domain.part(window, sides), whole.state.window(window, model.fields))
    for run in (whole, part):
        run.advance(1)
    apart = cut(part.state["suspended"], core, window) != whole.state["suspended"][core]
    assert apart[[0, -1]].any()
    assert not apart[1:-1].any()


@pytest.mark.parametrize("pipes", ["four", "eight"])
@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("backend", BACKENDS)
def test_tiles_that_exchange_their_halos_equal_the_whole(
    start: Any, resume: Any, backend: str, name: str, pipes: str
) -> None:
    model, edges = CASES[name]
    if pipes == "eight":
        model = model.replace(pipes="eight", capacity="along_flow", transport="donor_cell", pipe_area=10.0)
    rounds, steps = 3, 4
    strata = None if name == "beds" else strata_bands(thickness=2.0, dip=4.0)
    whole = start(backend, model, hills(strata=strata), edges)
    domain, state = whole.domain, whole.state.copy()
    tiles = [(rows, columns) for rows in (slice(0, 41), slice(41, 90)) for columns in (slice(0, 38), slice(38, 77))]
    counted = dict.fromkeys(whole.budget(), 0.0)
    for _ in range(rounds):
        whole.advance(steps)
        after = state.copy()
        for core in tiles:
            window, part_domain, part_state = model.tile(core, steps, state, domain)
            part = resume(backend, model, part_domain, part_state)
            part.advance(steps)
            counted = {amount: counted[amount] + more for amount, more in part.budget().items()}
            for spec in model.fields:
                if spec.name in after and spec.place == "cells" and spec.role in ("prognostic", "accumulated"):
                    after[spec.name][..., core[0], core[1]] = cut(part.state[spec.name], core, window)
        state = after
    for field in set(state.arrays) - {"budget"}:
        assert_array_equal(state[field], whole.state[field], err_msg=field)
    for amount, summed in whole.budget().items():  # halos count in no budget; the order of sums differs
        assert counted[amount] == pytest.approx(summed, rel=1e-6 if backend == "gpu" else 1e-11, abs=1e-9), amount


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_a_part_goes_on_from_the_sums_of_the_whole(start: Any, resume: Any, backend: str) -> None:
    model = VirtualPipes()
    whole = start(backend, model, hills(strata=None), "open")
    whole.advance(3)
    part, _ = part_of(resume, backend, model, whole, HALVES["middle"], 1)
    for name, amount in whole.budget().items():
        assert part.budget()[name] == pytest.approx(amount, rel=1e-12), name  # float64 sums in another order
