"""Water by depth: clear at the shore, dark where deep, ochre where it carries sediment, with reflected sky."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.rendering.colours import linear, mix, smoothstep
from slopewash.rendering.grid import blur

Floats = NDArray[np.float32]

SHORE_DEPTH = 0.02
"""Cells of depth below which water is not drawn: the film that rain leaves on every slope."""
FULL_DEPTH = 0.09
"""Cells of depth at which the surface is opaque; the shoreline fades in between."""
ABSORPTION_DEPTH = 0.35
"""Cells of depth that dim the ground below to 1/e; in cells, so that lakes show their depth at any scale."""
RED_FIRST = np.array([1.9, 1.0, 0.75], dtype=np.float32)
"""Water absorbs red first: absorption of red, green and blue."""
CLEAR = linear("#2b5259")
DEEP = linear("#152c3b")
ABYSS = linear("#0a1826")
ABYSS_PATH = 30
"""Absorption depths over which the deep of a sea darkens: a shelf looks lighter than the open sea."""
SILTY = linear("#4f573d")
MUDDY = linear("#6f4d35")
HALF_MUDDY = 1.2
"""Metres of sediment per metre of water that look half muddy. Chosen by eye, not a turbidity: rivers of the landscape
preset have a median of 2.3 while they erode (512², 4000 steps), far above real water, and should look muddy."""
MUD_BLUR = 0.001
"""Fraction of the picture: single cells of unusual sediment do not speckle a river."""
SKY = linear("#a9c4dc")
REFLECTED_FROM_ABOVE = 0.06
"""Fresnel reflection straight down is 0.02; three times that keeps open water from looking like a hole."""


@dataclass(frozen=True)
class Water:
    """Water on the grid of a picture."""

    depth: Floats
    shown: Floats
    """0 where no water is drawn, 1 where its surface is complete."""
    mud: Floats
    """0 clear, 1 muddy."""
    absorption_depth: float
    raised: Floats
    """Metres by which the surface lies above the ground."""


def water_of(
    depth: Floats,
    suspended: Floats | None,
    cell_size: float,
    shore_depth: float | None = None,
    *,
    standing: Floats | None = None,
) -> Water:
    """Prepare water for drawing; `shore_depth` in metres overrides the minimum depth drawn.

    `standing` is the part of the depth that rises above the ground, if not all does.
    """
    if shore_depth is not None and not shore_depth >= 0:
        raise InvalidParameter(f"shore_depth is {shore_depth} m; it must not be negative")
    least = SHORE_DEPTH * cell_size if shore_depth is None else shore_depth
    full = max(least * FULL_DEPTH / SHORE_DEPTH, 1e-6)
    mud: Floats = np.zeros_like(depth)
    if suspended is not None:
        sediment: Floats = np.maximum(suspended, 0).astype(np.float32)
        whole = sediment + np.float32(HALF_MUDDY) * np.maximum(depth, 0)
        share = (sediment / np.maximum(whole, 1e-9)).astype(np.float32)
        mud = blur(share, MUD_BLUR * max(share.shape))
    shown = smoothstep(least, full, depth)
    raised = np.maximum(depth if standing is None else standing, 0) * shown
    return Water(depth, shown, mud, ABSORPTION_DEPTH * cell_size, raised)


def under_water(ground: Floats, water: Water, light: Floats, steepness: float = 1.0) -> Floats:
    """Colour of lit ground seen through the water on it, without reflection; black where no water is shown.

    `steepness` is the sine of the angle at which the camera looks down: a flat ray passes through more water.
    """
    seen = np.zeros_like(ground)
    wet = np.nonzero(water.shown)  # a few cells of most pictures
    mud = water.mud[wet]
    path = np.maximum(water.depth[wet], 0) / np.float32(water.absorption_depth * max(steepness, 0.2))
    passed = np.exp(-path[..., None] * (RED_FIRST + 2.5 * mud[..., None]))
    body = mix(CLEAR, DEEP, 1 - np.exp(-path / 3))
    body = mix(body, ABYSS, 1 - np.exp(-path / ABYSS_PATH))
    body = with_mud(body, mud) * light[wet][..., None]
    seen[wet] = ground[wet] * passed + body * (1 - passed)
    return seen


def with_mud(clear: Floats, mud: Floats) -> Floats:
    """Colour of water carrying sediment: green-brown, then ochre; blue and ochre alone would mix to mauve."""
    silty, muddy = mud_shares(mud)
    return mix(mix(clear, SILTY, silty), MUDDY, muddy)


def mud_shares(mud: Floats) -> tuple[Floats, Floats]:
    """How much of the water's colour is silt, and of what that gives, mud."""
    return smoothstep(0.0, 0.4, mud), smoothstep(0.2, 0.75, mud)


def from_above(ground: Floats, water: Water, light: Floats, sky: Floats) -> Floats:
    """Colour of the ground with its water, looking straight down."""
    wet = under_water(ground, water, light) + SKY * (np.float32(REFLECTED_FROM_ABOVE) * sky)[..., None]
    return mix(ground, wet, water.shown)
