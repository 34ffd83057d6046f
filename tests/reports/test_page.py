"""Pages about a terrain."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidFile
from slopewash.reports.page import SOURCES
from slopewash.reports.stream_map import stream_map


def test_page_holds_charts_map_and_sources_and_asks_for_nothing(tmp_path: Path) -> None:
    terrain = sw.generate("dome", size=128, seed=7)
    survey = sw.analyse(terrain)
    page = sw.write_report(terrain, tmp_path / "report.html", name="<hill>", survey=survey).read_text(encoding="utf-8")
    drawings = re.findall(r"<svg.*?</svg>", page, flags=re.S)
    assert len(drawings) == 5
    for drawing in drawings:
        numbers = [float(text) for text in re.findall(r'(?:cx|cy|x1|y1)="([^"]+)"', drawing)]
        ElementTree.fromstring(drawing)  # well-formed
        assert np.isfinite(numbers).all()
    for finding in survey.findings:
        assert f"{finding.value:.2f}" in page
        assert all(source in SOURCES for source in finding.source.split(", "))
    assert "&lt;hill&gt;" in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert not re.search(r"\bnan\b", re.sub(r"base64,[^\"]*", "", page))


def test_points_lie_within_their_chart(tmp_path: Path) -> None:
    terrain = sw.generate("fbm", size=128, seed=2)
    page = sw.write_report(terrain, tmp_path / "report.html").read_text(encoding="utf-8")
    for drawing in re.findall(r'<svg class="chart".*?</svg>', page, flags=re.S):
        _, _, width, height = map(float, re.findall(r'viewBox="([^"]+)"', drawing)[0].split())
        for x, y in re.findall(r'<circle class="dot" cx="([^"]+)" cy="([^"]+)"', drawing):
            assert 0 < float(x) < width
            assert 0 < float(y) < height


def test_small_ground_has_a_page_without_charts(tmp_path: Path) -> None:
    page = sw.write_report(sw.Terrain(np.zeros((6, 6))), tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("too few channels") == 4
    assert page.count(">not measured<") == 5


def test_streams_are_drawn_where_they_run() -> None:
    valley = sw.Terrain(np.abs(np.arange(64.0) - 20) + 0.1 * np.arange(64.0)[::-1, None], cell_size=10.0)
    picture = np.asarray(stream_map(valley, 100 * 100.0, gather=False)).astype(int)
    blue = picture[:, :, 2] - picture[:, :, 0] > 40
    columns = np.flatnonzero(blue.any(axis=0))
    scale = picture.shape[1] / 64
    assert columns.min() > 19 * scale
    assert columns.max() < 22 * scale
    assert not blue[: int(2 * scale)].any()  # the stream begins further down


def test_the_page_in_the_docs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "docs" / "analysis.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(block.replace("size=512", "size=64"), "analysis.md", "exec"), names)
    assert (tmp_path / "report.html").exists()
    assert np.asarray(names["orders"]).max() >= 1


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"must end in \.html"):
        sw.write_report(sw.Terrain(np.zeros((6, 6))), tmp_path / "report.pdf")
