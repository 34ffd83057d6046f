"""The tables of docs/benchmarks.md are those of the results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import document, floors, records


def test_tables_are_made_from_the_results() -> None:
    text = document.DOCUMENT.read_text(encoding="utf-8")
    assert {place[2] for place in document.PLACE.finditer(text)} == set(document.MADE)
    assert document.documented(text) == text, "run python benchmarks/document.py"


def test_the_last_quiet_run_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    loads = {"a": 0.2, "b": 1.0, "c": 9.0}
    (tmp_path / "some.jsonl").write_text("\n".join(json.dumps({"run": run, "load": loads[run]}) for run in "abc"))
    assert [row["run"] for row in document.shown("some")] == ["b"]
    (tmp_path / "busy.jsonl").write_text("\n".join(json.dumps({"run": run, "load": 9.0}) for run in "abb"))
    assert [row["run"] for row in document.shown("busy")] == ["b", "b"]


def test_divisions_and_roots_are_counted_through_calls() -> None:
    assert floors.count_of("divisions", "push_pipes") == 2  # what leaves at most, and the share of the water
    assert floors.count_of("roots", "push_eight_pipes") == 4  # of the slope, the discharge twice, fans
