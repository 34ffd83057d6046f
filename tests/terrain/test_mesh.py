"""Triangle meshes: refining a height field, going back, and what cannot be a mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slopewash as sw
from slopewash.errors import InvalidMesh, InvalidParameter
from slopewash.terrain import Terrain, TriangleMesh

SHAPES = ((2, 2), (3, 2), (5, 9), (17, 17), (33, 20), (17, 100), (64, 50))


def rough(shape: tuple[int, int], seed: int = 0, cell_size: float = 10.0) -> Terrain:
    return Terrain(100 * np.random.default_rng(seed).random(shape), cell_size=cell_size)


def edges_by_use(mesh: TriangleMesh) -> dict[tuple[int, int], int]:
    uses: dict[tuple[int, int], int] = {}
    for a, b, c in mesh.triangles.tolist():
        for edge in ((a, b), (b, c), (c, a)):
            key = (min(edge), max(edge))
            uses[key] = uses.get(key, 0) + 1
    return uses


@settings(max_examples=25, deadline=None)
@given(
    shape=st.sampled_from(SHAPES),
    seed=st.integers(0, 1000),
    budget=st.integers(100, 8000),
    weights=st.tuples(st.floats(0, 50), st.floats(0, 50)),
)
def test_refined_meshes_have_no_cracks_and_no_t_junctions(
    shape: tuple[int, int], seed: int, budget: int, weights: tuple[float, float]
) -> None:
    mesh = TriangleMesh.from_terrain(
        rough(shape, seed), budget=budget, gradient_weight=weights[0], depth_weight=weights[1]
    )
    west, north, east, south = mesh.extent
    assert len(mesh.triangles) <= budget
    assert mesh.areas.min() > 0
    # Triangles that tile the rectangle, each inner edge used twice and each other edge on the rectangle's border, leave
    # no room for a vertex in the middle of another triangle's edge.
    assert mesh.areas.sum() == pytest.approx((east - west) * (south - north), rel=1e-12)
    for (a, b), uses in edges_by_use(mesh).items():
        middle = 0.5 * (mesh.vertices[a] + mesh.vertices[b])
        on_border = middle[0] in (west, east) or middle[1] in (north, south)
        assert uses == (1 if on_border else 2)


@pytest.mark.parametrize("shape", SHAPES)
def test_neighbours_share_the_edge_opposite_the_corner(shape: tuple[int, int]) -> None:
    mesh = TriangleMesh.from_terrain(rough(shape), budget=300)
    for t, row in enumerate(mesh.neighbours.tolist()):
        for corner, other in enumerate(row):
            edge = {int(mesh.triangles[t, (corner + k) % 3]) for k in (1, 2)}
            if other >= 0:
                assert edge <= set(mesh.triangles[other].tolist())
                assert t in mesh.neighbours[other]
            else:
                assert mesh.border[list(edge)].all()


def test_the_fan_of_a_vertex_holds_its_triangles() -> None:
    mesh = TriangleMesh.from_terrain(rough((17, 17)), budget=300)
    start, triangle = mesh.fan
    for v in range(len(mesh.vertices)):
        expected = np.flatnonzero((mesh.triangles == v).any(axis=1))
        np.testing.assert_array_equal(triangle[start[v] : start[v + 1]], expected)


@pytest.mark.parametrize("shape", [(2, 2), (5, 9), (33, 33), (17, 65)])
def test_a_full_mesh_gives_its_terrain_back_bit_for_bit(shape: tuple[int, int]) -> None:
    terrain = rough(shape)
    back = TriangleMesh.from_terrain(terrain, budget=10**9).to_terrain(10.0)
    assert back.nodata is None
    np.testing.assert_array_equal(back["elevation"], terrain["elevation"])


@pytest.mark.parametrize("shape", [(2, 2), (2, 7), (20, 31), (64, 50)])
def test_a_mesh_of_cells_has_every_height_and_no_crack(shape: tuple[int, int]) -> None:
    terrain = rough(shape)
    mesh = TriangleMesh.of_cells(terrain)
    assert len(mesh.triangles) == 2 * (shape[0] - 1) * (shape[1] - 1)
    assert int(mesh.border.sum()) == 2 * (shape[0] + shape[1] - 2)
    back = mesh.to_terrain(10.0)
    assert back.nodata is None
    np.testing.assert_array_equal(back["elevation"], terrain["elevation"])


@pytest.mark.parametrize("cell_size", [1.0, 3.7, 10.0, 25.0])
def test_an_inclined_plane_stays_one_at_any_cell_size(cell_size: float) -> None:
    y, x = np.mgrid[0:33, 0:33] * 10.0
    mesh = TriangleMesh.from_terrain(Terrain(2 * x + 3 * y, cell_size=10.0), budget=77)
    raster = mesh.to_terrain(cell_size)["elevation"]
    rows, columns = raster.shape
    assert (rows, columns) == (int(320 / cell_size) + 1,) * 2
    i, j = np.mgrid[0:rows, 0:columns] * cell_size
    np.testing.assert_allclose(raster, 2 * j + 3 * i, atol=1e-3)  # float32 at 1600 m


def test_heights_at_points_are_those_of_the_raster() -> None:
    mesh = TriangleMesh.from_terrain(rough((33, 20)), budget=400)
    raster = mesh.to_terrain(10.0)["elevation"]
    i, j = np.mgrid[0:33, 0:20]
    np.testing.assert_allclose(mesh.height_at(5 + 10 * j, 5 + 10 * i), raster, atol=1e-5)
    assert np.isnan(mesh.height_at(-1.0, 50.0))


def test_steep_and_low_ground_gets_smaller_triangles() -> None:
    y = np.mgrid[0:129, 0:129][0] * 10.0
    terrain = Terrain(400 / (1 + np.exp((y - 640) / 60)), cell_size=10.0)  # high and level, a slope, low and level
    mesh = TriangleMesh.from_terrain(terrain, budget=4000)
    middle = mesh.vertices[mesh.triangles].mean(axis=1)[:, 1]
    high, steep, low = (
        float(np.median(mesh.areas[(middle > a) & (middle < b)])) for a, b in ((0, 350), (560, 720), (950, 1290))
    )
    assert steep < 0.5 * low  # gradient
    assert low < 0.5 * high  # depth
    assert len(np.unique(np.round(mesh.areas, 6))) >= 4  # levels of subdivision, as in figure 2


def test_weights_of_zero_give_even_triangles() -> None:
    mesh = TriangleMesh.from_terrain(rough((65, 65)), budget=2048, gradient_weight=0, depth_weight=0)
    assert mesh.areas.max() <= 2.001 * mesh.areas.min()


def test_volume_is_that_of_prisms() -> None:
    mesh = TriangleMesh([[0, 0, 3], [6, 0, 6], [0, 4, 9]], [[0, 1, 2]])
    assert mesh.volume() == pytest.approx(12 * 6)
    assert mesh.volume(datum=6) == pytest.approx(0)


def test_triangles_given_face_down_are_turned_over() -> None:
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert TriangleMesh(corners, [[0, 2, 1]]).areas[0] == 0.5


SQUARE = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [2, 2, 0]]


@pytest.mark.parametrize(
    ("vertices", "triangles", "message"),
    [
        ([], [], "the mesh is empty; it needs at least one triangle"),
        (SQUARE, np.zeros((0, 3), int), "the mesh is empty; it needs at least one triangle"),
        ([[0, 0]], [[0, 0, 0]], r"vertices have shape \(1, 2\); they must have shape \(n, 3\)"),
        (SQUARE, [[0, 1, 9]], "a triangle refers to vertex 9; there are 5, numbered from 0"),
        (SQUARE, [[0, 1, -1]], "a triangle refers to vertex -1; there are 5, numbered from 0"),
        ([[0, 0, np.nan], *SQUARE[1:]], [[0, 1, 2]], r"vertex 0 is \[0.0, 0.0, nan\]; it must be finite"),
        (SQUARE, [[0, 3, 4]], "triangle 0 has no area as seen from above"),
        (SQUARE, [[0, 1, 2], [1, 2, 3]], "triangle 1 faces down as seen from above"),
        (SQUARE, [[0, 1, 2], [0, 1, 3]], "the mesh is not manifold: 2 triangles lie on the same side of the edge"),
    ],
)
def test_what_cannot_be_a_mesh_is_rejected_in_one_sentence(vertices: Any, triangles: Any, message: str) -> None:
    with pytest.raises(InvalidMesh, match=message) as caught:
        TriangleMesh(vertices, triangles)
    assert "\n" not in str(caught.value)


def test_terrain_with_nodata_or_too_small_a_budget_is_rejected() -> None:
    with pytest.raises(InvalidMesh, match="has 1 nodata cell; a mesh needs ground everywhere, fill them first"):
        TriangleMesh.from_terrain(Terrain(np.eye(3), nodata=np.eye(3) * [1, 0, 0]))
    with pytest.raises(InvalidParameter, match="may have 1 triangles; a terrain of this shape needs 2 or more"):
        TriangleMesh.from_terrain(rough((9, 9)), budget=1)
    with pytest.raises(InvalidMesh, match="a mesh needs two rows and two columns"):
        TriangleMesh.from_terrain(rough((1, 9)))
    with pytest.raises(InvalidParameter, match="depth_weight is -1"):
        TriangleMesh.from_terrain(rough((9, 9)), depth_weight=-1)
    with pytest.raises(InvalidParameter, match=r"cell_size is 0 m; it must be positive"):
        TriangleMesh.from_terrain(rough((9, 9))).to_terrain(0)


def test_uncovered_cells_hold_no_data() -> None:
    raster = TriangleMesh([[0, 0, 1], [4, 0, 1], [0, 4, 1]], [[0, 1, 2]], eroded=[1, 1, 1]).to_terrain(1.0)
    assert raster.nodata is not None
    assert int(raster.nodata.sum()) == 10
    assert raster["eroded"][0, 0] == 1


def test_the_mesh_is_a_public_name() -> None:
    assert sw.TriangleMesh is TriangleMesh
