"""A cell with its past and its water, and the terrain beside real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.studio import StudioServer, inspecting
from slopewash.studio.keyframes import Keyframe
from slopewash.studio.protocol import CELL, SURVEY
from slopewash.studio.recipes import first_recipe
from slopewash.studio.run import Run

Page = Any


def test_a_cell_tells_its_heights_at_the_keyframes(page: Page, server: StudioServer) -> None:
    page.steps(130)  # with keyframes at 0 and 128
    answer = page.get("/cell?x=205&y=315")
    facts = CELL.validate_json(answer.content)
    terrain = server.session.submit(server.session.terrain).result(60)
    start = server.session.submit(lambda: server.session.run.start).result(60)
    assert (facts["x"], facts["y"]) == (205.0, 315.0)
    assert facts["moments"] == [0, 128, 130]
    assert facts["heights"][0] == pytest.approx(start["elevation"][31, 20], abs=1e-3)
    assert facts["heights"][-1] == facts["height"] == pytest.approx(terrain["elevation"][31, 20])
    assert facts["start"] == pytest.approx(start["elevation"][31, 20])
    values = {value["name"]: value for value in facts["values"]}
    assert values["wear"]["value"] == pytest.approx(terrain["wear"][31, 20])
    assert values["wear"]["unit"] == "m"
    assert facts["upstream_area"] == pytest.approx(sw.analysis.Flow(terrain).area[31, 20])


def test_water_passes_the_cell_on_its_way_down() -> None:
    run = Run(first_recipe(preset="single_grid", size=48, extent=480.0, backend="reference"))
    facts = run.cell(200.0, 333.0)
    path = np.array(facts["path"])
    assert np.abs(path - [facts["x"], facts["y"]]).sum(axis=1).min() == 0
    assert set(path[-1]) & {5.0, 475.0}  # it leaves at an edge
    flow = sw.analysis.Flow(run.simulation.terrain)
    way = inspecting._way_through(flow, 33, 20)
    assert np.all(np.diff([flow.filled[cell] for cell in way]) <= 0)
    assert facts["path_heights"] == [run.simulation.terrain["elevation"][cell] for cell in way]
    steps = np.diff(facts["path_distances"])
    assert set(steps.round(3)) == {10.0, 14.142}  # from each cell to a neighbour
    assert facts["path_length"] == facts["path_distances"][-1]
    run.close()


def test_the_path_of_water_bends_smoothly_near_its_cells() -> None:
    run = Run(first_recipe(preset="single_grid", size=48, extent=480.0, backend="reference"))
    path = np.array(run.cell(200.0, 333.0)["path"]) / 10 - 0.5
    cells = np.array(inspecting._way_through(sw.analysis.Flow(run.simulation.terrain), 33, 20))[:, ::-1]
    assert np.hypot(*(path - cells).T).max() < 2
    assert turns(path).mean() < 0.6 * turns(cells.astype(float)).mean()
    run.close()


def turns(line: Any) -> Any:
    """Angles between each segment of a line and the next."""
    before, after = np.diff(line, axis=0)[:-1].T, np.diff(line, axis=0)[1:].T
    return np.abs(np.arctan2(before[0] * after[1] - before[1] * after[0], (before * after).sum(axis=0)))


def test_a_place_beside_the_terrain_is_refused(page: Page) -> None:
    answer = page.get("/cell?x=-3&y=20")
    assert answer.status_code == 409
    assert "x is -3 m" in answer.json()["message"]
    assert page.get("/cell?x=3").status_code == 400
    assert page.get("/cell?x=nan&y=2").status_code == 400


def test_the_survey_stands_beside_published_ranges(page: Page, server: StudioServer) -> None:
    facts = SURVEY.validate_json(page.get("/survey").content)
    terrain = server.session.submit(server.session.terrain).result(60)
    survey = sw.analyse(terrain)
    assert [f["name"] for f in facts["findings"]] == [f.name for f in survey.findings]
    assert facts["findings"][0]["low"] == 0.225
    assert facts["drainage_density"] == pytest.approx(survey.drainage_density)
    assert len(facts["hypsometry"]) > 5


def test_a_large_terrain_is_measured_on_a_coarser_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspecting, "LARGEST_SURVEY", 32)
    run = Run(first_recipe(preset="single_grid", size=48, extent=480.0, backend="reference"))
    assert (run.survey()["rows"], run.survey()["columns"]) == (32, 32)
    run.close()


def test_a_complete_recipe_is_asked_for_the_ground_that_is_shown() -> None:
    recipe = sw.recipe("landscape", size=48, seed=4, strength=0.003, gullies=0.0, backend="reference")
    run = Run(recipe.replace(layers={"mask": 0.5}))  # which comes after the last step
    run.advance(10**6)
    assert run.finished
    made, eroded = run.terrain(), run.simulation.terrain
    assert np.abs(made["elevation"] - eroded["elevation"]).max() > 0.1
    row, column = np.unravel_index(np.abs(made["elevation"] - eroded["elevation"]).argmax(), made.shape)
    facts = run.cell((column + 0.5) * made.cell_size, (row + 0.5) * made.cell_size)
    assert facts["height"] == facts["heights"][-1] == made["elevation"][row, column]
    assert {value["name"]: value["value"] for value in facts["values"]}["wear"] == made["wear"][row, column]
    frame = run.snapshot(1, frozenset())
    np.testing.assert_array_equal(frame.layers["elevation"], made["elevation"])
    np.testing.assert_array_equal(Keyframe.of(run, undo=False).elevation, made["elevation"])
    assert run.survey()["mean_slope"] == sw.analyse(made).mean_slope
    run.close()
