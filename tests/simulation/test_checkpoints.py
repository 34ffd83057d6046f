"""Checkpoints on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import slopewash as sw


def test_a_thousand_strokes_go_into_one_file_and_can_all_be_undone(tmp_path: Path) -> None:
    simulation = sw.Simulation(sw.generate("hill", size=24), sw.VirtualPipes(), backend="reference")
    simulation.run(1)
    before = simulation.layers("elevation")["elevation"]
    for k in range(1000):
        simulation.paint("raise", points=[(3.0 + k % 17, 4.0)], radius=2.0, strength=0.1)
    simulation.undo()
    written = simulation.checkpoint(tmp_path)
    assert len(list(written.glob("history.*"))) == 1
    resumed = sw.Simulation.resume(tmp_path)
    assert resumed.can_redo
    while resumed.undo():
        pass
    np.testing.assert_array_equal(resumed.layers("elevation")["elevation"], before)
