"""How a command reads a file of heights: the same options wherever one is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from slopewash.cli.options import parse_height_range, parse_shape


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options of reading, as they are written on the command line."""

    cell_size: Annotated[float | None, Parameter(help="Side of a cell in metres, if missing or wrong in the file.")] = (
        None
    )
    height_range: Annotated[
        str | None,
        Parameter(
            allow_leading_hyphen=True,
            help="LOW..HIGH: metres that black and white of the file stand for, the lowest and the highest value that "
            "a file of integers can hold, whether or not it holds them.",
        ),
    ] = None
    height_unit: Annotated[
        Literal["m", "ft", "us-ft"] | None, Parameter(help="Unit of heights, if missing or wrong.")
    ] = None
    reproject: Annotated[
        str | None,
        Parameter(
            help="CRS to resample a map to: utm for the local zone, or a code such as EPSG:3035. Needs the gis extra."
        ),
    ] = None
    band: Annotated[int | None, Parameter(help="Band of a .tif to take as the elevation, from 1.")] = None
    nodata: Annotated[
        float | None,
        Parameter(
            allow_leading_hyphen=True,
            help="Number in the file that marks cells without data, besides one that it declares: -9999, or nan.",
        ),
    ] = None
    shape: Annotated[
        str | None, Parameter(allow_leading_hyphen=True, help="ROWS,COLUMNS of a raw file that is not square.")
    ] = None
    max_pixels: Annotated[int | None, Parameter(help="Largest number of cells to read.")] = None

    def options(self, *, allow_8bit: bool = False) -> dict[str, Any]:
        """What was given, as `slopewash.read` takes it."""
        values = {
            **vars(self), "height_range": parse_height_range(self.height_range), "shape": parse_shape(self.shape),
            "allow_8bit": allow_8bit or None,
        }  # fmt: skip
        return {name: value for name, value in values.items() if value is not None}


AS_IS = Reading()
"""Nothing given: as the file says."""
