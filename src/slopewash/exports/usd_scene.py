"""USD of the ground and its water, with layers as primvars (needs the usd extra)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.drafts import staged
from slopewash.errors import SlopewashError
from slopewash.exports.surface_mesh import Surface
from slopewash.paths import move, remove_tree


def write_usd(ground: Surface, water: Surface | None, colours: NDArray[np.uint8], path: Path) -> Path:
    """Write the meshes /terrain/ground and /terrain/water, y up, in metres."""
    try:
        from pxr import Usd, UsdGeom
    except ImportError:
        raise SlopewashError('USD files need the usd extra: pip install "slopewash[usd]"') from None
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    root = UsdGeom.Xform.Define(stage, "/terrain")
    stage.SetDefaultPrim(root.GetPrim())
    light = (colours.reshape(-1, 3) / np.float32(255)).astype(np.float32)
    _add(stage, "/terrain/ground", ground, np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4))
    if water is not None:
        _add(stage, "/terrain/water", water, np.tile(np.array([[0.02, 0.08, 0.12]]), (len(water.points), 1)))
    # The library chooses the format by the suffix, which a temporary name does not have.
    with staged(path) as temporary:
        named = temporary.with_name(f"{temporary.name}.usdc")
        try:
            stage.GetRootLayer().Export(str(named))
            move(named.parent, named.name, temporary.name)
        finally:
            remove_tree(named.parent, named.name)
    return path


def _add(stage: Any, path: str, surface: Surface, colour: NDArray[Any]) -> None:
    from pxr import Sdf, UsdGeom, Vt

    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(surface.points, np.float32)))
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(surface.quads), 4, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(surface.quads.astype(np.int32).ravel()))
    mesh.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(surface.normals, np.float32)))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    low, high = surface.points.min(axis=0), surface.points.max(axis=0)
    mesh.CreateExtentAttr(Vt.Vec3fArray.FromNumpy(np.stack([low, high]).astype(np.float32)))
    mesh.CreateDisplayColorPrimvar(UsdGeom.Tokens.vertex).Set(
        Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(colour, np.float32))
    )
    primvars = UsdGeom.PrimvarsAPI(mesh)
    # Texture coordinates of USD begin at the foot of the image.
    upward = np.ascontiguousarray(surface.texture * np.array([1, -1]) + np.array([0, 1]), np.float32)
    primvars.CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.vertex).Set(
        Vt.Vec2fArray.FromNumpy(upward)
    )
    for name, values in surface.attributes.items():
        primvars.CreatePrimvar(name, Sdf.ValueTypeNames.FloatArray, UsdGeom.Tokens.vertex).Set(
            Vt.FloatArray.FromNumpy(np.ascontiguousarray(values, np.float32))
        )
