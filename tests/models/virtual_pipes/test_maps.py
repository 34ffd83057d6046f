"""Layers that multiply a parameter: known answers, the reference's bits on the cpu, agreement on the gpu."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash import Terrain, VirtualPipes, preset
from slopewash.models.virtual_pipes.fields import SHARES

EIGHT = preset("single_grid").replace(
    time_step=1 / 64, evaporation_rate=1 / 16, pipes="eight", pipe_area=10.0, capacity_three_quarters=4.0,
    capacity_half=1.0, fan_slope=0.3,
)  # fmt: skip
MODELS = {
    "table2": VirtualPipes(time_step=1 / 64, evaporation_rate=1 / 16),
    "traced": VirtualPipes(transport="semi_lagrangian", capacity="collision"),
    "fall_line": preset("single_grid").replace(evaporation_rate=0.02),
    "eight": EIGHT,
    "eight_with_cover": EIGHT.replace(cover="loose", weathering_rate=0.02, bed_contrast=0.2, bed_thickness=9.0),
    "eight_with_sea": EIGHT.replace(sea_level=4.0, edge_base="graded"),
}
SCALED = {
    "rainfall": ("rain_rate",),
    "evaporation": ("evaporation_rate",),
    "capacity": ("sediment_capacity", "capacity_three_quarters", "capacity_half"),
    "talus": ("talus_slope_bias", "talus_slope_range", "cover_talus_slope"),
    "sliding": ("thermal_rate", "cover_slide_rate"),
}
"""Parameters that each layer multiplies."""
FIELDS = ("elevation", "water", "suspended", "erodibility", "outflow", "flow", "bedrock")


def heights(shape: tuple[int, int]) -> NDArray[Any]:
    random = np.random.default_rng(11)
    coarse = np.kron(random.random((14, 14)), np.ones((5, 5)))[: shape[0], : shape[1]]
    result: NDArray[Any] = 9 * coarse + 3 * random.random(shape)
    return result


def uneven(shape: tuple[int, int], *names: str) -> dict[str, Any]:
    random = np.random.default_rng(5)
    return {name: random.random(shape) for name in names}


def assert_same(a: Any, b: Any) -> None:
    for name in FIELDS:
        if name in a.state:
            np.testing.assert_array_equal(a.state[name], b.state[name], err_msg=name)
    one, two = a.budget(), b.budget()
    for name in one:
        assert one[name] == pytest.approx(two[name], rel=1e-6, abs=1e-9), name


@pytest.mark.parametrize("layer", SCALED)
@pytest.mark.parametrize("name", ["table2", "eight_with_cover"])
def test_either_half_of_a_map_is_as_with_its_own_number(start: Any, name: str, layer: str) -> None:
    """With 1 in the west and 1/2 in the east: halving is exact, and a far interior knows nothing of the other half."""
    shape, steps = (12, 60), 5
    model, far = MODELS[name], 30 - 3 * steps
    halves = np.where(np.arange(60) < 30, 1.0, 0.5)[None, :].repeat(12, 0)
    half_model = model.replace(**{p: getattr(model, p) / 2 for p in SCALED[layer]})
    terrain = Terrain(heights(shape), water=0.2, suspended=0.01, erodibility=uneven(shape, "R")["R"])
    mapped = start("cpu", model, terrain.replace(**{layer: halves}), "closed")
    west, east = start("cpu", model, terrain, "closed"), start("cpu", half_model, terrain, "closed")
    for run in (mapped, west, east):
        run.advance(steps)
    for field in ("elevation", "water", "suspended"):
        np.testing.assert_array_equal(mapped.state[field][:, :far], west.state[field][:, :far])
        np.testing.assert_array_equal(mapped.state[field][:, -far:], east.state[field][:, -far:])
    assert any((west.state[f][:, -far:] != east.state[f][:, -far:]).any() for f in ("elevation", "water", "suspended"))


def test_nothing_evaporates_where_the_map_is_zero(start: Any) -> None:
    terrain = Terrain(np.zeros((4, 9)), water=1.0, evaporation=np.arange(9)[None, :].repeat(4, 0) >= 5)
    run = start("cpu", VirtualPipes(evaporation_rate=0.3, rain_rate=0.0, gravity=1e-9), terrain, "closed")
    run.advance(7)
    water = run.state["water"]
    assert (water[:, :5] == 1).all()
    assert water[:, 5:] == pytest.approx((1 - 0.02 * 0.3) ** 7, rel=1e-6)
    assert run.budget()["water_evaporated"] == pytest.approx(float((1 - water).sum()), rel=1e-5)


@pytest.mark.parametrize("edges", ["open", "periodic"])
@pytest.mark.parametrize("name", MODELS)
def test_the_kernel_gives_the_reference_s_bits_for_random_maps(start: Any, name: str, edges: str) -> None:
    shape = (31, 26)
    hole = np.zeros(shape, bool)
    hole[8:13, 5:9] = hole[20, 25] = hole[0, 3] = True
    terrain = Terrain(np.where(hole, np.nan, heights(shape)), nodata=hole, water=0.3, **uneven(shape, *SCALED))
    reference, fused = (start(backend, MODELS[name], terrain, edges) for backend in ("reference", "cpu"))
    in_bands = start("cpu", MODELS[name], terrain, edges, depth=3, bands=1)
    for run in (reference, fused, in_bands):
        run.advance(20)
    assert_same(reference, fused)
    assert_same(reference, in_bands)


@pytest.mark.parametrize("layer", SHARES)
def test_the_kernel_gives_the_reference_s_bits_for_each_map_alone(start: Any, layer: str) -> None:
    terrain = Terrain(heights((9, 17)), water=0.3, **uneven((9, 17), layer))
    plain = Terrain(heights((9, 17)), water=0.3)
    reference, fused, even = (
        start(backend, MODELS["eight"], given, "open")
        for backend, given in (("reference", terrain), ("cpu", terrain), ("cpu", plain))
    )
    for run in (reference, fused, even):
        run.advance(12)
    assert_same(reference, fused)
    assert any((even.state[field] != fused.state[field]).any() for field in ("elevation", "water"))


@pytest.mark.gpu
@pytest.mark.parametrize("name", MODELS)
def test_the_gpu_is_as_near_to_float64_as_float32_is(start: Any, name: str) -> None:
    shape = (31, 26)
    terrain = Terrain(heights(shape), water=0.3, **uneven(shape, *SCALED))
    gpu, single = (start(backend, MODELS[name], terrain, "open") for backend in ("gpu", "reference"))
    double = start("reference", MODELS[name], terrain, "open", dtype=np.float64)
    even = start("reference", MODELS[name], Terrain(heights(shape), water=0.3), "open", dtype=np.float64)
    for run in (gpu, single, double, even):
        run.advance(10)
    for field in ("elevation", "water", "suspended"):
        apart, usual = (np.abs(run.state[field] - double.state[field]) for run in (gpu, single))
        # Maps change more than a thousand times what rounding does.
        assert apart.max() < 4 * usual.max() + 1e-6, field
        assert np.abs(even.state[field] - double.state[field]).max() > 1000 * apart.max(), field


@pytest.mark.gpu
def test_the_gpu_takes_a_map_in_the_middle_of_a_run(start: Any) -> None:
    shape = (20, 70)
    maps = {name: values.astype(np.float32) for name, values in uneven(shape, *SHARES).items()}
    late, early = (start("gpu", MODELS["eight"], Terrain(heights(shape), water=0.3), "open") for _ in range(2))
    whole = start("gpu", MODELS["eight"], Terrain(heights(shape), water=0.3, **maps), "open")
    for name, values in maps.items():
        late.backend.write(name, np.ones(shape, np.float32))
        late.backend.write(name, values[:, 3:40], np.s_[0:20, 3:40])
        late.backend.write(name, values)
        early.state[name] = values
    for run in (late, early, whole):
        run.advance(4)
    for field in ("elevation", "water", "suspended"):
        np.testing.assert_array_equal(late.state[field], whole.state[field])
        np.testing.assert_array_equal(early.state[field], whole.state[field])
