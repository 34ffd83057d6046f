"""From the step of a georeferenced grid to the side of a cell in metres, or the reason why there is none."""

from __future__ import annotations

from pathlib import Path

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


def cannot_measure(path: Path, obstacle: str) -> str:
    """Sentence for a file without a cell size in metres, with the two remedies.

    >>> cannot_measure(Path("dem.tif"), "has cells of 30 x 20, which are not square")
    'dem.tif has cells of 30 x 20, which are not square; give reproject="utm", or --reproject utm, to resample it ...'
    """
    resample = option("reproject", '"utm"', "utm")
    return (
        f"{path} {obstacle}; give {resample}, to resample it in metres, or name the side "
        f"of a cell in metres with {option('cell_size')}"
    )
