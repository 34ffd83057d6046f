"""One export: the terrain at its size, and the rasters that several targets write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slopewash.exports.files import write_image
from slopewash.exports.heights16 import Heights16, as_steps
from slopewash.exports.quantities import SnowLine, quantities_of
from slopewash.exports.sizes import Plan
from slopewash.exports.surface_maps import colour_map, normal_map
from slopewash.exports.weights import as_bytes, weights_of
from slopewash.io.notes import Notes
from slopewash.io.options import HeightRange
from slopewash.paths import file_in
from slopewash.rendering.grid import filled
from slopewash.rendering.palettes import Season
from slopewash.terrain import Terrain

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


@dataclass
class Job:
    """What a target writes from; rasters are made when first asked for."""

    terrain: Terrain
    plan: Plan
    folder: Path
    palette: str
    season: Season | None
    snow_line: SnowLine
    height_range: HeightRange | None
    heights_as: str
    notes: Notes | None = None
    """What made the terrain, for formats that record it."""
    files: list[Path] = field(default_factory=list)
    """Written so far."""

    @cached_property
    def heights(self) -> Floats:
        """Metres; nodata cells are filled in."""
        return filled(self.terrain, "elevation")

    @cached_property
    def steps(self) -> Heights16:
        """Heights in 65536 steps."""
        return as_steps(self.heights, self.height_range)

    @cached_property
    def shares(self) -> Mapping[str, Floats]:
        """Paints by name."""
        return weights_of(
            quantities_of(self.terrain, palette=self.palette, season=self.season, snow_line=self.snow_line)
        )

    @cached_property
    def weights(self) -> Mapping[str, Bytes]:
        """Paints in 255 steps."""
        return as_bytes(self.shares)

    @cached_property
    def colours(self) -> Bytes:
        """Colour map."""
        return colour_map(self.terrain, palette=self.palette, season=self.season, snow_line=self.snow_line)

    def normals(self, *, green_up: bool = True) -> Bytes:
        """Normal map."""
        return normal_map(self.terrain, green_up=green_up)

    @cached_property
    def missing(self) -> Bytes | None:
        """255 in nodata cells; None if there are none."""
        nodata = self.terrain.nodata
        return None if nodata is None else np.where(nodata, 255, 0).astype(np.uint8)

    def images(self, *, green_up: bool = True) -> Iterator[tuple[str, Bytes]]:
        """Colour map, normal map and the mask of nodata cells, by name."""
        yield "colour", self.colours
        yield "normal", self.normals(green_up=green_up)
        if self.missing is not None:
            yield "nodata", self.missing

    def image(self, values: NDArray[np.uint8] | NDArray[np.uint16], name: str) -> None:
        """Write a PNG."""
        self.files.append(write_image(values, file_in(self.folder, name)))
