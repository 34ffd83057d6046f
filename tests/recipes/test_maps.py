"""Maps of parameters in recipes: Python, TOML and the command line give the same bits; stages and levels keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import slopewash as sw
from slopewash.cli import main

SIZE = 96
RAMP = np.linspace(0, 1, SIZE, dtype=np.float32)[None, :].repeat(SIZE, 0)
TOML = """
backend = "reference"
[source]
file = "dome.npz"
[[stages]]
preset = "landscape"
strength = 0.02
[stages.parameters]
rain_rate = { file = "ramp.npy", range = [0.0, 0.01] }
talus_slope_bias = { file = "ramp.npy", range = [0.25, 1.25] }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sw.write(sw.generate("dome", size=SIZE, seed=2), tmp_path / "dome.npz")
    sw.write(sw.Terrain(RAMP), tmp_path / "ramp.npy")
    (tmp_path / "recipe.toml").write_text(TOML)
    return tmp_path


def maps(folder: Path) -> dict[str, Any]:
    return {
        "rain_rate": sw.Map(folder / "ramp.npy", low=0, high=0.01),
        "talus_slope_bias": sw.Map(folder / "ramp.npy", low=0.25, high=1.25),
    }


def in_python(folder: Path, **changes: Any) -> sw.Recipe:
    stage = sw.Stage.of("landscape", strength=0.02).with_parameters(**maps(folder))
    return sw.Recipe(source=sw.FromFile(path=folder / "dome.npz"), stages=(stage,), backend="reference", **changes)


def test_python_toml_and_the_command_line_give_the_same_bits(folder: Path) -> None:
    python = in_python(folder).run().terrain
    toml = sw.Recipe.read(folder / "recipe.toml").run().terrain
    in_python(folder).write(folder / "again.toml")
    again = sw.Recipe.read(folder / "again.toml")
    assert again.stage == in_python(folder).stage
    code = main([
        "erode", str(folder / "dome.npz"), "-o", str(folder / "out.npz"), "--strength", "0.02",
        "--backend", "reference",
        "--map", f"rain_rate={folder / 'ramp.npy'}:0..0.01", "--map",
        f"talus-slope-bias={folder / 'ramp.npy'}:0.25..1.25",
    ])  # fmt: skip
    assert code == 0
    for other in (toml, sw.read(folder / "out.npz")):
        assert set(other) == set(python)
        assert_array_equal(other["elevation"], python["elevation"])
    assert "rainfall" not in python
    assert "talus" not in python
    plain = sw.Recipe.read(folder / "recipe.toml").replace(stages=(sw.Stage.of("landscape", strength=0.02),))
    assert (plain.run().terrain["elevation"] != python["elevation"]).any()


def test_rain_on_one_half_leaves_the_other_dry() -> None:
    """And the next stage, which has no map, rains everywhere."""
    half = np.where(np.arange(40) < 20, 0.0, 1.0)[None, :].repeat(40, 0)
    flat = sw.Terrain(np.zeros((40, 40)))
    dry = sw.VirtualPipes(rain_rate=sw.Map(half, low=0, high=0.1), evaporation_rate=0.0)
    one = sw.Recipe(
        source=sw.FromTerrain(terrain=flat),
        stages=(sw.Stage.of(dry, steps=3, edges="closed", settle=False),),
        backend="reference",
    )
    water = one.run().terrain["water"]
    assert (water[:, :10] == 0).all()
    assert water[:, 30:] == pytest.approx(3 * 0.02 * 0.1, rel=1e-5)
    after = one.replace(stages=(*one.stages, sw.Stage.of(sw.VirtualPipes(rain_rate=0.1), steps=1, settle=False)))
    assert (after.run().terrain["water"][5:-5, 5] > 0).all()


def test_a_layer_that_an_earlier_stage_leaves_can_be_a_map() -> None:
    terrain = sw.generate("ridged", size=24, seed=1)
    model = sw.SteepestTalus(talus_law="hard_stands_steeper")
    wet = sw.VirtualPipes(rain_rate=sw.Map("wear"))
    recipe = sw.Recipe(
        source=sw.FromTerrain(terrain=terrain),
        stages=(sw.Stage.of(model, steps=30), sw.Stage.of(wet, steps=3)),
        backend="reference",
    )
    worn = sw.erode(terrain, model, steps=30, backend="reference")
    expected = sw.erode(worn, wet, steps=3, backend="reference")
    assert_array_equal(recipe.run().terrain["elevation"], expected["elevation"])


@pytest.mark.parametrize("tiled", [False, True])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (sw.Map("wetnes"), 'a layer "wetnes", which the terrain does not have in stage 2; it has elevation, '),
        (sw.Map("rainfall"), 'a layer "rainfall", which the terrain does not have in stage 2'),
        (sw.Map(RAMP[:24, :24] - 0.5), "somewhere in its map, rain_rate (K_r) is -0.5"),
        (sw.Map("own", low=0, high=1), "the map of rain_rate spans 2 .. 2; with low and high"),
    ],
)
def test_maps_of_later_stages_are_refused_before_the_first(
    given: sw.Map, words: str, tmp_path: Path, *, tiled: bool
) -> None:
    """A stage with a map of rain leaves no layer of it."""
    terrain = sw.generate("ridged", size=24, seed=1).replace(rainfall=1.0, own_layers={"own": 2.0})
    first, second = (sw.VirtualPipes(rain_rate=rain) for rain in (sw.Map("own"), given))
    recipe = sw.Recipe(
        source=sw.FromTerrain(terrain=terrain),
        stages=(sw.Stage.of(first, steps=1), sw.Stage.of(second, steps=1)),
        backend="reference",
    )
    if tiled:
        pytest.importorskip("zarr")
        with pytest.raises(sw.SlopewashError) as raised:
            sw.erode_tiled(None, recipe, tile=12, out=tmp_path / "out.zarr", workers=0)
    else:
        with pytest.raises(sw.SlopewashError) as raised:
            sw.Running(recipe)
    assert words in str(raised.value)
    assert not (tmp_path / "out.zarr" / "state" / "round-000000").exists()


def test_a_stage_that_cannot_begin_leaves_the_one_before_as_it_was() -> None:
    """What a layer will hold is known only when its stage begins."""
    dome = sw.generate("dome", size=SIZE, seed=2)
    second = sw.Stage.of("landscape", strength=0.01).with_parameters(rain_rate=sw.Map("difference"))
    recipe = sw.Recipe(
        source=sw.FromTerrain(terrain=dome),
        stages=(sw.Stage.of(sw.SteepestTalus(), steps=3), second),
        backend="reference",
    )
    running = sw.Running(recipe)
    with pytest.raises(sw.InvalidParameter, match="somewhere in its map, rain_rate"):
        running.run()
    assert running.start is dome
    assert running.number == 0
    assert running.result().steps == 3


def test_a_resumed_recipe_needs_neither_the_file_nor_the_array(folder: Path) -> None:
    """Interrupted in the first of two stages, of which the second has a map too."""
    second = sw.Stage.of(sw.VirtualPipes(thermal_rate=sw.Map(2 * RAMP)), steps=4)
    first = sw.Stage.of(sw.VirtualPipes(rain_rate=sw.Map(folder / "ramp.npy", 0, 0.1)), steps=6)
    recipe = sw.Recipe(source=sw.FromFile(path=folder / "dome.npz"), stages=(first, second), backend="reference")
    whole = recipe.run().terrain
    running = sw.Running(recipe, checkpoint=folder / "run.ckpt", every=2)

    def stop(simulation: sw.Simulation) -> None:
        if simulation.step == 4:
            raise KeyError("stop")

    with pytest.raises(KeyError):
        running.run(stop)
    (folder / "ramp.npy").unlink()
    resumed = sw.Running.resumed(folder / "run.ckpt")
    resumed.run()
    assert_array_equal(resumed.result().terrain["elevation"], whole["elevation"])


def test_maps_are_inputs_of_the_manifest(folder: Path) -> None:
    from slopewash.recipes.manifest import input_files

    assert [file.name for file in input_files(sw.Recipe.read(folder / "recipe.toml"))] == ["dome.npz", "ramp.npy"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('rain_rate = { file = "none.npy" }', "line 9, stages[1].parameters.rain_rate.file: "),
        ("rain_rate = { range = [0, 1] }", "name either a file"),
        ('rain_rate = { file = "ramp.npy", range = [1, 0] }', "low must be below high"),
        ('rain_rate = { layer = "wet", scale = 2 }', 'unknown key "scale"'),
        ('pipe_area = { file = "ramp.npy" }', "pipe_area is a table; it must be a number"),
        ('rain_rate = "wet"', 'rain_rate is "wet"; it must be a number or a table'),
    ],
)
def test_mistakes_are_reported_with_line_and_key(folder: Path, line: str, words: str) -> None:
    text = TOML.split("[stages.parameters]")[0] + "[stages.parameters]\n" + line + "\n"
    (folder / "bad.toml").write_text(text)
    with pytest.raises(sw.InvalidRecipe) as raised:
        sw.Recipe.read(folder / "bad.toml")
    assert words in str(raised.value)


def test_an_array_cannot_be_written(folder: Path) -> None:
    stage = sw.Stage.of(sw.VirtualPipes(rain_rate=sw.Map(RAMP)), steps=1)
    with pytest.raises(sw.InvalidParameter, match="the map of rain_rate is an array in memory"):
        sw.Recipe(source=sw.FromFile(path=folder / "dome.npz"), stages=(stage,)).write(folder / "array.toml")


def test_a_recorded_session_keeps_its_maps(folder: Path) -> None:
    model = sw.VirtualPipes(**maps(folder), thermal_rate=0.3)
    recipe = sw.Recipe(source=sw.FromFile(path=folder / "dome.npz"), stages=(sw.Stage.of(model, steps=1),))
    recording, running = sw.Recording(recipe, "reference"), sw.Running(recipe.replace(backend="reference"))
    with pytest.raises(sw.InvalidParameter, match="rain_rate is a map in this stage"):
        running.set_parameters(rain_rate=0.02)
    running.set_parameters(thermal_rate=0.4)
    text = recording.recipe_text(running.recipe)
    assert 'talus_slope_bias = {file = "' in text
    assert "thermal_rate = 0.4" in text
    running.close()
