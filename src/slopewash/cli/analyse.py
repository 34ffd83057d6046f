"""`slopewash analyse`: a landscape beside what has been published of real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from slopewash.cli.console import print_json, show
from slopewash.cli.options import (
    Json,
)
from slopewash.cli.outputs import check_report
from slopewash.cli.reading import AS_IS, Reading
from slopewash.cli.tiles import read_grid
from slopewash.plain import plain

EXAMPLES = """Examples:
  slopewash analyse eroded.exr                    beside real landscapes
  slopewash analyse eroded.exr -o report.html     a page with charts and a map
  slopewash analyse dem.tif --channel-area 250000 channels from 0.25 km² on
  slopewash analyse dem.tif --json"""


def command(
    file: Annotated[Path, Parameter(name="FILE")],
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    channel_area: float | None = None,
    gather: bool = True,
    reading: Reading = AS_IS,
    json: Json = False,
) -> None:
    """Measure streams, catchments, slopes and heights of a terrain, beside published ranges of real landscapes.

    Parameters
    ----------
    file
        File with heights, or the .zarr of a run on tiles.
    out
        Page to write, .html, with charts and a map of the streams.
    channel_area
        Area in m² that drains through a channel where it begins; a thousandth of the terrain if not given.
    gather
        Draw streams together that run side by side over smooth valley floors. --no-gather: plain D8.
    """
    import slopewash as sw

    if out is not None:
        check_report(out)
    options = reading.options(allow_8bit=True)
    terrain = read_grid(file, options, work=("analyse",) if out is None else ("analyse", "report"))
    survey = sw.analyse(terrain, channel_area=channel_area, gather=gather)
    if out is not None:
        sw.write_report(terrain, out, name=file.name, survey=survey)
    if json:
        report = None if out is None else str(out)
        print_json({"file": str(file), "report": report, **plain(survey), "findings": plain(survey.findings)})
    else:
        show(survey)
        if out is not None:
            show(out)
