"""A terrain lit and coloured once, which any number of cameras can look at.

Sun and terrain stand still: light, shadows and colours of the ground do not depend on the camera, and a film computes
them once. What does is worked out for each picture: reflections on water, haze, and which ground hides which.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from slopewash.rendering.block import Block, Rays
from slopewash.rendering.camera import Camera, Upright, upright_for
from slopewash.rendering.colours import BRIGHTEST, display_table, linear
from slopewash.rendering.colours import display as display_values
from slopewash.rendering.grid import blur, sample
from slopewash.rendering.light import Sun, checked_sun, normals
from slopewash.rendering.near_grain import BRIGHTEST as BRIGHTEST_GRAIN
from slopewash.rendering.near_grain import RIPPLE_CONTRAST, RIPPLES, SCALES, SIDE, grain_contrast, pattern
from slopewash.rendering.scene import Look, Scene, brightness, build_scene
from slopewash.rendering.sky import VIGNETTE, backdrop_lines, open_sky
from slopewash.rendering.threads import each, spans, workers
from slopewash.rendering.walls import GRAIN_CELLS, NO_TOPSOIL, TOPSOIL, TOPSOIL_DEPTH, rock_of
from slopewash.rendering.water import CLEAR, DEEP, MUDDY, SILTY, SKY, mud_shares, under_water
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
LEVEL = np.array([0, 0, 1], dtype=np.float32)[:, None, None]
SHADOW_STEPS = 4096
SHADOW_END = 0.5
"""Diagonals of the block over which its shadow on the floor is worked out: beyond, it is below half a shade."""
WALL_SKY = 0.55
"""A vertical wall receives light from half of the sky, and a little from the floor."""
WALL_FOOT, WALL_FOOT_REACH = 0.55, 0.08
"""Fraction of that light at the foot of a wall, and diagonals of the block above which there is all of it."""
BRIGHTEST_WALL = 1.6
"""Light of a low sun on a wall that faces it, at most; open flat ground has 1."""
WALL_SHORE = 0.3
"""Cells above the ground at which water in cross-section hides what is behind it."""
WATERS = np.stack([CLEAR, DEEP, SILTY, MUDDY])
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
        block = Block.around(scene, rock_of(terrain, drape, look.exaggeration, plain=scene.plain))
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
        from slopewash.rendering.kernels import cast, paint

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
        self._paint_walls(camera, rays, upright, kind, picture)
        self._paint_backdrop(camera, rays, upright, kind, picture)
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
        forward, haze = np.array(camera.forward, np.float32), np.float32(0 if scene.plain else HAZE_FAR)
        _in_spans(len(drape), lambda a, b: see_block(
            scene.ground, wet, shown, mirror, calm, scene.surface, SKY, HAZE, haze,
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
        contrast, density = grain_contrast(scene.coarseness), np.float32(0 if scene.plain else AIR_DENSITY)
        _in_spans(len(drape), lambda a, b: see_inside(
            scene.ground, wet, shown, mirror, calm, scene.surface, sunward, scene.day.air, scene.day.glow, SKY,
            np.float32(FRESNEL_HEAD_ON), contrast, BLUE_FIRST, np.array(camera.eye, np.float32), block.corner,
            np.float32(scene.cell_size), np.float32(low), np.float32(AIR_HEIGHT * max(high - low, 1e-6)),
            np.float32(max(block.diagonal, 1e-6)), density, np.float32(AIR_POWER),
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
        if scene.plain:  # as on level water: steep films would mirror the sky as white smears
            return np.broadcast_to(LEVEL, (3, *scene.surface.shape))
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
        plain = self.scene.plain
        dark = np.float32(0 if plain else VIGNETTE)
        lines = np.sqrt(np.maximum(backdrop_lines(row_of, self.scene.day, plain=plain), 0))
        across = np.linspace(0, 1, len(upright.sideways), dtype=np.float32)
        table, scale = _table()
        shadow, fine = _floor_light(), np.float32(SHADOW_STEPS / SHADOW_END / max(block.diagonal, 1e-6))
        _in_spans(len(across), lambda a, b: paint_backdrop(
            lines, row_of, across, dark, np.float32(block.base), np.array(camera.eye, np.float32),
            block.corner, shadow, fine, rays.east, rays.north, upright.upward, kind, table, scale, a, b, picture,
        ))  # fmt: skip

    def _paint_walls(self, camera: Camera, rays: Rays, upright: Upright, kind: Bytes, picture: Bytes) -> None:
        """Rock where the block is cut, with water on the surface seen in cross-section. Most is one for each column."""
        from slopewash.rendering.kernels import paint_walls

        scene, block, rock, day = self.scene, self.block, self.block.rock, self.scene.day
        east = camera.eye[0] + rays.enter * rays.east
        north = camera.eye[1] + rays.enter * rays.north
        i = _cells((block.north - north) / scene.cell_size, scene.surface.shape[0])
        j = _cells((east + block.east) / scene.cell_size, scene.surface.shape[1])
        diagonal = max(block.diagonal, 1e-6)
        along = np.float32(GRAIN_CELLS / diagonal) * (east - north) + np.float32(rock.grain.shape[1] / 2)
        silty, muddy = mud_shares(np.zeros_like(i) if scene.water is None else sample(scene.water.mud, i, j))
        absorbed = 1.0 if scene.water is None else 4 * scene.water.absorption_depth
        azimuth, altitude = (math.radians(a) for a in self.sun)
        faces_east = -np.sign(rays.east) * rays.through_side
        faces_north = -np.sign(rays.north) * ~rays.through_side
        facing = np.maximum(faces_east * math.sin(azimuth) + faces_north * math.cos(azimuth), 0) / math.tan(altitude)
        sunny = (day.exposure * day.sun_share * np.minimum(facing, BRIGHTEST_WALL)).astype(np.float32)
        dark, light = (np.float32(day.exposure * WALL_SKY * share) for share in (WALL_FOOT, 1.0))
        table, scale = _table()
        foot = np.float32(block.base - camera.eye[2]) / rays.enter
        ground, surface = sample(scene.bed, i, j), sample(scene.surface, i, j)
        top, bedrock = rock.beneath(i, j)
        turf = np.float32((NO_TOPSOIL if scene.plain else TOPSOIL_DEPTH) * diagonal)
        _in_spans(len(i), lambda a, b: paint_walls(
            rock.colours, rock.depths, rock.grain, TOPSOIL, turf,
            np.float32(GRAIN_CELLS / diagonal), top, bedrock, along, ground, surface, silty, muddy, WATERS,
            np.float32(absorbed), np.float32(WALL_SHORE * scene.cell_size), scene.water is not None, sunny, foot, dark,
            light, np.float32(WALL_FOOT_REACH * diagonal), np.array(camera.eye, np.float32), np.float32(block.base),
            rays.enter, upright.upward, kind, table, scale, a, b, picture,
        ))  # fmt: skip


def drape_size(shape: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """Size of the draped colours: no finer than the picture needs, and at least two cells each way."""
    rows, columns = shape
    factor = min(DRAPE_LONG_SIDE, max(64, 2 * max(size))) / max(rows, columns)
    return max(2, round(columns * factor)), max(2, round(rows * factor))


@cache
def _floor_light() -> Floats:
    """Light on the floor beside the block, by the distance from its foot: a shadow of a narrow and a wide part."""
    outside = np.linspace(0, SHADOW_END, SHADOW_STEPS + 1)
    shade = 0.6 * np.exp(-outside / 0.012) + 0.4 * np.exp(-outside / 0.06)
    return (1 - CONTACT * shade).astype(np.float32)


def _table() -> tuple[Bytes, np.float32]:
    table = display_table()
    return table, np.float32((len(table) - 1) / math.sqrt(BRIGHTEST))


def _in_spans(count: int, work: Callable[[int, int], object]) -> None:
    """Run a kernel over spans of rows or columns, on all threads."""
    each(lambda span: work(*span), spans(count, PIECES * workers()))


def _cells(place: Floats, count: int) -> Floats:
    cells: Floats = np.clip(place, 0, count - 1).astype(np.float32)
    return cells
