"""D8 and D-infinity flow: against pyflwdir, brute force and analytic catchments."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pyflwdir
import pytest
from numpy.typing import NDArray

import slopewash as sw
from slopewash import analysis
from slopewash.analysis import Flow
from slopewash.analysis.drainage import Drainage
from slopewash.errors import InvalidParameter

KINDS = ["diamond_square", "fbm", "ridged", "dome", "noise"]
OFFSETS = {1: (0, 1), 2: (1, 1), 4: (1, 0), 8: (1, -1), 16: (0, -1), 32: (-1, -1), 64: (-1, 0), 128: (-1, 1)}


def random_terrain(seed: int) -> sw.Terrain:
    """Rough, smooth and white-noise ground of changing shape, half of it with nodata, some in whole metres."""
    random = np.random.default_rng(seed)
    rows, columns = random.integers(20, 70, 2)
    kind = KINDS[seed % len(KINDS)]
    if kind == "noise":
        ground = random.normal(100, 30, (rows, columns)).astype(np.float32)
    else:
        ground = sw.generate(kind, size=70, seed=seed)["elevation"][:rows, :columns]
    if seed % 3 == 0:
        ground = np.rint(ground / 20) * 20  # level stretches
    nodata = random.random(ground.shape) < 0.01 if seed % 2 else None
    return sw.Terrain(ground, cell_size=10.0, nodata=nodata)


def upstream_cells(directions: NDArray[np.uint8]) -> Any:
    return pyflwdir.from_array(directions, ftype="d8", check_ftype=True).upstream_area()


@pytest.mark.parametrize("seed", range(20))
def test_accumulation_and_filling_equal_pyflwdir(seed: int) -> None:
    terrain = random_terrain(seed)
    inside = np.ones(terrain.shape, bool) if terrain.nodata is None else ~terrain.nodata
    flow = Flow(terrain)
    assert np.array_equal(flow.cells[inside], upstream_cells(flow.directions)[inside])
    assert (flow.cells[~inside] == 0).all()
    ground = np.where(inside, terrain["elevation"], np.float32(-9999))
    filled, theirs = pyflwdir.dem.fill_depressions(ground, nodata=-9999.0)
    np.testing.assert_allclose(flow.filled[inside], filled[inside], rtol=2e-7)  # it adds the depth to the ground
    flow.__dict__["way"] = framed_numbers(theirs)  # their directions, accumulated by our kernel
    assert np.array_equal(
        flow.inner(flow.summed(np.ones(flow.way.size, np.int32)))[inside], upstream_cells(theirs)[inside]
    )


def framed_numbers(directions: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """ESRI codes as numbers of neighbours, with a frame."""
    numbers = np.full(directions.shape, 255, np.uint8)
    for number, code in enumerate(OFFSETS):
        numbers[directions == code] = number
    return np.pad(numbers, 1, constant_values=255).ravel()


@pytest.mark.parametrize("seed", range(5))
def test_water_takes_the_steepest_way_down_and_always_arrives(seed: int) -> None:
    terrain = random_terrain(seed)
    flow, level = Flow(terrain), Flow(terrain).filled.astype(np.float64)
    for row, column in np.argwhere(flow.directions < 129):
        code = int(flow.directions[row, column])
        if code == 0:
            continue
        drops = {
            key: (level[row, column] - level[row + down, column + right]) / math.hypot(down, right)
            for key, (down, right) in OFFSETS.items()
        }
        assert drops[code] >= max(drops.values()) - 1e-4 * abs(max(drops.values()))  # float32 in the kernel
        assert drops[code] >= 0
    inside = np.ones(terrain.shape, bool) if terrain.nodata is None else ~terrain.nodata
    assert flow.cells[flow.directions == 0].sum() == inside.sum()
    assert (flow.catchments[inside] > 0).all()


def test_fill_equals_the_flood_of_the_drainage() -> None:
    for seed in range(20, 26):
        terrain = random_terrain(seed)
        assert np.array_equal(Flow(terrain).filled, Drainage(terrain).filled)


def test_heights_around_zero_are_in_order() -> None:
    random = np.random.default_rng(1)
    ground = random.normal(0, 1, (40, 40)).astype(np.float32)
    ground[10:20, 10:20] = -0.0
    terrain = sw.Terrain(ground)
    assert np.array_equal(Flow(terrain).filled, Drainage(terrain).filled)


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (2, 2), (3, 3)])
def test_the_smallest_terrains_drain(shape: tuple[int, int]) -> None:
    flow = Flow(sw.Terrain(np.zeros(shape)))
    assert flow.cells[flow.directions == 0].sum() == shape[0] * shape[1]
    assert analysis.analyse(sw.Terrain(np.ones(shape))).orders.count == ()


def test_a_flat_terrain_drains_without_circles() -> None:
    flow = Flow(sw.Terrain(np.zeros((50, 60))))
    assert flow.cells[flow.directions == 0].sum() == 3000


def test_an_outlier_does_not_spoil_the_order() -> None:
    ground = sw.generate("diamond_square", size=65, seed=2)["elevation"].copy()
    ground[30, 30] = 1e30  # all other heights share one slice
    terrain = sw.Terrain(ground)
    assert np.array_equal(Flow(terrain).filled, Drainage(terrain).filled)


def test_breached_ground_has_no_depressions() -> None:
    terrain = sw.generate("diamond_square", size=65, seed=4)
    breached = terrain.replace(elevation=analysis.breach_depressions(terrain, filled=0.0))
    assert (breached["elevation"] <= terrain["elevation"]).all()  # nothing is filled
    assert (Flow(breached).filled - breached["elevation"]).max() < 1e-3


def test_catchments_are_numbered_by_size_and_keep_their_water() -> None:
    terrain = random_terrain(2)
    flow = Flow(terrain)
    sizes = np.bincount(flow.catchments.ravel())[1:]
    assert (np.diff(sizes) <= 0).all()
    outlets = flow.directions == 0
    assert np.array_equal(sizes[flow.catchments[outlets] - 1], flow.cells[outlets])
    down = pyflwdir.from_array(flow.directions, ftype="d8").basins()
    pairs = {(int(a), int(b)) for a, b in zip(flow.catchments.ravel(), down.ravel(), strict=True)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_a_catchment_has_one_size_wherever_it_is_asked_for() -> None:
    """Also where streams are drawn together, which on level floors would lead some of them elsewhere."""
    for terrain in (sw.generate("dome", size=96, seed=7), random_terrain(2), random_terrain(3)):
        flow = Flow(terrain)
        sizes = np.bincount(flow.catchments.ravel())[1:] * terrain.cell_size**2
        theirs = pyflwdir.from_array(flow.directions, ftype="d8").upstream_area().max() * terrain.cell_size**2
        assert sizes.max() == flow.area.max() == theirs
        assert analysis.flow_accumulation(terrain).max() == np.float32(theirs)
        for gather in (True, False):
            survey = analysis.analyse(terrain, gather=gather)
            assert survey.largest_catchment == theirs
            assert survey.catchments == (sizes >= 0.01 * terrain.area).sum()


def test_the_catchments_of_two_valleys_end_at_the_divide() -> None:
    """Their sides are steeper than their floors: water runs straight down to the floor, and along it to the mouth."""
    across, along = np.arange(40.0), np.arange(30.0)[::-1, None]
    valleys = np.where(across < 26, np.abs(across - 12), np.abs(across - 33) + 7)  # 13 | 14 on both sides of 25.5
    terrain = sw.Terrain(2.0 * valleys + 0.1 * along, cell_size=5.0)
    number = analysis.catchments(terrain)
    inner = number[1:-1, 1:-1]
    assert (inner[:, :25] == 1).all()
    assert (inner[:, 25:] == 2).all()
    # All but the cells along the border, which drain themselves, and the mouth.
    assert analysis.analyse(terrain).largest_catchment == (28 * 25 + 1) * 25.0


@pytest.mark.parametrize("seed", [0, 2, 4, 6])
def test_stream_orders_equal_pyflwdir(seed: int) -> None:
    flow = Flow(random_terrain(seed))
    channel = flow.cells >= 15
    theirs = pyflwdir.from_array(flow.directions, ftype="d8").stream_order(mask=channel)
    rank, begins = flow.stream_orders(15 * 100.0)
    assert np.array_equal(rank, np.where(channel, theirs, 0))
    heads = begins & (rank == 1)
    assert heads.sum() == count_heads(flow, channel)


def count_heads(flow: Flow, channel: NDArray[np.bool_]) -> int:
    """Channel cells into which no channel cell drains."""
    fed = np.zeros(flow.shape, bool)
    for row, column in np.argwhere(channel):
        if code := int(flow.directions[row, column]):
            down, right = OFFSETS[code]
            fed[row + down, column + right] = True
    return int((channel & ~fed).sum())


def test_upstream_length_is_that_of_the_longest_way() -> None:
    flow = Flow(random_terrain(0))
    length = np.zeros(flow.shape)
    for row, column in np.argwhere(flow.cells > 0)[:400]:
        at, travelled = (int(row), int(column)), 0.0
        while code := int(flow.directions[at]):
            down, right = OFFSETS[code]
            at, travelled = (at[0] + down, at[1] + right), travelled + 10.0 * math.hypot(down, right)
            length[at] = max(length[at], travelled)
    assert (flow.upstream_length >= length - 1e-9).all()
    assert flow.upstream_length[flow.cells == 1].max() == 0


def cone_error(n: int) -> float:
    """Mean relative error of the area that drains through a cell of a cone, between two rings.

    A strip of the cone between divide and ring widens with the distance r, so that r/2 of area drain through each unit
    of contour; a cell's row or column, whichever the flow crosses more squarely, cuts max(|cos|, |sin|) of it.
    """
    y, x = np.mgrid[0:n, 0:n] - (n - 1) / 2
    r = np.hypot(x, y)
    area = analysis.flow_accumulation(sw.Terrain(n - r), method="dinf")
    ring = (r > 0.15 * n) & (r < 0.45 * n)
    exact = np.maximum(np.abs(x), np.abs(y)) / 2
    return float(np.abs(area - exact)[ring].mean() / exact[ring].mean())


def test_d_infinity_converges_to_the_analytic_cone() -> None:
    errors = [cone_error(n) for n in (51, 101, 201, 401)]
    assert all(fine < 0.6 * coarse for coarse, fine in itertools.pairwise(errors)), errors  # first order
    assert errors[-1] < 0.015


def plane(n: int, degrees: float) -> tuple[sw.Terrain, NDArray[np.float64]]:
    """A plane, and the way to its upper edges along the flow, times the width of a cell across it."""
    down, right = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    y, x = np.mgrid[0:n, 0:n] + 0.0
    way = np.minimum((y + 1) / down, (x + 1) / right if right > 0 else np.inf)
    return sw.Terrain(-(down * y + right * x)), way * max(down, right)


def error_inside(area: NDArray[Any], exact: NDArray[np.float64]) -> float:
    inner = (slice(len(area) // 4, len(area) - 1),) * 2  # cells of an edge pass nothing on
    return float(np.abs(area - exact)[inner].mean() / exact[inner].mean())


@pytest.mark.parametrize("degrees", [0.0, 10.0, 27.0, 45.0, 60.0])
def test_d_infinity_converges_to_the_analytic_plane(degrees: float) -> None:
    errors = []
    for n in (50, 100, 200, 400):
        ground, exact = plane(n, degrees)
        errors.append(error_inside(analysis.flow_accumulation(ground, method="dinf"), exact))
    assert all(fine < 0.6 * coarse for coarse, fine in itertools.pairwise(errors)), errors  # first order
    assert errors[-1] < 0.006


def test_sharing_by_angle_does_not_converge() -> None:
    """Why `flow_accumulation` departs from [Tarboton97]: tan 27° is 0.51, not 27/45."""
    ground, exact = plane(400, 27.0)
    assert error_inside(sw.drainage_area(ground), exact) > 0.02


def test_unknown_methods_and_areas_are_refused() -> None:
    terrain = sw.Terrain(np.zeros((5, 5)))
    with pytest.raises(InvalidParameter, match='method is "d9"; it must be "d8" or "dinf"'):
        analysis.flow_accumulation(terrain, method="d9")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="channel_area is -1"):
        analysis.stream_orders(terrain, channel_area=-1.0)
    with pytest.raises(InvalidParameter, match="channel_area is nan"):
        analysis.analyse(terrain, channel_area=math.nan)
