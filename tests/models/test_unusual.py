"""Values far from what is typical values are questioned, wherever they are given; presets and recipes never are."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.models.unusual import FAR, unusual_sea, unusual_values

HILL = sw.generate("hill", size=16, cell_size=10.0, relief=90.0)
DECLARED = [
    (model, declared)
    for model in map(sw.find_model, sw.model_names())
    for declared in model.parameters()
    if isinstance(declared.default, int | float) and not isinstance(declared.default, bool)
]


def stages() -> Iterator[tuple[str, sw.Stage]]:
    for preset in sw.presets():
        yield preset, sw.recipe(preset).stages[0]
    for name, look in sw.looks().items():
        for stage in look.recipe().stages:
            yield name, stage


def models() -> Iterator[tuple[str, sw.Model]]:
    """Every model that is ours: defaults, presets, their levels, and looks, with their levels too."""
    for name in sw.model_names():
        yield name, sw.find_model(name)()
    for name, stage in stages():
        yield name, stage.model
        for level in stage.levels:
            yield f"{name} at {level.cells}", stage.model.replace(**{**level.parameters, **stage.settings})


@pytest.mark.parametrize(("model", "declared"), DECLARED, ids=lambda given: getattr(given, "name", ""))
def test_a_hundred_times_what_is_typical_is_questioned_or_refused(model: type[sw.Model], declared: Any) -> None:
    assert declared.typical is not None
    for value in (100 * declared.typical[1], declared.typical[0] / 100):
        try:
            changed = model(**{declared.name: value})
        except sw.InvalidParameter:
            continue
        usual = declared.is_height or value == 0
        assert (declared.name in unusual_values(changed)) is not usual
        assert usual or " typical values are " in unusual_values(changed)[declared.name]


def test_nothing_that_is_ours_is_questioned() -> None:
    asked = {name: unusual_values(model) for name, model in models()}
    assert {name: found for name, found in asked.items() if found} == {}


def test_nothing_that_a_slider_of_the_studio_reaches_is_questioned() -> None:
    for name, model in models():
        for slider in model.sliders():
            if slider.name == "age" or slider.why_not(model):
                continue
            for end in (-1.0, 1.0):
                assert not unusual_values(model.replace(**slider.values(model, end))), (name, slider.name)


def test_every_look_is_on_ground_that_suits_its_sea() -> None:
    for name, look in sw.looks().items():
        recipe = look.recipe(size=32)
        for stage in recipe.stages:
            assert not unusual_sea(stage.model, recipe.terrain().range("elevation")), name


@pytest.mark.parametrize(
    ("level", "words"),
    [(3200.0, "all of it is under water"), (-1900.0, "the sea is so far below that no river reaches it")],
)
def test_a_sea_far_from_the_ground_is_questioned(level: float, words: str) -> None:
    sentence = unusual_sea(sw.VirtualPipes(sea_level=level), (0.0, 900.0))
    assert sentence == f"sea_level is {level:g} m and the ground 0 .. 900 m: {words}"


@pytest.mark.parametrize("level", [-math.inf, -800.0, 0.0, 450.0, 899.0])
def test_a_sea_near_the_ground_is_not_questioned(level: float) -> None:
    assert not unusual_sea(sw.VirtualPipes(sea_level=level), (0.0, 900.0))


RAIN = "rain_rate (K_r) is 50 cells/time, 1000 times the highest typical value; typical values are 0 .. 0.05"
WET = sw.VirtualPipes(rain_rate=50)


def erode(model: sw.Model, folder: Path) -> None:
    sw.erode(HILL, model, steps=1, backend="reference")


def simulate(model: sw.Model, folder: Path) -> None:
    sw.Simulation(HILL, model, backend="reference")


def change(model: sw.Model, folder: Path) -> None:
    simulation = sw.Simulation(HILL, model.replace(rain_rate=0.01), backend="reference")
    simulation.model = model
    simulation.model = model.replace(rain_rate=51)  # was asked already


def run(model: sw.Model, folder: Path) -> None:
    stage = sw.Stage(model=model, steps=1)
    sw.Recipe(source=sw.FromTerrain(terrain=HILL), stages=(stage, stage), backend="reference").run()


def tile(model: sw.Model, folder: Path) -> None:
    sw.erode_tiled(HILL, model, steps=1, tile=9, out=folder / "out.zarr", workers=0, backend="reference")


def read(model: sw.Model, folder: Path) -> None:
    """Map of the parameter from a file."""
    sw.write(sw.Terrain(np.full(HILL.shape, 50.0), cell_size=10.0), folder / "rain.tif")
    erode(model.replace(rain_rate=sw.Map(folder / "rain.tif")), folder)


def read_on_tiles(model: sw.Model, folder: Path) -> None:
    sw.write(sw.Terrain(np.full(HILL.shape, 50.0), cell_size=10.0), folder / "rain.tif")
    tile(model.replace(rain_rate=sw.Map(folder / "rain.tif")), folder)


@pytest.mark.parametrize("how", [erode, simulate, change, run, tile, read, read_on_tiles])
def test_it_is_questioned_once_however_it_is_given(how: Callable[[sw.Model, Path], None], tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", sw.UnusualWarning)
        how(WET, tmp_path)
    (sentence,) = [str(warning.message) for warning in caught if warning.category is sw.UnusualWarning]
    assert sentence == RAIN


def test_levels_are_questioned_once_together() -> None:
    recipe = sw.recipe("landscape", size=256, backend="reference").replace()
    stage = recipe.stages[0].with_parameters(rain_rate=50.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sw.Running(recipe.replace(stages=(stage,))).close()
    assert [warning.category for warning in caught].count(sw.UnusualWarning) == 1


def test_a_value_so_small_that_nothing_happens_is_questioned() -> None:
    assert unusual_values(sw.VirtualPipes(pipe_area=0.001))["pipe_area"] == (
        "pipe_area (A) is 0.001 cells², 100 times less than the lowest typical value; typical values are 0.1 .. 60"
    )
    assert FAR == 10
