"""Recipes as TOML files: what is written is read again, and mistakes are reported with their line and key."""

from __future__ import annotations

import dataclasses
import math
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidParameter, InvalidRecipe, SlopewashError
from slopewash.io.options import ReadOptions
from slopewash.models.catalogue import Level
from slopewash.recipes.declaration import source_table
from slopewash.recipes.reading import look_recipe, parse_recipe
from slopewash.recipes.reference import reference, schema_text
from slopewash.recipes.toml_lines import key_lines
from slopewash.recipes.writing import recipe_text

DOCS = Path(__file__).parents[2] / "docs"
SMALLEST = '[source]\ngenerator = "dome"\n[[stages]]\n'


def parsed(text: str, *settings: str, folder: Path = Path()) -> sw.Recipe:
    return parse_recipe(text, label="my.toml", folder=folder, settings=settings)


def written(recipe: sw.Recipe) -> str:
    return recipe_text(recipe, Path.cwd())


@pytest.mark.parametrize("name", [*sw.looks(), *sw.presets()])
def test_every_look_and_preset_survives_a_file(name: str, tmp_path: Path) -> None:
    recipe = sw.recipe(name)
    path = recipe.write(tmp_path / "my.toml")
    assert sw.Recipe.read(path).as_dict() == recipe.as_dict()
    assert path.read_text(encoding="utf-8") == recipe_text(sw.Recipe.read(path), tmp_path)


def rich_recipe(folder: Path) -> sw.Recipe:
    """A recipe with something of everything."""
    for name, values in (("dem.r16", [[0, 9, 3], [4, 5, 6]]), ("rain.png", [[0, 1, 2], [2, 3, 1]])):
        sw.write(sw.Terrain(np.array(values)), folder / name)
    sides = sw.Sides(north="open", south="closed", west="closed", east="closed")
    levels = (
        Level(cells=64, steps=40, settle=5, parameters={"rain_rate": 0.01}),
        Level(cells=128, steps=20, settle=4, parameters={"rain_rate": 0.02}),
    )
    return sw.Recipe(
        source=sw.FromFile(path=folder / "dem.r16", options={"height_range": (0.0, 900.0), "shape": (2, 3)}, size=6),
        layers={"rainfall": sw.LayerFile(path=folder / "rain.png", range=(0.0, 2.0)), "erodibility": 0.5},
        strata=sw.Beds(
            sw.Strata([sw.Stratum(thickness=0.2, erodibility=0.1), sw.Stratum(thickness=math.inf)], dip=3.0),
            shares=True,
        ),
        water_sources=(sw.WaterSource(x=1.0, y=1.5, radius=1.0, rate=0.2),),
        stages=(
            sw.Stage.of(sw.VirtualPipes(dig_limit=math.inf, processes="thermal"), steps=7, edges=sides),
            sw.Stage.of("landscape", strength=0.4).replace(
                levels=levels, basins="lakes", low_water={"rain_rate": 0.001}, name="valleys"
            ),
            sw.Stage.of("landscape", steps=30, settle=False, gullies=0.25).with_parameters(sea_level=None),
            sw.Stage.of("outerrain", steps=9, dry=True),
        ),
        seed=3,
        backend="reference",
        outputs=(
            sw.Output(Path("eroded.png"), "terrain", {"height_range": (-10.0, 900.0)}),
            sw.Output(Path("pictures/view.png"), "picture", {"view": "inside", "sun": (135.0, 20.0)}),
        ),
    )


def test_a_recipe_with_everything_survives_a_file(tmp_path: Path) -> None:
    recipe = rich_recipe(tmp_path)
    read = sw.Recipe.read(recipe.write(tmp_path / "my.toml"))
    assert read.as_dict() == recipe.as_dict()
    assert read.stages == recipe.stages
    assert read.outputs == recipe.outputs


def test_water_sources_and_emitters_reach_the_terrain(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text("""
[source]
generator = "dome"
size = 16
extent = 160
[[water_sources]]
x = 80
y = 40.5
radius = 12
rate = 0.5
[[emitters]]
x = 70
y = 90
radius = 20
rate = 30
direction = 90
[[stages]]
model = "virtual_pipes"
[[stages]]
preset = "bezin2010"
""")
    recipe = sw.Recipe.read(tmp_path / "my.toml")
    terrain = recipe.terrain()
    assert terrain.sources == (sw.WaterSource(x=80.0, y=40.5, radius=12.0, rate=0.5),)
    assert terrain.emitters == (sw.Emitter(x=70.0, y=90.0, radius=20.0, rate=30.0, speed=0.0, direction=90.0),)
    assert sw.Recipe.read(recipe.write(tmp_path / "again.toml")).as_dict() == recipe.as_dict()
    assert sw.Recipe.from_dict(recipe.as_dict()).terrain().sources == terrain.sources
    assert schema_errors((tmp_path / "my.toml").read_text()) == []


@pytest.mark.parametrize(
    ("disc", "sentence"),
    [
        ("[[water_sources]]\nx = 1\ny = 2\nradius = 3\n", r"line 5, water_sources\[1\]: rate is missing; add it"),
        ("[[water_sources]]\nx = 1\ny = 2\nradius = -3\nrate = 1\n", "radius is -3.0 m; it must be positive"),
        ("[[water_sources]]\nxx = 1\n", r'line 6, water_sources\[1\].xx: unknown key "xx"; did you mean "x"'),
        ("[[emitters]]\nx = 1\ny = 2\nradius = 3\nrate = 1\n", "but virtual_pipes has no particles; leave them out"),
    ],
)
def test_wrong_discs_are_reported(disc: str, sentence: str) -> None:
    with pytest.raises(InvalidRecipe, match=sentence):
        parsed(SMALLEST + "\n" + disc)


def test_a_recipe_can_be_read_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = rich_recipe(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    path = recipe.write(tmp_path / "elsewhere" / "my.toml")
    assert 'file = "../dem.r16"' in path.read_text(encoding="utf-8")
    monkeypatch.chdir("/")
    assert sw.Recipe.read(path).terrain().shape == (4, 6)


def test_a_terrain_in_memory_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="write it with sw"):
        sw.recipe("landscape", source=sw.generate("cone", size=16)).write(tmp_path / "my.toml")


FOUR_STAGES = """
seed = 5
backend = "reference"

[source]
generator = "fbm"
size = 16
relief = 300
persistence = 0.4

[layers]
rainfall = { file = "rain.png", range = [0.5, 2] }
erodibility = 0.7

[[stages]]
model = "virtual_pipes"
steps = 5
parameters = { rain_rate = 0.02 }

[[stages]]
preset = "outerrain"
steps = 3
settle = 0

[[stages]]
preset = "mei2007"
steps = 2
settle = 0

[[stages]]
name = "valleys"
preset = "landscape"
steps = 8
settle = 0
edges = { north = "open", south = "closed", west = "closed", east = "closed" }

[stages.parameters]
sea_level = "none"
fan_slope = 0.5

[[outputs]]
path = "eroded.npz"
"""


def test_four_stages_from_a_file_and_from_python_give_the_same_bits(tmp_path: Path) -> None:
    sw.write(sw.Terrain(np.arange(256.0).reshape(16, 16)), tmp_path / "rain.png", height_range=(0.0, 255.0))
    (tmp_path / "my.toml").write_text(FOUR_STAGES)
    read = sw.Recipe.read(tmp_path / "my.toml")
    sides = sw.Sides(north="open", south="closed", west="closed", east="closed")
    made = sw.Recipe(
        source=sw.Generated(kind="fbm", size=16, relief=300.0, seed=5, options={"persistence": 0.4}),
        layers={"rainfall": sw.LayerFile(path=tmp_path / "rain.png", range=(0.5, 2.0)), "erodibility": 0.7},
        stages=(
            sw.Stage.of(sw.VirtualPipes(rain_rate=0.02), steps=5),
            sw.Stage.of("outerrain", steps=3, settle=0),
            sw.Stage.of("mei2007", steps=2, settle=0),
            sw.Stage.of("landscape", steps=8, settle=0, edges=sides).with_parameters(sea_level=None, fan_slope=0.5),
        ),
        seed=5,
        backend="reference",
    )
    first, second = read.run(folder=tmp_path / "out").terrain, made.run().terrain
    assert list(first) == list(second)
    for name, layer in first.items():
        np.testing.assert_array_equal(layer, second[name], err_msg=name)
    np.testing.assert_array_equal(sw.read(tmp_path / "out" / "eroded.npz")["elevation"], first["elevation"])


def test_what_is_left_out_is_what_suits_the_preset() -> None:
    recipe = parsed(SMALLEST)
    assert recipe.stage == sw.Stage.of("landscape")
    assert recipe.source == sw.Generated(kind="dome", seed=0)
    assert parsed("seed = 4\n" + SMALLEST).source == sw.Generated(kind="dome", seed=4)
    strata = parsed(SMALLEST + 'preset = "chiba_strata"').strata
    assert strata is not None
    assert strata.strata.layers == sw.presets()["chiba_strata"].strata.layers  # type: ignore[union-attr]
    assert parsed('strata = "none"\n' + SMALLEST + 'preset = "chiba_strata"').strata is None


MISTAKES = {
    "no TOML": ("seed = \n", "my.toml, line 1: invalid value"),
    "nested keys": (".".join("a" * 40) + " = 1\n", "my.toml: its keys or tables are nested more than 16 deep"),
    "nothing": ("", "my.toml: source is missing; add it"),
    "unknown key": ("sed = 3\n" + SMALLEST, 'my.toml, line 1, sed: unknown key "sed"; did you mean "seed"?'),
    "wrong type": ('seed = "3"\n' + SMALLEST, 'line 1, seed: seed is "3"; it must be a whole number'),
    "unknown generator": (
        '[source]\ngenerator = "domes"\n[[stages]]\n',
        'line 2, source.generator: unknown generator "domes"; did you mean "dome"?',
    ),
    "option of another generator": (
        '[source]\ngenerator = "dome"\nroughness = 1\n[[stages]]\n',
        'line 3, source.roughness: unknown key "roughness"; choose one of cell_size',
    ),
    "option out of range": (
        '[source]\ngenerator = "dome"\nnoise = 7\n[[stages]]\n',
        "line 3, source.noise: noise is 7.0; it must be within 0 .. 1",
    ),
    "two sources": ('[source]\ngenerator = "dome"\nfile = "a.exr"\n[[stages]]\n', "line 1, source: name either"),
    "missing file": ('[source]\nfile = "no.exr"\n[[stages]]\n', "line 2, source.file: no.exr does not exist"),
    "unknown preset": (
        SMALLEST + 'preset = "jako"',
        'line 4, stages[1].preset: unknown preset "jako"; did you mean "jako2011"?',
    ),
    "unknown parameter": (
        SMALLEST + "[stages.parameters]\n# here\nrain = 1",
        'line 6, stages[1].parameters.rain: unknown parameter of virtual_pipes "rain"; did you mean "rain_rate"?',
    ),
    "inline parameter": (
        SMALLEST + "parameters = { rain_rate = 0.1, pipe_area = -1 }",
        "line 4, stages[1].parameters.pipe_area: pipe_area (A) is -1.0 cells²; it must be positive",
    ),
    "text for a number": (
        SMALLEST + 'parameters = { rain_rate = "0.1" }',
        'line 4, stages[1].parameters.rain_rate: rain_rate is "0.1"; it must be a number',
    ),
    "parameter beside the stage": (
        SMALLEST + "rain_rate = 0.1",
        'line 4, stages[1].rain_rate: "rain_rate" is a parameter of virtual_pipes; put it under [stages.parameters]',
    ),
    "second stage": (
        SMALLEST + '[[stages]]\npreset = "landscape"\nsteps = -2\n',
        "line 6, stages[2].steps: steps is -2; it must be a whole number, zero or more",
    ),
    "steps and strength": (SMALLEST + "steps = 5\nstrength = 0.5", "stages[1].steps: steps is 5 and strength 0.5"),
    "preset and model": (
        SMALLEST + 'preset = "landscape"\nmodel = "virtual_pipes"',
        "line 5, stages[1].model: it has both a preset and a model",
    ),
    "sides": (SMALLEST + 'edges = { north = "open" }', 'line 4, stages[1].edges: edges: missing "south", "west"'),
    "detail without levels": (
        SMALLEST + 'preset = "single_grid"\ndetail = 0.3',
        "line 5, stages[1].detail: detail is for levels, and the stage has none; leave it out, or add levels",
    ),
    "basins without levels": (
        SMALLEST + 'preset = "landscape"\nlevels = []\nbasins = "lakes"',
        "line 6, stages[1].basins: basins is for levels, and the stage has none",
    ),
    "levels out of order": (
        SMALLEST + "[[stages.levels]]\ncells = 64\nsteps = 3\n[[stages.levels]]\ncells = 32\nsteps = 3",
        "line 8, stages[1].levels[2].cells: cells is 32; it must be more than those of the level before",
    ),
    "strata": (
        SMALLEST + "[[strata.layers]]\nthickness = 3\n[[strata.layers]]\nerodibility = 1",
        "line 6, strata.layers[2]: thickness is missing",
    ),
    "layer": (SMALLEST + "[layers]\nrainfal = 2", 'line 5, layers.rainfal: unknown key "rainfal"; did you mean'),
    "kind of output": (
        SMALLEST + '[[outputs]]\nkind = "pictur"\npath = "a.png"',
        'line 5, outputs[1].kind: unknown kind of output "pictur"; did you mean "picture"?',
    ),
    "format": (
        SMALLEST + '[[outputs]]\npath = "a.tfi"',
        'line 5, outputs[1].path: a.tfi has the unknown suffix ".tfi"; did you mean ".tif"?',
    ),
    "option of an output": (
        SMALLEST + '[[outputs]]\nkind = "picture"\npath = "a.png"\nseason = "spring"',
        'line 7, outputs[1].season: unknown season "spring"; choose one of',
    ),
    "option of a map": (
        SMALLEST + '[[outputs]]\nkind = "picture"\npath = "a.png"\nzoom = 2',
        "line 7, outputs[1].zoom: zoom is given, but the view is a map",
    ),
    "layers of an output": (
        SMALLEST + '[[outputs]]\nkind = "layers"\npath = "a"\nlayers = ["flw"]',
        'line 7, outputs[1].layers: layers: unknown layer "flw"; did you mean "flow"?',
    ),
    "the same file twice": (
        SMALLEST + '[[outputs]]\npath = "a.exr"\n[[outputs]]\npath = "a.exr"',
        "line 7, outputs[2].path: a.exr is written by an output before it",
    ),
    "table instead of tables": (
        SMALLEST.replace("[[stages]]", "[stages]"),
        "line 3, stages: stages is a table; it must",
    ),
    "tables instead of a table": (SMALLEST.replace("[source]", "[[source]]"), "line 1, source: source is a list of"),
    "no path": (SMALLEST + "[[outputs]]\n", "line 4, outputs[1]: path is missing"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_reported_with_line_key_and_remedy(mistake: str) -> None:
    text, expected = MISTAKES[mistake]
    with pytest.raises(InvalidRecipe) as caught:
        parsed(text)
    assert expected in str(caught.value)
    assert str(caught.value).startswith("my.toml")
    assert "\n" not in str(caught.value)


def test_settings_change_what_the_file_holds() -> None:
    text = SMALLEST + 'preset = "landscape"\n[[stages]]\nname = "end"\npreset = "outerrain"\n'
    recipe = parsed(
        text, "seed=9", "source.size=64", "landscape.rain_rate=0.02", "end.steps=3", "2.dry=true", "strata=none"
    )
    assert (recipe.seed, recipe.source) == (9, sw.Generated(kind="dome", size=64, seed=9))
    assert recipe.stage.settings == {"rain_rate": 0.02}
    assert (recipe.stages[1].steps, recipe.stages[1].dry) == (3, True)
    assert parsed(SMALLEST, "stage.basins=lakes").stage.basins == "lakes"


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("rain_rate=1", "--set rain_rate=1 names no stage or table; write --set seed=3"),
        ("landscape.rain=1", '--set landscape.rain=1: unknown parameter of virtual_pipes "rain"; did you mean'),
        ("landscap.steps=1", '--set landscap.steps=1: unknown stage or table "landscap"; did you mean "landscape"?'),
        ("stage.steps", "--set stage.steps is not a setting"),
        ("source.sizes=3", '--set source.sizes=3: unknown key "sizes"; did you mean "size"?'),
        ("3.steps=1", "--set 3.steps=1: unknown stage"),
    ],
)
def test_bad_settings_are_reported_as_they_were_given(setting: str, expected: str) -> None:
    with pytest.raises(SlopewashError) as caught:
        parsed(SMALLEST, setting)
    assert expected in str(caught.value)


def test_two_stages_of_one_preset_are_told_apart_by_number() -> None:
    with pytest.raises(InvalidParameter, match=r"could mean any of 2 stages; name one by its number, such as 1\.steps"):
        parsed(SMALLEST + "[[stages]]\n", "landscape.steps=3")
    assert parsed(SMALLEST + "[[stages]]\n", "2.steps=3").stages[1].steps == 3


def test_a_preview_is_the_same_ground_on_a_quarter_of_the_cells(tmp_path: Path) -> None:
    preview = sw.recipe("mesas").preview()
    assert preview.terrain().shape == (128, 128)
    assert preview.terrain().width == sw.recipe("mesas").source.side  # type: ignore[union-attr]
    sw.write(sw.generate("cone", size=(24, 40), cell_size=10.0), tmp_path / "dem.tif")
    sw.write(sw.generate("ramp", size=(24, 40), relief=1.0), tmp_path / "rain.tif")
    recipe = sw.recipe("landscape", source=tmp_path / "dem.tif").replace(layers={"rainfall": tmp_path / "rain.tif"})
    small = recipe.preview().terrain()
    assert (small.shape, small.cell_size, small["rainfall"].shape) == ((6, 10), 40.0, (6, 10))


def test_a_layer_of_other_proportions_is_refused(tmp_path: Path) -> None:
    sw.write(sw.generate("ramp", size=(24, 40)), tmp_path / "rain.tif")
    recipe = sw.recipe("landscape", size=32).replace(layers={"rainfall": tmp_path / "rain.tif"})
    with pytest.raises(SlopewashError, match="is not of the same ground"):
        recipe.terrain()


def test_looks_as_files_draw_what_suits_them() -> None:
    recipe = look_recipe("mesas", settings=["source.size=64"])
    assert [str(output.path) for output in recipe.outputs] == ["terrain.exr", "view.png", "map.png"]
    assert recipe.outputs[1].options["season"] == "desert"


VALIDATOR = jsonschema.Draft7Validator(sw.recipe_schema())


def schema_errors(text: str) -> list[Any]:
    return list(VALIDATOR.iter_errors(tomllib.loads(text)))


def test_the_schema_is_a_schema_and_that_of_the_docs() -> None:
    jsonschema.Draft7Validator.check_schema(sw.recipe_schema())
    again = "run python -m slopewash.recipes.reference docs"
    assert (DOCS / "recipe.schema.json").read_text(encoding="utf-8") == schema_text(), again
    assert (DOCS / "recipe-reference.md").read_text(encoding="utf-8") == reference(), again


@pytest.mark.parametrize("name", [*sw.looks(), *sw.presets()])
def test_every_look_and_preset_is_valid_by_the_schema(name: str) -> None:
    look = sw.looks().get(name)
    recipe = sw.recipe(name).replace(outputs=look.outputs if look else ())
    assert schema_errors(written(recipe)) == []


def test_other_recipes_are_valid_by_the_schema(tmp_path: Path) -> None:
    assert schema_errors(recipe_text(rich_recipe(tmp_path), tmp_path)) == []
    assert schema_errors(FOUR_STAGES) == []
    assert schema_errors(SMALLEST) == []


@pytest.mark.parametrize(
    "mistake",
    [name for name in MISTAKES if name not in
     ("no TOML", "missing file", "option out of range", "inline parameter", "second stage", "steps and strength",
      "detail without levels", "basins without levels",
      "levels out of order", "format", "option of a map", "layers of an output", "the same file twice")],
)  # fmt: skip
def test_the_schema_finds_mistakes_of_keys_and_types(mistake: str) -> None:
    assert schema_errors(MISTAKES[mistake][0])


def test_a_source_takes_every_option_of_reading() -> None:
    options = {field.name for field in dataclasses.fields(ReadOptions)}
    assert options == set(source_table(None).names()) - {"file", "size"}


def test_lines_of_keys_are_found_in_any_style() -> None:
    text = 'a.b = "x # y"  # z\n[t]\nm = """\nn = 1\n"""\nv = [1,\n  { q = 1 }]\n'
    text += '[[s]]\n[[s.l]]\nc = 1\n[[s]]\n[s."d"]\ne = 2\n'
    lines = key_lines(text)
    assert lines["a", "b"] == 1
    assert lines["t", "m"] == 3
    assert ("t", "n") not in lines
    assert lines["t", "v", 1, "q"] == 7
    assert lines["s", 0, "l", 0, "c"] == 10
    assert lines["s", 1, "d", "e"] == 13


def test_nan_as_nodata_is_kept_in_files_and_in_checkpoints(tmp_path: Path) -> None:
    heights = np.full((12, 14), 500.0)
    heights[0] = np.nan
    np.save(tmp_path / "dem.npy", heights)
    text = '[source]\nfile = "dem.npy"\nnodata = nan\n\n[[stages]]\nmodel = "steepest_talus"\nsteps = 4\n'
    (tmp_path / "my.toml").write_text(text)
    written = sw.Recipe.read(tmp_path / "my.toml").write(tmp_path / "again.toml")
    running = sw.Running(sw.Recipe.read(written), checkpoint=tmp_path / "run.ckpt")
    running.write_checkpoint()
    for recipe in (sw.Recipe.read(written), sw.Running.resumed(tmp_path / "run.ckpt").recipe):
        assert recipe.terrain().nodata is not None
