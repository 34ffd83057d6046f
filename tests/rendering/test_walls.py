"""The cut sides of a block: what lies beneath the ground, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash.rendering import render_view
from slopewash.rendering.kernels import rock_at
from slopewash.rendering.walls import HARD, LOOSE, OTHER, PLAIN, SOFT, TOPSOIL, Rock, rock_of
from slopewash.terrain import Strata, Stratum, Terrain

Floats = NDArray[np.float32]
LAYERS = (
    Stratum(thickness=10, erodibility=1.0),
    Stratum(thickness=20, erodibility=0.0),
    Stratum(thickness=5, erodibility=1.0),
)


def cut(terrain: Terrain, heights: list[float], *, column: float = 0.0, exaggeration: float = 1.0) -> Floats:
    """Colours at some heights of the north wall, deep in the ground; the rock's grain is taken out."""
    rows, columns = terrain.shape
    rock = rock_of(terrain, (columns, rows), exaggeration)
    (top,), (bedrock,) = rock.beneath(np.zeros(1, np.float32), np.array([column], np.float32))
    middle = rock.grain.shape[1] // 2
    return np.array([rock_here(rock, height, top, bedrock, middle) for height in heights]) / rock.grain[0, middle]


def rock_here(rock: Rock, height: float, top: float, bedrock: float, j: int, buried: float = 1e6) -> list[Floats]:
    numbers = [np.float32(v) for v in (height, height + buried, top, bedrock, 0.0, j)]
    return list(rock_at(*numbers, rock.colours, rock.depths, rock.grain, TOPSOIL, np.float32(1.0)))


def close(colours: Floats, *expected: Floats) -> None:
    np.testing.assert_allclose(colours, np.stack(expected), rtol=1e-4)  # float32 products


def test_ground_without_strata_is_plain_rock() -> None:
    close(cut(Terrain(np.full((8, 8), 100.0)), [-50.0, 10.0, 60.0, 99.0]), PLAIN, PLAIN, PLAIN, PLAIN)


def test_layers_lie_where_the_strata_are() -> None:
    terrain = Terrain(np.full((8, 8), 100.0), strata=Strata(LAYERS, top=100.0))
    close(cut(terrain, [90.1, 89.9, 70.1, 69.9, -500.0]), SOFT, OTHER * HARD, OTHER * HARD, SOFT, SOFT)


def test_ground_above_the_top_is_the_first_layer() -> None:
    close(cut(Terrain(np.full((8, 8), 100.0), strata=Strata(LAYERS, top=50.0)), [80.0]), SOFT)


def test_tilted_layers_are_tilted_on_the_walls() -> None:
    strata = Strata(LAYERS, dip=45.0, direction=90.0, top=100.0)  # a metre down for each metre east
    terrain = Terrain(np.full((9, 9), 200.0), strata=strata)
    for column, first in ((0.0, 94.0), (8.0, 86.0)):  # four cells from the middle, where the first layer ends at 90
        close(cut(terrain, [first + 0.1, first - 0.1], column=column), SOFT, OTHER * HARD)


def test_layers_are_exaggerated_as_the_ground_is() -> None:
    terrain = Terrain(np.full((8, 8), 100.0), strata=Strata(LAYERS, top=100.0))
    close(cut(terrain, [180.2, 179.8], exaggeration=2.0), SOFT, OTHER * HARD)


def test_soil_on_the_bedrock_belongs_to_no_layer() -> None:
    ground = np.full((8, 8), 100.0)
    terrain = Terrain(ground, strata=Strata(LAYERS, top=100.0), bedrock=ground - 15.0)
    close(cut(terrain, [86.0, 84.0]), LOOSE, OTHER * HARD)


def test_the_turf_lies_on_top() -> None:
    rock = rock_of(Terrain(np.zeros((8, 8))), (8, 8), 1.0)
    close(np.array([rock_here(rock, 0.0, 0.0, np.inf, 0, buried=0.0)]), TOPSOIL)


@pytest.mark.parametrize(("upper", "lower"), [(0.0, 1.0), (1.0, 0.0)])
def test_the_picture_shows_hard_rock_darker_than_soft(upper: float, lower: float) -> None:
    layers = [Stratum(thickness=0.8, erodibility=upper), Stratum(thickness=9, erodibility=lower)]
    flat = Terrain(np.zeros((32, 32)))  # the block reaches a twentieth of its side down
    plain, layered = (
        np.asarray(render_view(terrain, size=(320, 200), azimuth=180.0, pitch=5.0))[:, 160].astype(float).mean(axis=1)
        for terrain in (flat, flat.replace(strata=Strata(layers)))
    )
    lighter = layered - plain
    wall = np.flatnonzero(np.abs(lighter) > 3)
    assert (lighter[wall[1]] > 0, lighter[wall[-2]] > 0) == (upper == 1.0, lower == 1.0)
