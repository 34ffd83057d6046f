"""Write a terrain as a folder of files that another program imports."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from slopewash.errors import InvalidFile, InvalidTerrain, unknown_name
from slopewash.exports.card import JSON, Card
from slopewash.exports.fitting import fitted
from slopewash.exports.job import Job
from slopewash.exports.quantities import SnowLine
from slopewash.exports.sizes import Fit, plan_sizes
from slopewash.exports.targets import find_target
from slopewash.io.notes import Notes
from slopewash.io.options import HeightRange
from slopewash.paths import LONGEST_SHOWN, confined_to, make_folder, read_beside
from slopewash.rendering.palettes import Season, find_palette
from slopewash.terrain import Terrain, check_terrain

LARGEST_CARD = 1 << 20
"""Bytes that are read of the card of an earlier export."""
WaterWanted = Literal["rivers", "simulated", "none"]
WATER_LAYERS = {"rivers": (), "simulated": ("river", "lake"), "none": ("river", "lake", "water")}
"""Layers that are not exported, by the water that is wanted."""


@dataclass(frozen=True)
class Exported:
    """What was written: the folder, its files and the import card.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> made = sw.export(sw.generate("hill", size=33), "godot", folder.name, fit="resample", size=33)
    >>> made.folder.name == Path(folder.name).name, len(made.files) > 1
    (True, True)
    >>> folder.cleanup()
    """

    folder: Path
    files: tuple[Path, ...]
    card: Card

    def __str__(self) -> str:
        return str(self.card)


def export(
    terrain: Terrain,
    target: str,
    folder: str | os.PathLike[str],
    *,
    size: int | None = None,
    tiles: tuple[int, int] = (1, 1),
    fit: Fit | None = None,
    shared_edges: bool | None = None,
    heights: str | None = None,
    height_range: HeightRange | None = None,
    water: WaterWanted = "rivers",
    palette: str = "alpine",
    season: Season | None = None,
    snow_line: SnowLine = "auto",
    notes: Notes | None = None,
) -> Exported:
    """Write heights, paint layers, colours and an import card for a game engine or another program.

    Parameters
    ----------
    terrain
        Terrain to export; nodata cells are filled in, and marked where the target can.
    target
        "unreal", "unity", "godot", "blender", "houdini" or "gis".
    folder
        Where the files go; created if missing. Files of the same names are replaced.
    size
        Samples along a side of one file. By default that of the terrain.
    tiles
        Columns and rows of files.
    fit
        What is done if the terrain has another size: "resample", "crop" or "pad". Without it, that is an error which
        names the nearest valid sizes.
    shared_edges
        Whether neighbouring files repeat the row or column between them. By default as the target expects it.
    heights
        Format of the heights: "png" or "r16" for unreal, "exr" or "r16" for godot.
    height_range
        Heights in metres of the lowest and highest 16-bit step. By default those of the terrain.
    water
        "rivers" and lakes along the drainage, added unless the terrain has them; "simulated", the depth of the run;
        "none".
    palette, season, snow_line
        Colours and snow, as in `render`.
    notes
        What made the terrain, to record in a PNG of heights: `Result.notes`, or `probe(file).made_by`.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = export(Terrain(np.eye(33), cell_size=4.0), "unity", folder, water="none")
    ...     print(done.card["terrain_width"], sorted(path.name for path in done.files)[:2])
    128.0 ['colour.png', 'height.raw']
    """
    check_terrain(terrain)
    chosen = find_target(target)
    if water not in WATER_LAYERS:
        raise unknown_name("water", water, WATER_LAYERS)
    find_palette(palette, season)
    if min(terrain.shape) < 2:
        raise InvalidTerrain(f"the terrain has {terrain.shape[1]} x {terrain.shape[0]} cells; an export needs 2 x 2")
    plan = plan_sizes(terrain.shape, chosen.sizes, size=size, tiles=tiles, fit=fit, shared=shared_edges)
    form = chosen.height_format(heights)
    _check_other(Path(folder), target)
    place = _made(Path(folder))
    ground = _with_water(fitted(terrain, plan), water) if chosen.painted else fitted(terrain, plan)
    job = Job(ground, plan, place, palette, season, snow_line, height_range, form, notes)
    with confined_to(place):
        card = chosen.write(job)
        card = replace(card, files=tuple(path.relative_to(place).as_posix() for path in job.files))
        return Exported(place, (*job.files, *card.write(place)), card)


def _check_other(folder: Path, target: str) -> None:
    """Refuse a folder with an export for another program: files of both have the same names."""
    try:
        other = json.loads(read_beside(folder / JSON, LARGEST_CARD) or b"{}")["target"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return  # not one of ours
    if isinstance(other, str) and other != target:
        raise InvalidFile(f"{folder} holds an export for {other[:LONGEST_SHOWN]}; name another folder for {target}")


def _made(folder: Path) -> Path:
    try:
        make_folder(folder)
    except OSError as error:
        raise InvalidFile(f"folder {folder} cannot be created: {error.strerror}") from error
    return folder


def _with_water(terrain: Terrain, water: WaterWanted) -> Terrain:
    if water == "rivers":
        from slopewash.analysis.rivers import add_water

        return terrain if "river" in terrain or "lake" in terrain else add_water(terrain)
    return terrain.replace(**{name: None for name in WATER_LAYERS[water] if name in terrain})
