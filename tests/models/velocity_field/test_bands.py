"""An iteration in bands, between which it can be left: the same bits, and no trace of what was left."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash.models import VelocityField
from slopewash.models.velocity_field.bands import Fields, in_bands
from slopewash.simulation import Simulation
from slopewash.terrain import Strata, Stratum, Terrain

RANDOM = np.random.default_rng(4)
HILL = 30.0 * RANDOM.random((23, 17)) + np.linspace(60, 0, 23)[:, None]
HOLES = RANDOM.random(HILL.shape) < 0.05
BEDS = Strata([Stratum(thickness=12.0, erodibility=0.3), Stratum(thickness=5.0)], dip=4.0)
TERRAINS = {
    "plain": Terrain(HILL, cell_size=3.0),
    "nodata": Terrain(HILL, cell_size=3.0, nodata=HOLES),
    "strata": Terrain(HILL, cell_size=3.0, strata=BEDS),
}
MODELS = {
    "default": VelocityField(maximum_steps=60),
    "broad": VelocityField(maximum_steps=60, breadth=3, margin=0.2, pits="stop"),
    "printed": VelocityField(maximum_steps=60, steering="steepest", breadth=0, creep_rate=0.0, slide_rate=0.0),
}


@pytest.fixture
def small_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slopewash.models.velocity_field.bands.CELLS_AT_ONCE", 2 * 17)
    monkeypatch.setattr("slopewash.models.velocity_field.cpu.CELLS_AT_ONCE", 100)


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("terrain", TERRAINS)
def test_bands_give_the_bits_of_the_whole(
    terrain: str, model: str, backend: str, request: pytest.FixtureRequest
) -> None:
    whole, banded = (Simulation(TERRAINS[terrain], MODELS[model], backend=backend) for _ in range(2))
    whole.run(3)
    request.getfixturevalue("small_bands")
    banded.run(3)
    (one, arrays), (other, same) = whole.parts(), banded.parts()
    assert one["scalars"] == other["scalars"]
    assert {name: a.tobytes() for name, a in arrays.items()} == {name: a.tobytes() for name, a in same.items()}


@pytest.mark.usefixtures("small_bands")
def test_an_iteration_left_at_any_safe_point_has_not_begun() -> None:
    again, unbroken = (Simulation(TERRAINS["nodata"], MODELS["default"], backend="cpu") for _ in range(2))
    unbroken.run(2)
    again.run(1)
    facts, arrays = again.parts()
    left = 0
    while again.step == 1:
        asked = iter(range(left))
        again.run(1, stop=lambda asked=asked: next(asked, None) is None)  # type: ignore[misc]
        if again.step == 1:
            left += 1
            now, same = again.parts()
            assert now["scalars"] == facts["scalars"]
            assert all(np.array_equal(same[name], arrays[name]) for name in arrays)
    assert left > 5 * 23 / 2  # as many as there are bands, in five formulas
    assert np.array_equal(again.terrain["elevation"], unbroken.terrain["elevation"])
    assert again.budget == unbroken.budget


def test_a_band_sees_as_far_as_its_formula_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    def two_above_and_below(some: Fields) -> tuple[NDArray[np.float64]]:
        padded = np.pad(some["a"], ((2, 2), (0, 0)))
        return (padded[:-4] + padded[4:],)

    monkeypatch.setattr("slopewash.models.velocity_field.bands.CELLS_AT_ONCE", 6)
    (sums,) = in_bands(two_above_and_below, {"a": np.arange(11.0)[:, None] * np.ones(2)}, reach=2)
    assert sums[:, 0].tolist() == [2, 3, 4, 6, 8, 10, 12, 14, 16, 7, 8]
