"""Perspective stills of the terrain as a block, by casting rays at the height field."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.rendering.camera import Camera, Upright, look_at, upright_for
from slopewash.rendering.colours import display, linear, mix, smoothstep
from slopewash.rendering.grid import blur, sample
from slopewash.rendering.layers import WaterShown
from slopewash.rendering.light import DEFAULT_SUN, Sun, Sunlight, checked_sun, normals
from slopewash.rendering.near_grain import grain_contrast, near_grain
from slopewash.rendering.palettes import Season
from slopewash.rendering.picture import save
from slopewash.rendering.scene import Look, Scene, brightness, build_scene
from slopewash.rendering.sky import backdrop, open_sky, towards_sun
from slopewash.rendering.viewpoint import find_viewpoint, look_from
from slopewash.rendering.walls import Rock, rock_of
from slopewash.rendering.water import CLEAR, DEEP, SKY, under_water, with_mud
from slopewash.terrain import Terrain

Floats = NDArray[np.float32]

SUPERSAMPLING = 2
DRAPE_LONG_SIDE = 1536
"""Pixels of the draped colours: about one per subpixel of a 1600-pixel picture."""
COLUMNS_AT_ONCE = 192
"""Rays are cast in strips of this many columns, which limits memory."""
STEP = 0.75
"""Cells of the drape between two samples along a ray; hits are interpolated between samples."""
MOST_PIXELS = 4000 * 4000
BASE_RELIEF, BASE_EXTENT = 0.15, 0.05
"""The block reaches this fraction of its relief, or of its extent, below the lowest ground, whichever is more."""
HAZE = linear("#c3d3e0")
HAZE_FAR = 0.40
"""Fraction of haze at the far edge of the block."""
AIR_DENSITY, AIR_POWER = 1.9, 1.4
"""Haze from inside: optical depth of one diagonal of the block, at the height of its lowest ground, and how it grows
with distance: a little slower at first than haze does, so that the near side of a valley is clear."""
AIR_HEIGHT = 1.3
"""Reliefs over which haze thins out upwards to 1/e."""
BLUE_FIRST = np.array([0.80, 0.97, 1.23], dtype=np.float32)
"""Haze hides blue light first, and so far ridges look blue: extinction of red, green and blue."""
NEAREST = 0.5
"""Cells in front of a camera inside at which its rays begin."""
CONTACT = 0.55
"""How much the block darkens the floor at its foot."""
FRESNEL_HEAD_ON = 0.02
CALM = 0.004
"""Fraction of the drape: reflections are smoothed over two or three cells, else cell steps would show on rivers."""
WALL_SKY = 0.55
"""A vertical wall receives light from half of the sky, and a little from the floor."""


def render_view(
    terrain: Terrain,
    path: str | os.PathLike[str] | None = None,
    *,
    size: tuple[int, int] = (1600, 1000),
    azimuth: float = 205.0,
    pitch: float | None = None,
    distance: float = 1.5,
    zoom: float = 1.0,
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
        Magnification; above 1 the picture is cropped around its centre.
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

    Examples
    --------
    >>> terrain = Terrain(np.random.default_rng(1).random((16, 16)))
    >>> render_view(terrain, size=(80, 50)).size
    (80, 50)
    """
    if min(size) < 8 or size[0] * size[1] > MOST_PIXELS:
        raise InvalidParameter(f"size is {size[0]} x {size[1]} pixels; it must lie within 8 x 8 and 4000 x 4000")
    if camera not in ("block", "inside"):
        raise unknown_name("camera", camera, ("block", "inside"))
    drape_size = _drape_size(terrain.shape, size)
    look = Look(
        sun=sun, exaggeration=exaggeration, palette=palette, season=season, snow_line=snow_line, water=water,
        shore_depth=shore_depth,
    )  # fmt: skip
    sky = checked_sun(sun)
    scene = build_scene(terrain, drape_size, look)
    block = _Block.around(scene, rock_of(terrain, drape_size, exaggeration))
    fine = (size[0] * SUPERSAMPLING, size[1] * SUPERSAMPLING)
    inside = camera == "inside" or viewpoint is not None
    if inside:
        wet = np.zeros_like(scene.surface) if scene.water is None else scene.water.shown
        spot = find_viewpoint(scene.surface, wet, scene.cell_size, sky[0], viewpoint, heading, pitch)
        eye = look_from(spot, scene.surface, scene.cell_size, fine, zoom)
    else:
        down = 30.0 if pitch is None else pitch
        eye = look_at(block.outline(scene), size=fine, azimuth=azimuth, pitch=down, distance=distance, zoom=zoom)
    upright = upright_for(eye)
    picture = _draw(scene, block, eye, upright, _drape(scene, block, eye, sky, inside=inside), sky)
    pitched = Image.fromarray(picture).transform(
        fine, Image.Transform.PERSPECTIVE, upright.coefficients, Image.Resampling.BICUBIC
    )
    return save(pitched.reduce(SUPERSAMPLING), path)


def _drape_size(shape: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """Size of the draped colours: no finer than the picture needs, and at least two cells each way."""
    rows, columns = shape
    factor = min(DRAPE_LONG_SIDE, max(64, 2 * max(size))) / max(rows, columns)
    return max(2, round(columns * factor)), max(2, round(rows * factor))


@dataclass(frozen=True)
class _Block:
    """Extent of the block in metres about its centre, and its rock."""

    east: float
    north: float
    base: float
    diagonal: float
    rock: Rock

    @classmethod
    def around(cls, scene: Scene, rock: Rock) -> _Block:
        rows, columns = scene.surface.shape
        east, north = (columns - 1) * scene.cell_size / 2, (rows - 1) * scene.cell_size / 2
        low, high = float(scene.bed.min()), float(scene.surface.max())
        depth = max(BASE_RELIEF * (high - low), BASE_EXTENT * 2 * max(east, north))
        return cls(east, north, low - depth, 2 * math.hypot(east, north), rock)

    def outline(self, scene: Scene) -> NDArray[np.float64]:
        """Return points that must be in the picture: corners of the base and a sample of the surface."""
        rows, columns = scene.surface.shape
        i, j = (np.unique(np.linspace(0, n - 1, 48).astype(int)) for n in (rows, columns))
        north, east = np.meshgrid(self.north - i * scene.cell_size, j * scene.cell_size - self.east, indexing="ij")
        top = np.stack([east, north, scene.surface[np.ix_(i, j)]], axis=-1).reshape(-1, 3)
        corners = [(e, n, self.base) for e in (-self.east, self.east) for n in (-self.north, self.north)]
        return np.concatenate([top, corners]).astype(np.float64)


def _drape(scene: Scene, block: _Block, camera: Camera, sun: Sun, *, inside: bool) -> Floats:
    """Linear-light colour of every point of the surface as the camera sees it, with water and haze.

    From inside, a fourth component is the contrast of what is too small for the cells, a fifth the share of water.
    """
    rows, columns = scene.surface.shape
    east = (np.arange(columns, dtype=np.float32) * scene.cell_size - block.east - camera.eye[0])[None, :]
    north = (block.north - np.arange(rows, dtype=np.float32) * scene.cell_size - camera.eye[1])[:, None]
    up = scene.surface - np.float32(camera.eye[2])
    away = np.sqrt(east * east + north * north + up * up)
    colour = scene.ground
    if scene.water is not None:
        wet = under_water(colour, scene.water, brightness(scene.light), 0.5 if inside else math.sin(camera.pitch))
        normal = normals(blur(scene.surface, CALM * max(scene.surface.shape)), scene.cell_size)
        towards = -(normal[0] * east + normal[1] * north + normal[2] * up) / away
        mirrored = FRESNEL_HEAD_ON + (1 - FRESNEL_HEAD_ON) * (1 - np.clip(towards, 0, 1)) ** 5
        sky = SKY * (np.float32(scene.day.exposure) * np.minimum(scene.light.sky, 1))[..., None]
        colour = mix(colour, mix(wet, sky, mirrored.astype(np.float32)), scene.water.shown)
    reach = np.float32(max(block.diagonal, 1e-6))
    if inside:
        passed = _through_air(scene, block, camera, away)
        glow = towards_sun(np.broadcast_to(east, away.shape), np.broadcast_to(north, away.shape), sun[0])
        air = mix(scene.day.air, scene.day.glow, glow)
        seen = colour * passed + air * (1 - passed)
        wet = np.zeros_like(away) if scene.water is None else scene.water.shown
        return np.concatenate([seen, grain_contrast(scene.coarseness)[..., None], wet[..., None]], axis=2)
    ahead = east * camera.forward[0] + north * camera.forward[1]
    far = np.clip((ahead - ahead.min()) / reach, 0, 1) ** 1.5
    return mix(colour, HAZE, (HAZE_FAR * far).astype(np.float32))


def _through_air(scene: Scene, block: _Block, camera: Camera, away: Floats) -> Floats:
    """Fraction of red, green and blue light that comes through the haze, which is densest in the valleys."""
    low, high = float(scene.bed.min()), float(scene.surface.max())
    scale = AIR_HEIGHT * max(high - low, 1e-6)
    halfway = (scene.surface + np.float32(camera.eye[2])) / 2 - np.float32(low)
    share = away / np.float32(max(block.diagonal, 1e-6))
    depth = np.float32(AIR_DENSITY) * share ** np.float32(AIR_POWER) * np.exp(-halfway / np.float32(scale))
    passed: Floats = np.exp(-depth[..., None] * BLUE_FIRST)
    return passed


def _draw(scene: Scene, block: _Block, camera: Camera, upright: Upright, drape: Floats, sun: Sun) -> NDArray[np.uint8]:
    """Fill the upright picture strip by strip."""
    rows, columns = len(upright.upward), len(upright.sideways)
    picture = np.empty((rows, columns, 3), dtype=np.uint8)
    for start in range(0, columns, COLUMNS_AT_ONCE):
        strip = slice(start, min(start + COLUMNS_AT_ONCE, columns))
        rays = _Rays.into(block, camera, upright.sideways[strip], NEAREST * scene.cell_size)
        colour = _backdrop(scene, block, camera, rays, upright, strip, sun)
        if rays.hits.any():
            _paint(colour, scene, block, camera, rays, upright.upward, drape, sun)
        picture[:, strip] = display(colour)
    return picture


@dataclass(frozen=True)
class _Rays:
    """A strip of columns: horizontal rays from the camera, and where they enter and leave the block."""

    east: Floats
    north: Floats
    enter: Floats
    leave: Floats
    through_side: NDArray[np.bool_]
    """True where the ray enters through the east or west wall."""
    from_inside: bool
    """Whether the camera stands within the block: then there is no wall to see."""

    @classmethod
    def into(cls, block: _Block, camera: Camera, sideways: Floats, near: float) -> _Rays:
        east = np.float32(camera.forward[0]) + sideways * np.float32(camera.right[0])
        north = np.float32(camera.forward[1]) + sideways * np.float32(camera.right[1])
        x_in, x_out = _crossing(camera.eye[0], east, block.east)
        y_in, y_out = _crossing(camera.eye[1], north, block.north)
        inside = abs(camera.eye[0]) < block.east and abs(camera.eye[1]) < block.north
        enter = np.maximum(np.maximum(x_in, y_in), np.float32(near) if inside else -np.inf)
        return cls(east, north, enter, np.minimum(x_out, y_out), x_in > y_in, inside)

    @property
    def hits(self) -> NDArray[np.bool_]:
        return self.leave > self.enter


def _crossing(start: float, direction: Floats, half: float) -> tuple[Floats, Floats]:
    steady = np.where(np.abs(direction) < 1e-9, np.float32(1e-9), direction)
    first, second = (np.float32(-half - start) / steady, np.float32(half - start) / steady)
    return np.minimum(first, second), np.maximum(first, second)


def _backdrop(
    scene: Scene, block: _Block, camera: Camera, rays: _Rays, upright: Upright, strip: slice, sun: Sun
) -> Floats:
    """Sky, or haze and floor behind the block, with its contact shadow on the floor."""
    upward = upright.upward
    if rays.from_inside:
        return open_sky(rays.east, rays.north, upward, scene.day, sun[0]).astype(np.float32)
    across = np.linspace(0, 1, len(upright.sideways), dtype=np.float32)[strip]
    behind = backdrop(camera.row_of(upward), across, scene.day)
    floor = np.float32(block.base - camera.eye[2]) / np.minimum(upward, np.float32(-1e-4))[:, None]
    outside = np.hypot(
        np.maximum(np.abs(camera.eye[0] + floor * rays.east) - block.east, 0),
        np.maximum(np.abs(camera.eye[1] + floor * rays.north) - block.north, 0),
    ) / np.float32(max(block.diagonal, 1e-6))
    shade = 1 - CONTACT * (0.6 * np.exp(-outside / 0.012) + 0.4 * np.exp(-outside / 0.06))
    return (behind * shade[..., None]).astype(np.float32)


def _paint(
    colour: Floats, scene: Scene, block: _Block, camera: Camera, rays: _Rays, upward: Floats, drape: Floats, sun: Sun
) -> None:
    """Paint surface and walls of one strip over its backdrop."""
    length = np.where(rays.hits, rays.leave - rays.enter, 0)
    speed = np.hypot(rays.east, rays.north)
    steps = max(2, math.ceil(float((length * speed).max()) / (STEP * scene.cell_size)))
    depth = rays.enter + np.linspace(0, 1, steps + 1, dtype=np.float32)[:, None] * length
    i, j = _cells(scene, block, camera, rays, depth)
    slope = (sample(scene.surface, i, j) - np.float32(camera.eye[2])) / depth
    ridge = np.maximum.accumulate(slope, axis=0)

    rising = upward[::-1]
    position = np.full((len(upward), len(length)), -1.0, dtype=np.float32)
    for c in np.flatnonzero(rays.hits):
        position[::-1, c] = _first_hits(slope[:, c], ridge[:, c], rising)
    if rays.from_inside:
        position = np.where(position == 0, np.float32(1e-4), position)
    seen = position > 0
    rows, columns = np.nonzero(seen)
    reached = rays.enter[columns] + position[rows, columns] / np.float32(steps) * length[columns]
    i = _row(scene, block, camera.eye[1] + reached * rays.north[columns])
    j = _column(scene, block, camera.eye[0] + reached * rays.east[columns])
    found = sample(drape, i, j)
    colour[rows, columns] = found[:, :3]
    if rays.from_inside:
        away: Floats = (reached / scene.cell_size).astype(np.float32)
        colour[rows, columns] *= near_grain(away, (i, j, upward[rows] * away), *found.T[3:])[:, None]
        return

    foot = np.float32(block.base - camera.eye[2]) / rays.enter
    cut = (position == 0) & (upward[:, None] >= foot)
    rows, columns = np.nonzero(cut)
    colour[rows, columns] = _wall(scene, block, camera, rays, columns, upward[rows], sun)


def _first_hits(slope: Floats, ridge: Floats, rising: Floats) -> Floats:
    """Step, with its fraction, at which the ground first covers each upward tangent; -1 for none, 0 for the wall."""
    step = np.searchsorted(ridge, rising)
    inner = np.clip(step, 1, len(slope) - 1)
    before, after = slope[inner - 1], slope[inner]
    rise = np.maximum(after - before, np.float32(1e-12))
    hit = inner - 1 + np.clip((rising - before) / rise, np.float32(1e-4), 1)
    found: Floats = np.where(step == 0, 0, np.where(step == len(slope), -1, hit)).astype(np.float32)
    return found


def _wall(
    scene: Scene, block: _Block, camera: Camera, rays: _Rays, columns: NDArray[np.intp], upward: Floats, sun: Sun
) -> Floats:
    """Lit colour of the cut, with water on the surface seen in cross-section."""
    depth = rays.enter[columns]
    height = np.float32(camera.eye[2]) + upward * depth
    east = camera.eye[0] + depth * rays.east[columns]
    north = camera.eye[1] + depth * rays.north[columns]
    i, j = _row(scene, block, north), _column(scene, block, east)
    ground = sample(scene.bed, i, j)
    diagonal = np.float32(max(block.diagonal, 1e-6))
    above = (height - np.float32(block.base)) / diagonal
    along, buried = (((a - b) / diagonal).astype(np.float32) for a, b in ((east, north), (ground, height)))
    colour = block.rock.colour(height, (i, j), buried=buried, above=above, along=along)
    water = sample(scene.surface, i, j) - ground
    inside = smoothstep(0.0, 0.3 * scene.cell_size, height - ground)
    if scene.water is not None:
        deep = smoothstep(0.0, 1.0, (ground + water - height) / np.float32(4 * scene.water.absorption_depth))
        cut = with_mud(mix(CLEAR, DEEP, deep), sample(scene.water.mud, i, j))
        colour = mix(colour, cut, inside)
    azimuth, altitude = (math.radians(a) for a in sun)
    faces_east = -np.sign(rays.east[columns]) * rays.through_side[columns]
    faces_north = -np.sign(rays.north[columns]) * ~rays.through_side[columns]
    facing = np.maximum(faces_east * math.sin(azimuth) + faces_north * math.cos(azimuth), 0) / math.tan(altitude)
    sky = WALL_SKY * (0.55 + 0.45 * smoothstep(0.0, 0.08, above))
    light = scene.day.exposure * (scene.day.sun_share * np.minimum(facing, 1.6) + sky)
    return (colour * light[..., None]).astype(np.float32)


def _cells(scene: Scene, block: _Block, camera: Camera, rays: _Rays, depth: Floats) -> tuple[Floats, Floats]:
    return (
        _row(scene, block, camera.eye[1] + depth * rays.north),
        _column(scene, block, camera.eye[0] + depth * rays.east),
    )


def _row(scene: Scene, block: _Block, north: Floats) -> Floats:
    cells: Floats = np.clip((block.north - north) / scene.cell_size, 0, scene.surface.shape[0] - 1).astype(np.float32)
    return cells


def _column(scene: Scene, block: _Block, east: Floats) -> Floats:
    cells: Floats = np.clip((east + block.east) / scene.cell_size, 0, scene.surface.shape[1] - 1).astype(np.float32)
    return cells
