"""The charts of a survey: what was measured, and what has been published."""

from __future__ import annotations

import html
import math

from slopewash.analysis.power_law import PowerLaw
from slopewash.analysis.survey import DIGITS, PUBLISHED, Survey
from slopewash.reports.chart import Axis, Chart

KM2 = 1e6
ROW, NAMES, BARS, RIGHT = 46, 300, 460, 220


def ranges(survey: Survey) -> str:
    """One row per measure: the published range as a bar, the terrain as a mark."""
    parts = []
    for row, (finding, known) in enumerate(zip(survey.findings, PUBLISHED, strict=True)):
        axis = Axis("", *known.shown)
        middle = row * ROW + ROW / 2
        low, high = (NAMES + BARS * axis.share(end) for end in (known.low, known.high))
        parts.append(f'<text x="0" y="{middle + 5}">{html.escape(known.name)} {html.escape(known.symbol)}</text>')
        parts.append(f'<line class="rail" x1="{NAMES}" y1="{middle}" x2="{NAMES + BARS}" y2="{middle}"/>')
        parts.append(
            f'<rect class="band" x="{low:.1f}" y="{middle - 10}" width="{high - low:.1f}" height="20" rx="3"/>'
            f'<text class="small" x="{low:.1f}" y="{middle + 22}" text-anchor="middle">{known.low:g}</text>'
            f'<text class="small" x="{high:.1f}" y="{middle + 22}" text-anchor="middle">{known.high:g}</text>'
        )
        words = "not measured"
        if not math.isnan(finding.value):
            at = NAMES + BARS * min(max(axis.share(finding.value), 0), 1)
            parts.append(f'<circle class="dot {finding.verdict}" cx="{at:.1f}" cy="{middle}" r="7"/>')
            words = f"{finding.value:.{DIGITS}f}  {finding.verdict}"
        parts.append(f'<text x="{NAMES + BARS + 24}" y="{middle + 5}" class="{finding.verdict}">{words}</text>')
    size = f"0 0 {NAMES + BARS + RIGHT} {ROW * len(PUBLISHED) + 6}"
    return (
        f'<svg class="ranges" viewBox="{size}" role="img" aria-label="beside published ranges">{"".join(parts)}</svg>'
    )


def slope_area(survey: Survey) -> str:
    """Slope of channels against drainage area."""
    law, known = survey.slope_area, PUBLISHED[0]
    if not law.x:
        return missing("Slope and area")
    chart = _law_chart("Slope and area", law, "slope of the channel")
    _law_band(chart, law, -known.low, -known.high)
    _law(chart, law)
    chart.legend(
        ("dot", "mean of a tenth of a decade"), ("fit", f"θ = {-law.exponent:.2f}, R² = {law.r_squared:.2f}"),
        ("band", f"θ from {known.low:g} to {known.high:g}"),
        corner="bottom left",
    )  # fmt: skip
    return chart.svg()


def hack(survey: Survey) -> str:
    """Length of the longest stream against drainage area."""
    law, known = survey.hack, PUBLISHED[1]
    if not law.x:
        return missing("Hack's law")
    scaled = PowerLaw(
        exponent=law.exponent, coefficient=law.coefficient / 1000, r_squared=law.r_squared, x=law.x,
        y=tuple(value / 1000 for value in law.y),
    )  # fmt: skip
    chart = _law_chart("Hack's law", scaled, "longest stream, km")
    _law_band(chart, scaled, known.low, known.high)
    _law(chart, scaled)
    chart.legend(
        ("band", f"h from {known.low:g} to {known.high:g}"),
        ("fit", f"h = {law.exponent:.2f}, R² = {law.r_squared:.2f}"),
        corner="bottom right",
    )
    return chart.svg()


def hypsometric_curve(survey: Survey) -> str:
    """Share of the area above each height."""
    curve = survey.hypsometry
    if math.isnan(curve.integral):
        return missing("Hypsometry")
    chart = Chart("Hypsometry", Axis("share of the area above", 0, 1), Axis("height, share of the relief", 0, 1))
    chart.band(curve.area, [0.0] * len(curve.area), curve.height, "under")
    chart.line(curve.area, curve.height, "fit")
    basins = "" if math.isnan(curve.basins) else f", of basins {curve.basins:.2f}"
    chart.legend(("fit", f"integral {curve.integral:.2f}{basins}"))
    return chart.svg()


def stream_counts(survey: Survey) -> str:
    """Number of streams of each order."""
    orders, known = survey.orders, PUBLISHED[3]
    if len(orders.count) < 2:
        return missing("Streams by order")
    order = [float(number) for number in range(1, len(orders.count) + 1)]
    count = [float(number) for number in orders.count]
    top = 2 * max(count)
    chart = Chart(
        "Streams by order", Axis("Strahler's order", 0.5, order[-1] + 0.5), Axis("streams", 0.5, top, log=True)
    )
    fewest, most = (
        [max(count[0] / ratio ** (number - 1), 0.5) for number in order] for ratio in (known.high, known.low)
    )
    chart.band(order, fewest, most)
    chart.line(order, count, "fit")
    chart.points(order, count, "dot")
    chart.legend(("dot", f"Rb = {orders.bifurcation_ratio:.2f}"), ("band", f"Rb from {known.low:g} to {known.high:g}"))
    return chart.svg()


def missing(title: str) -> str:
    """Say that a terrain is too small for a chart."""
    return f'<p class="missing">{html.escape(title)}: too few channels to measure it.</p>'


def _law_chart(title: str, law: PowerLaw, label: str) -> Chart:
    x = Axis("drainage area, km²", law.x[0] / KM2 / 1.3, law.x[-1] / KM2 * 1.3, log=True)
    return Chart(title, x, Axis(label, min(law.y) / 2.5, max(law.y) * 2.5, log=True))


def _law_band(chart: Chart, law: PowerLaw, low: float, high: float) -> None:
    """Shade the published exponents, through the middle of the law."""
    ends = chart.x.low * KM2, chart.x.high * KM2
    middle = math.sqrt(ends[0] * ends[1])
    at = law.at(middle)
    steps = [ends[0] * (ends[1] / ends[0]) ** (i / 20) for i in range(21)]
    sides = [[at * (x / middle) ** exponent for x in steps] for exponent in (low, high)]
    lower, upper = ([pick(pair) for pair in zip(*sides, strict=True)] for pick in (min, max))
    lowest, highest = chart.y.low, chart.y.high
    chart.band(
        [x / KM2 for x in steps],
        [min(max(y, lowest), highest) for y in lower],
        [min(max(y, lowest), highest) for y in upper],
    )


def _law(chart: Chart, law: PowerLaw) -> None:
    ends = law.x[0], law.x[-1]
    chart.line([x / KM2 for x in ends], [law.at(x) for x in ends], "fit")
    chart.points([x / KM2 for x in law.x], law.y, "dot")
