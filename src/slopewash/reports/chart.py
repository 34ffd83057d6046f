"""Charts as SVG: axes, points, lines and bands, written by hand so that no plotting library is needed."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 66, 18, 38, 50
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
TICKS = 5
"""Ticks of a linear axis, about."""


@dataclass(frozen=True)
class Axis:
    """One axis: what it shows, from where to where, and whether by logarithm."""

    label: str
    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Place of a value along the axis, from 0 to 1.

        >>> Axis("area", 1, 100, log=True).share(10)
        0.5
        """
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """Values to mark, with their names.

        >>> Axis("share", 0, 1).ticks()[1]
        (0.2, '0.2')
        >>> Axis("area", 5, 200, log=True).ticks()
        [(10.0, '10'), (100.0, '100')]
        """
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            if last <= first:  # not a decade: halves and fifths as well
                steps = [m * 10.0**p for p in range(first - 1, last + 1) for m in (1, 2, 5)]
                return [(value, f"{value:g}") for value in steps if self.low <= value <= self.high]
            every = 1 + (last - first) // TICKS
            return [(10.0**p, _power(p)) for p in range(first, last + 1, every)]
        raw = (self.high - self.low) / TICKS
        size = 10.0 ** math.floor(math.log10(raw))
        step = size * next(m for m in (1, 2, 5, 10) if m * size >= raw * 0.999)
        count = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        return [(round(i * step, 12), f"{round(i * step, 12):g}") for i in count]


def _power(exponent: int) -> str:
    return f"{10.0**exponent:g}" if -3 <= exponent <= 3 else "10" + str(exponent).translate(SUPERSCRIPT)


class Chart:
    """A chart that grows as things are drawn; `svg()` gives it as text."""

    def __init__(self, title: str, x: Axis, y: Axis, *, width: int = 520, height: int = 380) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        self._parts: list[str] = []
        self._title = title

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Pixel of a point."""
        across = self.width - MARGIN_LEFT - MARGIN_RIGHT
        down = self.height - MARGIN_TOP - MARGIN_BOTTOM
        return MARGIN_LEFT + self.x.share(x) * across, MARGIN_TOP + (1 - self.y.share(y)) * down

    def points(self, x: Iterable[float], y: Iterable[float], kind: str) -> None:
        """Mark points."""
        for at in zip(x, y, strict=True):
            across, down = self.place(*at)
            self._parts.append(f'<circle class="{kind}" cx="{across:.1f}" cy="{down:.1f}" r="4"/>')

    def line(self, x: Sequence[float], y: Sequence[float], kind: str) -> None:
        """Draw a line through points."""
        path = " ".join("{:.1f},{:.1f}".format(*self.place(*at)) for at in zip(x, y, strict=True))
        self._parts.append(f'<polyline class="{kind}" points="{path}"/>')

    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float], kind: str = "band") -> None:
        """Shade what lies between two lines."""
        outline = [*zip(x, low, strict=True), *zip(reversed(x), reversed(high), strict=True)]
        path = " ".join("{:.1f},{:.1f}".format(*self.place(*at)) for at in outline)
        self._parts.append(f'<polygon class="{kind}" points="{path}"/>')

    def legend(self, *entries: tuple[str, str], corner: str = "top right") -> None:
        """Explain kinds of marks in a corner, one below the other."""
        down, side = corner.split()
        first = MARGIN_TOP + 20 if down == "top" else self.height - MARGIN_BOTTOM - 14 - 20 * (len(entries) - 1)
        mark = MARGIN_LEFT + 14 if side == "left" else self.width - MARGIN_RIGHT - 40
        anchor, words_at = ("start", mark + 34) if side == "left" else ("end", mark - 8)
        for row, (kind, text) in enumerate(entries):
            y = first + 20 * row
            shape = {
                "dot": f'<circle class="dot" cx="{mark + 13}" cy="{y - 4}" r="4"/>',
                "band": f'<rect class="band" x="{mark}" y="{y - 11}" width="26" height="13"/>',
            }.get(kind, f'<line class="{kind}" x1="{mark}" y1="{y - 4}" x2="{mark + 26}" y2="{y - 4}"/>')
            words = f'<text x="{words_at}" y="{y}" text-anchor="{anchor}">{html.escape(text)}</text>'
            self._parts.append(shape + words)

    def svg(self) -> str:
        """Return the chart as text to put into a page."""
        left, right = MARGIN_LEFT, self.width - MARGIN_RIGHT
        top, bottom = MARGIN_TOP, self.height - MARGIN_BOTTOM
        frame = f'<rect class="frame" x="{left}" y="{top}" width="{right - left}" height="{bottom - top}"/>'
        grid = []
        for value, name in self.x.ticks():
            at = self.place(value, self.y.low)[0]
            grid.append(f'<line class="grid" x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{bottom}"/>')
            grid.append(f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{name}</text>')
        for value, name in self.y.ticks():
            at = self.place(self.x.low, value)[1]
            grid.append(f'<line class="grid" x1="{left}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}"/>')
            grid.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{name}</text>')
        middle = (top + bottom) / 2
        words = (
            f'<text class="title" x="{left}" y="22">{html.escape(self._title)}</text>'
            f'<text x="{(left + right) / 2}" y="{self.height - 10}" text-anchor="middle">{html.escape(self.x.label)}'
            f'</text><text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">'
            f"{html.escape(self.y.label)}</text>"
        )
        return (
            f'<svg class="chart" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{html.escape(self._title)}">{frame}{"".join(grid)}{"".join(self._parts)}{words}</svg>'
        )
