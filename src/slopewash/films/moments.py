"""The states of a run that a time-lapse shows: terrains, recorded files, or checkpoints."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image

from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.io.files import read
from slopewash.io.formats import FORMATS
from slopewash.remedies import by_place
from slopewash.terrain import Terrain

Moment = Terrain | Image.Image
Load = Callable[[], Moment]
"""Gives a terrain, or a picture that was drawn during the run."""
Source = Terrain | Sequence[Terrain] | str | os.PathLike[str]

FRAME = "frame_*"
"""What `Recorder` calls its files."""


def moments_of(source: Source) -> list[Load]:
    """Find the moments of a time-lapse in order; each is loaded when it is asked for."""
    if isinstance(source, Terrain):
        raise InvalidParameter("a time-lapse needs several terrains or a folder, but got one terrain")
    if isinstance(source, str | os.PathLike):
        found = _in_folder(Path(source))
    else:
        found = [lambda terrain=terrain: terrain for terrain in source]  # type: ignore[misc]
    if len(found) < 2:
        raise InvalidParameter(f"a time-lapse needs at least two moments, but there are {len(found)}")
    return found


def _in_folder(folder: Path) -> list[Load]:
    if not folder.is_dir():
        raise InvalidFile(f"{folder} is not a folder; a time-lapse needs one of recorded files or checkpoints")
    data = sorted(path for path in folder.glob(FRAME) if path.suffix in FORMATS and path.suffix != ".png")
    if data:
        return [lambda path=path: read(path) for path in data]  # type: ignore[misc]
    pictures = sorted(folder.glob(f"{FRAME}.png"))
    if pictures:
        return [lambda path=path: _picture(path) for path in pictures]  # type: ignore[misc]
    from slopewash.simulation import find_checkpoints

    checkpoints = find_checkpoints(folder)[::-1]
    if not checkpoints:
        raise InvalidFile(
            f"{folder} holds no recorded files and no checkpoints; record a run with "
            + by_place(
                python=f'sw.Recorder({str(folder)!r}, data=".npz")', command=f"slopewash erode --record {folder}"
            )
        )
    return [lambda path=path: _checkpointed(path) for path in checkpoints]  # type: ignore[misc]


def _picture(path: Path) -> Image.Image:
    with Image.open(path) as image:
        return image.convert("RGB")


def _checkpointed(path: Path) -> Terrain:
    from slopewash.simulation import Simulation

    simulation = Simulation.resume(path)
    try:
        return simulation.terrain
    finally:
        simulation.close()
