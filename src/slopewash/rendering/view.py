"""Perspective stills of the terrain: as a block, or from a place inside it."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np
from PIL import Image

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.rendering.block import Bare, Block, Ground
from slopewash.rendering.camera import Camera, look_at
from slopewash.rendering.grid import filled, resize
from slopewash.rendering.layers import WaterShown
from slopewash.rendering.light import DEFAULT_SUN, Sunlight
from slopewash.rendering.palettes import Season
from slopewash.rendering.picture import save
from slopewash.rendering.scene import Contours, Look
from slopewash.rendering.stage import Stage
from slopewash.rendering.viewpoint import find_viewpoint, look_from
from slopewash.terrain import Terrain

SUPERSAMPLING = 2
MOST_SUPERSAMPLING = 4
MOST_PIXELS = 4000 * 4000


def render_view(
    terrain: Terrain,
    path: str | os.PathLike[str] | None = None,
    *,
    size: tuple[int, int] = (1600, 1000),
    azimuth: float = 205.0,
    pitch: float | None = None,
    distance: float = 1.5,
    zoom: float = 1.0,
    target: tuple[float, ...] | None = None,
    camera: Literal["block", "inside"] = "block",
    viewpoint: tuple[float, ...] | None = None,
    heading: float | None = None,
    sun: Sunlight = DEFAULT_SUN,
    exaggeration: float = 1.0,
    palette: str = "alpine",
    season: Season | None = None,
    snow_line: float | Literal["auto"] | None = "auto",
    water: WaterShown = "auto",
    shore_depth: float | None = None,
    layer: str | None = None,
    contours: Contours = None,
    frame: Terrain | None = None,
    supersampling: int = SUPERSAMPLING,
) -> Image.Image:
    """Draw the terrain as a block seen from an oblique angle, or as a landscape seen from a place inside it.

    Parameters
    ----------
    terrain
        Terrain to draw; nodata cells are filled in. The walls show its strata, if it has any.
    path
        PNG file to write, or None.
    size
        Width and height of the picture in pixels.
    azimuth
        Direction of the camera as seen from the terrain, in degrees clockwise from north: at 180 it looks north.
    pitch
        Angle by which the camera looks down, in degrees: 4 .. 60 for the block, where the default is 30; from inside,
        the default follows the skyline.
    distance
        Distance of the camera in diagonals of the block: small for strong perspective, large for weak. The block
        fills the picture at any distance.
    zoom
        Magnification; above 1 the picture is cropped around its centre, or around `target`.
    target
        What to look at: (x, y) in metres east and south of the north-west corner, or (x, y, elevation). By default the
        block fills the picture.
    camera
        "block" shows the whole terrain; "inside" stands on the side of a valley and looks at the mountains.
    viewpoint
        Where to stand inside: (x, y) in metres east and south of the north-west corner, or (x, y, height above the
        ground). Without it, `camera="inside"` finds a place.
    heading
        Direction to look in from inside, in degrees clockwise from north. By default, that with the best view.
    exaggeration
        Factor on heights.
    sun, palette, season, snow_line, water, shore_depth
        As for `render`.
    layer
        Layer to drape over the ground in its colour map, instead of the landscape.
    contours
        Metres between contour lines, "auto" for about twenty of them, or None.
    frame
        Terrain of the same size that the camera outside is placed for, so that several pictures have one camera and
        one base. The default is the terrain itself.
    supersampling
        Rays per pixel each way, 1 .. 4: more make edges smoother.

    Examples
    --------
    >>> import numpy as np
    >>> terrain = Terrain(np.random.default_rng(1).random((16, 16)))
    >>> render_view(terrain, size=(80, 50)).size
    (80, 50)
    """
    check_picture(size, supersampling)
    if camera not in ("block", "inside"):
        raise unknown_name("camera", camera, ("block", "inside"))
    look = Look(
        sun=sun, exaggeration=exaggeration, palette=palette, season=season, snow_line=snow_line, water=water,
        shore_depth=shore_depth, layer=layer, contours=contours,
    )  # fmt: skip
    stage = Stage.of(terrain, size, look)
    fine = (size[0] * supersampling, size[1] * supersampling)
    if camera == "inside" or viewpoint is not None:
        eye = inside_camera(stage, fine, viewpoint, heading, pitch, zoom)
    else:
        down = 30.0 if pitch is None else pitch
        around: Ground = stage.scene
        if frame is not None:
            around = _outlined(terrain, frame, stage)
            stage = stage.on(Block.around(around, stage.block.rock).base)
        eye = block_camera(stage, fine, azimuth, down, distance, zoom, target, around)
    return save(stage.photograph(eye, supersampling), path)


def block_camera(
    stage: Stage,
    size: tuple[int, int],
    azimuth: float,
    pitch: float,
    distance: float,
    zoom: float,
    target: tuple[float, ...] | None,
    around: Ground | None = None,
) -> Camera:
    """Place a camera outside the block, or outside that `around` other ground; `size` counts subpixels."""
    scene, block = stage.scene, stage.block
    point = None
    if target is not None:
        rows, columns = scene.surface.shape
        width, height = columns * scene.cell_size, rows * scene.cell_size
        if len(target) not in (2, 3) or not (0 <= target[0] <= width and 0 <= target[1] <= height):
            raise InvalidParameter(
                f"target is {target}; it must be (x, y) or (x, y, elevation) on the terrain, {width:g} x {height:g} m"
            )
        row, column = (min(int(at / scene.cell_size), n - 1) for at, n in ((target[1], rows), (target[0], columns)))
        up = target[2] * stage.exaggeration if len(target) == 3 else float(scene.surface[row, column])
        half = scene.cell_size / 2
        point = (target[0] - half - block.east, block.north - target[1] + half, up)
    return look_at(
        block.outline(around or scene), size=size, azimuth=azimuth, pitch=pitch, distance=distance, zoom=zoom,
        target=point,
    )  # fmt: skip


def _outlined(terrain: Terrain, frame: Terrain, stage: Stage) -> Ground:
    """Ground of the frame on the grid of the picture."""
    if frame.shape != terrain.shape or frame.cell_size != terrain.cell_size:
        raise InvalidParameter(
            f"frame has {frame.shape[0]} x {frame.shape[1]} cells of {frame.cell_size:g} m; it must have "
            f"{terrain.shape[0]} x {terrain.shape[1]} of {terrain.cell_size:g} m, as the terrain"
        )
    rows, columns = stage.scene.surface.shape
    ground = resize(filled(frame, "elevation"), (columns, rows)) * np.float32(stage.exaggeration)
    return Bare(ground, ground, stage.scene.cell_size)


def inside_camera(
    stage: Stage,
    size: tuple[int, int],
    viewpoint: tuple[float, ...] | None,
    heading: float | None,
    pitch: float | None,
    zoom: float,
) -> Camera:
    """Place a camera inside the terrain; `size` counts subpixels."""
    scene = stage.scene
    wet = np.zeros_like(scene.surface) if scene.water is None else scene.water.shown
    spot = find_viewpoint(scene.surface, wet, scene.cell_size, stage.sun[0], viewpoint, heading, pitch)
    return look_from(spot, scene.surface, scene.cell_size, size, zoom)


def check_picture(size: tuple[int, int], supersampling: int) -> None:
    """Refuse pictures that are too small or too large."""
    if min(size) < 8 or size[0] * size[1] > MOST_PIXELS:
        raise InvalidParameter(f"size is {size[0]} x {size[1]} pixels; it must lie within 8 x 8 and 4000 x 4000")
    if not 1 <= supersampling <= MOST_SUPERSAMPLING:
        raise InvalidParameter(f"supersampling is {supersampling}; it must lie within 1 .. {MOST_SUPERSAMPLING}")
