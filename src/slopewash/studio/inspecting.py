"""What a page asks of a run besides frames: one cell with its past and its water, and the terrain beside real ones."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.studio import protocol

if TYPE_CHECKING:
    from slopewash.studio.run import Run

MOST_POINTS = 256
"""Of a path and of a curve: more cannot be seen."""
LARGEST_SURVEY = 1024
"""Cells per side above which a terrain is measured on a coarser grid, so that a run does not wait for long."""
VALUES = ("water", "suspended", "wear", "deposit", "flow", "erodibility")
"""Layers that are reported of a cell, where the model has them."""
STEPS = {1: (0, 1), 2: (1, 1), 4: (1, 0), 8: (1, -1), 16: (0, -1), 32: (-1, -1), 64: (-1, 0), 128: (-1, 1)}
"""Rows and columns that a direction of flow leads on, by its code."""


def cell_facts(run: Run, x: float, y: float) -> protocol.CellFacts:
    """One cell: what it holds, its height at the keyframes, the area above it, and the way of water through it."""
    terrain = run.shown
    rows, columns = terrain.shape
    size = terrain.cell_size
    if not (0 <= x <= columns * size and 0 <= y <= rows * size):
        raise InvalidParameter(
            f"x is {x:g} m and y is {y:g} m; the terrain reaches from 0 to {columns * size:g} m and {rows * size:g} m"
        )
    row, column = min(int(y / size), rows - 1), min(int(x / size), columns - 1)
    if terrain.nodata is not None and terrain.nodata[row, column]:
        raise InvalidParameter("there is no ground at this place")
    flow = sw.analysis.Flow(terrain)
    heights = terrain["elevation"]
    way = _way_through(flow, row, column)
    line = flow.smooth_path(way, through=way.index((row, column)))
    far = [0.0, *itertools.accumulate(itertools.starmap(math.dist, itertools.pairwise(way)))]
    shown = sorted({*range(0, len(way), -(-len(way) // MOST_POINTS)), len(way) - 1})
    known = run.shown_layers(*(name for name in VALUES if name in run.layer_names))
    past = [(k.moment, k.height(*_cell_on(k.shape, terrain.shape, row, column))) for k in run.timeline.before(run)]
    return {
        "run": run.number, "x": (column + 0.5) * size, "y": (row + 0.5) * size,
        "height": float(heights[row, column]), "start": float(run.start["elevation"][row, column]),
        "upstream_area": float(flow.area[row, column]),
        "values": [
            {"name": name, "value": float(layer[row, column]), "unit": run.simulation.model.layer(name).units}
            for name, layer in known.items()
        ],
        "moments": [moment for moment, _ in past] + [run.moment],
        "heights": [height for _, height in past] + [float(heights[row, column])],
        "path": [(float(line[k, 1] + 0.5) * size, float(line[k, 0] + 0.5) * size) for k in shown],
        "path_heights": [float(heights[way[k]]) for k in shown],
        "path_distances": [size * far[k] for k in shown],
        "path_length": size * far[-1],
    }  # fmt: skip


def survey_facts(run: Run) -> protocol.SurveyFacts:
    """Measures of the terrain beside published ranges, and two of their curves."""
    terrain = run.shown
    if max(terrain.shape) > LARGEST_SURVEY:
        terrain = terrain.resampled(LARGEST_SURVEY)
    survey = sw.analyse(terrain)
    law, spread = survey.slope_area, survey.hypsometry
    return {
        "run": run.number, "moment": run.moment, "rows": terrain.shape[0], "columns": terrain.shape[1],
        "findings": [
            {
                "name": finding.name, "symbol": finding.symbol, "value": _number(finding.value), "low": finding.low,
                "high": finding.high, "source": finding.source, "verdict": finding.verdict,
            }
            for finding in survey.findings
        ],
        "drainage_density": _number(survey.drainage_density),
        "channel_area": survey.channel_area,
        "mean_slope": survey.mean_slope,
        "slope_area": _curve(law.x, law.y),
        "hypsometry": _curve(spread.area, spread.height),
    }  # fmt: skip


def _way_through(flow: Any, row: int, column: int) -> list[tuple[int, int]]:
    """Cells from the farthest head of the largest stream above a cell, through it, down to where its water leaves."""
    directions, area = flow.directions, flow.area
    above = [(row, column)]
    while (donor := _largest_donor(directions, area, *above[-1])) is not None:
        above.append(donor)
    below = []
    at = (row, column)
    while (step := STEPS.get(int(directions[at]))) is not None:
        at = (at[0] + step[0], at[1] + step[1])
        below.append(at)
    return [*reversed(above), *below]


def _largest_donor(directions: Any, area: Any, row: int, column: int) -> tuple[int, int] | None:
    """The neighbour that drains into a cell and has the largest area; filled ground has no loops, so that this ends."""
    rows, columns = directions.shape
    donors = [
        (row - down, column - right)
        for code, (down, right) in STEPS.items()
        if 0 <= row - down < rows and 0 <= column - right < columns
        and directions[row - down, column - right] == code
    ]  # fmt: skip
    return max(donors, key=lambda cell: area[cell], default=None)


def _cell_on(shape: tuple[int, ...], now: tuple[int, int], row: int, column: int) -> tuple[int, int]:
    """The same place on the grid of another level."""
    return int((row + 0.5) * shape[0] / now[0]), int((column + 0.5) * shape[1] / now[1])


def _curve(x: Any, y: Any) -> list[tuple[float, float]]:
    points = np.column_stack([x, y])[:: max(1, -(-len(x) // MOST_POINTS))] if len(x) else np.zeros((0, 2))
    return [cast("tuple[float, float]", tuple(map(float, point))) for point in points if np.isfinite(point).all()]


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
