"""The studio opens recipe files, and saves what one can hold of its run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidParameter, UnknownName
from slopewash.studio import StudioServer, messages
from slopewash.studio.opening import _from_recipe
from slopewash.studio.recipes import first_recipe, next_recipe

Page = Any
LAYERED = """
seed = 9
backend = "reference"
[source]
generator = "dome"
size = 40
extent = 400
[layers]
rainfall = 1.5
[[strata.layers]]
thickness = 30
erodibility = 0.2
[[strata.layers]]
thickness = 10
[[stages]]
preset = "single_grid"
parameters = { rain_rate = 0.03 }
"""


def now(server: StudioServer) -> sw.Terrain:
    terrain: sw.Terrain = server.session.submit(server.session.terrain).result(60)
    return terrain.replace()


def run_file(text: str, folder: Path) -> sw.Terrain:
    (folder / "session.toml").write_text(text)
    return sw.Recipe.read(folder / "session.toml").run().terrain


def assert_same(first: sw.Terrain, second: sw.Terrain) -> None:
    for name in ("elevation", "water", "suspended"):
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


@pytest.mark.parametrize("settle", [True, False])
def test_a_plain_run_is_repeated_to_the_bit_by_its_recipe(settle: bool, tmp_path: Path, open_page: Any) -> None:
    with StudioServer(first_recipe(size=40, extent=400.0, seed=9, backend="reference"), port=0) as server:
        page = open_page(server)
        page.do("parameters", values={"rain_rate": 0.07})
        page.steps(5)
        if settle:
            page.do("settle", steps=6, dry=True)
        answer, layers = page.get("/recipe"), now(server)
        page.close()
    assert answer.headers["content-type"].startswith("application/toml")
    assert "Not in it" not in answer.text
    assert_same(run_file(answer.text, tmp_path), layers)


def test_what_a_recipe_cannot_hold_is_named(page: Page, server: StudioServer) -> None:
    page.steps(2)
    page.do("parameters", values={"rain_rate": 0.02})
    page.do("paint", tool="raise", points=[[100.0, 100.0]], radius=60.0)
    page.steps(1)
    text = page.get("/recipe").text
    assert "# Not in it: brush strokes, changes of parameters under way; save it as a Python script" in text
    assert "rain_rate = 0.02" in text


def test_an_upload_becomes_the_file_that_it_was(tmp_path: Path, page: Page, server: StudioServer) -> None:
    file = sw.write(sw.generate("ridged", size=36, seed=2, relief=90.0), tmp_path / "own.png")
    answer = page.post("/upload?name=own.png&low=0&high=90", file.read_bytes()).json()
    page.do("start", upload=answer["upload"], preset="jako2011", backend="reference")
    page.steps(3)
    text = page.get("/recipe").text
    assert_same(run_file(text, tmp_path), now(server))


def test_a_recipe_file_is_opened_with_its_layers_and_strata(tmp_path: Path, open_page: Any, replay: Any) -> None:
    (tmp_path / "my.toml").write_text(LAYERED)
    recipe = _from_recipe(tmp_path / "my.toml", None, "auto", alone=True)
    with StudioServer(recipe, port=0) as server:
        page = open_page(server)
        page.steps(3)
        text, layers, script = page.get("/recipe").text, now(server), page.get("/script").text
        page.do("start", parameters={"rain_rate": 0.01})
        assert server.session.run.recipe.layers == {"rainfall": 1.5}
        assert server.session.run.recipe.strata is not None
        page.close()
    assert layers["rainfall"].max() == 1.5
    assert_same(run_file(text, tmp_path), layers)
    assert_same(replay(script), layers)


def test_a_recipe_file_takes_no_other_options(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text(LAYERED)
    with pytest.raises(InvalidParameter, match="is a whole job"):
        _from_recipe(tmp_path / "my.toml", None, "auto", alone=False)
    assert _from_recipe(tmp_path / "my.toml", 20, "cpu", alone=True).source.size == 20


def test_a_named_landscape_is_started_as_it_is_in_the_library() -> None:
    def start(**wanted: Any) -> sw.Recipe:
        before = first_recipe(size=64, seed=3, backend="reference")
        return next_recipe(before, messages.Start.model_validate({"type": "start", **wanted}), None)

    assert start(look="fjords").as_dict() == sw.recipe("fjords", size=64, backend="reference").as_dict()
    assert start(look="mesas", size=32).source.size == 32
    with pytest.raises(InvalidParameter, match='names the landscape "mesas" and also preset'):
        start(look="mesas", preset="gentle")
    with pytest.raises(UnknownName, match='unknown landscape "mesa"; did you mean "mesas"'):
        start(look="mesa")
