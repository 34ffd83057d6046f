"""Laws of landscapes, on ground that obeys them by construction."""

from __future__ import annotations

import math

import numpy as np
import pytest

import slopewash as sw
from slopewash import analysis
from slopewash.analysis import Flow


def steady_rivers(theta: float, n: int = 96, rounds: int = 5) -> sw.Terrain:
    """Ground on which every slope along the flow is 0.5 A^-θ, A in cells: the steady state of stream-power erosion.

    Heights are summed up along the flow, from the edges; the flow over them is another, so that a few rounds follow.
    """
    terrain = sw.Terrain(np.random.default_rng(4).random((n, n)), cell_size=1.0)
    for _ in range(rounds):
        flow = Flow(terrain)
        cells, way = np.pad(flow.cells, 1).ravel(), flow.way
        across = n + 2
        steps = [1, across + 1, across, across - 1, -1, -across - 1, -across, -across + 1]
        height = np.zeros(across * across)
        for cell in flow.order[::-1]:
            if way[cell] != 255:
                length = math.sqrt(2) if way[cell] % 2 else 1.0
                height[cell] = height[cell + steps[way[cell]]] + length * 0.5 * cells[cell] ** -theta
        terrain = sw.Terrain(height.reshape(across, across)[1:-1, 1:-1], cell_size=1.0)
    return terrain


@pytest.mark.parametrize("theta", [0.3, 0.5])
def test_concavity_of_steady_rivers_is_found(theta: float) -> None:
    law = analysis.slope_area(steady_rivers(theta), channel_area=20.0, gather=False)
    assert -law.exponent == pytest.approx(theta, abs=0.03)  # rounds end before every stream has found its place
    assert law.r_squared > 0.98


def test_cell_size_does_not_change_the_laws() -> None:
    """θ and h have no units; the coefficients do."""
    small = steady_rivers(0.4, n=64, rounds=3)
    large = sw.Terrain(small["elevation"] * 30, cell_size=30.0)
    for law in (analysis.slope_area, analysis.hack_law):
        assert law(large, channel_area=20 * 900.0).exponent == pytest.approx(
            law(small, channel_area=20.0).exponent, abs=0.02
        )  # bins begin elsewhere


def test_streams_side_by_side_have_a_hack_exponent_of_one() -> None:
    """Valleys of one width: twice the length drains twice the area."""
    y, x = np.mgrid[0:400, 0:80] + 0.0
    valleys = sw.Terrain(np.abs((x - 3) % 8 - 4) * 1.0 + 0.01 * (400 - y))
    assert analysis.hack_law(valleys, channel_area=500.0, gather=False).exponent == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize(("shape", "integral"), [("plane", 1 / 2), ("cone", 1 / 3), ("dome", 1 / 2)])
def test_hypsometric_integral_of_solids(shape: str, integral: float) -> None:
    """A plane has half of its block, a cone a third of its cylinder, a paraboloid a half."""
    y, x = np.mgrid[0:301, 0:301] - 150.0
    r = np.hypot(x, y) / 150
    ground = {"plane": x, "cone": -r, "dome": -(r**2)}[shape]
    terrain = sw.Terrain(ground, nodata=None if shape == "plane" else r > 1)
    found = analysis.hypsometry(terrain)
    assert found.integral == pytest.approx(integral, abs=0.01)
    assert float(np.trapezoid(found.area, found.height)) == pytest.approx(integral, abs=0.01)
    assert (found.area[0], found.height[0], found.height[-1]) == (1.0, 0.0, 1.0)


def test_lengths_of_all_orders_sum_to_the_channels() -> None:
    terrain = sw.generate("dome", size=128, seed=7)
    survey = analysis.analyse(terrain)
    lengths = np.dot(survey.orders.count, survey.orders.mean_length)
    assert lengths == pytest.approx(survey.drainage_density / 1000 * terrain.area)
    assert survey.orders.count[0] > survey.orders.count[1] > 0


def test_verdicts_compare_what_is_shown() -> None:
    survey = analysis.analyse(steady_rivers(0.45), gather=False)
    by_symbol = {finding.symbol: finding for finding in survey.findings}
    assert by_symbol["θ"].verdict == "within"
    assert analysis.analyse(steady_rivers(0.0, n=64, rounds=2)).findings[0].verdict == "below"  # as steep everywhere
    flat = analysis.analyse(sw.Terrain(np.zeros((9, 9))))
    assert {finding.verdict for finding in flat.findings} == {"not measured"}
    assert "not measured" in str(flat)


def test_streams_on_a_smooth_floor_are_drawn_together_and_no_water_is_lost() -> None:
    """Valleys four cells wide end on a plain that falls to the south: left alone, they cross it side by side."""
    y, x = np.mgrid[0:120, 0:112] + 0.0
    ground = np.where(y < 40, np.abs((x - 1) % 4 - 2) * (40 - y) / 20, 0.0) + 0.3 * (120 - y)
    terrain = sw.Terrain(ground + 0.02 * np.random.default_rng(1).random(y.shape))
    apart, together = Flow(terrain), Flow(terrain, gather=True)
    assert together.area.max() > 3 * apart.area.max()
    for flow in (apart, together):
        assert flow.cells[flow.directions == 0].sum() == terrain["elevation"].size
