"""A run in the studio that loses mass pauses, and the page shows why; what is kept on disk is not overwritten by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import slopewash as sw


def test_a_run_that_loses_water_pauses_and_says_so(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    page.steps(2)
    usual = sw.VirtualPipes.amounts

    def amounts(self: sw.VirtualPipes, state: Any, domain: Any) -> Mapping[str, float]:
        return {**usual(self, state, domain), "water_now": 0.0}

    monkeypatch.setattr(sw.VirtualPipes, "amounts", amounts)
    page.do("step", count=3)
    while not any(message["type"] == "error" for message in page.told):
        page.read()
    sentence = next(message["message"] for message in page.told if message["type"] == "error")
    assert "of water is unaccounted for by step 5" in sentence
    page.until(lambda state: not state["playing"])
