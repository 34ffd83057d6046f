"""Water in pictures."""

from __future__ import annotations

import numpy as np
import pytest

import slopewash as sw
from slopewash.rendering.scene import Look, build_scene


@pytest.mark.parametrize("layer", ["lake", "water"])
def test_still_water_is_level_however_rough_its_floor(layer: str) -> None:
    rough = np.random.default_rng(1).uniform(-80, -20, (48, 48))
    terrain = sw.Terrain(rough, cell_size=10.0).replace(**{layer: -rough})
    scene = build_scene(terrain, (144, 144), Look(sun="map"))
    assert np.ptp(scene.bed) > 20
    assert np.ptp(scene.surface) < 1e-3
