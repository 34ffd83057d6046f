"""A recipe of several stages and levels, opened in the studio: the bits of `slopewash run`, and saved as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.studio import StudioServer
from slopewash.studio.keeping import Keeper
from slopewash.studio.opening import _from_recipe

Page = Any

STAGES = """
seed = 5
backend = "reference"

[source]
generator = "fbm"
size = 96
relief = 300

[layers]
rainfall = { file = "rain.png", range = [0.5, 2] }
erodibility = { file = "rock.png", range = [0.2, 1] }
mask = { file = "mask.png", range = [0, 1] }

[[water_sources]]
x = 1500
y = 2000
radius = 300
rate = 0.1

[[stages]]
model = "virtual_pipes"
steps = 5
parameters = { rain_rate = { file = "rain.png", range = [0.01, 0.03] } }

[[stages]]
name = "scree"
preset = "outerrain"
steps = 3

[[stages]]
name = "valleys"
preset = "landscape"
steps = 8
gullies = 0.3
low_water = { rain_rate = 0.001 }
parameters = { talus_slope_bias = { file = "rock.png", range = [0.3, 1.2] } }

[[stages]]
preset = "mei2007"
steps = 2
settle = 4

[[outputs]]
path = "eroded.npz"
"""
"""Maps and masks are files beside it; the third stage has two levels, a map, low water and gullies."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The recipe beside the maps that it reads."""
    down, across = np.mgrid[0:96, 0:96] / 95.0
    for name, values in (("rain", across), ("rock", down), ("mask", np.clip(3 - 4 * across, 0, 1))):
        sw.write(sw.Terrain(values, cell_size=1.0), tmp_path / f"{name}.png", height_range=(0.0, 1.0))
    path = tmp_path / "my.toml"
    path.write_text(STAGES)
    return path


@pytest.fixture
def server(file: Path) -> Iterator[StudioServer]:
    with StudioServer(_from_recipe(file, None, "auto", alone=True), port=0) as server:
        yield server


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, sw.Terrain]:
    return {}


def made_in_python(folder: Path) -> sw.Recipe:
    """The recipe of the file."""
    valleys = sw.Stage.of("landscape", steps=8, gullies=0.3)
    talus = sw.Map(folder / "rock.png", low=0.3, high=1.2)
    return sw.Recipe(
        source=sw.Generated(kind="fbm", size=96, relief=300.0, seed=5),
        layers={
            "rainfall": sw.LayerFile(path=folder / "rain.png", range=(0.5, 2.0)),
            "erodibility": sw.LayerFile(path=folder / "rock.png", range=(0.2, 1.0)),
            "mask": sw.LayerFile(path=folder / "mask.png", range=(0.0, 1.0)),
        },
        water_sources=(sw.WaterSource(x=1500.0, y=2000.0, radius=300.0, rate=0.1),),
        stages=(
            sw.Stage.of(sw.VirtualPipes(rain_rate=sw.Map(folder / "rain.png", low=0.01, high=0.03)), steps=5),
            sw.Stage.of("outerrain", steps=3).replace(name="scree"),
            valleys.with_parameters(talus_slope_bias=talus).replace(name="valleys", low_water={"rain_rate": 0.001}),
            sw.Stage.of("mei2007", steps=2, settle=4),
        ),
        seed=5,
        backend="reference",
        outputs=(sw.Output(Path("eroded.npz")),),
    )


def from_python(file: Path, known: dict[str, sw.Terrain]) -> sw.Terrain:
    """What the recipe makes without the studio and without the file, worked out once."""
    if not known:
        known["terrain"] = made_in_python(file.parent).replace(outputs=()).run().terrain
    return known["terrain"]


def now(server: StudioServer) -> sw.Terrain:
    terrain: sw.Terrain = server.session.submit(server.session.terrain).result(60)
    return terrain


def assert_same(first: sw.Terrain, second: sw.Terrain) -> None:
    assert set(first) == set(second)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


def play_on(page: Page) -> list[str]:
    """Play to the end; returns the stages and levels that the page was told of."""
    seen: list[str] = []
    page.do("play")
    while not page.state or page.state["playing"] or page.state["step"] < page.state["usual_steps"]:
        page.read("state")
        seen += [page.state["stage"]] if page.state["stage"] not in seen else []
    return seen


def test_the_file_and_python_give_the_same_bits(file: Path, expected: dict[str, sw.Terrain]) -> None:
    assert sw.Recipe.read(file).as_dict() == made_in_python(file.parent).as_dict()
    assert_same(sw.Recipe.read(file).run(folder=file.parent / "out").terrain, from_python(file, expected))


def test_four_stages_with_maps_give_the_bits_of_the_file(
    page: Page, server: StudioServer, file: Path, expected: dict[str, sw.Terrain]
) -> None:
    assert page.until(lambda _: True)["usual"]["rain_rate"] == pytest.approx(0.03)  # of a map up to that
    seen = play_on(page)
    steps = page.state["usual_steps"]
    assert page.state["step"] == steps
    assert page.told[-1]["message"] == f"The recipe is complete after {steps} steps."
    assert seen[-1] == "stage 4 of 4 (mei2007)"
    assert_same(now(server), from_python(file, expected))
    heights = page.shown(steps)[1]["elevation"]
    assert heights.shape == (96, 96)
    assert np.abs(heights - now(server)["elevation"]).max() < 0.01  # 16 bits of a relief of some 300 m


def test_in_portions_it_names_stage_and_level_and_shows_their_grids(
    page: Page, server: StudioServer, file: Path, expected: dict[str, sw.Terrain]
) -> None:
    page.steps(5)
    assert page.state["stage"] == "stage 2 of 4 (scree)"
    page.steps(3)
    assert page.state["stage"] == "stage 3 of 4 (valleys), level 1 of 2 (48 x 48)"
    assert (page.state["rows"], page.state["model"]) == (48, "virtual_pipes")
    page.steps(1)
    assert page.shown(9)[1]["elevation"].shape == (48, 48)
    assert now(server).shape == (96, 96)
    assert "settle by themselves" in page.ask("settle", steps=3)["message"]
    while page.state["step"] < page.state["usual_steps"]:
        page.steps(min(37, page.state["usual_steps"] - page.state["step"]))
    assert page.ask("play")["message"].startswith("the recipe is complete")
    refusal = page.ask("undo")
    assert refusal["message"].startswith("the recipe is complete")
    assert refusal["wants"] == "go_on"
    assert_same(now(server), from_python(file, expected))


def test_it_is_saved_as_the_same_recipe(page: Page, file: Path) -> None:
    page.steps(6)
    saved = file.with_name("saved.toml")
    saved.write_text(page.get("/recipe").text)
    assert "Not in it" not in saved.read_text()
    assert sw.Recipe.read(saved).as_dict() == sw.Recipe.read(file).as_dict()


def test_edits_and_parameters_are_repeated_by_the_script(page: Page, server: StudioServer, replay: Any) -> None:
    page.steps(3)
    refused = page.ask("parameters", values={"rain_rate": 0.1})
    assert refused["message"] == "rain_rate is a map in this stage; change its file, and run the recipe again"
    page.do("paint", tool="raise", points=[[2000.0, 2500.0]], radius=600.0)
    page.do("undo")
    page.do("redo")
    page.steps(6)
    page.do("parameters", values={"rain_rate": 0.003})
    page.do("paint", tool="lower", points=[[3000.0, 2500.0]], radius=600.0)
    assert page.until(lambda state: state["can_undo"])["stage"].startswith("stage 3 of 4")
    page.steps(70)
    text = page.get("/recipe").text
    assert "# Not in it: brush strokes, undone edits, changes of parameters under way" in text
    assert "rain_rate = 0.003" in text
    assert_same(replay(page.get("/script").text), now(server))
    page.do("reset")
    assert page.until(lambda state: state["step"] == 0)["stage"] == "stage 1 of 4 (virtual_pipes)"
    assert [stage.model.values().get("rain_rate") for stage in server.session.run.recipe.stages][2] == 0.003


def test_a_kept_run_goes_on_in_its_stage(
    file: Path, tmp_path: Path, open_page: Any, expected: dict[str, sw.Terrain]
) -> None:
    for resumed in (False, True):
        keeper = Keeper(tmp_path / "kept")
        recipe = None if resumed else _from_recipe(file, None, "auto", alone=True)
        with StudioServer(recipe, port=0, keeper=keeper) as server:
            page = open_page(server)
            if not resumed:
                page.steps(20)
            else:
                assert page.until(lambda state: "stage" in state)["step"] == 20
                play_on(page)
                assert_same(now(server), from_python(file, expected))
            page.close()
        keeper.close()
