"""A page about a terrain: one file of HTML with its charts and its map inside."""

from __future__ import annotations

import html
import os
from pathlib import Path

from slopewash.analysis.survey import PUBLISHED, Survey, analyse
from slopewash.drafts import staged
from slopewash.errors import InvalidFile
from slopewash.reports import charts
from slopewash.reports.stream_map import as_data, stream_map
from slopewash.terrain import Terrain

SOURCES = {
    "Gailleton21": "Gailleton, Mudd, Clubb, Grieve & Hurst 2021, Impact of changing concavity indices on channel "
    "steepness and divide migration metrics, Journal of Geophysical Research: Earth Surface 126",
    "Hack57": "Hack 1957, Studies of longitudinal stream profiles in Virginia and Maryland, USGS Professional Paper "
    "294-B",
    "MontgomeryDietrich92": "Montgomery & Dietrich 1992, Channel initiation and the problem of landscape scale, "
    "Science 255",
    "RodriguezIturbe79": "Rodríguez-Iturbe & Valdés 1979, The geomorphologic structure of hydrologic response, Water "
    "Resources Research 15",
    "Strahler52": "Strahler 1952, Hypsometric (area-altitude) analysis of erosional topography, GSA Bulletin 63",
    "Strahler57": "Strahler 1957, Quantitative analysis of watershed geomorphology, Transactions AGU 38",
}

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #22282e; background: #fff; max-width: 1080px;
       margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: .4rem 1.5rem;
         margin: 1rem 0; }
.facts div { border-top: 1px solid #d9dee3; padding-top: .3rem; } .facts b { display: block; font-size: 1.15rem; }
.facts span, .small, .note { color: #5a6570; font-size: .88rem; }
.charts { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
@media (max-width: 760px) { .charts { grid-template-columns: 1fr; } }
svg { width: 100%; height: auto; } svg text { font: 14px system-ui, sans-serif; fill: #33404b; }
svg .title { font-weight: 600; font-size: 16px; } svg .small { font-size: 12px; fill: #5a6570; }
.ranges text { font-size: 16px; } .ranges .small { font-size: 13px; }
.frame { fill: #f7f9fa; stroke: #c3cbd2; } .grid { stroke: #e3e8ec; } .rail { stroke: #c3cbd2; stroke-width: 2; }
.band { fill: #cfe3d6; } .under { fill: #dbe7f1; }
.dot { fill: #17598f; } .fit { stroke: #c2571a; stroke-width: 2.5; fill: none; }
.dot.below, .dot.above { fill: #c2571a; } text.below, text.above { fill: #a84710; }
img { width: 100%; display: block; } .missing { align-self: center; color: #5a6570; }
table { border-collapse: collapse; width: 100%; } td { border-top: 1px solid #d9dee3; padding: .35rem .8rem .35rem 0;
       vertical-align: top; }
"""


def write_report(
    terrain: Terrain, path: str | os.PathLike[str], *, name: str = "terrain", survey: Survey | None = None
) -> Path:
    """Write a page with charts that put a terrain beside published ranges, and return the path.

    Parameters
    ----------
    terrain
        The ground.
    path
        The file, .html; it needs nothing else, not even a network.
    name
        What to call the terrain on the page.
    survey
        What `slopewash.analyse` found, if that is known already.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> sw.write_report(sw.generate("dome", size=64, seed=7), f"{folder.name}/dome.html").name
    'dome.html'
    >>> folder.cleanup()
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InvalidFile(f"report {path} must end in .html")
    found = analyse(terrain) if survey is None else survey
    with staged(path) as temporary:
        temporary.write_text(_page(terrain, name, found), encoding="utf-8")
    return path


def _page(terrain: Terrain, name: str, survey: Survey) -> str:
    title = html.escape(name)
    facts = "".join(f"<div><b>{value}</b><span>{label}</span></div>" for label, value in _facts(survey).items())
    four = "".join(f"<div>{draw(survey)}</div>" for draw in (
        charts.slope_area, charts.hack, charts.hypsometric_curve, charts.stream_counts,
    ))  # fmt: skip
    rows = "".join(
        f"<tr><td>{html.escape(known.name)} {html.escape(known.symbol)}</td><td>{known.low:g} to {known.high:g}</td>"
        f"<td>{html.escape(known.meaning)}<br><span class=small>"
        f"{'; '.join(html.escape(SOURCES[key]) for key in known.source.split(', '))}</span></td></tr>"
        for known in PUBLISHED
    )
    picture = as_data(stream_map(terrain, survey.channel_area, gather=survey.gathered))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}: a survey of the landscape</title><style>{STYLE}</style></head><body>
<h1>{title}</h1>
<p class="note">{survey.width} x {survey.height} cells of {survey.cell_size:g} m. Water leaves at the edges and at
nodata; depressions are filled first; channels begin where {survey.channel_area / 1e6:.3g} km² drain together.</p>
<div class="facts">{facts}</div>
<h2>Beside published landscapes</h2>
{charts.ranges(survey)}
<p class="note">Green is the published range. Outside it lie unusual landscapes as well as implausible ones: a young
fault block, a volcano or a dune field is no mistake.</p>
<div class="charts">{four}</div>
<h2>Streams</h2>
<img src="{picture}" alt="Map of the streams on the shaded ground">
<h2>Where the ranges come from</h2>
<table>{rows}</table>
</body></html>
"""


def _facts(survey: Survey) -> dict[str, str]:
    return {
        "area": f"{survey.area / 1e6:.4g} km²",
        "relief": f"{survey.relief:.4g} m",
        "mean slope": f"{survey.mean_slope:.1f}°",
        "slope of the steepest 5 %": f"{survey.slope_95:.1f}°",
        "in closed depressions": f"{survey.depressions:.2%}",
        "channels": f"{survey.drainage_density:.3g} km per km²",
        "catchments of 1 % or more": f"{survey.catchments}",
        "largest catchment": f"{survey.largest_catchment / 1e6:.4g} km²",
    }
