"""Pictures of terrains: plan views, perspective stills, maps of layers."""

from slopewash.render.colours import colour_map_names
from slopewash.render.map import hillshade, render
from slopewash.render.mesh_view import render_mesh
from slopewash.render.notebook import picture
from slopewash.render.overlay import overlay, wear_and_deposit
from slopewash.render.picture import side_by_side
from slopewash.render.view import render_view
from slopewash.terrain import Terrain

__all__ = [
    "colour_map_names",
    "hillshade",
    "overlay",
    "picture",
    "render",
    "render_mesh",
    "render_view",
    "side_by_side",
    "wear_and_deposit",
]

Terrain.picture = staticmethod(picture)
