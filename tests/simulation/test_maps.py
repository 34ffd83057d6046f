"""Parameters given as maps: a number and a layer, from then on like any other."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.models.maps import Mappable

SIZE = 24
RAMP = np.linspace(0, 1, SIZE, dtype=np.float32)[None, :].repeat(SIZE, 0)
WORDS: Any = ("dry", "wet")
MAPPED: dict[str, tuple[Any, dict[str, float]]] = {
    "pipes": (
        sw.preset("single_grid").replace(evaporation_rate=0.01),
        {"rain_rate": 0.05, "evaporation_rate": 0.01, "sediment_capacity": 1.5, "talus_slope_bias": 0.35,
         "thermal_rate": 0.7},
    ),
    "talus": (sw.SteepestTalus(), {"talus_angle": 31.0}),
    "varied_talus": (sw.SteepestTalus(talus_law="hard_stands_steeper"), {"talus_slope_bias": 0.3}),
    "particles": (sw.VelocityField(), {"transport_capacity": 0.7, "slide_rate": 0.13, "talus_slope": 0.9}),
}  # fmt: skip


@pytest.fixture
def terrain() -> sw.Terrain:
    return sw.generate("ridged", size=SIZE, seed=4)


def run(terrain: sw.Terrain, model: Any, backend: str = "cpu", steps: int = 6) -> sw.Simulation:
    simulation = sw.Simulation(terrain, model, backend=backend)
    simulation.run(steps)
    return simulation


def assert_same(a: sw.Simulation, b: sw.Simulation) -> None:
    for name in ("elevation", "water", "suspended", "deposit"):
        if name in a.terrain:
            np.testing.assert_array_equal(a.terrain[name], b.terrain[name], err_msg=name)


@pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])
@pytest.mark.parametrize("name", MAPPED)
def test_a_uniform_map_is_the_number_bit_for_bit(terrain: sw.Terrain, name: str, backend: str) -> None:
    model, numbers = MAPPED[name]
    maps = {p: sw.Map(np.full(terrain.shape, value)) for p, value in numbers.items()}
    as_float32 = {p: float(np.float32(value)) for p, value in numbers.items()}
    assert_same(run(terrain, model.replace(**maps), backend, 3), run(terrain, model.replace(**as_float32), backend, 3))


@pytest.mark.parametrize("name", MAPPED)
def test_backends_agree_on_maps(terrain: sw.Terrain, name: str) -> None:
    model, numbers = MAPPED[name]
    uneven = {p: sw.Map(RAMP, low=0.5 * value, high=value) for p, value in numbers.items()}
    reference = run(terrain, model.replace(**uneven), "reference")
    assert_same(reference, run(terrain, model.replace(**uneven), "cpu"))
    assert (reference.terrain["elevation"] != run(terrain, model, "reference").terrain["elevation"]).any()


def test_slopes_come_to_rest_at_the_angle_that_a_map_gives() -> None:
    """Half the ground stands at 20 degrees and half at 40, from one steep wall."""
    heights = np.where(np.arange(40)[:, None] < 20, 30.0, 0.0).repeat(40, 1)
    angles = np.where(np.arange(40) < 20, 20.0, 40.0)[None, :].repeat(40, 0)
    rested = run(sw.Terrain(heights), sw.SteepestTalus(talus_angle=sw.Map(angles), amplitude=0.2), steps=4000)
    fell = -np.diff(rested.terrain["elevation"], axis=0)
    for columns, angle in ((slice(4, 14), 20.0), (slice(26, 36), 40.0)):
        steepest = np.tan(np.radians(angle))
        assert steepest - 0.2 * np.tan(np.radians(20)) < fell[:, columns].max() <= steepest + 1e-5  # by one amplitude


def test_values_are_those_of_the_map_whatever_it_is(terrain: sw.Terrain, tmp_path: Path) -> None:
    """A file of floats, a picture of 16 bits, a layer of the user's own and an array."""
    steps = np.rint(RAMP * 65535).astype(np.uint16)
    values = (steps / 65535).astype(np.float32)
    sw.write(sw.Terrain(values), tmp_path / "rain.tif")
    sw.write(sw.Terrain(values), tmp_path / "rain.png", height_range=(0, 1))
    own = terrain.replace(own_layers={"wet": values})
    model = sw.VirtualPipes(rain_rate=sw.Map(values, low=0, high=0.25))
    expected = run(terrain, model)
    assert expected.model.values()["rain_rate"] == 0.25
    np.testing.assert_array_equal(expected.layers("rainfall")["rainfall"], values)
    for source in (tmp_path / "rain.tif", str(tmp_path / "rain.png"), "wet"):
        assert_same(run(own, model.replace(rain_rate=sw.Map(source, low=0, high=0.25))), expected)
    quarter = sw.Map((0.25 * values).astype(np.float32))
    assert_same(run(terrain, model.replace(rain_rate=quarter)), expected)


def test_a_map_of_another_size_is_resampled(terrain: sw.Terrain, tmp_path: Path) -> None:
    sw.write(sw.Terrain(RAMP[::2, ::2]), tmp_path / "coarse.npy")
    shares = run(terrain, sw.VirtualPipes(rain_rate=sw.Map(tmp_path / "coarse.npy"))).layers("rainfall")["rainfall"]
    assert shares.shape == terrain.shape
    assert np.abs(shares - RAMP / RAMP[:, ::2].max()).max() < 0.05


def test_a_resumed_run_and_a_new_one_keep_the_map(terrain: sw.Terrain, tmp_path: Path) -> None:
    given = sw.Map(RAMP, low=0.001, high=0.4)
    model = sw.VirtualPipes(thermal_rate=given, talus_slope_bias=given)
    whole = run(terrain, model, steps=9)
    part = run(terrain, model, steps=4)
    part.checkpoint(tmp_path / "run.ckpt")
    resumed = sw.Simulation.resume(tmp_path / "run.ckpt")
    resumed.run(5)
    assert_same(resumed, whole)
    assert {"talus", "sliding"} <= set(whole.terrain)
    again = run(whole.terrain, whole.model, steps=1)
    np.testing.assert_array_equal(again.layers("talus")["talus"], whole.layers("talus")["talus"])


def test_a_model_with_a_map_can_be_set_in_the_middle_of_a_run(terrain: sw.Terrain) -> None:
    """From there on it is a run that begins with the map: slopes that slide keep nothing but their ground."""
    sliding = sw.VirtualPipes(processes="thermal")
    simulation = run(terrain, sliding, "reference", steps=2)
    simulation.model = sliding.replace(thermal_rate=sw.Map(RAMP, low=0, high=2))
    assert simulation.model.values()["thermal_rate"] == 2.0
    np.testing.assert_array_equal(simulation.layers("sliding")["sliding"], RAMP)
    copied = sw.Simulation(simulation.terrain, simulation.model, backend="reference")
    for each in (simulation, copied):
        each.run(3)
    ground = simulation.terrain["elevation"]
    # A run counts heights from its own lowest ground, and rounds them there.
    np.testing.assert_allclose(copied.terrain["elevation"], ground, rtol=0, atol=0.01)
    assert np.abs(ground - run(terrain, sliding, "reference", steps=5).terrain["elevation"]).max() > 10


def test_shares_can_be_painted_and_undone(terrain: sw.Terrain) -> None:
    simulation = run(terrain, sw.VirtualPipes(), steps=1)
    assert "talus" not in simulation.terrain
    assert simulation.paint("talus", points=[(2560.0, 2560.0)], radius=900.0, strength=-0.5)
    assert simulation.layers("talus")["talus"].min() == pytest.approx(0.5)
    simulation.undo()
    assert (simulation.layers("talus")["talus"] == 1).all()


def placed(values: Any) -> Any:
    """With coordinates, as xarray has them."""
    xarray = pytest.importorskip("xarray")
    return xarray.DataArray(values, dims=("y", "x"), coords={"y": np.arange(len(values))})


@pytest.mark.parametrize(
    ("parameter", "given", "words"),
    [
        ("rain_rate", lambda: sw.Map(np.ones((3, 4))), "rain_rate has shape (3, 4); it must be (24, 24)"),
        ("rain_rate", lambda: sw.Map(np.full((24, 24), np.nan)), "rain_rate is not finite at row 0, column 0"),
        ("rain_rate", lambda: sw.Map(RAMP - 0.5), "somewhere in its map, rain_rate (K_r) is -0.5"),
        ("rain_rate", lambda: sw.Map("wetness"), 'rain_rate is a layer "wetness", which the terrain does not have'),
        ("rain_rate", lambda: sw.Map("elevation", low=0, high=1), "it must lie within 0 .. 1"),
        ("rain_rate", lambda: sw.Map(RAMP, low=2, high=1), "low must be below high"),
        ("rain_rate", lambda: sw.Map(RAMP, low=2), "and no high; give both"),
        ("rain_rate", lambda: sw.Map(RAMP, *WORDS), "is 'dry'; it must be a number"),
        ("rain_rate", lambda: sw.Map(RAMP[0]), "a map has 1 dimensions"),
        ("rain_rate", lambda: sw.Map(np.ma.masked_less(RAMP, RAMP.max())), "of its cells; fill them"),
        ("rain_rate", lambda: sw.Map(placed(RAMP)), "a map has coordinates, which are not read; pass its .values"),
        ("rain_rate", lambda: sw.Map(None), "it must have two, rows and columns"),
        ("rain_rate", lambda: sw.Map("missing.tif"), "missing.tif"),
        ("pipe_area", lambda: sw.Map(RAMP), "pipe_area takes no map; it must be the same everywhere"),
        ("capacity", lambda: sw.Map(RAMP), "capacity takes no map"),
    ],
)
def test_what_is_wrong_with_a_map_is_said_in_one_sentence(
    terrain: sw.Terrain, parameter: str, given: Any, words: str
) -> None:
    with pytest.raises(sw.SlopewashError) as raised:
        sw.Simulation(terrain, sw.VirtualPipes(**{parameter: given()}), backend="reference")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_talus_maps_and_strata_exclude_each_other(terrain: sw.Terrain) -> None:
    layered = terrain.replace(strata=sw.strata_bands())
    with pytest.raises(sw.InvalidParameter, match="takes the talus from this terrain's strata"):
        sw.Simulation(layered, sw.SteepestTalus(talus_angle=sw.Map(RAMP, low=20, high=40)))


def test_two_maps_of_one_layer_are_refused(terrain: sw.Terrain) -> None:
    maps: dict[str, Any] = {
        "talus_angle": sw.Map(RAMP, low=20, high=40),
        "talus_slope_bias": sw.Map(RAMP, low=0.2, high=0.4),
    }
    with pytest.raises(sw.InvalidParameter, match="and so has talus_angle"):
        sw.Simulation(terrain, sw.SteepestTalus(**maps))


def test_the_other_map_of_one_layer_is_named(terrain: sw.Terrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a third one between the two."""
    usual = sw.VirtualPipes.parameter

    def alike(name: str) -> Any:
        declared = usual(name)
        return dataclasses.replace(declared, mappable=Mappable("rainfall")) if name == "thermal_rate" else declared

    monkeypatch.setattr(sw.VirtualPipes, "parameter", staticmethod(alike))
    names: dict[str, Any] = dict.fromkeys(("rain_rate", "sediment_capacity", "thermal_rate"), sw.Map(RAMP))
    with pytest.raises(sw.InvalidParameter, match="thermal_rate has a map, and so has rain_rate, which it scales"):
        sw.Simulation(terrain, sw.VirtualPipes(**names), backend="reference")


@pytest.mark.parametrize("filled", [0.0, 88.0, np.nan])
def test_cells_without_ground_have_no_part_in_a_map(terrain: sw.Terrain, filled: float) -> None:
    """Neither its least nor its greatest value is theirs."""
    nodata = np.zeros(terrain.shape, bool)
    nodata[:4, :4] = True
    holed = sw.Terrain(terrain["elevation"], cell_size=terrain.cell_size, nodata=nodata)
    angles = np.where(nodata, filled, np.float32(30) + 10 * RAMP)
    shares = np.where(nodata, filled, 0.5 + 0.5 * RAMP)
    given: dict[str, sw.Map] = {"values": sw.Map(angles), "shares": sw.Map(shares, low=20, high=40)}
    for name, angle in given.items():
        simulation = sw.Simulation(holed, sw.SteepestTalus(talus_angle=angle), backend="reference")
        assert simulation.model.values()["talus_angle"] == 30.0, name
        talus = simulation.layers("talus")["talus"][~nodata]
        assert talus.min() == 1.0
        assert talus.max() == pytest.approx(np.tan(np.radians(40)) / np.tan(np.radians(30)))
