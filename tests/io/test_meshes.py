"""Meshes in files, read back by ourselves and by another program."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidFile, InvalidMesh, InvalidParameter
from slopewash.io import ply
from slopewash.io.mesh_parts import parts_of

trimesh = pytest.importorskip("trimesh")

SUFFIXES = (".glb", ".obj", ".ply", ".stl")


@pytest.fixture
def mesh() -> sw.TriangleMesh:
    plain = sw.TriangleMesh.from_terrain(sw.generate("hill", size=33, cell_size=10.0, seed=2), budget=500)
    random = np.random.default_rng(0)
    eroded, deposited = random.random((2, len(plain.vertices)))
    return plain.replace(eroded=eroded, deposited=deposited)


def by_place(mesh: sw.TriangleMesh) -> Any:
    return np.array(sorted(mesh.vertices.tolist()))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_mesh_comes_back_as_it_was(mesh: sw.TriangleMesh, suffix: str, tmp_path: Path) -> None:
    back = sw.read_mesh(sw.write(mesh, tmp_path / f"hill{suffix}"))
    exact = suffix in (".obj", ".ply")
    np.testing.assert_allclose(by_place(back), by_place(mesh), rtol=0 if exact else 1e-7, atol=0 if exact else 1e-5)
    assert len(back.triangles) == len(mesh.triangles)
    assert back.volume() == pytest.approx(mesh.volume(), rel=1e-6)
    if suffix in (".glb", ".ply"):
        np.testing.assert_array_equal(np.sort(back.attributes["eroded"]), np.sort(mesh.attributes["eroded"]))
        assert set(back.attributes) == {"eroded", "deposited"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_another_program_reads_the_same_ground_facing_up(mesh: sw.TriangleMesh, suffix: str, tmp_path: Path) -> None:
    other = trimesh.load(sw.write(mesh, tmp_path / f"hill{suffix}"), force="mesh")
    up, north = (1, 2) if suffix == ".glb" else (2, 1)
    sign = -1 if suffix == ".glb" else 1  # z of glTF runs to the south
    assert len(other.faces) == len(mesh.triangles)
    assert other.face_normals[:, up].min() > 0
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    np.testing.assert_allclose(np.sort(other.bounds[:, 0]), [low[0], high[0]], rtol=1e-6)
    np.testing.assert_allclose(np.sort(-sign * other.bounds[:, north]), [low[1], high[1]], rtol=1e-6)
    np.testing.assert_allclose(np.sort(other.bounds[:, up]), [low[2], high[2]], rtol=1e-6)
    # The same heights at the same places, not only the same box.
    index = int(mesh.vertices[:, 2].argmax())
    peak = other.vertices[other.vertices[:, up].argmax()]
    np.testing.assert_allclose([peak[0], -sign * peak[north]], mesh.vertices[index, :2], rtol=1e-6)


def test_changed_ground_is_purple_and_attributes_reach_other_programs(mesh: sw.TriangleMesh, tmp_path: Path) -> None:
    changed = mesh.replace(
        eroded=np.where(np.arange(len(mesh.vertices)) == 5, 3.0, 0.0), deposited=np.zeros(len(mesh.vertices))
    )
    for suffix in (".ply", ".obj"):
        other = trimesh.load(sw.write(changed, tmp_path / f"hill{suffix}"), process=False)
        red, green, _, _ = other.visual.vertex_colors[5]
        assert red > green + 60
        grey = other.visual.vertex_colors[6]
        assert np.ptp(grey[:3].astype(int)) < 30
    glb = trimesh.load(sw.write(changed, tmp_path / "hill.glb"), force="mesh", process=False)
    np.testing.assert_array_equal(glb.vertex_attributes["_ERODED"].ravel(), changed.attributes["eroded"])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_of_another_program_are_read(mesh: sw.TriangleMesh, suffix: str, tmp_path: Path) -> None:
    points, faces = mesh.vertices * [1, -1, 1], mesh.triangles[:, ::-1]
    if suffix == ".glb":
        points = points[:, [0, 2, 1]] * [1, 1, -1]
    path = tmp_path / f"foreign{suffix}"
    trimesh.Trimesh(points, faces, process=False).export(path)
    back = sw.read_mesh(path)
    np.testing.assert_allclose(by_place(back), by_place(mesh), atol=1e-4)


def test_a_terrain_is_written_as_a_mesh_with_what_changed(tmp_path: Path) -> None:
    terrain = sw.generate("diamond_square", size=20, cell_size=10.0)
    wear = np.zeros((20, 20))
    wear[3, 4] = 2.0
    back = sw.read_mesh(sw.write(terrain.replace(wear=wear), tmp_path / "hill.ply"))
    np.testing.assert_array_equal(back.to_terrain(10.0)["elevation"], terrain["elevation"])
    np.testing.assert_array_equal(back.to_terrain(10.0)["eroded"], wear.astype(np.float32))


SQUARE = [[0, 0, 5], [4, 0, 5], [0, 4, 9], [4, 4, 9]]
TWICE = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n" + (
    "element face 3\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0\n1 0 0\n0 1 0\n1 1 0\n3 0 1 2\n3 0 1 3\n3 1 3 2\n"
)


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.ply", TWICE, InvalidMesh, "a.ply: the mesh is not manifold: 2 triangles lie on the same side of the edge"),
        ("b.obj", "v 0 0 0\nv 1 0 0\n", InvalidMesh, "b.obj: the mesh is empty; it needs at least one triangle"),
        ("c.obj", "", InvalidMesh, "c.obj: the mesh is empty"),
        ("d.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", InvalidMesh, "a triangle refers to vertex 8; there are 3"),
        (
            "e.obj",
            "v 0 0 zero\n",
            InvalidFile,
            "e.obj is not a readable OBJ file: 'v 0 0 zero' are not three",
        ),
        ("f.stl", "x" * 100, InvalidFile, "f.stl is not a readable STL file: its length does not match"),
        ("g.glb", "x" * 100, InvalidFile, "g.glb is not a readable GLB file: it is not binary glTF 2.0"),
        ("h.ply", "plyx", InvalidFile, 'h.ply is not a readable PLY file: it does not begin with "ply"'),
        ("i.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n", InvalidMesh, "triangle 0 has no area as seen from above"),
        (
            "k.ply",
            TWICE.replace("float z", "float w"),
            InvalidFile,
            "k.ply is not a readable PLY file: it has no vertices",
        ),
        ("l.ply", TWICE.replace("face", "tile"), InvalidFile, "l.ply is not a readable PLY file"),
        (
            "m.obj",
            "v 0 0 0\nv 1e200 0 0\nv 0 1e200 0\nf 1 2 3\n",
            InvalidMesh,
            "m.obj: vertex 1 is [1e+200, 0.0, 0.0]; coordinates are at most 1e+12 m",
        ),
        ("j.dae", "x", InvalidFile, 'has the suffix ".dae"; meshes are read from .glb, .obj, .ply, .stl'),
    ],
)
def test_files_that_hold_no_terrain_mesh_are_rejected_in_one_sentence(
    name: str, content: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(error) as caught:
        sw.read_mesh(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", [4, 2**32 - 1])
def test_an_index_beyond_the_vertices_of_a_glb_is_rejected(number: int, tmp_path: Path) -> None:
    path = sw.write(sw.TriangleMesh(SQUARE, [[0, 1, 2], [1, 3, 2]]), tmp_path / "square.glb")
    path.write_bytes(path.read_bytes()[:-4] + number.to_bytes(4, "little"))
    with pytest.raises(InvalidFile, match=f"square.glb is not a readable .*: a triangle refers to vertex {number}"):
        sw.read_mesh(path)


@pytest.mark.parametrize("number", [2**31, 2**32 - 1])
@pytest.mark.parametrize("polygons", [False, True])
def test_an_index_of_a_ply_that_would_wrap_around_is_rejected(number: int, polygons: bool, tmp_path: Path) -> None:
    path = sw.write(sw.TriangleMesh(SQUARE, [[0, 1, 2], [1, 3, 2]]), tmp_path / "square.ply")
    data = path.read_bytes().replace(b"list uchar int ", b"list uchar uint ")[:-4] + number.to_bytes(4, "little")
    if polygons:
        data = data.replace(b"element face 2", b"element face 3") + b"\4" + np.array([0, 1, 3, 2], "<u4").tobytes()
    path.write_bytes(data)
    with pytest.raises(InvalidMesh, match=f"square.ply: a triangle refers to vertex {number}; there are 4"):
        sw.read_mesh(path)


def test_an_index_of_an_obj_that_would_wrap_around_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "triangle.obj"
    path.write_text(f"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 {2**32 + 3}\n")
    with pytest.raises(InvalidMesh, match=f"a triangle refers to vertex {2**32 + 2}; there are 3"):
        sw.read_mesh(path)


def test_negative_indices_of_a_glb_are_rejected(tmp_path: Path) -> None:
    path = sw.write(sw.TriangleMesh(SQUARE, [[0, 1, 2], [1, 3, 2]]), tmp_path / "square.glb")
    data = path.read_bytes()
    assert data.count(b'"componentType":5125') == 1
    data = data.replace(b'"componentType":5125', b'"componentType":5126')  # indices as floats
    path.write_bytes(data[:-24] + np.array([0, 1, -7, 1, 3, 2], "<f4").tobytes())
    with pytest.raises(InvalidFile, match=r"a triangle refers to vertex -7; there are 4"):
        sw.read_mesh(path)


def test_a_glb_whose_parent_node_turns_the_mesh_is_rejected(tmp_path: Path) -> None:
    path = sw.write(sw.TriangleMesh(SQUARE, [[0, 1, 2], [1, 3, 2]]), tmp_path / "turned.glb")
    old, new = b'{"mesh":0,"name":"terrain"}', b'{"children":[1],"scale":[2,2,2]},{"mesh":0}'
    data = path.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    head = data[20 : 20 + length].strip().replace(old, new)
    head += b" " * (-len(head) % 4)
    path.write_bytes(data[:12] + len(head).to_bytes(4, "little") + data[16:20] + head + data[20 + length :])
    with pytest.raises(InvalidFile, match="meshes with transforms"):
        sw.read_mesh(path)


def test_properties_may_have_any_name(tmp_path: Path) -> None:
    attributes = {"vertices": [1, 2, 3, 4], "self": [5, 6, 7, 8]}
    path = sw.write(sw.TriangleMesh(SQUARE, [[0, 1, 2], [1, 3, 2]], **attributes), tmp_path / "odd.ply")
    back = sw.read_mesh(path)
    assert {name: values.tolist() for name, values in back.attributes.items()} == attributes


def test_a_missing_file_and_a_grid_format_are_rejected(mesh: sw.TriangleMesh, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"none\.obj does not exist"):
        sw.read_mesh(tmp_path / "none.obj")
    with pytest.raises(InvalidParameter, match=r"hill\.png stores a grid; write mesh\.to_terrain"):
        sw.write(mesh, tmp_path / "hill.png")


@pytest.mark.parametrize("suffix", [".glb", ".ply", ".stl"])  # text may end anywhere
def test_a_cut_off_file_is_rejected(mesh: sw.TriangleMesh, suffix: str, tmp_path: Path) -> None:
    path = sw.write(mesh, tmp_path / f"hill{suffix}")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3 - 1])
    with pytest.raises((InvalidFile, InvalidMesh)):
        sw.read_mesh(path)


def test_layers_of_any_name_become_attributes(tmp_path: Path) -> None:
    """A line break would continue the header of a .ply, and a name of its own would be there twice."""
    names = ("wear", "soil depth", "soil_depth", "x", "été", "4", "a\nend_header", "../up", "")
    hill = sw.generate("hill", size=9)
    mesh = sw.TriangleMesh.from_terrain(hill, budget=100)
    values = {name: np.full(len(mesh.vertices), number, np.float32) for number, name in enumerate(names)}
    path = tmp_path / "hill.ply"
    ply.write(dataclasses.replace(parts_of(mesh), attributes=values), path)
    back = sw.read_mesh(path)
    plain = ("wear", "soil_depth_2", "soil_depth", "x_2", "_t_", "_4", "a_end_header", "_up", "_")
    assert {name: float(numbers[0]) for name, numbers in back.attributes.items()} == {
        name: number for number, name in enumerate(plain)
    }
