"""The five sliders: monotone, with the preset in the middle, and nothing that a model would refuse."""

from __future__ import annotations

import itertools

import pytest

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.models.sliders import SLIDERS

POSITIONS = (-1.0, -0.6, -0.2, 0.0, 0.3, 0.7, 1.0)
PRESETS = [pytest.param(preset.model, id=name) for name, preset in sw.presets().items()]


@pytest.mark.parametrize("usual", PRESETS)
def test_sliders_are_monotone_and_have_the_preset_in_the_middle(usual: sw.Model) -> None:
    moved = 0
    for slider in usual.sliders():
        if slider.name == "age" or slider.why_not(usual):
            continue
        way = [slider.values(usual, position) for position in POSITIONS]
        assert usual.replace(**way[POSITIONS.index(0.0)]) == usual
        for name in way[0]:
            rises = slider.moves[name] > 1
            for before, after in itertools.pairwise(values[name] for values in way):
                assert (before < after) == rises, (slider.name, name)
            moved += 1
        for position, values in zip(POSITIONS, way, strict=True):
            model = usual.replace(**values)  # which refuses what cannot be
            assert slider.position(model, usual) == pytest.approx(position, abs=2e-3)
    assert moved


@pytest.mark.parametrize("usual", PRESETS)
def test_a_slider_at_either_end_still_runs(usual: sw.Model) -> None:
    terrain = sw.generate("dome", size=16, cell_size=10.0)
    for slider, position in itertools.product(usual.sliders(), (-1.0, 1.0)):
        if slider.name != "age" and not slider.why_not(usual):
            model = usual.replace(**slider.values(usual, position))
            with sw.Simulation(terrain, model, backend="reference") as simulation:
                simulation.run(1)


@pytest.mark.parametrize("name", sw.model_names())
def test_every_model_answers_for_every_slider(name: str) -> None:
    model = sw.find_model(name)
    assert [slider.name for slider in model.sliders()] == list(SLIDERS)
    for slider in model.sliders():
        if slider.name != "age":
            assert bool(slider.moves) != bool(slider.absent), slider.name
        for parameter in slider.moves:
            model.parameter(parameter)


def test_a_slider_without_counterpart_gives_the_reason() -> None:
    rain = sw.SteepestTalus.sliders()[0]
    with pytest.raises(InvalidParameter, match="rain cannot be moved: the model has no water"):
        rain.values(sw.SteepestTalus(), 0.5)


def test_a_slider_whose_parameters_are_zero_says_so() -> None:
    rain = sw.VirtualPipes.sliders()[0]
    dry = sw.VirtualPipes(rain_rate=0.0)
    assert "rain_rate is 0 here" in rain.why_not(dry)
    with pytest.raises(InvalidParameter, match="rain_rate is 0 here"):
        rain.values(dry, 1.0)
    assert rain.position(dry, sw.VirtualPipes()) == -1.0


def test_positions_beyond_the_ends_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"position of rain is 1\.5; it must be within"):
        sw.VirtualPipes.sliders()[0].values(sw.VirtualPipes(), 1.5)


def test_the_age_multiplies_the_steps() -> None:
    age = next(slider for slider in sw.VirtualPipes.sliders() if slider.name == "age")
    assert [age.steps(1000, position) for position in (-1, 0, 1)] == [250, 1000, 4000]
    assert age.age(4000, 1000) == 1.0
    assert age.age(1000, 1000) == 0.0
