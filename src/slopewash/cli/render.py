"""`slopewash render`: a picture of a file of heights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from slopewash.cli.options import (
    Band,
    CellSize,
    Force,
    HeightRange,
    HeightUnit,
    MaxPixels,
    Out,
    Reproject,
    Shape,
    parse_snow_line,
    parse_sun,
    read_options,
)
from slopewash.cli.outputs import check_not_input, check_picture

if TYPE_CHECKING:
    from slopewash import Terrain

EXAMPLES = """Examples:
  slopewash render eroded.exr -o view.png            a block, in summer
  slopewash render eroded.exr -o map.png --view map  from above
  slopewash render eroded.exr -o inside.png --view inside --sun evening
  slopewash render eroded.exr -o winter.png --season winter --sun 135,20
  slopewash render dem.tif -o dem.png --season desert --exaggeration 1.5"""


def command(
    file: Annotated[Path, Parameter(name="FILE")],
    /,
    *,
    out: Out,
    view: Literal["block", "inside", "map"] = "block",
    season: Literal["summer", "autumn", "winter", "desert"] = "summer",
    sun: Annotated[str, Parameter(allow_leading_hyphen=True)] = "map",
    snow_line: Annotated[str, Parameter(allow_leading_hyphen=True)] = "auto",
    water: Literal["rivers", "simulated", "none"] = "rivers",
    width: int | None = None,
    azimuth: float = 205.0,
    pitch: float | None = None,
    zoom: float = 1.0,
    heading: float | None = None,
    exaggeration: float = 1.0,
    cell_size: CellSize = None,
    height_range: HeightRange = None,
    shape: Shape = None,
    max_pixels: MaxPixels = None,
    reproject: Reproject = None,
    height_unit: HeightUnit = None,
    band: Band = None,
    force: Force = False,
) -> None:
    """Draw a terrain as a landscape: a block, a view from inside or a map.

    Parameters
    ----------
    file
        File with heights; its layers, such as deposit, wear and flow, colour the ground.
    out
        PNG file to write.
    view
        block shows the whole terrain, inside stands in a valley, map looks straight down.
    season
        Plants, stone and snow of a summer, an autumn, a winter or a desert.
    sun
        morning, noon, evening, map (north-west), or AZIMUTH,ALTITUDE in degrees.
    snow_line
        Height in metres above which snow lies; none; or auto, by season and relief.
    water
        rivers and lakes along the drainage, the simulated depth of the file, or none.
    width
        Pixels across; 1600 for a view, one per cell for a map.
    azimuth
        Direction of the camera as seen from the block, in degrees clockwise from north.
    pitch
        Degrees by which the camera looks down; 30 for the block, by the skyline from inside.
    zoom
        Magnification of a view.
    heading
        Direction to look in from inside, in degrees clockwise from north.
    exaggeration
        Factor on heights.
    """
    import slopewash as sw

    check_picture(out)
    check_not_input(file, out, force=force)
    light, snow = parse_sun(sun), parse_snow_line(snow_line)
    options = read_options(
        cell_size, height_range, shape, allow_8bit=True, max_pixels=max_pixels, reproject=reproject,
        height_unit=height_unit, band=band,
    )  # fmt: skip
    terrain = sw.read(file, **options)
    terrain = with_water(terrain, water)
    shown: Literal["auto", "simulated", "none"] = "auto" if water == "rivers" else water
    if view == "map":
        sw.render(
            terrain, out, sun=light, season=season, snow_line=snow, water=shown, width=width, exaggeration=exaggeration
        )
    else:
        across = 1600 if width is None else width
        sw.render_view(
            terrain, out, size=(across, round(across * 0.625)), camera=view, azimuth=azimuth, pitch=pitch, zoom=zoom,
            heading=heading, sun=light, season=season, snow_line=snow, water=shown, exaggeration=exaggeration,
        )  # fmt: skip
    print(out)


def with_water(terrain: Terrain, water: str) -> Terrain:
    """Add rivers and lakes if they are wanted and the file has none."""
    import slopewash as sw

    if water != "rivers" or "river" in terrain or "lake" in terrain:
        return terrain
    return sw.add_water(terrain)
