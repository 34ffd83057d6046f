"""What presets suggest."""

from __future__ import annotations

import pytest

import slopewash as sw


@pytest.mark.parametrize(
    ("steps", "settling"), [(4000, 600), (9000, 600), (2000, 300), (200, 30), (50, 20), (6, 6), (0, 0)]
)
def test_settling_keeps_its_share_of_a_shorter_run(steps: int, settling: int) -> None:
    preset = sw.find_preset("single_grid")
    assert (preset.steps, preset.settle) == (4000, 600)
    assert preset.settling(steps) == settling


def test_a_preset_that_does_not_settle_never_does() -> None:
    assert sw.find_preset("jako2011").settling(50) == 0
