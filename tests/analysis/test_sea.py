"""The sea to look at: level to the edge, and rivers that end at the coast."""

from __future__ import annotations

import numpy as np

from slopewash import Simulation, Terrain, VirtualPipes, add_water
from slopewash.analysis.sea import find_sea_level


def valley(shape: tuple[int, int] = (60, 41)) -> Terrain:
    """A valley that descends to the north, to 10 below a sea at 10."""
    y, x = np.mgrid[: shape[0], : shape[1]].astype(float)
    ground = 0.5 * y + np.where(y > 20, 0.8, 0.1) * np.abs(x - 20)
    return Terrain(ground, cell_size=1.0, water=np.maximum(10 - ground, 0))


def test_water_that_stands_level_at_the_border_is_the_sea() -> None:
    assert find_sea_level(valley()) == 10.0
    simulation = Simulation(Terrain(100 + valley()["elevation"]), VirtualPipes(sea_level=110.0), backend="reference")
    simulation.run(50)
    level = find_sea_level(simulation.terrain)
    assert level is not None
    assert abs(level - 110.0) < 1e-4


def test_rain_that_runs_off_and_rain_on_a_plain_are_no_sea() -> None:
    ground = valley()["elevation"]
    assert find_sea_level(Terrain(ground)) is None
    assert find_sea_level(Terrain(ground, water=0.3)) is None
    assert find_sea_level(Terrain(np.full((30, 30), 5.0), water=0.3)) is None


def test_rivers_end_at_the_sea_and_the_sea_is_level_to_the_edge() -> None:
    terrain = valley()
    watered = add_water(terrain)
    sea = terrain["elevation"] < 10
    np.testing.assert_allclose((watered["elevation"] + watered["lake"])[sea], 10.0, atol=1e-5)
    assert watered["lake"][~sea].max() == 0
    assert watered["river"][sea].max() == 0
    assert watered["river"][21:40, 20].min() > 0  # down to the coast
    plain = add_water(terrain, sea_level=None)
    assert plain["river"][5, 20] > 0
    assert plain["lake"].max() == 0


def test_a_basin_below_sea_level_that_the_sea_does_not_reach_stays_as_it_is() -> None:
    ground = valley()["elevation"].copy()
    ground[45:50, 18:23] = 3.0
    dry = add_water(Terrain(ground, water=np.where((ground < 10) & (np.mgrid[:60, :41][0] < 40), 10 - ground, 0)))
    assert dry["lake"][45:50, 18:23].max() == 0
    assert dry["lake"][0, 20] > 0


def test_a_terrain_under_the_sea_altogether_has_no_rivers() -> None:
    watered = add_water(valley().replace(water=None), sea_level=100.0)
    assert watered["river"].max() == 0
    np.testing.assert_allclose(watered["elevation"] + watered["lake"], 100.0, atol=1e-4)
