"""What a recording keeps in a checkpoint."""

from __future__ import annotations

import math
from typing import Any

import slopewash as sw

ACTIONS: list[tuple[Any, ...]] = [
    ("run", 3),
    ("model", {"dig_limit": math.inf, "rain_rate": 0.1}),
    ("paint", {"tool": "raise", "points": [[1.5, 2.25]], "radius": 3.0, "strength": None, "falloff": 0.5}, False),
    ("run", 2),
    ("run", 5),
    ("settle", 10, True, None),
]


def test_a_recording_kept_after_every_action_has_the_same_script() -> None:
    recipe = sw.recipe("single_grid", size=16)
    start = recipe.terrain()
    recording = sw.Recording(recipe, "reference")
    for action in ACTIONS:
        recording.add(*action)
        read = sw.Recording.from_parts(*recording.parts(start), start)
        assert read.script() == recording.script()
        assert (read.actions, read.amount) == (recording.actions, recording.amount)
    read = sw.Recording.from_parts(*recording.parts(start, then=[["settle", 20, False, 7]]), start)
    assert read.actions == [*recording.actions, ["settle", 20, False, 7]]
    assert "dig_limit=float('inf')" in read.script()
