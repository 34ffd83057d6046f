"""Declarations, limits, presets and coefficients."""

from __future__ import annotations

import math

import pytest

from slopewash import (
    InvalidParameter,
    Simulation,
    StabilityWarning,
    UnknownName,
    VirtualPipes,
    generate,
    preset,
    presets,
)
from slopewash.models.virtual_pipes.coefficients import NO_LIMIT, coefficients

TABLE_2 = {
    "time_step": 0.02, "rain_rate": 0.012, "evaporation_rate": 0.015, "pipe_area": 20, "gravity": 9.81,
    "sediment_capacity": 1, "thermal_rate": 0.15, "suspension_rate": 0.5, "deposition_rate": 1, "softening_rate": 5,
    "maximum_erosion_depth": 10, "talus_slope_range": 0.8, "talus_slope_bias": 0.1,
}  # fmt: skip


def test_defaults_are_table_2() -> None:
    for name, value in TABLE_2.items():
        assert getattr(VirtualPipes(), name) == value, name


def test_every_parameter_is_declared_with_words_and_a_range() -> None:
    for p in VirtualPipes.parameters():
        assert p.doc.endswith("."), p.name
        if not p.choices and not isinstance(p.default, bool):
            assert p.symbol, p.name
            assert p.typical is not None, p.name
            assert p.rule is not None, p.name


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pipe_area": -1.0}, "pipe_area (A) is -1.0 cells²; it must be positive"),
        ({"time_step": 0.0}, "time_step (Δt) is 0.0; it must be positive"),
        ({"rain_rate": math.nan}, "rain_rate (K_r) is nan cells/time; it must be zero or more"),
        ({"minimum_tilt": 1.5}, "minimum_tilt (sin α_min) is 1.5; it must be between 0 and 1"),
        ({"transport": "magic"}, "transport is 'magic'; it must be one of donor_cell, semi_lagrangian"),
        ({"rain_rate": "lots"}, "rain_rate is 'lots'; it must be a number"),
        ({"deposit_below_surface": 3}, "deposit_below_surface is 3; it must be true or false"),
    ],
)
def test_a_bad_value_is_named_with_its_remedy(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        VirtualPipes().replace(**changes)
    assert str(caught.value) == words


def test_an_unknown_parameter_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match='did you mean "rain_rate"'):
        VirtualPipes().replace(rain_rat=1)


def test_presets_are_listed_with_what_they_are_used_with() -> None:
    assert set(presets()) >= {"single_grid", "jako2011", "mei2007", "salamin"}
    assert presets()["single_grid"].edges == "open"
    assert presets()["salamin"].steps == 50
    with pytest.raises(UnknownName, match='did you mean "jako2011"'):
        preset("jako")


def test_processes_are_one_keyword() -> None:
    both, water, soil = (coefficients(VirtualPipes(processes=p), 1) for p in ("both", "hydraulic", "thermal"))
    assert (both.hydraulic, both.eight_pipes) == (True, True)
    assert (water.hydraulic, water.eight_pipes) == (True, False)
    assert (soil.hydraulic, soil.eight_pipes) == (False, True)


@pytest.mark.parametrize(
    ("depth", "law", "shallow", "deep"),
    [
        (10.0, "decreasing", 1.0, 0.0), (math.inf, "decreasing", 1.0, 1.0), (0.0, "decreasing", 0.0, 0.0),
        (10.0, "printed", 0.0, 1.0), (math.inf, "printed", 0.0, 0.0), (0.0, "printed", 1.0, 1.0),
    ],
)  # fmt: skip
def test_the_ramp_fades_with_depth(depth: float, law: str, shallow: float, deep: float) -> None:
    c = coefficients(VirtualPipes(maximum_erosion_depth=depth, depth_ramp=law), 1)
    for d1, expected in ((0.0, shallow), (10.0, deep)):
        assert min(max(c.ramp_0 + c.ramp_1 * d1, 0), 1) == pytest.approx(expected)


def test_mud_limits_belong_to_counting_mud_as_water() -> None:
    assert coefficients(VirtualPipes(), 1).water_0 == 0
    assert coefficients(VirtualPipes(sediment_volume=0.0), 1).water_0 == NO_LIMIT
    assert coefficients(VirtualPipes(maximum_concentration=1.0), 1).load_0 == NO_LIMIT


def test_a_step_above_the_limit_is_taken_in_sub_steps_with_one_warning() -> None:
    with pytest.warns(StabilityWarning, match="each step is taken in 2 sub-steps") as caught:
        simulation = Simulation(
            generate("hill", size=12), VirtualPipes(pipe_area=60.0, gravity=20.0), backend="reference"
        )
    assert len(caught) == 1
    simulation.run(3)
    assert simulation.step == 3
    assert simulation.time == pytest.approx(0.06)


def test_default_and_landscape_parameters_need_no_sub_steps() -> None:
    for model in (VirtualPipes(), preset("single_grid")):
        assert all(limit.substeps == 1 for limit in model.limits())


def test_sub_steps_cover_the_same_time() -> None:
    whole = coefficients(VirtualPipes(), 1)
    parts = coefficients(VirtualPipes(), 4)
    assert parts.dt * 4 == pytest.approx(whole.dt)
    assert parts.rain * 4 == pytest.approx(whole.rain)


def test_repr_shows_what_differs() -> None:
    assert repr(VirtualPipes(rain_rate=0.02)) == "VirtualPipes(rain_rate=0.02)"
