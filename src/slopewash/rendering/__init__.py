"""Pictures of terrains: plan views, perspective stills, maps of layers."""

from slopewash.rendering.colours import colour_map_names
from slopewash.rendering.contact_sheet import contact_sheet
from slopewash.rendering.map import hillshade, render
from slopewash.rendering.mesh_view import render_mesh
from slopewash.rendering.notebook import picture
from slopewash.rendering.overlay import overlay, wear_and_deposit
from slopewash.rendering.palettes import palettes
from slopewash.rendering.picture import side_by_side
from slopewash.rendering.view import render_view
from slopewash.terrain import Terrain

__all__ = [
    "colour_map_names",
    "contact_sheet",
    "hillshade",
    "overlay",
    "palettes",
    "picture",
    "render",
    "render_mesh",
    "render_view",
    "side_by_side",
    "wear_and_deposit",
]

Terrain.picture = staticmethod(picture)
