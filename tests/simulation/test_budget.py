"""What the books say of themselves."""

from __future__ import annotations

from slopewash.models.base import Ledger
from slopewash.simulation import Budget


def test_the_summary_tells_what_moved_what_left_and_how_well_the_books_balance() -> None:
    ledger = Ledger(
        water_rain=10.0, water_now=10.0, solids_start=100.0, solids_moved=20.0, solids_exported=5.0, solids_now=95.0
    )
    assert Budget.of(ledger).summary == (
        "20 m³ of soil moved, 5 m³ of it over the edges; "
        "the books are off by 0.0e+00 of that (water by 0.0e+00 of all there was)."
    )


def test_the_summary_of_an_idle_run_is_short() -> None:
    assert Budget.of(Ledger(solids_start=1.0, solids_now=1.0)).summary == "No soil moved."
