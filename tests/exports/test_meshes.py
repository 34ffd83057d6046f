"""Meshes for Blender and Houdini, read back by trimesh and USD."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import OpenEXR
import pytest
import tifffile
import trimesh
from PIL import Image

import slopewash as sw
from slopewash.exports.surface_mesh import ground_mesh, water_mesh

from .conftest import reads_as_an_f

Mesh = Any
Make = Callable[..., sw.Terrain]


def test_glb_has_points_texture_and_water_where_they_belong(make: Make, tmp_path: Path) -> None:
    terrain = make(30, 40)
    sw.export(terrain, "blender", tmp_path, water="simulated")
    scene: Mesh = trimesh.load(tmp_path / "terrain.glb", process=False)
    assert set(scene.geometry) == {"terrain", "water"}
    ground = scene.geometry["terrain"]
    points = np.asarray(ground.vertices).reshape(30, 40, 3)
    assert (points[..., 1].astype(np.float32) == terrain["elevation"]).all()  # y is up
    assert reads_as_an_f(points[..., 1])
    assert np.allclose(points[0, 0, [0, 2]], 4)
    assert np.allclose(points[-1, -1, [0, 2]], [40 * 8 - 4, 30 * 8 - 4])  # x to the east, z to the south
    assert (ground.face_normals[:, 1] > 0).all()
    assert len(ground.faces) == 2 * 29 * 39
    # trimesh counts v upwards, glTF downwards.
    u, v = ground.visual.uv.reshape(30, 40, 2).transpose(2, 0, 1)
    assert np.allclose(u[:, 0], 0.5 / 40)
    assert np.allclose(1 - v[0], 0.5 / 30)
    texture = ground.visual.material.baseColorTexture
    assert (np.asarray(texture) == np.asarray(Image.open(tmp_path / "colour.png"))).all()
    water = scene.geometry["water"]
    wet = terrain["water"] > 0
    assert 0 < len(water.vertices) < 30 * 40
    highest = (terrain["elevation"] + terrain["water"])[wet].max()
    assert water.vertices[:, 1].max() == pytest.approx(highest)


def test_glb_carries_every_layer(make: Make, tmp_path: Path) -> None:
    terrain = make(20)
    sw.export(terrain, "blender", tmp_path, water="none")
    scene: Mesh = trimesh.load(tmp_path / "terrain.glb", process=False)
    ground = scene.geometry["terrain"]
    for name in ("wear", "deposit", "flow"):
        assert (ground.vertex_attributes[f"_{name.upper()}"].ravel().astype(np.float32) == terrain[name].ravel()).all()


def test_ply_has_layers_as_vertex_attributes(make: Make, tmp_path: Path) -> None:
    terrain = make(20, 25)
    sw.export(terrain, "blender", tmp_path, water="none")
    mesh: Mesh = trimesh.load(tmp_path / "terrain.ply", process=False)
    raw = mesh.metadata["_ply_raw"]["vertex"]["data"]
    assert (raw["wear"] == terrain["wear"].ravel()).all()
    points = np.asarray(mesh.vertices).reshape(20, 25, 3)
    assert (points[..., 2].astype(np.float32) == terrain["elevation"]).all()
    assert points[0, 0, 1] > points[-1, 0, 1]  # y to the north
    assert (mesh.face_normals[:, 2] > 0).all()


def test_displacement_of_blender_is_in_metres(make: Make, tmp_path: Path) -> None:
    terrain = make(20)
    sw.export(terrain, "blender", tmp_path, water="none")
    with OpenEXR.File(str(tmp_path / "height.exr"), separate_channels=True) as file:
        assert (file.channels()["G"].pixels == terrain["elevation"]).all()


def test_usd_has_layers_as_primvars(make: Make, tmp_path: Path) -> None:
    usd = pytest.importorskip("pxr.Usd")
    geometry = pytest.importorskip("pxr.UsdGeom")
    terrain = make(30, 40)
    sw.export(terrain, "houdini", tmp_path, water="simulated")
    stage = usd.Stage.Open(str(tmp_path / "terrain.usdc"))
    assert geometry.GetStageUpAxis(stage) == "Y"
    assert geometry.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetDefaultPrim().GetPath() == "/terrain"
    mesh = geometry.Mesh(stage.GetPrimAtPath("/terrain/ground"))
    points = np.array(mesh.GetPointsAttr().Get()).reshape(30, 40, 3)
    assert (points[..., 1] == terrain["elevation"]).all()
    assert reads_as_an_f(points[..., 1])
    assert points[-1, 0, 2] > points[0, 0, 2]  # z to the south
    counts, indices = (np.array(a.Get()) for a in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()))
    assert (counts == 4).all()
    a, b, c = (points.reshape(-1, 3)[indices[k::4]] for k in (0, 1, 2))
    assert (np.cross(b - a, c - a)[:, 1] > 0).all()  # counter-clockwise from above
    primvars = geometry.PrimvarsAPI(mesh)
    for name in ("wear", "deposit", "flow", "water"):
        primvar = primvars.GetPrimvar(name)
        assert primvar.GetInterpolation() == "vertex"
        assert (np.array(primvar.Get()).reshape(30, 40) == terrain[name]).all()
    assert geometry.Mesh(stage.GetPrimAtPath("/terrain/water")).GetPointsAttr().Get()
    valid = mesh.ValidateTopology if hasattr(mesh, "ValidateTopology") else None
    assert (
        valid is None
        or geometry.Mesh.ValidateTopology(
            mesh.GetFaceVertexIndicesAttr().Get(), mesh.GetFaceVertexCountsAttr().Get(), 30 * 40
        )[0]
    )
    assert sw.read(tmp_path / "layers.exr")["wear"].tolist() == terrain["wear"].tolist()


def test_usd_without_its_library_names_the_extra(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pxr", None)
    with pytest.raises(sw.SlopewashError, match=r"slopewash\[usd\]"):
        sw.export(make(20), "houdini", tmp_path, water="none")


def test_meshes_leave_out_cells_without_data(make: Make) -> None:
    hole = np.zeros((10, 10), bool)
    hole[4, 4] = True
    ground = ground_mesh(make(10, nodata=hole))
    assert len(ground.quads) == 81 - 4
    assert not (ground.quads == 44).any()


def test_the_shore_of_a_lake_is_where_the_ground_rises_through_its_level() -> None:
    bowl = np.hypot(*np.mgrid[-15:16, -15:16])
    depth = np.maximum(8 - bowl, 0)
    surface = water_mesh(sw.Terrain(bowl, cell_size=1.0, water=depth))
    assert surface is not None
    ground = bowl[np.rint(surface.points[:, 2] - 0.5).astype(int), np.rint(surface.points[:, 0] - 0.5).astype(int)]
    dry = surface.points[:, 1] <= ground
    assert np.allclose(surface.points[~dry, 1], 8, atol=1e-5)
    assert np.allclose(surface.points[dry, 1], 8, atol=0.5)  # level beyond the shore, below the ground


def test_gis_writes_every_layer_with_its_georeference(make: Make, tmp_path: Path) -> None:
    terrain = make(30, 40, crs="EPSG:32633", transform=(8, 0, 500000, 0, -8, 5200000))
    done = sw.export(terrain, "gis", tmp_path)
    assert set(done.card["files"]) == {f"{name}.tif" for name in terrain}
    for name in terrain:
        assert (tifffile.imread(tmp_path / f"{name}.tif") == terrain[name]).all()
    assert reads_as_an_f(tifffile.imread(tmp_path / "elevation.tif"))
    back = sw.read(tmp_path / "elevation.tif")
    assert back.crs == terrain.crs
    assert back.transform == terrain.transform


@pytest.mark.parametrize("target", ["blender", "houdini"])
def test_layers_of_any_name_are_exported(target: str, tmp_path: Path) -> None:
    """Names may be from a file of anyone's."""
    if target == "houdini":
        pytest.importorskip("pxr")
    hill = sw.generate("hill", size=9)
    names = ("soil depth", "été", "a\nb", "/abs", "../up", "st", "x", "\x1b[2J")
    own = {name: np.ones((9, 9)) for name in names}
    done = sw.export(hill.replace(own_layers=own), target, tmp_path, water="none")
    for file in done.files:
        assert file.parent == tmp_path
        if file.suffix == ".txt":
            assert "\x1b" not in file.read_text(encoding="utf-8")
