"""Ctrl-C while a recipe prepares its next stage."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.recipes.levels import terrain_of


def recipe() -> sw.Recipe:
    return sw.recipe("landscape", size=96, steps=12, backend="reference")


def test_ctrl_c_while_a_level_is_prepared_is_answered_then_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = recipe().run().terrain
    prepared: list[int | None] = [0]

    def interrupted(*given: Any, **options: Any) -> sw.Terrain:
        made = terrain_of(*given, **options)
        prepared.append(given[0].cells)
        if len(prepared) == 2:
            signal.raise_signal(signal.SIGINT)
            pytest.fail("the signal was held back until the level was prepared")
        return made

    running = sw.Running(recipe(), checkpoint=tmp_path / "kept")
    monkeypatch.setattr("slopewash.recipes.running.terrain_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        running.run()
    monkeypatch.undo()
    assert running.number == 0
    assert running.result().interrupted
    running.write_checkpoint()
    resumed = sw.Running.resumed(tmp_path / "kept")
    resumed.run()
    running.run()
    for each in (running, resumed):
        assert np.array_equal(each.result().terrain["elevation"], whole["elevation"])
        assert each.result().budget.solids_drift < 1e-4
