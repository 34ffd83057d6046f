"""From the step of a georeferenced grid to the side of a cell in metres, or the reason why there is none."""

from __future__ import annotations

from pathlib import Path

from slopewash.errors import InvalidFile
from slopewash.remedies import option

SQUARE = 1e-3
"""Relative difference of the two pixel sizes up to which rounding in reprojection, not intent, is the likely reason."""


def metres_per_cell(
    sizes: tuple[float, float], *, geographic: bool, unit: float = 1.0
) -> tuple[float | None, str | None]:
    """Return the side of a cell in metres, or what stands in the way; `unit` is in metres.

    >>> metres_per_cell((100.0, 100.0), geographic=False, unit=0.3048)
    (30.48, None)
    >>> metres_per_cell((0.1, 0.1), geographic=True)
    (None, 'has cells of 0.1 x 0.1 degrees, not metres')
    """
    across, down = sizes
    if geographic:
        return None, f"has cells of {across:g} x {down:g} degrees, not metres"
    if abs(across - down) > SQUARE * max(sizes):
        return None, f"has cells of {across:g} x {down:g}, which are not square"
    return across * unit, None


def cannot_measure(path: Path, obstacle: str, *, resample: bool = True) -> str:
    """Sentence for a file without a cell size in metres, with the remedies; not every file can be resampled.

    >>> cannot_measure(Path("dem.tif"), "has cells of 30 x 20, which are not square")
    'dem.tif has cells of 30 x 20, which are not square; give reproject="utm", or --reproject utm, to resample it ...'
    """
    named = f"name the side of a cell in metres with {option('cell_size')}"
    if not resample:
        return f"{path} {obstacle}; resample it in metres first, as gdalwarp does, or {named}"
    reproject = option("reproject", '"utm"', "utm")
    return f"{path} {obstacle}; give {reproject}, to resample it in metres, or {named}"


def side_of_cell(
    path: Path,
    sizes: tuple[float, float] | None,
    *,
    noted: float | None,
    geographic: bool,
    unit: float | None,
    obstacle: str | None,
    resample: bool = True,
) -> float | None:
    """Side of a cell in metres, or None where the file does not give it.

    What slopewash `noted` counts unless the cells have another side: programs that resample a file keep its notes.
    `unit` is in metres, and `obstacle` says why there is none; `resample` says whether `read` could resample the file.

    >>> side_of_cell(Path("dem.tif"), (30.0, 30.0), noted=None, geographic=False, unit=0.3048, obstacle=None)
    9.144
    """
    if sizes is None:
        return noted
    size = None
    if unit is not None or geographic:
        size, obstacle = metres_per_cell(sizes, geographic=geographic, unit=unit or 1.0)
    if size is None and noted is None:
        raise InvalidFile(cannot_measure(path, str(obstacle), resample=resample))
    if size is not None and (noted is None or abs(size - noted) > SQUARE * size):
        return size
    return noted
