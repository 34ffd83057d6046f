"""Known answers of each equation, worked out by hand."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from slopewash import VirtualPipes
from slopewash.models.ground import WALL, gradient
from slopewash.models.state import Domain, Sides, State
from slopewash.models.virtual_pipes import reference as eq
from slopewash.models.virtual_pipes.base_level import edge_base
from slopewash.models.virtual_pipes.coefficients import Coefficients, coefficients
from slopewash.models.virtual_pipes.fields import BUDGET

CLOSED, OPEN, PERIODIC = (Sides.of(edges) for edges in ("closed", "open", "periodic"))
W, E, N, S = range(4)
"""The pipes in the order they are stored."""
ORIENTATIONS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "east": lambda a: a,
    "west": lambda a: a[:, ::-1],
    "south": lambda a: a.T,
    "north": lambda a: a.T[::-1],
}
"""Turns a row that runs to the east."""


def numbers(**values: Any) -> Coefficients:
    return coefficients(VirtualPipes(**values), 1)


def row(*values: float) -> NDArray[Any]:
    return np.array([values], dtype=np.float64)


def pipes(shape: tuple[int, int], **out: Any) -> NDArray[Any]:
    f = np.zeros((4, *shape))
    for name, values in out.items():
        f["wens".index(name)] = values
    return f


def make_state(b: Any, *, w: Any = 0.0, s: Any = 0.0, R: Any = 1.0, r: Any = 1.0, source: Any = None) -> State:
    b = np.array(b, dtype=np.float64)

    def like(a: Any) -> NDArray[Any]:
        return np.broadcast_to(np.asarray(a, dtype=np.float64), b.shape).copy()

    arrays = {
        "elevation": b, "water": like(w), "suspended": like(s), "erodibility": like(R), "outflow": pipes(b.shape),
        "rainfall": like(r), "start": b.copy(), "flow": np.zeros_like(b), "budget": np.zeros((1, len(BUDGET))),
        **edge_base(b, graded=False),
    }  # fmt: skip
    if source is not None:
        arrays["source_rate"] = like(source)
    return State(arrays, {"iterations": 0})


def booked(state: State, name: str) -> float:
    return float(state["budget"][:, BUDGET.index(name)].sum())


def closed(state: State) -> Domain:
    rows, columns = state["elevation"].shape
    return Domain(shape=(rows, columns), cell_size=1.0, datum=0.0, sides=CLOSED)


def opened(state: State) -> Domain:
    return dataclasses.replace(closed(state), sides=OPEN)


# Rain (1)


def test_rain_falls_by_its_layer_and_springs_add_to_it() -> None:
    state = make_state(row(0, 0), w=row(1.0, 2.0), r=row(1.0, 3.0), source=row(0.0, 0.6))
    w1 = eq.add_water(state, numbers(time_step=0.5, rain_rate=0.2), closed(state))
    # Rain 0.5 · 0.2 · (1, 3) = (0.1, 0.3); spring 0.5 · 0.6 = 0.3.
    assert_allclose(w1, row(1.1, 2.6), rtol=1e-12)
    assert booked(state, "water_rain") == pytest.approx(0.4)
    assert booked(state, "water_sources") == pytest.approx(0.3)


# Pipes (2-7)


def test_pressure_adds_to_the_flow_already_there_and_never_reverses_a_pipe() -> None:
    # Δt·A·g = 0.1 · 2 · 0.5 = 0.1 per cell of drop; surfaces 3, 2, 0.
    f = pipes((1, 3), e=row(0.7, 0.7, 0.0), w=row(0.0, 0.05, 0.5))
    out = eq.push_pipes(f, row(1, 0, -2), row(3, 2, 0), row(2, 2, 2), numbers(time_step=0.1, pipe_area=2, gravity=0.5),
                        CLOSED)  # fmt: skip
    assert_allclose(out[E], row(0.8, 0.9, 0.0), rtol=1e-12)  # 0.7 + 0.1 · 1, 0.7 + 0.1 · 2, wall
    assert_allclose(out[W], row(0.0, 0.0, 0.3), atol=1e-12)  # wall, 0.05 − 0.1 · 1 < 0, 0.5 − 0.1 · 2
    assert (out[N] == 0).all()
    assert (out[S] == 0).all()


def test_friction_takes_its_share_of_the_flow_before_pressure_adds_to_it() -> None:
    # Of the flow 1 − 0.1 · 2 = 0.8 is kept; push 0.1 · 2 · 0.5 = 0.1 per cell of drop.
    c = numbers(time_step=0.1, pipe_area=2, gravity=0.5, pipe_friction=2)
    out = eq.push_pipes(pipes((1, 2), e=row(0.5, 0)), row(1, 0), row(3, 2), row(2, 2), c, CLOSED)
    assert_allclose(out[E], row(0.5, 0), rtol=1e-12)  # 0.8 · 0.5 + 0.1 · 1


def test_no_more_water_leaves_than_is_there() -> None:
    # Push 0.5 · 4 · 1 = 2: both pipes would take 2 · 1, in time 0.5 together 2, of a depth of 1.
    c = numbers(time_step=0.5, pipe_area=4, gravity=1)
    d1 = row(0, 1, 0)
    f = eq.push_pipes(pipes((1, 3)), row(0, 0, 0), d1, d1, c, CLOSED)
    assert_allclose(f[W], row(0, 1, 0), rtol=1e-12)
    assert_allclose(f[E], row(0, 1, 0), rtol=1e-12)
    assert_allclose(eq.move_depth(d1, f, c, CLOSED), row(0.5, 0, 0.5), atol=1e-12)


def test_outflow_that_the_cell_can_feed_is_left_alone() -> None:
    # Push 0.1: each pipe takes 0.1, in time 0.1 together 0.02 of a depth of 1.
    c = numbers(time_step=0.1, pipe_area=1, gravity=1)
    d1 = row(0, 1, 0)
    f = eq.push_pipes(pipes((1, 3)), row(0, 0, 0), d1, d1, c, CLOSED)
    assert_allclose(f[E], row(0, 0.1, 0), rtol=1e-12)
    assert_allclose(eq.move_depth(d1, f, c, CLOSED), row(0.01, 0.98, 0.01), rtol=1e-12)


@pytest.mark.parametrize(("edges", "each"), [("open", 0.025), ("closed", 0.0), ("periodic", 0.0)])
def test_an_open_edge_pipe_pushes_with_the_cell_s_own_depth(edges: Any, each: float) -> None:
    # Beyond lies dry ground at the same bed: push 0.1 times the depth 0.25, whatever the height of the bed.
    b, d1 = row(7), row(0.25)
    f = eq.push_pipes(pipes((1, 1)), b, b + d1, d1, numbers(time_step=0.1, pipe_area=1, gravity=1), Sides.of(edges))
    assert_allclose(f[:, 0, 0], each, rtol=1e-12)


# Velocity (8)


@pytest.mark.parametrize(("pipe", "u", "v"), [("e", 1, 0), ("w", -1, 0), ("s", 0, 1), ("n", 0, -1)])
def test_flow_to_the_east_and_south_is_positive(pipe: str, u: float, v: float) -> None:
    gx, gy = eq.discharge(pipes((3, 3), **{pipe: 1.0}), PERIODIC)
    assert (gx == u).all()
    assert (gy == v).all()


def test_discharge_is_the_mean_of_what_enters_and_leaves() -> None:
    along = row(2, 1, 0)
    # East: ½(0 + 2), ½(2 + 1), ½(1 + 0). The column to the south and the row to the west are its images.
    assert_allclose(eq.discharge(pipes((1, 3), e=along), CLOSED)[0], row(1, 1.5, 0.5))
    assert_allclose(eq.discharge(pipes((3, 1), s=along.T), CLOSED)[1], row(1, 1.5, 0.5).T)
    assert_allclose(eq.discharge(pipes((1, 3), w=along[:, ::-1]), CLOSED)[0], row(-0.5, -1.5, -1))
    # Opposed flows in one pipe pair cancel: east 2 out of cell 0, west 2 out of cell 1.
    assert_allclose(eq.discharge(pipes((1, 2), e=row(2, 0), w=row(0, 2)), CLOSED)[0], row(0, 0))


def test_speed_is_discharge_or_discharge_by_the_mean_depth() -> None:
    f = pipes((1, 3), e=1.0, s=2.0)
    d1, d2 = row(0.3, 2e-4, 0.0), row(0.1, 2e-4, 0.0)
    u, _ = eq.velocity(f, d1, d2, numbers(), PERIODIC)
    assert_allclose(u, row(1, 1, 1))
    u, v = eq.velocity(f, d1, d2, numbers(velocity="mean_depth"), PERIODIC)
    # Mean depths 0.2, and below the floor of 0.001.
    assert_allclose(u, row(5, 1000, 1000))
    assert_allclose(v, row(10, 2000, 2000))


# Slope of the ground


@pytest.mark.parametrize("turn", ["east", "south"])
def test_gradients_are_central_and_one_sided_beside_edges_and_walls(turn: str) -> None:
    oriented, along = ORIENTATIONS[turn], 0 if turn == "east" else 1

    def slopes(edges: Any, *heights: float) -> Any:
        return ORIENTATIONS[turn](gradient(oriented(row(*heights)), edges)[along])[0]

    assert_allclose(slopes(CLOSED, 0, 1, 4, 9, 16), [1, 2, 4, 6, 7])
    assert_allclose(slopes(OPEN, 0, 1, 4, 9, 16), [1, 2, 4, 6, 7])
    assert_allclose(slopes(PERIODIC, 0, 1, 4, 9, 16), [-7.5, 2, 4, 6, -4.5])
    beside = slopes(CLOSED, 0, 1, WALL, 9, 16, WALL, 3)
    assert_allclose(beside[[0, 1, 3, 4, 6]], [1, 1, 7, 7, 0])


# Capacity (9-11)


def plane(east: float, south: float) -> NDArray[Any]:
    y, x = np.mgrid[:3, :3].astype(np.float64)
    return east * x + south * y


def capacity(b: NDArray[Any], u: float, v: float, **laws: Any) -> NDArray[Any]:
    values = {"sediment_capacity": 1.5, "maximum_erosion_depth": math.inf, "minimum_tilt": 0.05} | laws
    flat = np.zeros_like(b)
    return eq.capacity(b, b, pipes((3, 3)), flat + u, flat + v, flat, numbers(**values), CLOSED)


@pytest.mark.parametrize(
    ("east", "south", "u", "v", "expected"),
    [
        (0.75, 0, 2, 0, 1.8),  # sin α = 0.75/1.25 = 0.6; 1.5 · 0.6 · 2
        (0.75, 0, -2, 0, 1.8),  # whichever way it flows
        (0, 0.75, 3, 4, 4.5),  # 1.5 · 0.6 · 5
        (0.6, 0.8, 0, 1, 1.5 / math.sqrt(2)),  # a slope of 1 stands at 45°
        (0, 0, 2, 0, 0.15),  # level: 1.5 · 0.05 · 2
        (0.75, 0, 0, 0, 0),
    ],
)
def test_capacity_by_tilt(east: float, south: float, u: float, v: float, expected: float) -> None:
    assert_allclose(capacity(plane(east, south), u, v), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("east", "south", "u", "v", "expected"),
    [
        (0.75, 0, 2, 0, 1.8),  # uphill: 0.75/1.25 = 0.6; 1.5 · 0.6 · 2
        (0.75, 0, -2, 0, 0.15),  # downhill: only the least tilt, 1.5 · 0.05 · 2
        (0, 0.75, 0, 2, 1.8),
        (0, 0.75, 0, -2, 0.15),
        (0.75, 0, 3, 4, 2.7),  # aslant: 0.6 · 3/5 = 0.36; 1.5 · 0.36 · 5
        (0.75, 0, 0, 2, 0.15),  # along the contour
        (0.75, 0, 0, 0, 0),
    ],
)
def test_capacity_by_collision(east: float, south: float, u: float, v: float, expected: float) -> None:
    assert_allclose(capacity(plane(east, south), u, v, capacity="collision"), expected, rtol=1e-12)
    if expected == 0.15:
        assert_allclose(capacity(plane(east, south), u, v, capacity="collision", minimum_tilt=0.0), 0)


@pytest.mark.parametrize("turn", sorted(ORIENTATIONS))
def test_capacity_along_the_flow_on_a_ramp(turn: str) -> None:
    oriented = ORIENTATIONS[turn]
    ahead, back = {"east": (E, W), "west": (W, E), "south": (S, N), "north": (N, S)}[turn]
    b, d1 = oriented(row(1.875, 0.9375, 0)), oriented(row(0.75, 0.75, 0.75))
    f = np.zeros((4, *b.shape))
    f[ahead], f[back] = oriented(row(3, 2, 2)), oriented(row(0, 1.5, 0))
    c = numbers(capacity="along_flow", sediment_capacity=1.5, maximum_erosion_depth=3.0, minimum_tilt=0.0)
    nothing = np.zeros_like(b)
    C = eq.capacity(b, b + d1, f, nothing, nothing, d1, c, OPEN)
    # The ramp of the depth is 1 − 0.75/3 = 0.75.
    # Top: P = 3 · 0.9375, Q = 3, S = 0.9375. Its other pipes are open edges without flow.
    # Middle: P = 2 · 0.9375 (nothing for the pipe uphill), Q = √(4 + 2.25) = 2.5, S = 0.75, sine 0.6.
    # Foot: over the open edge the surface drops by the depth: P = 2 · 0.75, Q = 2, S = 0.75, sine 0.6.
    top = 1.5 * 0.75 * 3 * math.sin(math.atan(0.9375))
    assert_allclose(C, oriented(row(top, 1.5 * 0.6 * 2.5 * 0.75, 1.5 * 0.6 * 2 * 0.75)), rtol=1e-12)


def test_capacity_along_the_flow_has_a_least_tilt_and_needs_flow() -> None:
    b, nothing = row(0, 0, 0), row(0, 0, 0)
    c = numbers(capacity="along_flow", sediment_capacity=2.0, maximum_erosion_depth=math.inf, minimum_tilt=0.1)
    C = eq.capacity(b, b, pipes((1, 3), e=row(3, 0, 0), w=row(0, 0, 4)), nothing, nothing, nothing, c, CLOSED)
    assert_allclose(C, row(2 * 0.1 * 3, 0, 2 * 0.1 * 4), rtol=1e-12)


@pytest.mark.parametrize(
    ("law", "deepest", "expected"),
    [
        ("decreasing", 10.0, [1, 0.75, 0, 0]),
        ("decreasing", math.inf, [1, 1, 1, 1]),
        ("decreasing", 0.0, [0, 0, 0, 0]),
        ("printed", 10.0, [0, 0.25, 1, 1]),
        ("printed", math.inf, [0, 0, 0, 0]),
        ("printed", 0.0, [1, 1, 1, 1]),
    ],
)
def test_depth_ramp(law: str, deepest: float, expected: list[float]) -> None:
    b, d1 = row(0, 0, 0, 0), row(0, 2.5, 10, 40)
    c = numbers(depth_ramp=law, maximum_erosion_depth=deepest, minimum_tilt=1.0, sediment_capacity=1.0)
    C = eq.capacity(b, b + d1, pipes((1, 4)), b + 1, b, d1, c, CLOSED)
    assert_allclose(C, [expected], atol=1e-12)


# Erosion and deposition (12-14)


def exchanged(C: float, s: float, R: float, d2: float, *, b: Any = None, **values: Any) -> float:
    b = np.array([[0, 3, 0], [4, 5, 4.5], [0, 4.8, 0]]) if b is None else b
    whole = np.ones_like(b)
    laws = {"time_step": 0.5, "suspension_rate": 1.0, "deposition_rate": 0.5, "sediment_volume": 0.0} | values
    delta = eq.exchange(b, s * whole, R * whole, C * whole, d2 * whole, numbers(**laws), CLOSED)
    return float(delta[1, 1])


def test_erosion_goes_towards_the_capacity() -> None:
    assert exchanged(10, 4, 0.8, 9) == pytest.approx(2.4)  # 0.5 · 1 · 0.8 · (10 − 4)


def test_erosion_is_limited_to_a_share_of_the_drop_to_the_lowest_of_four() -> None:
    # Would take 0.5 · 100; the lowest of the four lies 5 − 3 below; corners at 0 do not count.
    assert exchanged(100, 0, 1, 9) == pytest.approx(50)
    assert exchanged(100, 0, 1, 9, dig_limit=0.5) == pytest.approx(1.0)
    assert exchanged(100, 0, 1, 9, dig_limit=0.25) == pytest.approx(0.5)
    for turns in (1, 2, 3):
        b = np.rot90(np.array([[0, 3, 0], [4, 5, 4.5], [0, 4.8, 0]]), turns)
        assert exchanged(100, 0, 1, 9, b=b, dig_limit=0.5) == pytest.approx(1.0)
    pit = np.array([[9, 9, 9], [9, 5, 9], [9, 9, 9.0]])
    assert exchanged(100, 0, 1, 9, b=pit, dig_limit=0.5) == 0
    assert exchanged(1, 0, 1, 9, dig_limit=0.5) == pytest.approx(0.5)  # 0.5 · 1 is within the limit


def test_erosion_is_limited_by_the_water_where_mud_counts_as_water() -> None:
    assert exchanged(100, 0, 1, 0.7, sediment_volume=1.0, maximum_concentration=1.0) == pytest.approx(0.7)
    assert exchanged(100, 0, 1, 0.7, sediment_volume=0.0) == pytest.approx(50)


@pytest.mark.parametrize(
    ("cap", "s", "expected"),
    [
        (0.5, 0.1, 0.5),  # (0.5 · 0.7 − 0.1)/(1 − 0.5)
        (0.2, 0.1, 0.05),  # (0.2 · 0.7 − 0.1)/(1 − 0.2)
        (0.5, 0.4, 0.0),  # too thick already
    ],
)
def test_erosion_is_limited_by_the_concentration(cap: float, s: float, expected: float) -> None:
    delta = exchanged(100, s, 1, 0.7, sediment_volume=1.0, maximum_concentration=cap)
    assert delta == pytest.approx(expected, abs=1e-12)
    if expected:  # what the cap says: of what flows then, this share is sediment
        assert (s + delta) / (0.7 + delta) == pytest.approx(cap)


def test_load_above_the_capacity_falls() -> None:
    assert exchanged(2, 10, 0.1, 0.3) == pytest.approx(-2.0)  # 0.5 · 0.5 · (10 − 2), however hard the ground
    assert exchanged(0, 2, 1, 9, deposition_rate=6.0) == pytest.approx(-2.0)  # no more than there is


def test_deposits_stay_below_the_surface_if_the_law_says_so() -> None:
    assert exchanged(2, 10, 1, 0.3, deposit_below_surface=True) == pytest.approx(-0.3)
    assert exchanged(2, 10, 1, 5.0, deposit_below_surface=True) == pytest.approx(-2.0)


def test_deposits_soften_the_ground_and_water_alone_dries() -> None:
    # One still cell: capacity 0, so 0.1 · 1 · 0.4 = 0.04 falls; R rises by 5 · 0.04.
    calm = {"time_step": 0.1, "deposition_rate": 1.0, "rain_rate": 0.0, "evaporation_rate": 0.5}
    for rate, softened in ((5.0, 0.7), (0.0, 0.5), (50.0, 1.0)):
        state = make_state(row(1), w=1.0, s=0.4, R=0.5)
        eq.step(state, numbers(**calm, softening_rate=rate, processes="hydraulic"), closed(state))
        assert state["elevation"][0, 0] == pytest.approx(1.04)
        assert state["suspended"][0, 0] == pytest.approx(0.36)
        assert state["erodibility"][0, 0] == pytest.approx(softened)
        assert state["water"][0, 0] == pytest.approx(0.95)  # 1 − 0.1 · 0.5
        assert booked(state, "water_evaporated") == pytest.approx(0.05)


def test_erosion_leaves_the_erodibility_alone() -> None:
    state = make_state(row(3, 2), w=1.0, R=0.5)
    eq.step(state, numbers(processes="hydraulic", softening_rate=5.0), closed(state))
    assert (state["elevation"] < row(3, 2)).all()
    assert (state["erodibility"] == 0.5).all()


# Slides (17-18)

PATCH = np.array([[0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
"""Erodibility: only the cell in the middle can slide. Its talus is (1 − 0.5) · 0.8 + 0.1 = 0.5."""


def slid_by_eight_pipes(b: Any, R: Any = PATCH, **laws: Any) -> tuple[NDArray[Any], float]:
    values = {"time_step": 0.1, "thermal_rate": 1.0, "talus_slope_range": 0.8, "talus_slope_bias": 0.1} | laws
    gain, sent = eq.slide(np.array(b, dtype=np.float64), R, numbers(**values), CLOSED)
    return gain, float(sent.sum())


def test_eight_pipes_send_half_the_height_split_by_the_drops() -> None:
    gain, moved = slid_by_eight_pipes([[8.9, 1, 5], [8.9, 9, 1], [8.9, 8.9, 8.9]])
    # ½ · 0.1 · 1 · 0.5 · 8 = 0.2, split 8 : 8 : 4 between north, east and north-east; drops of 0.1 are below the talus.
    assert_allclose(gain, np.array([[0, 0.08, 0.04], [0, -0.2, 0.08], [0, 0, 0]]), atol=1e-12)
    assert moved == pytest.approx(0.2)


def test_a_spike_sends_to_all_eight() -> None:
    gain, moved = slid_by_eight_pipes([[1, 1, 1], [1, 9, 1], [1, 1, 1]])
    # ½ · 0.1 · 1 · 0.5 · 8 = 0.2, an eighth to each.
    assert_allclose(gain, np.array([[0.025, 0.025, 0.025], [0.025, -0.2, 0.025], [0.025, 0.025, 0.025]]), atol=1e-12)
    assert moved == pytest.approx(0.2)


@pytest.mark.parametrize("turns", range(4))
def test_diagonals_stand_by_the_longer_distance(turns: int) -> None:
    # Talus 0.5, on diagonals 0.707: a drop of 0.6 slides to the west, not to the north-west; 0.8 south-east does.
    b = np.rot90(np.array([[0.4, 1, 1], [0.4, 1, 1], [1, 1, 0.2]]), turns)
    gain, moved = slid_by_eight_pipes(b)
    # ½ · 0.1 · 1 · 0.5 · 0.8 = 0.02, split 0.6 : 0.8, that is 3 : 4.
    expected = np.array([[0, 0, 0], [0.06 / 7, -0.02, 0], [0, 0, 0.08 / 7]])
    assert_allclose(gain, np.rot90(expected, turns), atol=1e-12)
    assert moved == pytest.approx(0.02)


@pytest.mark.parametrize(("law", "soft", "hard"), [("hard_stands_steeper", True, False), ("printed", False, True)])
def test_which_ground_stands_steeper(law: str, soft: bool, hard: bool) -> None:
    # A drop of 0.5 between the taluses 0.1 + 0.8 · 0.2 = 0.26 and 0.1 + 0.8 · 0.8 = 0.74.
    b = np.full((3, 3), 1.0)
    b[1, 1] = 1.5
    for R, slides in ((0.8, soft), (0.2, hard)):
        gain, moved = slid_by_eight_pipes(b, np.full((3, 3), R), talus_law=law)
        assert (moved > 0) == slides
        assert (gain[1, 1] < 0) == slides


FALL_LINE = {
    "time_step": 0.1, "thermal_rate": 1.0, "talus_slope_range": 0.4, "talus_slope_bias": 0.3, "creep_rate": 0.02,
    "hillslope": "fall_line",
}  # fmt: skip


@pytest.mark.parametrize("turn", sorted(ORIENTATIONS))
def test_fall_line_flux_through_one_face(turn: str) -> None:
    oriented = ORIENTATIONS[turn]
    b, R = oriented(row(3, 1)), oriented(row(0.5, 0.9))
    gain, moved = eq.slide(b, R, numbers(**FALL_LINE), CLOSED)
    # The higher cell's talus is 0.5 · 0.4 + 0.3 = 0.5; 0.1 · (0.02 + 1 · 0.5 · (1 − 0.5/2)) · 2 = 0.1 · 0.395 · 2.
    assert_allclose(gain, oriented(row(-0.079, 0.079)), rtol=1e-12)
    assert moved.sum() == pytest.approx(0.079)


def test_fall_line_flux_below_the_talus_is_creep_alone() -> None:
    gain, _ = eq.slide(row(1.4, 1), row(0.5, 0.5), numbers(**FALL_LINE), CLOSED)
    assert_allclose(gain, row(-0.0008, 0.0008), rtol=1e-12)  # 0.1 · 0.02 · 0.4


def test_fall_line_looks_at_the_true_gradient() -> None:
    # Falls by 3 to the east and 4 to the south: 5 in all, ten times the talus of 0.5.
    gain, moved = eq.slide(plane(-3, -4), np.full((3, 3), 0.5), numbers(**FALL_LINE), CLOSED)
    # 0.1 · (0.02 + 0.5 · 0.9) = 0.047 per unit of drop: 0.141 through faces to the east, 0.188 to the south.
    assert_allclose(gain, np.array([[-0.329, -0.188, -0.047], [-0.141, 0, 0.141], [0.047, 0.188, 0.329]]), atol=1e-12)
    assert moved.sum() == pytest.approx(6 * 0.141 + 6 * 0.188)


def test_nothing_slides_to_or_from_walls() -> None:
    b = np.array([[WALL, 0, 9, WALL]])
    for law in ("eight_pipes", "fall_line"):
        values: dict[str, Any] = FALL_LINE | {"hillslope": law}
        gain, _ = eq.slide(b, np.array([[0, 1, 1, 0.0]]), numbers(**values), CLOSED)
        assert gain[0, 0] == 0
        assert gain[0, 3] == 0
        assert gain[0, 1] == pytest.approx(-gain[0, 2])
        assert gain[0, 1] > 0


# Open edges


def test_open_edges_are_not_worn_below_their_base() -> None:
    state = make_state(np.full((3, 3), 5.0))
    state["elevation"][0, 1] = 5.2  # 0.2 above its base
    loss = np.full((3, 3), 0.5)
    expected = np.array([[0, 0.2, 0], [0, 0.5, 0], [0, 0, 0]])
    assert_allclose(eq.hold_edges(loss, state, numbers(), OPEN), expected, atol=1e-12)
    gain = np.full((3, 3), -0.5)
    assert_allclose(eq.hold_edges(gain, state, numbers(), OPEN), gain)
    graded = eq.hold_edges(gain, state, numbers(edge_base="graded"), OPEN)
    assert_allclose(graded, np.array([[0, 0, 0], [0, -0.5, 0], [0, 0, 0]]))


def test_what_holds_open_edges_is_booked_as_exported() -> None:
    state = make_state(np.full((3, 3), 5.0))
    slid = np.array([[0, -0.3, 0], [0, 0.1, 0], [0, 0.4, 0]])
    held = eq.apply_slides(state["elevation"], state["elevation"], slid, state, numbers(), opened(state))
    assert_allclose(held, np.array([[5, 5, 5], [5, 5.1, 5], [5, 5.4, 5]]))
    assert booked(state, "solids_exported") == pytest.approx(-0.3)  # came from outside
    held = eq.apply_slides(
        state["elevation"], state["elevation"], slid, state, numbers(edge_base="graded"), opened(state)
    )
    assert_allclose(held, np.array([[5, 5, 5], [5, 5.1, 5], [5, 5, 5]]))
    assert booked(state, "solids_exported") == pytest.approx(-0.3 - 0.3 + 0.4)


# Transport (15)


def test_donor_cells_give_exact_shares() -> None:
    share = pipes((1, 3), e=row(0.25, 0.1, 0), w=row(0, 0.2, 0))
    # 4 − 1 + 2, 10 − 1 − 2 + 1, 0 + 1.
    assert_allclose(eq.donate(row(4, 10, 0), share, CLOSED), row(5, 8, 1), rtol=1e-12)
    assert_allclose(eq.donate(row(4, 10, 0).T, pipes((3, 1), s=share[E].T, n=share[W].T), CLOSED), row(5, 8, 1).T)


def test_the_share_that_leaves_is_the_outflow_over_the_depth() -> None:
    # 0.1 · 2/0.5 = 0.4 of everything leaves each cell to the east, out of the last one over the edge.
    state, c = make_state(row(0, 0)), numbers(time_step=0.1)
    f, nothing = pipes((1, 2), e=row(2, 2)), row(0, 0)
    w2, s2 = eq.transport(
        row(1, 3), row(10, 20), row(0.5, 0.5), f, nothing, nothing, state["elevation"], state, c, opened(state)
    )
    assert_allclose(w2, row(0.6, 0.4 + 1.8), rtol=1e-12)
    assert_allclose(s2, row(6, 4 + 12), rtol=1e-12)
    assert booked(state, "water_exported") == pytest.approx(1.2)
    assert booked(state, "solids_exported") == pytest.approx(8)


def traced(s: NDArray[Any], u: float, v: float, *, b: Any = None) -> NDArray[Any]:
    flat = np.zeros_like(s)
    return eq.trace_back(s, flat + u, flat + v, flat if b is None else b, numbers(time_step=0.5), CLOSED)


@pytest.mark.parametrize(
    ("u", "v", "expected"),
    [
        (0.5, 0.0, {(2, 2): 0.75, (2, 3): 0.25}),  # 0.5 · 0.5 = a quarter of a cell to the east
        (-0.5, 0.0, {(2, 2): 0.75, (2, 1): 0.25}),
        (0.0, 0.5, {(2, 2): 0.75, (3, 2): 0.25}),  # to the south
        (0.0, -0.5, {(2, 2): 0.75, (1, 2): 0.25}),
        (2.0, 0.0, {(2, 3): 1.0}),  # exactly one cell
        (9.0, -9.0, {(1, 3): 1.0}),  # 4.5 cells: at most one each way
        (0.5, 1.0, {(2, 2): 0.375, (2, 3): 0.125, (3, 2): 0.375, (3, 3): 0.125}),  # ¾ and ¼ times ½ and ½
    ],
)
def test_a_blob_travels_with_the_flow(u: float, v: float, expected: dict[tuple[int, int], float]) -> None:
    blob, moved = np.zeros((5, 5)), np.zeros((5, 5))
    blob[2, 2] = 1
    for cell, amount in expected.items():
        moved[cell] = amount
    assert_allclose(traced(blob, u, v), moved, atol=1e-12)


def test_walls_answer_a_trace_with_the_cell_s_own_load() -> None:
    s, b = row(7, 3, 5), row(WALL, 0, 0)
    assert_allclose(traced(s, 0.5, 0, b=b), row(7, 3, 4.5), rtol=1e-12)  # ¾ · 5 + ¼ · 3
