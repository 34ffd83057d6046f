"""What a run consists of: sides, states, and parts of both."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.models.state import Domain, Side, Sides, State
from slopewash.terrain.fields import FieldSpec

KINDS = get_args(Side)
NAMES = ("north", "south", "west", "east")


# Sides


@pytest.mark.parametrize(("one", "other"), [("north", "south"), ("west", "east")])
def test_opposite_sides_may_differ_unless_they_are_periodic(one: str, other: str) -> None:
    for a, b in itertools.product(KINDS, KINDS):
        given = dict.fromkeys(NAMES, "closed") | {one: a, other: b}
        if (a == "periodic") == (b == "periodic"):
            assert dict(Sides.of(given).items()) == given
        else:
            with pytest.raises(InvalidParameter) as caught:
                Sides.of(given)
            assert str(caught.value) == (
                f"the {one} side is {a} and the {other} side {b}; periodic sides come in opposite pairs"
            )


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_kind_of_side_is_named_with_the_known_ones(name: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Sides.of(dict.fromkeys(NAMES, "closed") | {name: "ajar"})
    assert str(caught.value) == f"the {name} side is 'ajar'; it must be one of open, closed, periodic"


@pytest.mark.parametrize("word", ["open", "closed", "periodic"])
def test_one_word_makes_all_four_sides_alike(word: str) -> None:
    sides = Sides.of(word)
    assert set(dict(sides.items()).values()) == {word}
    assert sides.word == word == str(sides)
    assert Sides.of(sides) is sides
    assert (sides.wraps_rows, sides.wraps_columns) == ((word == "periodic"),) * 2
    assert sides.any_open == (word == "open")


@pytest.mark.parametrize("word", ["round", "halo", "Open", ""])
def test_a_word_that_is_no_edge_is_refused(word: str) -> None:
    with pytest.raises(InvalidParameter, match=r"it must be one of open, closed, periodic, or Sides\(\.\.\.\)"):
        Sides.of(word)


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ({"north": "open"}, 'edges: missing "south", "west", "east"; name all four sides'),
        (dict.fromkeys((*NAMES, "top"), "open"), 'edges: unknown side "top"; name all four sides'),
        ({}, 'edges: missing "north", "south", "west", "east"; name all four sides'),
    ],
)
def test_all_four_sides_must_be_named(edges: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Sides.of(edges)
    assert str(caught.value) == words


def test_sides_that_differ_are_written_one_by_one() -> None:
    sides = Sides(north="open", south="halo", west="periodic", east="periodic")
    assert str(sides) == "north open, south halo, west periodic, east periodic"
    assert sides.word is None
    assert (sides.wraps_rows, sides.wraps_columns, sides.any_open) == (False, True, True)


# States

FIELDS = (
    FieldSpec(name="water", doc=""),
    FieldSpec(name="outflow", doc="", layer=False),
    FieldSpec(name="base_west", doc="", layer=False, place="rows"),
    FieldSpec(name="base_north", doc="", layer=False, place="columns"),
    FieldSpec(name="sources", doc="", layer=False, place="list"),
)


def numbered(rows: int = 5, columns: int = 7) -> State:
    """A state whose values tell where they are from."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    return State(
        {
            "water": cells, "outflow": np.stack([cells + 100 * k for k in range(4)]),
            "base_west": np.arange(rows), "base_north": np.arange(columns), "sources": np.ones((2, 4)),
        },
        {"iterations": 3},
    )  # fmt: skip


@pytest.mark.parametrize(
    "window",
    [
        (slice(0, 5), slice(0, 7)),
        (slice(1, 4), slice(2, 3)),
        (slice(-2, 3), slice(0, 7)),  # over the northern edge
        (slice(3, 8), slice(5, 9)),  # over the southern and the eastern one
        (slice(-6, 9), slice(-8, 15)),  # round more than once
    ],
)
def test_a_window_takes_what_lies_beyond_the_grid_from_the_far_side(window: tuple[slice, slice]) -> None:
    state = numbered()
    part = state.window(window, FIELDS)
    rows, columns = (np.arange(w.start, w.stop) for w in window)
    cells = 7 * (rows[:, None] % 5) + columns % 7
    assert_array_equal(part["water"], cells)
    for k in range(4):
        assert_array_equal(part["outflow"][k], cells + 100 * k)
    assert_array_equal(part["base_west"], rows % 5)
    assert_array_equal(part["base_north"], columns % 7)
    assert_array_equal(part["sources"], state["sources"])
    assert part.scalars == {"iterations": 3}


@pytest.mark.parametrize("make", [lambda s: s.copy(), lambda s: s.window((slice(0, 5), slice(0, 7)), FIELDS)])
def test_copies_and_windows_share_nothing_with_the_state(make: Any) -> None:
    state = numbered()
    other = make(state)
    for name in list(state.arrays):
        other[name][...] = -1
    other.scalars["iterations"] = 0
    for name, array in numbered().arrays.items():
        assert_array_equal(state[name], array, err_msg=name)
    assert state.scalars == {"iterations": 3}


def test_part_of_a_field_is_its_rows_and_columns_in_every_component() -> None:
    state = numbered()
    window = (slice(1, 3), slice(4, 6))
    assert_array_equal(state.part("water", window), [[11, 12], [18, 19]])
    assert_array_equal(state.part("outflow", window)[2], [[211, 212], [218, 219]])
    assert state.part("water", None).shape == (5, 7)


# Domains


def test_a_part_of_a_domain_keeps_what_is_global() -> None:
    whole = Domain(shape=(50, 60), cell_size=2.5, datum=431.0, scale=7.0, seed=9, sides=Sides.of("open"))
    sides = Sides(north="halo", south="open", west="halo", east="open")
    part = whole.part((slice(13, 50), slice(21, 60)), sides)
    assert (part.shape, part.origin, part.sides) == ((37, 39), (13, 21), sides)
    assert (part.cell_size, part.datum, part.scale, part.seed) == (2.5, 431.0, 7.0, 9)


def test_a_part_of_a_part_counts_from_the_whole() -> None:
    whole = Domain(shape=(50, 60), cell_size=1.0, datum=0.0, sides=Sides.of("periodic"))
    halo = Sides(north="halo", south="halo", west="halo", east="halo")
    part = whole.part((slice(-3, 20), slice(40, 66)), halo).part((slice(5, 9), slice(1, 4)), halo)
    assert (part.shape, part.origin) == ((4, 3), (2, 41))


@pytest.mark.parametrize("model", [sw.VelocityField(), sw.MeshParticles(triangles=400)], ids=lambda model: model.name)
def test_a_model_without_a_halo_is_not_cut_into_tiles(model: sw.Model) -> None:
    domain, state = model.prepare(
        sw.generate("cone", size=16, cell_size=10.0), sides=Sides.of(model.edges()[0]), seed=0
    )
    with pytest.raises(InvalidParameter, match=f"{model.name} cannot be cut into tiles"):
        model.tile((slice(0, 8), slice(0, 8)), 1, state, domain)


def test_a_tile_wraps_round_periodic_sides_and_ends_at_others() -> None:
    sides = Sides(north="open", south="closed", west="periodic", east="periodic")
    model = sw.VirtualPipes()
    domain, state = model.prepare(sw.generate("cone", size=32, cell_size=10.0), sides=sides, seed=0)
    window, part, cells = model.tile((slice(0, 8), slice(0, 8)), 2, state, domain)
    assert window == (slice(0, 14), slice(-6, 14))
    assert (part.shape, part.origin) == ((14, 20), (0, -6))
    assert part.sides == Sides(north="open", south="halo", west="halo", east="halo")
    assert_array_equal(cells["elevation"][:, :6], state["elevation"][:14, -6:])
