# SPDX-License-Identifier: GPL-3.0-or-later
"""Import height maps eroded by slopewash as meshes with their layers as attributes."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from .bridge import Failed, Grid, eroded

PRESETS = (
    ("landscape", "Landscape", "Valleys from coarse to fine"),
    ("single_grid", "Single grid", "The same on one grid"),
    ("jako2011", "Jákó & Tóth 2011", "The parameters of the paper"),
)


class Preferences(bpy.types.AddonPreferences):
    """Where the command is."""

    bl_idname = __package__
    command: StringProperty(name="Command", default="slopewash", subtype="FILE_PATH")  # type: ignore[valid-type]

    def draw(self, context: bpy.types.Context) -> None:
        """Show the path of the command."""
        self.layout.prop(self, "command")


class ImportEroded(bpy.types.Operator, ImportHelper):
    """Erode a height map with slopewash and import it as a mesh."""

    bl_idname = "import_mesh.slopewash"
    bl_label = "Eroded terrain (slopewash)"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    filter_glob: StringProperty(default="*.exr;*.png;*.tif;*.tiff;*.npz;*.npy;*.r16;*.raw", options={"HIDDEN"})  # type: ignore[valid-type]
    preset: EnumProperty(name="Preset", items=PRESETS, default="landscape")  # type: ignore[valid-type]
    options: StringProperty(name="Options", description="Further options of slopewash erode")  # type: ignore[valid-type]

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Run the command and build the mesh."""
        addon = context.preferences.addons.get(__package__)
        command = addon.preferences.command if addon else "slopewash"
        try:
            grid = eroded(command, Path(self.filepath), preset=self.preset, options=self.options.split())
        except Failed as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        made = bpy.data.objects.new(Path(self.filepath).stem, build_mesh(grid, Path(self.filepath).stem))
        context.collection.objects.link(made)
        context.view_layer.objects.active = made
        made.select_set(True)
        return {"FINISHED"}


def build_mesh(grid: Grid, name: str) -> bpy.types.Mesh:
    """Make a mesh of a grid, with a float attribute on its points for each layer."""
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(grid.points))
    mesh.vertices.foreach_set("co", grid.points.ravel())
    mesh.loops.add(grid.quads.size)
    mesh.loops.foreach_set("vertex_index", grid.quads.ravel())
    mesh.polygons.add(len(grid.quads))
    mesh.polygons.foreach_set("loop_start", range(0, grid.quads.size, 4))
    mesh.polygons.foreach_set("use_smooth", [True] * len(grid.quads))
    for layer, values in grid.layers.items():
        mesh.attributes.new(layer, "FLOAT", "POINT").data.foreach_set("value", values)
    mesh.update(calc_edges=True)
    mesh.validate()
    return mesh


def _menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.operator(ImportEroded.bl_idname)


def register() -> None:
    """Add the operator to the import menu."""
    for kind in (Preferences, ImportEroded):
        bpy.utils.register_class(kind)
    bpy.types.TOPBAR_MT_file_import.append(_menu)


def unregister() -> None:
    """Remove it again."""
    bpy.types.TOPBAR_MT_file_import.remove(_menu)
    for kind in (ImportEroded, Preferences):
        bpy.utils.unregister_class(kind)
