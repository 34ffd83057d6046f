"""What the mass budget reports of itself."""

from __future__ import annotations

from slopewash.simulation import Budget


def test_the_summary_shows_what_moved_what_left_and_how_well_mass_is_conserved() -> None:
    amounts = {
        "water_rain": 10.0, "water_now": 10.0,
        "solids_start": 100.0, "solids_moved": 20.0, "solids_exported": 5.0, "solids_now": 95.0,
    }  # fmt: skip
    assert Budget.of(amounts).summary == (
        "20 m³ of soil moved, 5 m³ of it over the edges. "
        "The mass-balance error is 0.0e+00 of the soil moved, and 0.0e+00 of all water."
    )


def test_the_summary_of_an_idle_run_is_short() -> None:
    assert Budget.of({"solids_start": 1.0, "solids_now": 1.0}).summary == "No soil moved."


def test_what_came_from_the_sea_and_what_gullies_took_is_said() -> None:
    budget = Budget(water_sea=-5.0, solids_moved=10.0, solids_resampled=-3.0)
    assert "from sea                5" in repr(budget)
    assert "to the sea" not in repr(budget)
    assert "to the sea              5" in repr(Budget(water_sea=5.0))
    assert budget.summary.endswith("Changes of resolution, detail, gullies and masks took away 3 m³.")
