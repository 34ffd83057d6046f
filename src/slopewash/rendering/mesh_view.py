"""Perspective stills of a triangle mesh with its particles, painted from back to front."""

from __future__ import annotations

import math
import os
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from slopewash.errors import InvalidParameter
from slopewash.rendering.block import BASE_EXTENT, BASE_RELIEF
from slopewash.rendering.camera import Camera, look_at
from slopewash.rendering.colours import colour_table, display, linear, mix, smoothstep
from slopewash.rendering.light import DEFAULT_SUN, Sunlight
from slopewash.rendering.palettes import find_palette
from slopewash.rendering.picture import save
from slopewash.rendering.scene import Look, build_scene
from slopewash.rendering.sky import backdrop
from slopewash.rendering.view import MOST_PIXELS, SUPERSAMPLING
from slopewash.rendering.walls import CLAY
from slopewash.terrain import TriangleMesh

Reals = NDArray[np.float64]
Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

PURPLE = linear("#c04be0")
"""Ground that was eroded or deposited, as in figure 3 of Bézin et al."""
PURPLE_SHARE = 0.85
WIRE_SHARE = 0.55
WALL = linear("#4a3b30")
FLOW_MAP = "roma"
"""Colours of the particles: the oldest are red."""
LIGHT_SIDE = 512
"""Maximum cells along the longer side of the grid on which light is computed."""
BALL = 0.35
"""Radius of a particle in shortest edges."""


class Shapes(NamedTuple):
    """Polygons and discs to paint: position in the image, colour and distance."""

    corners: Reals
    """(n, 3, 2) pixels; a disc has its centre first"""
    colours: Bytes
    far: Reals
    radii: Reals
    """pixels; 0 for triangles"""


def render_mesh(
    mesh: TriangleMesh,
    path: str | os.PathLike[str] | None = None,
    *,
    particles: ArrayLike | None = None,
    size: tuple[int, int] = (1600, 1000),
    azimuth: float = 205.0,
    pitch: float = 30.0,
    distance: float = 1.5,
    zoom: float = 1.0,
    target: tuple[float, float, float] | None = None,
    sun: Sunlight = DEFAULT_SUN,
    palette: str = "alpine",
    wireframe: bool = False,
    changes: bool = False,
    frame: TriangleMesh | None = None,
) -> Image.Image:
    """Draw a mesh seen from an oblique angle.

    Parameters
    ----------
    mesh
        What to draw.
    path
        PNG file to write, or None.
    particles
        Rows of x, y, z and position in the flow, as in `simulation.particles`; the position sets the colour.
    size, azimuth, pitch, distance, zoom, sun, palette
        As in `render_view`.
    target
        What to look at: (x, y, elevation) in metres, x and y as in the mesh.
    wireframe
        Draw the triangles' edges.
    changes
        Draw ground that was eroded or deposited in purple.
    frame
        Mesh of the same extent that the camera is placed for, so that several pictures have one camera and one base.

    Examples
    --------
    >>> mesh = TriangleMesh([[0, 0, 5], [10, 0, 5], [0, 10, 5], [10, 10, 0]], [[0, 1, 2], [1, 3, 2]])
    >>> render_mesh(mesh, size=(80, 50), wireframe=True).size
    (80, 50)
    """
    if min(size) < 8 or size[0] * size[1] > MOST_PIXELS:
        raise InvalidParameter(f"size is {size[0]} x {size[1]} pixels; it must lie within 8 x 8 and 4000 x 4000")
    fine = (size[0] * SUPERSAMPLING, size[1] * SUPERSAMPLING)
    points = _centred(mesh, mesh.vertices)
    around = mesh if frame is None else frame
    if not np.allclose(around.extent, mesh.extent):
        raise InvalidParameter(f"frame reaches over {_reach(around)} m; it must be {_reach(mesh)} m, as the mesh")
    shown = points if frame is None else _centred(frame, frame.vertices)
    low, high = float(shown[:, 2].min()), float(shown[:, 2].max())
    base = low - max(BASE_RELIEF * (high - low), BASE_EXTENT * float(np.ptp(shown[:, :2], axis=0).max()))
    foot = shown[around.border] * [1, 1, 0] + [0, 0, base]
    camera = look_at(
        np.concatenate([shown, foot]), size=fine, azimuth=azimuth, pitch=pitch, distance=distance, zoom=zoom,
        target=None if target is None else _spot(around, target),
    )  # fmt: skip
    look = Look(sun=sun, palette=palette)
    plain = find_palette(palette).plain
    wall = CLAY if plain else WALL
    shapes = [_ground(mesh, points, camera, look, changes=changes), _walls(mesh, points, base, camera, wall)]
    if particles is not None and len(rows := np.asarray(particles, np.float64).reshape(-1, 4)):
        shapes.append(_balls(mesh, rows, camera))
    picture = Image.fromarray(_backdrop(fine, plain=plain))
    _paint(ImageDraw.Draw(picture), shapes, wireframe=wireframe)
    return save(picture.reduce(SUPERSAMPLING), path)


def _reach(mesh: TriangleMesh) -> str:
    west, north, east, south = mesh.extent
    return f"{west:g} to {east:g} by {north:g} to {south:g}"


def _centred(mesh: TriangleMesh, points: Reals) -> Reals:
    """East, north and up from the middle of the mesh."""
    west, north, east, south = mesh.extent
    out: Reals = np.stack([points[:, 0] - (west + east) / 2, (north + south) / 2 - points[:, 1], points[:, 2]], axis=1)
    return out


def _spot(mesh: TriangleMesh, target: tuple[float, float, float]) -> tuple[float, float, float]:
    east, north, up = _centred(mesh, np.array([target], np.float64))[0].tolist()
    return east, north, up


def _project(camera: Camera, points: Reals) -> tuple[Reals, Reals]:
    """Pixels and depth of points of shape (..., 3)."""
    e, n, u = (points[..., k] - camera.eye[k] for k in range(3))
    level = e * camera.forward[0] + n * camera.forward[1]
    sideways = e * camera.right[0] + n * camera.right[1]
    cosine, sine = math.cos(camera.pitch), math.sin(camera.pitch)
    ahead = level * cosine - u * sine
    rise = (level * sine + u * cosine) / ahead
    pixels = np.stack(
        [camera.centre[0] + camera.focal * sideways / ahead, camera.centre[1] - camera.focal * rise], axis=-1
    )
    return pixels, ahead


def _ground(mesh: TriangleMesh, points: Reals, camera: Camera, look: Look, *, changes: bool) -> Shapes:
    west, north, east, south = mesh.extent
    cell = max(0.7 * mesh.shortest_edge(), max(east - west, south - north) / LIGHT_SIDE)
    grid = mesh.to_terrain(cell)
    rows, columns = grid.shape
    scene = build_scene(grid, (columns, rows), look)
    middles = mesh.vertices[mesh.triangles].mean(axis=1)
    i = np.clip(np.rint((middles[:, 1] - north) / cell).astype(int), 0, rows - 1)
    j = np.clip(np.rint((middles[:, 0] - west) / cell).astype(int), 0, columns - 1)
    colour = scene.ground[i, j]
    if changes:
        light = np.maximum(colour.mean(axis=1, keepdims=True) * np.float32(2.5), np.float32(0.25))
        colour = mix(colour, (PURPLE * light).astype(np.float32), PURPLE_SHARE * _changed(mesh))
    corners, ahead = _project(camera, points[mesh.triangles])
    return Shapes(corners, display(colour), ahead.mean(axis=1), np.zeros(len(corners)))


def _changed(mesh: TriangleMesh) -> Floats:
    """How much each triangle has changed, 0 .. 1."""
    change = np.zeros(len(mesh.vertices), np.float32)
    for name in ("eroded", "deposited"):
        if name in mesh.attributes:
            change = change + mesh.attributes[name]
    most = float(np.quantile(change[change > 0], 0.9)) if (change > 0).any() else 1.0
    return smoothstep(0.0, 0.12, change[mesh.triangles].mean(axis=1) / np.float32(most))


def _walls(mesh: TriangleMesh, points: Reals, base: float, camera: Camera, wall: Floats) -> Shapes:
    """Two triangles below each border edge that faces the camera."""
    lone, corner = np.nonzero(mesh.neighbours < 0)
    inner, a, b = (points[mesh.triangles[lone, (corner + k) % 3]] for k in range(3))
    outward = np.stack([b[:, 1] - a[:, 1], a[:, 0] - b[:, 0]], axis=1)
    outward *= -np.sign((outward * (inner - a)[:, :2]).sum(axis=1, keepdims=True))
    seen = (outward * (np.array(camera.eye[:2]) - a[:, :2])).sum(axis=1) > 0
    a, b, outward = a[seen], b[seen], outward[seen]
    drop, floor = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, base])
    triangles = np.concatenate(
        [np.stack([a, b, a * drop + floor], axis=1), np.stack([b, b * drop + floor, a * drop + floor], axis=1)]
    )
    shade = np.where(np.abs(outward[:, 1]) > np.abs(outward[:, 0]), 1.0, 0.7)[:, None] * wall
    corners, _ = _project(camera, triangles)
    nearest = np.full(len(corners), -np.inf)
    return Shapes(corners, display(np.concatenate([shade, shade])), nearest, np.zeros(len(corners)))


def _balls(mesh: TriangleMesh, rows: Reals, camera: Camera) -> Shapes:
    radius = BALL * mesh.shortest_edge()
    centre, ahead = _project(camera, _centred(mesh, rows[:, :3]) + np.array([0.0, 0.0, radius]))
    table = colour_table(FLOW_MAP)[::-1]
    colours = table[np.clip(rows[:, 3] * 255, 0, 255).astype(int)]
    # A particle is in front of the triangle that it lies on, whose centre may be nearer to the camera.
    near = ahead - 2 * mesh.shortest_edge()
    return Shapes(np.repeat(centre[:, None], 3, axis=1), colours, near, np.maximum(camera.focal * radius / ahead, 1.2))


def _backdrop(size: tuple[int, int], *, plain: bool) -> Bytes:
    row, column = (np.linspace(0, 1, n, dtype=np.float32) for n in size[::-1])
    return display(backdrop(row, column, plain=plain))


def _paint(draw: ImageDraw.ImageDraw, shapes: list[Shapes], *, wireframe: bool) -> None:
    corners, colours, far, radii = (np.concatenate(parts) for parts in zip(*shapes, strict=True))
    order = np.argsort(-far, kind="stable")
    for k in order.tolist():
        fill = tuple(colours[k].tolist())
        if radii[k] > 0:
            (x, y), r = corners[k, 0].tolist(), float(radii[k])
            draw.ellipse((x - r, y - r, x + r, y + r), fill=fill)
            continue
        wire = None
        if wireframe and np.isfinite(far[k]):
            wire = tuple(int(c * (1 - WIRE_SHARE)) for c in fill)
        # An outline in the colour of the face closes the hairline gaps between neighbours.
        draw.polygon([tuple(p) for p in corners[k].tolist()], fill=fill, outline=fill if wire is None else wire)
