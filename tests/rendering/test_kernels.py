"""The compiled loops of a picture against short NumPy versions of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from slopewash.errors import InvalidParameter
from slopewash.rendering import render_view
from slopewash.rendering.camera import look_at, upright_for
from slopewash.rendering.colours import BRIGHTEST, display, display_table
from slopewash.rendering.grid import sample
from slopewash.rendering.kernels import GROUND, WALL, cast, paint_near, turn_down, turn_down_sharply
from slopewash.rendering.light import SKY_AZIMUTHS, SKY_RINGS, SKY_SOFTNESS, SKY_TOWARDS_SUN, normals, skylight
from slopewash.rendering.near_grain import BRIGHTEST as BRIGHTEST_GRAIN
from slopewash.rendering.near_grain import RIPPLE_CONTRAST, RIPPLES, SCALES, SIDE, pattern
from slopewash.terrain import Terrain

from .conftest import mountains

Floats = NDArray[np.float32]


def lit_rows(height: Floats, cell_size: float, shift: float, tangents: Floats, softness: float) -> Floats:
    """Share of the light, which comes from row 0, that reaches each cell at each altitude."""
    rows, columns = height.shape
    stride = cell_size * math.hypot(1, shift)
    whole = -1 if shift < 0 else 0
    share = np.float32(shift - whole)  # beyond the border, the plane is so low that a rest of 1e-16 would count
    plane = np.full((len(tangents), columns + 2), -1e30)
    way = np.zeros_like(plane)
    near, far = slice(1 + whole, 1 + whole + columns), slice(2 + whole, 2 + whole + columns)
    result = np.ones((rows, len(tangents), columns))
    plane[:, 1:-1] = height[0]
    for row in range(1, rows):
        carried = plane[:, near] * (1 - share) + plane[:, far] * share - tangents[:, None] * stride
        distance = way[:, near] * (1 - share) + way[:, far] * share + stride
        below = np.maximum(carried - height[row], 0)
        result[row] = 1 - np.minimum(below / math.tan(math.radians(softness)) / distance, 1)
        way[:, 1:-1] = np.where(below > 0, distance, 0)
        plane[:, 1:-1] = np.maximum(carried, height[row])
    return result.astype(np.float32)


def turned_by(down: float, right: float) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """View of a field in which light that moves down and right by these comes from row 0."""

    def turn(field: NDArray[Any]) -> NDArray[Any]:
        view = field.T if abs(right) > abs(down) else field
        return view[::-1] if (right if abs(right) > abs(down) else down) > 0 else view

    return turn


@pytest.mark.parametrize("shape", [(60, 47), (40, 64)])
@pytest.mark.parametrize("sun_azimuth", [0.0, 77.0, 200.0])
def test_light_of_the_sky_is_the_sum_of_its_directions(shape: tuple[int, int], sun_azimuth: float) -> None:
    height = mountains(*shape, relief=200.0).astype(np.float32)
    normal = normals(height, 10.0)
    sines = (np.arange(SKY_RINGS) + 0.5) / SKY_RINGS
    expected = np.zeros(shape)
    for azimuth in np.arange(SKY_AZIMUTHS) * (360 / SKY_AZIMUTHS) + sun_azimuth:
        angle = math.radians(azimuth)
        down, right = -math.cos(angle), math.sin(angle)
        turn = turned_by(down, right)
        shift = down / abs(right) if abs(right) > abs(down) else right / abs(down)
        lit = lit_rows(turn(height), 10.0, shift, np.tan(np.arcsin(sines)), SKY_SOFTNESS)
        along = turn(normal[0] * math.sin(angle) + normal[1] * math.cos(angle))
        facing = along[:, None] * np.sqrt(1 - sines**2)[:, None] + turn(normal[2])[:, None] * sines[:, None]
        strength = 1 + SKY_TOWARDS_SUN * math.cos(math.radians(azimuth - sun_azimuth))
        turn(expected)[:] += strength / (SKY_AZIMUTHS * sines.sum()) * (lit * np.maximum(facing, 0)).sum(axis=1)
    assert skylight(height, 10.0, sun_azimuth, normal) == pytest.approx(expected, abs=2e-4)  # float32 planes of light


def test_rays_find_the_first_ground_that_covers_a_pixel() -> None:
    surface = mountains(50, 50, relief=120.0).astype(np.float32)
    eye = np.array([0.0, -60.0, 150.0], np.float32)  # south of a block of 49 x 49 m
    corner = np.array([24.5, 24.5], np.float32)
    east = np.linspace(-0.3, 0.3, 21, dtype=np.float32)
    north = np.ones(21, np.float32)
    enter, leave = np.full(21, 35.5, np.float32), np.full(21, 84.5, np.float32)
    upward = np.linspace(0.2, -3.5, 90, dtype=np.float32)
    reached, kind = np.zeros((90, 21), np.float32), np.zeros((90, 21), np.uint8)
    one = np.float32(1)
    cast(surface, one, corner, eye, east, north, enter, leave, upward, np.float32(0.75), False, 0, 21, reached, kind)
    for c in range(21):
        depth = np.linspace(35.5, 84.5, 4001)
        i, j = np.clip(24.5 - eye[1] - depth - 0.0, 0, 49), np.clip(depth * east[c] + 24.5, 0, 49)
        slope = (sample(surface, i.astype(np.float32), j.astype(np.float32)) - eye[2]) / depth
        first = np.searchsorted(np.maximum.accumulate(slope), upward)
        assert ((first == 0) == (kind[:, c] == WALL)).all()
        seen = (first > 0) & (first < len(depth))
        assert np.mean(seen == (kind[:, c] == GROUND)) > 0.97  # samples three quarters of a cell apart miss a tip
        both = seen & (kind[:, c] == GROUND)
        assert np.median(np.abs(depth[first[both]] - reached[both, c])) < 0.1
        assert np.quantile(np.abs(depth[first[both]] - reached[both, c]), 0.9) < 1


@pytest.mark.parametrize("wet", [0.0, 0.25, 1.0])
def test_grain_and_ripples_near_the_camera_follow_their_pattern(wet: float) -> None:
    cube = pattern().reshape(SIDE, SIDE, SIDE)
    drape = np.full((9, 9, 5), 0.2, np.float32)
    drape[..., 3], drape[..., 4] = 0.3, wet
    eye, corner = np.array([0.0, 0.0, 2.0], np.float32), np.array([4.0, 4.0], np.float32)
    east, north = np.array([0.3], np.float32), np.array([1.0], np.float32)
    upward = np.array([-0.5, -0.9], np.float32)
    reached = np.array([[3.1], [1.7]], np.float32)
    kind = np.full((2, 1), GROUND, np.uint8)
    picture = np.zeros((2, 1, 3), np.uint8)
    table = display_table()
    scale = np.float32((len(table) - 1) / math.sqrt(BRIGHTEST))
    paint_near(
        drape, pattern(), SIDE, np.array(SCALES, np.float32), np.float32(BRIGHTEST_GRAIN),
        np.array(RIPPLES, np.float32), np.float32(RIPPLE_CONTRAST), np.float32(1), corner, eye, east, north, upward,
        reached, kind, table, scale, 0, 1, picture,
    )  # fmt: skip

    def layered(scales: tuple[tuple[float, float], ...], away: float, place: NDArray[np.float64]) -> float:
        total = 0.0
        for fine, reach in scales:
            at = place * fine
            low = np.floor(at).astype(int)
            part = at - low
            value = 0.0
            for corner_number in range(8):
                step = np.array([corner_number >> 2 & 1, corner_number >> 1 & 1, corner_number & 1])
                weight = np.prod(np.where(step, part, 1 - part))
                value += weight * cube[tuple((low + step) % SIDE)]
            total += math.exp(-away / reach) * value
        return total

    for r in range(2):
        away = float(reached[r, 0])
        place = np.array([upward[r] * away, 4 - away, 0.3 * away + 4])  # up, row, column
        dry = 0.3 * min(layered(SCALES, away, place), BRIGHTEST_GRAIN)
        rippled = RIPPLE_CONTRAST * layered(RIPPLES, away, place * [0, 1, 1])
        expected = 0.2 * math.exp(dry + wet * (rippled - dry))
        assert abs(int(picture[r, 0, 0]) - int(display([expected])[0])) <= 1


def test_the_table_of_display_values_is_within_one_of_the_formula() -> None:
    light = np.random.default_rng(2).random(2000).astype(np.float32) ** 2 * 3
    table = display_table()
    index = np.rint(np.sqrt(light / BRIGHTEST) * (len(table) - 1)).astype(int)
    assert np.abs(table[index].astype(int) - display(light)).max() <= 1


def test_turning_an_upright_picture_down_without_a_tilt_averages_subpixels() -> None:
    picture = np.random.default_rng(3).integers(0, 256, (12, 16, 3)).astype(np.uint8)
    out = np.zeros((6, 8, 3), np.float32)
    line = np.empty(48, np.float32)
    turn_down(picture.reshape(12, 48), np.array([1, 0, 0, 0, 1, 0, 0, 0], np.float32), 2, 0, 6, line, out)
    expected = picture.reshape(6, 2, 8, 2, 3).mean(axis=(1, 3))
    assert np.abs(out.astype(np.uint8) - expected).max() <= 0.51


def test_turning_down_sharply_is_what_pillow_does_within_one_shade() -> None:
    box = np.array([[x, y, z] for x in (-50, 50) for y in (-40, 40) for z in (0, 20)], dtype=float)
    camera = look_at(box, size=(64, 48), azimuth=200, pitch=30, distance=1.5, zoom=1.0)
    upright = upright_for(camera)
    shape = len(upright.upward), len(upright.sideways), 3
    picture = np.random.default_rng(4).integers(0, 256, shape).astype(np.uint8)
    size, method = camera.size, Image.Resampling.BICUBIC
    turned = Image.fromarray(picture).transform(size, Image.Transform.PERSPECTIVE, upright.coefficients, method)
    out, line = np.zeros((24, 32, 3), np.float32), np.empty(3 * shape[1], np.float32)
    plane = np.array(upright.coefficients, np.float32)
    turn_down_sharply(picture.reshape(shape[0], -1), plane, 2, 0, 24, line, out)
    assert np.abs(out.astype(np.uint8).astype(int) - np.asarray(turned.reduce(2)).astype(int)).max() <= 1


def test_pictures_do_not_depend_on_the_number_of_threads(rough: Terrain, monkeypatch: pytest.MonkeyPatch) -> None:
    first = np.asarray(render_view(rough, size=(160, 100)))
    monkeypatch.setattr("slopewash.rendering.stage.workers", lambda: 7)
    assert (np.asarray(render_view(rough, size=(160, 100))) == first).all()


@pytest.mark.parametrize("option", ["azimuth", "zoom", "pitch", "distance"])
def test_a_camera_needs_finite_numbers(rough: Terrain, option: str) -> None:
    with pytest.raises(InvalidParameter, match=option):
        render_view(rough, size=(64, 40), **{option: math.nan})  # type: ignore[arg-type]
