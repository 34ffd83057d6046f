from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from slopewash.errors import InvalidTerrain, UnknownName
from slopewash.generators import strata_bands
from slopewash.terrain import LOOSE, Strata, Stratum, Terrain

HILL = np.array([[0.0, 50.0, 100.0], [30.0, 60.0, 90.0]])
THREE = [Stratum(thickness=20, erodibility=0.1), Stratum(thickness=40), Stratum(thickness=5, erodibility=0.5)]


def exposed(terrain: Terrain) -> list[list[int]]:
    assert terrain.strata is not None
    return terrain.strata.exposed(terrain["elevation"], terrain["elevation"]).tolist()


def test_level_layers_start_at_the_summit_and_the_lowest_has_no_end() -> None:
    assert exposed(Terrain(HILL, strata=Strata(THREE))) == [[2, 1, 0], [2, 2 - 1, 0]]
    assert exposed(Terrain(HILL - 1e5, strata=Strata(THREE, top=0.0)))[0][0] == 2


def test_a_layer_reaches_down_to_but_not_to_the_next_ones_top() -> None:
    assert exposed(Terrain([[80.0, 80.001, 40.0, 200.0]], strata=Strata(THREE, top=100.0))) == [[1, 0, 2, 0]]


def test_layers_that_follow_the_surface_expose_the_first_everywhere_and_keep_their_top() -> None:
    terrain = Terrain(HILL, strata=Strata(THREE, follow=True))
    assert exposed(terrain) == [[0, 0, 0], [0, 0, 0]]
    worn = terrain.replace(elevation=HILL - 25)
    assert exposed(worn) == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    ("direction", "lower"), [(0, (0, 1)), (90, (1, 2)), (180, (2, 1)), (270, (1, 0))], ids=["n", "e", "s", "w"]
)
def test_tilted_layers_go_down_towards_their_direction(direction: float, lower: tuple[int, int]) -> None:
    strata = Strata(THREE, dip=45, direction=direction, top=0.0).on(np.zeros((3, 3)), 10.0)
    assert strata.top is not None
    assert strata.top[1, 1] == 0.0
    assert strata.top[lower] == pytest.approx(-10.0)


def test_a_tilted_top_covers_all_ground_and_touches_it() -> None:
    terrain = Terrain(HILL, strata=Strata(THREE, dip=30, direction=37), cell_size=20.0)
    assert terrain.strata is not None
    assert terrain.strata.top is not None
    above = terrain.strata.top - HILL
    assert above.min() == pytest.approx(0.0, abs=1e-5)  # tops are float32


def test_soil_above_the_bedrock_is_loose() -> None:
    strata = Strata(THREE, top=100.0).on(HILL, 1.0)
    layer = strata.exposed(HILL, HILL - np.array([[0, 0, 0], [1, 0, 0]]))
    assert layer.tolist() == [[2, 1, 0], [LOOSE, 1, 0]]
    assert strata.lookup("erodibility", layer, otherwise=0.9).tolist() == [[0.5, 1.0, 0.1], [0.9, 1.0, 0.1]]
    assert strata.lookup("flow_erosion", layer, otherwise=7.0).max() == 7.0
    assert strata.bottom(layer).tolist() == [[-math.inf, 40.0, 80.0], [-math.inf, 40.0, 80.0]]


def test_replace_keeps_strata_and_repr_counts_them() -> None:
    terrain = Terrain(HILL, strata=Strata(THREE)).replace(water=1.0)
    assert terrain.strata is not None
    assert "3 strata" in repr(terrain)
    assert terrain.replace(strata=None).strata is None
    for other in (pickle.loads(pickle.dumps(terrain)), copy.deepcopy(terrain)):
        assert exposed(other) == exposed(terrain)


def test_nodata_cells_do_not_lift_the_top() -> None:
    terrain = Terrain(np.array([[-500.0, -400.0]]), nodata=[[False, True]], strata=Strata(THREE))
    assert terrain.strata is not None
    assert terrain.strata.top is not None
    assert terrain.strata.top.tolist() == [[-500.0, -500.0]]


def test_fitted_layers_add_up() -> None:
    layers = Strata([*THREE, Stratum(thickness=math.inf)]).fitted(130.0).layers
    assert [layer.thickness for layer in layers] == pytest.approx([40.0, 80.0, 10.0, math.inf])


def test_bands_alternate() -> None:
    bands = strata_bands(count=4, thickness=5, soft_thickness=8, hard=0.1, soft=0.7, hard_on_top=False)
    assert [(s.thickness, s.erodibility) for s in bands.layers] == [(8, 0.7), (5, 0.1), (8, 0.7), (5, 0.1)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Stratum(thickness=0), "stratum: thickness is 0.0 m; it must be positive"),
        (lambda: Stratum(thickness=math.nan), "stratum: thickness is nan m; it must be positive"),
        (lambda: Stratum(thickness="thick"), "stratum: thickness is 'thick'; it must be a number"),  # type: ignore[arg-type]
        (
            lambda: Stratum(thickness=1, erodibility=2),
            "stratum: erodibility is 2.0; it must lie within 0 (hard) .. 1 (soft)",
        ),
        (
            lambda: Stratum(thickness=1, flow_erosion=-1),
            "stratum: flow_erosion is -1.0; it must be finite and not negative",
        ),
        (lambda: Strata([]), "strata have no layers; give at least one Stratum"),
        (lambda: Strata([3]), "strata contain 3; each layer must be a Stratum"),  # type: ignore[list-item]
        (
            lambda: Strata([Stratum(thickness=math.inf), *THREE]),
            "stratum 0 from the top is infinitely thick; only the lowest may be",
        ),
        (lambda: Strata(THREE, dip=90), "strata: dip is 90; it must be within 0 .. 80 degrees"),
        (
            lambda: Strata(THREE, dip=5, follow=True),
            "strata: dip is 5; layers that follow the surface cannot dip",
        ),
        (lambda: Strata(THREE, top=[1.0]), "strata: top must be finite metres, one number or one for each cell"),
        (
            lambda: Terrain(HILL, strata=Strata(THREE, top=np.zeros((5, 5)))),
            "strata: top has shape (5, 5); it must be (2, 3), as elevation is",
        ),
        (lambda: Terrain(HILL, strata=THREE[0]), "strata is Stratum(20 m, erodibility=0.1); it must be a Strata"),  # type: ignore[arg-type]
        (
            lambda: Strata(THREE).exposed(HILL, HILL),
            "these strata have no terrain yet; use Terrain(..., strata=strata).strata",
        ),
        (
            lambda: Strata.from_table([{"erodibility": 1}]),
            "stratum {'erodibility': 1} has no thickness; give one in metres",
        ),
    ],
)
def test_what_cannot_be_strata_is_rejected_in_one_sentence(make: Any, message: str) -> None:
    with pytest.raises(InvalidTerrain) as caught:
        make()
    assert str(caught.value) == message


def test_an_unknown_property_in_a_table_suggests_the_known_one() -> None:
    with pytest.raises(UnknownName, match='did you mean "thickness"'):
        Strata.from_table([{"thicknes": 1}])


@pytest.mark.parametrize(
    ("rates", "hardness"),
    [
        ({"erodibility": 0.2}, 0.8),
        ({"flow_erosion": 1e-3}, 0.5),
        ({"flow_erosion": 5.0}, 0.0),
        ({"flow_erosion": 0}, 1.0),
    ],
)
def test_hardness_follows_the_rate_that_a_layer_gives(rates: dict[str, float], hardness: float) -> None:
    assert Stratum(thickness=1, **rates).hardness == pytest.approx(hardness)
