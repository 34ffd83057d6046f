"""`slopewash render`: a picture or a film of a file of heights, or of a run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from slopewash.claims import Claim
from slopewash.cli.console import print_json, show
from slopewash.cli.options import (
    Flag,
    Json,
    Out,
    parse_snow_line,
    parse_sun,
)
from slopewash.cli.outputs import check_apart, check_film, check_picture, is_film
from slopewash.cli.reading import AS_IS, Reading
from slopewash.cli.tiles import check_recorded, read_grid
from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash import Terrain

EXAMPLES = """Examples:
  slopewash render eroded.exr -o view.png            a block, in summer
  slopewash render eroded.exr -o map.png --view map  from above
  slopewash render eroded.exr -o inside.png --view inside --sun evening
  slopewash render eroded.exr -o winter.png --season winter --sun 135,20
  slopewash render eroded.exr -o flow.png --layer flow --contours auto
  slopewash render eroded.exr -o peak.png --look-at 2400,2100 --zoom 3
  slopewash render eroded.exr -o turntable.webm --seconds 10
  slopewash render eroded.exr -o flight.mp4 --film flyover
  slopewash render run/ -o timelapse.webm
      a run that `slopewash erode --record run/` recorded

Films need the video extra: pip install slopewash[video]"""


FILM_ONLY = ("seconds", "fps", "quality")
WITHOUT_EFFECT = {
    "film": ("look_at",),
    "block": ("heading", *FILM_ONLY),
    "inside": ("azimuth", "look_at", *FILM_ONLY),
    "map": ("azimuth", "pitch", "zoom", "height", "look_at", "heading", "layer", "contours", "samples", *FILM_ONLY),
}
LARGEST_VIEW, LARGEST_MAP = 2048, 4096
"""Cells along the longer side of what a run on tiles has left that are drawn: more would not be seen."""
KINDS = {"film": "a film", "block": "a view of the block", "inside": "a view from inside", "map": "a map"}


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
    height: int | None = None,
    azimuth: float = 205.0,
    pitch: float | None = None,
    zoom: float = 1.0,
    look_at: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    heading: float | None = None,
    exaggeration: float = 1.0,
    layer: str | None = None,
    contours: Annotated[str, Parameter(allow_leading_hyphen=True)] = "none",
    samples: int = 2,
    film: Literal["turntable", "flyover", "timelapse"] | None = None,
    seconds: float = 10.0,
    fps: int = 25,
    quality: int | None = None,
    reading: Reading = AS_IS,
    force: Flag = False,
    json: Json = False,
) -> None:
    """Draw a terrain as a landscape: a block, a view from inside, a map, or a film.

    Parameters
    ----------
    file
        File with heights; its layers, such as deposit, wear and flow, colour the ground. For a time-lapse, a folder of
        a recorded run or of checkpoints. Of a run on tiles (.zarr), an overview is drawn.
    out
        PNG file to write, or a film: .webm or .mp4.
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
        Pixels across; 1600 for a view, 1280 for a film. A map has one per cell, or several if it has fewer than 768
        cells along its longer side.
    height
        Pixels down of a view or a film; by default 5/8 of the width, 9/16 in films.
    azimuth
        Direction of the camera as seen from the block, in degrees clockwise from north.
    pitch
        Degrees by which the camera looks down; 30 for the block, by the skyline from inside.
    zoom
        Magnification of a view.
    look_at
        X,Y in metres east and south of the north-west corner: the middle of a view of the block.
    heading
        Direction to look in from inside, and of a fly-over, in degrees clockwise from north.
    exaggeration
        Factor on heights.
    layer
        Layer to drape over a view or a film, in its colour map.
    contours
        Metres between contour lines of a view or a film; auto, or none.
    samples
        Rays per pixel each way in views and films, 1 .. 4.
    film
        Around the block, in an arc over the terrain, or through a run; for .webm and .mp4 only. By default a time-lapse
        of a folder, and a turntable of a file.
    seconds
        Length of a film.
    fps
        Frames per second of a film.
    quality
        Constant quality of a film, lower for larger files: 0 .. 63 for .webm, where 30 is usual, 0 .. 51 for .mp4.
    force
        Overwrite the input, which is refused without. Any other file of that name is overwritten anyway.
    """
    import slopewash as sw

    filmed = is_film(out)
    kind = "film" if filmed else view
    check_effect(
        kind, azimuth=azimuth, pitch=pitch, zoom=zoom, height=height, look_at=look_at, heading=heading, layer=layer,
        contours=contours, samples=samples, seconds=seconds, fps=fps, quality=quality,
    )  # fmt: skip
    check_film(out) if filmed else check_picture(out, or_film=True)
    check_apart([file], {f"--out {out}": Claim.of_file(out)}, force=force)
    if film is not None and not filmed:
        raise InvalidParameter(f"--film is {film}, but {out} is not a film; name one that ends in .webm or .mp4")
    light, snow, lines = parse_sun(sun), parse_snow_line(snow_line), parse_contours(contours)
    place = None if look_at is None else parse_place(look_at)
    shown: Literal["auto", "simulated", "none"] = "auto" if water == "rivers" else water
    options = reading.options(allow_8bit=True)
    if filmed:
        across = 1280 if width is None else width
        size = across, 2 * round(across * 9 / 32) if height is None else height
        recorded = file.is_dir() and file.suffix.lower() != ".zarr"
        if recorded:
            check_recorded(file, reading.options(), but=())
        source = (
            file
            if recorded
            else with_water(read_grid(file, options, work=_work("block", water), most=LARGEST_VIEW), water)
        )
        with progress_bar(out) as report:
            sw.film(
                source, out, kind=film, seconds=seconds, fps=fps, size=size, azimuth=azimuth, pitch=pitch, zoom=zoom,
                heading=heading, sun=light, season=season, snow_line=snow, water=shown, exaggeration=exaggeration,
                layer=layer, contours=lines, supersampling=samples, quality=quality, report=report,
            )  # fmt: skip
        _print_output(file, out, json=json)
        return
    most = LARGEST_MAP if view == "map" else LARGEST_VIEW
    terrain = with_water(read_grid(file, options, work=_work(view, water), most=most), water)
    if view == "map":
        sw.render(
            terrain, out, sun=light, season=season, snow_line=snow, water=shown, width=width, exaggeration=exaggeration
        )
    else:
        across = 1600 if width is None else width
        sw.render_view(
            terrain, out, size=(across, round(across * 0.625) if height is None else height), camera=view,
            azimuth=azimuth, pitch=pitch, zoom=zoom, target=place, heading=heading, sun=light, season=season,
            snow_line=snow, water=shown, exaggeration=exaggeration, layer=layer, contours=lines, supersampling=samples,
        )  # fmt: skip
    _print_output(file, out, json=json)


def _work(view: str, water: str) -> tuple[str, ...]:
    """What a picture needs besides the file, for the estimate of its memory."""
    return ("water", view) if water == "rivers" else (view,)


def _print_output(file: Path, out: Path, *, json: bool) -> None:
    print_json({"input": str(file), "output": str(out)}) if json else show(out)


def check_effect(kind: str, **given: object) -> None:
    """Refuse options that would change nothing in that kind of picture."""
    for name, value in given.items():
        if name in WITHOUT_EFFECT[kind] and value != inspect.signature(command).parameters[name].default:
            raise InvalidParameter(f"--{name.replace('_', '-')} has no effect on {KINDS[kind]}; leave it out")


@contextmanager
def progress_bar(out: Path) -> Iterator[Callable[[int, int], None]]:
    """Show on stderr how much of a film is drawn."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} / {task.total} frames")
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"filming {out.name}", total=None)
        yield lambda done, count: bar.update(task, completed=done, total=count)


def parse_contours(text: str) -> float | Literal["auto"] | None:
    """Read metres, `none` or `auto`.

    >>> parse_contours("50"), parse_contours("none"), parse_contours("auto")
    (50.0, None, 'auto')
    """
    if text in ("auto", "none"):
        return "auto" if text == "auto" else None
    try:
        return float(text)
    except ValueError:
        raise InvalidParameter(f"--contours is {text}; it must be a number of metres, none or auto") from None


def parse_place(text: str) -> tuple[float, float]:
    """Read `X,Y` in metres.

    >>> parse_place("120,80")
    (120.0, 80.0)
    """
    try:
        x, y = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidParameter(f"--look-at is {text}; it must be X,Y in metres, such as 2400,2100") from None
    return x, y


def with_water(terrain: Terrain, water: str) -> Terrain:
    """Add rivers and lakes if they are wanted and the file has no rivers; lakes alone are those of a run on tiles."""
    import slopewash as sw

    if water != "rivers" or "river" in terrain:
        return terrain
    return sw.add_water(terrain)
