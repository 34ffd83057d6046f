"""Cross-sections of terrains as charts in SVG; both axes have one scale, so that angles are those of the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slopewash.reports.chart import MARGIN_BOTTOM, MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, Axis, Chart

Line = NDArray[np.float64]

COLOURS = {"start": "#8a8f94", "first": "#17598f", "second": "#c2571a", "third": "#2f7d4f"}
KEY_ROW = 20
"""Pixels of one row of the legend."""
STYLE = """
text { font: 14px system-ui, "DejaVu Sans", sans-serif; fill: #33404b; } .title { font-weight: 600; font-size: 16px; }
.frame { fill: #f7f9fa; stroke: #c3cbd2; } .grid { stroke: #e3e8ec; }
polyline, line { fill: none; stroke-width: 2.2; stroke-linejoin: round; } line.grid { stroke-width: 1; }
.start { stroke-dasharray: 5 4; } .slope { stroke: #33404b; stroke-width: 1.6; stroke-dasharray: 2 3; }
"""


def section(
    title: str,
    across: str,
    x: Line,
    lines: Mapping[str, Line],
    *,
    width: int = 520,
    slopes: Mapping[str, Line] | None = None,
) -> Chart:
    """Draw heights along a line, in cells: the start dashed, then up to three others, and `slopes` to compare."""
    drawn = [*lines.values(), *(slopes or {}).values()]
    low, high = min(float(np.nanmin(y)) for y in drawn), max(float(np.nanmax(y)) for y in drawn)
    cell = (width - MARGIN_LEFT - MARGIN_RIGHT) / float(x[-1] - x[0])
    keys = len(drawn)
    bottom, top = low - 12 / cell, high + (KEY_ROW * keys + 16) / cell
    height = round((top - bottom) * cell) + MARGIN_TOP + MARGIN_BOTTOM
    chart = Chart(
        title, Axis(across, float(x[0]), float(x[-1])), Axis("height, cells", bottom, top), width=width, height=height
    )
    names = []
    for kind, (name, y) in zip(COLOURS, lines.items(), strict=False):
        chart.line([*x], [*y], kind)
        names.append((kind, name))
    for name, y in (slopes or {}).items():
        there = np.isfinite(y)
        chart.line([*x[there]], [*y[there]], "slope")
        names.append(("slope", name))
    chart.legend(*names)
    return chart


def write(charts: Sequence[Chart], file: Path, *, columns: int = 2) -> None:
    """Write charts as one picture."""
    parts, across, down = [], 0, 0
    for first in range(0, len(charts), columns):
        row, x = charts[first : first + columns], 0
        for chart in row:
            parts.append(f'<svg x="{x}" y="{down}" width="{chart.width}" height="{chart.height}">{chart.svg()}</svg>')
            x += chart.width
        across, down = max(across, x), down + max(chart.height for chart in row)
    colours = " ".join(f".{kind} {{ stroke: {colour}; }}" for kind, colour in COLOURS.items())
    file.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" height="{down}">'
        f'<style>{STYLE}{colours}</style><rect width="{across}" height="{down}" fill="#fff"/>{"".join(parts)}</svg>\n',
        encoding="utf-8",
    )
