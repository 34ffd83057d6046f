"""A terrain lit and coloured once, which any number of cameras can look at.

Sun and terrain stand still: light, shadows and colours of the ground do not depend on the camera, and a film computes
them once. What does is worked out for each picture: reflections on water, haze, and which ground hides which.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from slopewash.rendering.block import Block, Rays
from slopewash.rendering.camera import Camera, Upright, upright_for
from slopewash.rendering.colours import BRIGHTEST, display_table, linear, mix, smoothstep
from slopewash.rendering.colours import display as display_values
from slopewash.rendering.grid import blur, sample
from slopewash.rendering.light import Sun, checked_sun, normals
from slopewash.rendering.near_grain import BRIGHTEST as BRIGHTEST_GRAIN
from slopewash.rendering.near_grain import RIPPLE_CONTRAST, RIPPLES, SCALES, SIDE, grain_contrast, pattern
from slopewash.rendering.scene import Look, Scene, brightness, build_scene
from slopewash.rendering.sky import VIGNETTE, backdrop_lines, open_sky
from slopewash.rendering.threads import each, spans, workers
from slopewash.rendering.walls import rock_of
from slopewash.rendering.water import CLEAR, DEEP, SKY, under_water, with_mud
from slopewash.terrain import Terrain

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

DRAPE_LONG_SIDE = 1536
"""Pixels of the draped colours: about one per subpixel of a 1600-pixel picture."""
STEP = 0.75
"""Cells of the drape between two samples along a ray; hits are interpolated between samples."""
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
CACHED = 16384
"""Pixels of a cut wall that are coloured at a time, so that what they need stays in the cache."""
PIECES = 4
"""Spans of a picture for each thread, so that those with less to do take more."""


@dataclass(frozen=True)
class Stage:
    """A lit scene, the block it is the top of, and what cameras need of it."""

    scene: Scene
    block: Block
    sun: Sun
    exaggeration: float = 1.0
    _wet: dict[float, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, terrain: Terrain, size: tuple[int, int], look: Look) -> Stage:
        """Light and colour a terrain for pictures of (width, height) pixels."""
        drape = drape_size(terrain.shape, size)
        scene = build_scene(terrain, drape, look)
        block = Block.around(scene, rock_of(terrain, drape, look.exaggeration))
        return cls(scene, block, checked_sun(look.sun), look.exaggeration)

    def on(self, base: float) -> Stage:
        """Return the same on a block that reaches down to `base`, in exaggerated metres."""
        return dataclasses.replace(self, block=dataclasses.replace(self.block, base=base))

    def photograph(self, camera: Camera, supersampling: int, *, sharp: bool = True) -> Image.Image:
        """Draw what a camera with a picture of `supersampling` times the final size sees.

        `sharp` resamples by a cubic, which is slower; films do not show the difference.
        """
        upright = upright_for(camera)
        picture = self._draw(camera, upright)
        width, height = camera.size
        from slopewash.rendering.kernels import turn_down, turn_down_sharply

        turn = turn_down_sharply if sharp else turn_down
        rows = picture.reshape(len(picture), -1)
        result = np.empty((height // supersampling, width // supersampling, 3), np.float32)
        plane = np.array(upright.coefficients, np.float32)
        _in_spans(len(result), lambda a, b: turn(
            rows, plane, supersampling, a, b, np.empty(rows.shape[1], np.float32), result
        ))  # fmt: skip
        return Image.fromarray(result.astype(np.uint8))

    def _draw(self, camera: Camera, upright: Upright) -> Bytes:
        """Fill the upright picture."""
        from slopewash.rendering.kernels import BACKDROP, WALL, cast, paint

        scene, corner, cell = self.scene, self.block.corner, np.float32(self.scene.cell_size)
        rays = Rays.into(self.block, camera, upright.sideways, NEAREST * scene.cell_size)
        shape = len(upright.upward), len(upright.sideways)
        eye = np.array(camera.eye, np.float32)
        reached, kind = np.zeros(shape, np.float32), np.zeros(shape, np.uint8)
        _in_spans(shape[1], lambda a, b: cast(
            scene.surface, cell, corner, eye, rays.east, rays.north, rays.enter, rays.leave, upright.upward,
            np.float32(STEP), rays.from_inside, a, b, reached, kind,
        ))  # fmt: skip
        picture = np.empty((*shape, 3), np.uint8)
        if rays.from_inside:
            self._paint_from_inside(camera, rays, upright, reached, kind, picture)
            return picture
        drape = self._seen_from_outside(camera)
        table, scale = _table()
        _in_spans(shape[1], lambda a, b: paint(
            drape, cell, corner, eye, rays.east, rays.north, reached, kind, table, scale, a, b, picture
        ))  # fmt: skip
        foot = np.float32(self.block.base - camera.eye[2]) / rays.enter
        cut = kind == WALL
        kind[cut & (upright.upward[:, None] < foot)] = BACKDROP  # below the foot of the block is the floor
        cut = kind == WALL
        self._paint_backdrop(camera, rays, upright, kind, picture)
        rows, columns = np.nonzero(cut)

        def cut_open(first: int, last: int) -> None:
            i, j = rows[first:last], columns[first:last]
            picture[i, j] = display_values(self._wall(camera, rays, j, upright.upward[i]))

        each(lambda span: cut_open(*span), spans(len(rows), len(rows) // CACHED))
        return picture

    def _seen_from_outside(self, camera: Camera) -> Floats:
        """Linear-light colour of every point of the surface as the camera sees it, with water and haze."""
        from slopewash.rendering.kernels import see_block

        scene, block = self.scene, self.block
        wet, shown, mirror, calm = self._water(math.sin(camera.pitch))
        ends = [e * camera.forward[0] + n * camera.forward[1] for e in (-block.east, block.east)
                for n in (-block.north, block.north)]  # fmt: skip
        ahead = min(ends) - camera.eye[0] * camera.forward[0] - camera.eye[1] * camera.forward[1]
        drape = np.empty((*scene.surface.shape, 3), np.float32)
        forward = np.array(camera.forward, np.float32)
        _in_spans(len(drape), lambda a, b: see_block(
            scene.ground, wet, shown, mirror, calm, scene.surface, SKY, HAZE, np.float32(HAZE_FAR),
            np.float32(FRESNEL_HEAD_ON), np.array(camera.eye, np.float32), block.corner, np.float32(scene.cell_size),
            forward, np.float32(ahead), np.float32(max(block.diagonal, 1e-6)), scene.water is not None, a, b, drape,
        ))  # fmt: skip
        return drape

    def _seen_from_inside(self, camera: Camera) -> Floats:
        """The same through the haze of the valleys; then the contrast of what cells cannot hold, and the water."""
        from slopewash.rendering.kernels import see_inside

        scene, block = self.scene, self.block
        wet, shown, mirror, calm = self._water(0.5)
        low, high = float(scene.bed.min()), float(scene.surface.max())
        azimuth = math.radians(self.sun[0])
        sunward = np.array([math.sin(azimuth), math.cos(azimuth)], np.float32)
        drape = np.empty((*scene.surface.shape, 5), np.float32)
        contrast = grain_contrast(scene.coarseness)
        _in_spans(len(drape), lambda a, b: see_inside(
            scene.ground, wet, shown, mirror, calm, scene.surface, sunward, scene.day.air, scene.day.glow, SKY,
            np.float32(FRESNEL_HEAD_ON), contrast, BLUE_FIRST, np.array(camera.eye, np.float32), block.corner,
            np.float32(scene.cell_size), np.float32(low), np.float32(AIR_HEIGHT * max(high - low, 1e-6)),
            np.float32(max(block.diagonal, 1e-6)), np.float32(AIR_DENSITY), np.float32(AIR_POWER),
            scene.water is not None, a, b, drape,
        ))  # fmt: skip
        return drape

    def _water(self, steepness: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Colour of the water without reflection, where it is shown, the sky it mirrors, and its normals."""
        scene = self.scene
        if scene.water is None:
            none = np.zeros((1, 1), np.float32)
            return np.zeros((1, 1, 3), np.float32), none, none, np.zeros((3, 1, 1), np.float32)
        if steepness not in self._wet:
            self._wet.clear()
            self._wet[steepness] = under_water(scene.ground, scene.water, brightness(scene.light), steepness)
        mirror = np.float32(scene.day.exposure) * np.minimum(scene.light.sky, 1)
        return self._wet[steepness], scene.water.shown, mirror, self._calm

    @cached_property
    def _calm(self) -> Floats:
        scene = self.scene
        return normals(blur(scene.surface, CALM * max(scene.surface.shape)), scene.cell_size)

    def _paint_from_inside(
        self, camera: Camera, rays: Rays, upright: Upright, reached: Floats, kind: Bytes, picture: Bytes
    ) -> None:
        from slopewash.rendering.kernels import paint_near

        drape = self._seen_from_inside(camera)
        table, scale = _table()
        scales, ripples = np.array(SCALES, np.float32), np.array(RIPPLES, np.float32)
        cube = pattern()
        _in_spans(len(rays.east), lambda a, b: paint_near(
            drape, cube, SIDE, scales, np.float32(BRIGHTEST_GRAIN), ripples, np.float32(RIPPLE_CONTRAST),
            np.float32(self.scene.cell_size), self.block.corner, np.array(camera.eye, np.float32), rays.east,
            rays.north, upright.upward, reached, kind, table, scale, a, b, picture,
        ))  # fmt: skip
        empty = kind == 0
        last = int(np.flatnonzero(empty.any(axis=1)).max(initial=-1)) + 1
        if last:
            above = empty[:last]
            sky = open_sky(rays.east, rays.north, upright.upward[:last], self.scene.day, self.sun[0])
            picture[:last][above] = display_values(sky[above])

    def _paint_backdrop(self, camera: Camera, rays: Rays, upright: Upright, kind: Bytes, picture: Bytes) -> None:
        """Haze and floor behind the block, with its contact shadow on the floor."""
        from slopewash.rendering.kernels import paint_backdrop

        block = self.block
        row_of = camera.row_of(upright.upward)
        lines = np.sqrt(np.maximum(backdrop_lines(row_of, self.scene.day), 0))
        across = np.linspace(0, 1, len(upright.sideways), dtype=np.float32)
        table, scale = _table()
        _in_spans(len(across), lambda a, b: paint_backdrop(
            lines, row_of, across, np.float32(VIGNETTE), np.float32(block.base), np.array(camera.eye, np.float32),
            block.corner, np.float32(max(block.diagonal, 1e-6)), np.float32(CONTACT), rays.east, rays.north,
            upright.upward, kind, table, scale, a, b, picture,
        ))  # fmt: skip

    def _wall(self, camera: Camera, rays: Rays, columns: NDArray[np.intp], upward: Floats) -> Floats:
        """Lit colour of the cut, with water on the surface seen in cross-section."""
        scene, block = self.scene, self.block
        depth = rays.enter[columns]
        height = np.float32(camera.eye[2]) + upward * depth
        east = camera.eye[0] + depth * rays.east[columns]
        north = camera.eye[1] + depth * rays.north[columns]
        i = _cells((block.north - north) / scene.cell_size, scene.surface.shape[0])
        j = _cells((east + block.east) / scene.cell_size, scene.surface.shape[1])
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
        azimuth, altitude = (math.radians(a) for a in self.sun)
        faces_east = -np.sign(rays.east[columns]) * rays.through_side[columns]
        faces_north = -np.sign(rays.north[columns]) * ~rays.through_side[columns]
        facing = np.maximum(faces_east * math.sin(azimuth) + faces_north * math.cos(azimuth), 0) / math.tan(altitude)
        sky = WALL_SKY * (0.55 + 0.45 * smoothstep(0.0, 0.08, above))
        light = scene.day.exposure * (scene.day.sun_share * np.minimum(facing, 1.6) + sky)
        return (colour * light[..., None]).astype(np.float32)


def drape_size(shape: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """Size of the draped colours: no finer than the picture needs, and at least two cells each way."""
    rows, columns = shape
    factor = min(DRAPE_LONG_SIDE, max(64, 2 * max(size))) / max(rows, columns)
    return max(2, round(columns * factor)), max(2, round(rows * factor))


def _table() -> tuple[Bytes, np.float32]:
    table = display_table()
    return table, np.float32((len(table) - 1) / math.sqrt(BRIGHTEST))


def _in_spans(count: int, work: Callable[[int, int], object]) -> None:
    """Run a kernel over spans of rows or columns, on all threads."""
    each(lambda span: work(*span), spans(count, PIECES * workers()))


def _cells(place: Floats, count: int) -> Floats:
    cells: Floats = np.clip(place, 0, count - 1).astype(np.float32)
    return cells
