from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from slopewash.errors import InvalidParameter
from slopewash.rendering import render_mesh
from slopewash.terrain import Terrain, TriangleMesh

SIZE = (240, 160)


@pytest.fixture
def mesh() -> TriangleMesh:
    y, x = np.mgrid[0:33, 0:33]
    hill = Terrain(80 * np.exp(-((x - 16) ** 2 + (y - 16) ** 2) / 60), cell_size=10.0)
    return TriangleMesh.from_terrain(hill, budget=800)


def pixels(picture: Image.Image) -> np.ndarray:
    return np.asarray(picture.convert("RGB")).astype(int)


def test_the_picture_is_written_at_its_size(mesh: TriangleMesh, tmp_path: Path) -> None:
    render_mesh(mesh, tmp_path / "hill.png", size=SIZE)
    with Image.open(tmp_path / "hill.png") as picture:
        assert picture.size == SIZE


def test_particles_are_coloured_by_their_place_in_the_flow(mesh: TriangleMesh) -> None:
    plain = pixels(render_mesh(mesh, size=SIZE, pitch=60))
    top = float(mesh.vertices[:, 2].max())
    for place, channel in ((0.0, 2), (1.0, 0)):  # the newest blue, the oldest red
        shown = pixels(render_mesh(mesh, size=SIZE, pitch=60, particles=[[165, 165, top, place]]))
        changed = np.abs(shown - plain).sum(axis=2) > 60
        assert 4 <= changed.sum() < 300
        assert shown[changed][:, channel].mean() > shown[changed][:, 2 - channel].mean() + 40


def test_a_particle_behind_the_hill_is_hidden(mesh: TriangleMesh) -> None:
    eye: dict[str, Any] = {"azimuth": 180.0, "pitch": 5.0}
    plain = pixels(render_mesh(mesh, size=SIZE, **eye))
    behind, before = (
        np.abs(pixels(render_mesh(mesh, size=SIZE, particles=[[165.0, y, z, 1.0]], **eye)) - plain).sum()
        for y, z in ((y, float(mesh.height_at(165.0, y))) for y in (60.0, 270.0))
    )
    assert behind == 0
    assert before > 0


def test_changed_ground_is_purple(mesh: TriangleMesh) -> None:
    near = np.hypot(mesh.vertices[:, 0] - 165, mesh.vertices[:, 1] - 165) < 40
    changed = mesh.replace(eroded=np.where(near, 2.0, 0.0))
    plain, marked = (pixels(render_mesh(changed, size=SIZE, changes=c)) for c in (False, True))
    where = np.abs(marked - plain).sum(axis=2) > 20
    assert 50 < where.sum() < 0.3 * where.size
    purple = marked[where].mean(axis=0)
    assert purple[1] < 0.7 * min(purple[0], purple[2])


def test_wires_show_the_triangles(mesh: TriangleMesh) -> None:
    plain, wired = (pixels(render_mesh(mesh, size=SIZE, wireframe=w)) for w in (False, True))
    assert wired.mean() < plain.mean() - 2


def test_an_impossible_size_is_rejected(mesh: TriangleMesh) -> None:
    with pytest.raises(InvalidParameter, match="size is 4 x 4 pixels"):
        render_mesh(mesh, size=(4, 4))


def test_one_frame_gives_pictures_of_one_camera(mesh: TriangleMesh) -> None:
    lower = TriangleMesh(mesh.vertices * [1, 1, 0.2], mesh.triangles)
    ends = []
    for options in ({"frame": mesh}, {}):
        picture = pixels(render_mesh(lower, size=SIZE, palette="plain", **options))  # type: ignore[arg-type]
        ends.append(int(np.flatnonzero((np.abs(picture - picture[2, 2]).sum(axis=2) > 60).any(axis=1)).max()))
    whole = pixels(render_mesh(mesh, size=SIZE, palette="plain"))
    own = int(np.flatnonzero((np.abs(whole - whole[2, 2]).sum(axis=2) > 60).any(axis=1)).max())
    assert ends[0] == own != ends[1]


def test_a_target_is_in_the_middle_of_the_picture(mesh: TriangleMesh) -> None:
    top = mesh.vertices[mesh.vertices[:, 2].argmax()]
    spot = [[*top.tolist(), 0.0]]
    x, y, z = (float(v) for v in top)
    options: dict[str, Any] = {"size": SIZE, "zoom": 2.0, "target": (x, y, z)}
    changed = np.abs(pixels(render_mesh(mesh, particles=spot, **options)) - pixels(render_mesh(mesh, **options))) > 60
    rows, columns, _ = np.nonzero(changed)
    assert abs(rows.mean() - SIZE[1] / 2) < 8
    assert abs(columns.mean() - SIZE[0] / 2) < 8


def test_a_frame_of_another_extent_is_refused(mesh: TriangleMesh) -> None:
    wider = TriangleMesh(mesh.vertices * [2.0, 1.0, 1.0], mesh.triangles)
    with pytest.raises(InvalidParameter, match=r"^frame reaches over .* m; it must be .* m, as the mesh$"):
        render_mesh(mesh, size=SIZE, frame=wider)
