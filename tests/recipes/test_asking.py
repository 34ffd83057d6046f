"""Recipes take what users pass, or refuse it in one sentence."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import (
    InvalidFile,
    InvalidParameter,
    SimulationClosed,
    SlopewashError,
    UnknownName,
    UnusualWarning,
)
from slopewash.recipes import rehearsal

CONE = sw.generate("cone", size=16, cell_size=10.0)


def short(**changes: Any) -> sw.Recipe:
    return sw.recipe("single_grid", source=CONE, steps=2, settle=0, backend="reference").replace(**changes)


def sentence(call: Any) -> str:
    with pytest.raises(SlopewashError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_recipe_writes_its_outputs(tmp_path: Path) -> None:
    outputs = (str(tmp_path / "a.npz"), tmp_path / "a.glb", sw.Output(tmp_path / "a.png", "picture"))
    result = short(outputs=outputs).run()
    np.testing.assert_array_equal(sw.read(tmp_path / "a.npz")["elevation"], result.terrain["elevation"])
    assert (tmp_path / "a.glb").stat().st_size > 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_outputs_that_cannot_be_written_are_refused_before_the_run(tmp_path: Path) -> None:
    for outputs in (tmp_path / "a.xyz", sw.Output(tmp_path / "a.exr", "picture"), tmp_path / "missing" / "a.exr"):
        with pytest.raises(InvalidFile):
            short(outputs=outputs, steps=10**9).run()
    assert sentence(lambda: short(outputs=(3,))) == (
        "outputs holds 3; pass a tuple of Outputs, such as Output(path)"
    )  # fmt: skip
    assert 'unknown kind of output "map"' in sentence(lambda: sw.Output(Path("a.png"), "map"))


def test_another_seed_makes_another_terrain() -> None:
    recipe = sw.recipe("single_grid", size=16)
    again = recipe.replace(seed=3)
    assert (recipe.terrain()["elevation"] != again.terrain()["elevation"]).any()
    np.testing.assert_array_equal(
        again.terrain()["elevation"], sw.recipe("single_grid", size=16, seed=3).terrain()["elevation"]
    )
    assert short(seed=3).terrain() is CONE


def test_sources_may_be_terrains_or_paths_and_stages_may_be_one() -> None:
    stage = sw.Stage.of("single_grid")
    assert sw.Recipe(source=CONE, stages=stage).terrain() is CONE  # type: ignore[arg-type]
    assert sw.Recipe(source="dem.tif", stages=[stage]).source == sw.FromFile(path=Path("dem.tif"))  # type: ignore[arg-type]
    assert sw.recipe("single_grid", source="dem.tif").source == sw.FromFile(path=Path("dem.tif"))
    assert sentence(lambda: sw.recipe("single_grid", source=3)).startswith("source is 3; pass a terrain")  # type: ignore[arg-type]
    assert "such as Stage.of(...)" in sentence(lambda: sw.Recipe(source=CONE, stages=("single_grid",)))  # type: ignore[arg-type]


def test_presets_are_taken_and_models_get_a_hint() -> None:
    assert sw.recipe(sw.presets()["jako2011"]).stage.preset == "jako2011"
    assert sw.Stage.of(sw.presets()["jako2011"]).preset == "jako2011"
    assert sentence(lambda: sw.erode(CONE, sw.VirtualPipes)) == (  # type: ignore[arg-type]
        "VirtualPipes is a class; pass a model made from it, VirtualPipes(...)"
    )
    for call in (lambda: sw.erode(CONE, "virtual_pipes"), lambda: sw.recipe("virtual_pipes")):
        assert sentence(call) == (
            '"virtual_pipes" is a model, not a preset; pass VirtualPipes(), or the name of one of its presets'
        )
    assert "recipe(...).replace(model=VirtualPipes())" in sentence(lambda: sw.recipe(sw.VirtualPipes()))  # type: ignore[arg-type]
    assert sentence(lambda: sw.erode(CONE, 3)) == "3 is neither a model nor the name of a preset"  # type: ignore[arg-type]
    assert sentence(lambda: sw.erode(np.zeros((4, 4)))).startswith("terrain is an array; ")  # type: ignore[arg-type]


def test_misspelt_names_get_the_nearest_one() -> None:
    assert 'did you mean "steps"?' in sentence(lambda: sw.recipe("single_grid", stepz=3))
    assert 'did you mean "rain_rate"?' in sentence(lambda: sw.recipe("single_grid", rainrate=3))
    assert 'did you mean "backend"?' in sentence(lambda: short(backent="cpu"))
    assert 'did you mean "landscape"?' in sentence(lambda: sw.presets()["landscap"])
    models: list[Any] = [sw.VirtualPipes, sw.SteepestTalus, sw.VelocityField, sw.MeshParticles]
    for model in models:
        name = model.parameters()[0].name
        with pytest.raises(UnknownName, match=f'did you mean "{name}"'):
            model(**{f"{name}x": 1})


@pytest.mark.parametrize("nonsense", [{}, [], 3, {"source": 3}, {"strata": None, "source": {}, "stages": []}])
def test_what_describes_no_recipe_is_refused(nonsense: Any) -> None:
    assert sentence(lambda: sw.Recipe.from_dict(nonsense)).startswith("this does not describe a recipe (")


def test_results_and_running_recipes_are_shown_in_one_line() -> None:
    running = sw.Running(short(steps=1))
    assert repr(running) == "Running virtual_pipes, step 0 of 1"
    running.run()
    assert repr(running) == "Running virtual_pipes, finished"
    assert repr(running.result()) == "Result of virtual_pipes on 16 x 16 cells: complete, 1 step"


def test_a_simulation_where_a_terrain_is_needed_gets_a_hint(tmp_path: Path) -> None:
    simulation = sw.Simulation(CONE, sw.VirtualPipes(), backend="reference")
    given: Any = simulation
    hint = "a Simulation is not a terrain; pass its .terrain"
    assert sentence(lambda: sw.render(given)) == hint
    for name in ("a.exr", "a.glb"):
        assert sentence(lambda name=name: sw.write(given, tmp_path / name)) == hint


def test_one_water_source_may_be_assigned() -> None:
    simulation = sw.Simulation(CONE, sw.VirtualPipes(), backend="reference")
    source = sw.WaterSource(x=50, y=50, radius=20, rate=0.5)
    simulation.sources = source
    assert simulation.sources == (source,)


def test_an_observer_may_not_advance_its_run() -> None:
    simulation = sw.Simulation(CONE, sw.VirtualPipes(), backend="reference").add(lambda simulation: simulation.run(1))
    with pytest.raises(InvalidParameter, match="observers only read"):
        simulation.run(3)
    assert simulation.step == 3


def test_a_closed_simulation_cannot_run_any_more(tmp_path: Path) -> None:
    simulation = sw.Simulation(CONE, sw.VirtualPipes(), backend="reference")
    simulation.close()
    with pytest.raises(SimulationClosed, match="this simulation is closed; it cannot run any more"):
        simulation.run(1)
    with pytest.raises(SimulationClosed, match="this simulation is closed; it cannot run any more"):
        simulation.settle()
    with pytest.raises(SimulationClosed, match="cannot be written to a checkpoint any more"):
        simulation.checkpoint(tmp_path)


def test_sides_that_are_wrong_are_named() -> None:
    sides = {"nort": "open", "south": "open", "west": "open", "east": "open"}
    assert sentence(lambda: sw.Simulation(CONE, sw.VirtualPipes(), edges=sides)) == (
        'edges: unknown side "nort", missing "north"; name all four sides'
    )
    mixed = sw.Sides(north="closed", south="open", west="open", east="open")
    assert sentence(lambda: sw.Simulation(CONE, sw.VelocityField(), edges=mixed)).endswith("; north is 'closed'")
    assert "halo" not in sentence(lambda: sw.Sides(north="shut", south="open", west="open", east="open"))  # type: ignore[arg-type]


def test_options_that_the_source_of_a_recipe_has_itself_are_refused() -> None:
    assert sentence(lambda: sw.recipe("single_grid", source=CONE, size=8)) == (
        "size is 8, but the source has its own; resample it, or leave out size"
    )


@pytest.mark.parametrize("given", [{"steps": 5}, {"edges": "closed"}, {"seed": 0}])
def test_options_that_a_recipe_has_itself_are_refused_on_tiles(tmp_path: Path, given: dict[str, Any]) -> None:
    (name,) = given
    said = sentence(lambda: sw.erode_tiled(None, short(), out=tmp_path / "out.zarr", tile=16, workers=0, **given))
    assert f"the recipe has its own; use recipe.replace({name}=...)" in said
    assert not (tmp_path / "out.zarr").exists()


def test_a_recipe_s_own_backend_runs_on_tiles(tmp_path: Path) -> None:
    def backend(recipe: sw.Recipe, **given: Any) -> str:
        return sw.erode_tiled(None, recipe, out=tmp_path / "out.zarr", tile=16, workers=0, **given).backend

    assert backend(short()) == "reference"
    assert backend(short(backend="auto")) == "cpu"
    assert backend(short(), backend="cpu") == "cpu"


@pytest.mark.parametrize("layers", [{}, {"water": 2.0}])
@pytest.mark.parametrize("tiled", [False, True])
def test_water_that_stands_is_not_dried_by_a_model_that_has_none(
    tmp_path: Path, tiled: bool, layers: dict[str, Any]
) -> None:
    wet = sw.Stage(model=sw.VirtualPipes(), steps=2)
    talus = sw.Stage(model=sw.SteepestTalus(), steps=2, dry=True)
    stages = (talus,) if layers else (wet, talus)
    recipe = sw.Recipe(source=sw.FromTerrain(terrain=CONE), stages=stages, layers=layers, backend="reference")

    def run(recipe: sw.Recipe) -> None:
        sw.erode_tiled(None, recipe, out=tmp_path / "out.zarr", tile=16, workers=0) if tiled else recipe.run()

    said = sentence(lambda: run(recipe))
    where = "dry is set, but" if layers else "dry is set in stage 2, but"
    assert said.startswith(f"{where} steepest_talus has no water that could evaporate; leave it out")
    run(recipe.replace(layers={}, stages=(dataclasses.replace(wet, dry=True), talus)))  # nothing is left to dry


def test_bedrock_of_fine_ground_is_not_held_against_coarse_ground(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`run --check` looks at few cells; a run lays the bedrock on all of them."""
    source = sw.Generated(kind="diamond_square", size=256, relief=900.0, options={"roughness": 0.9})
    ground, coarse = source.make(), source.resized(64).make()["elevation"]
    assert (ground["elevation"].reshape(64, 4, 64, 4).mean((1, 3)) > coarse + 90).any()
    path = sw.write(ground.replace(bedrock=ground["elevation"]), tmp_path / "rock.tif", layer="bedrock")
    stage = sw.Stage(model=sw.VirtualPipes(cover="loose", hillslope="fall_line"), steps=1)
    recipe = sw.Recipe(source=source, layers={"bedrock": sw.LayerFile(path=path)}, stages=(stage,))
    monkeypatch.setattr(rehearsal, "LITTLE", 64)
    rehearsal.rehearse(recipe)
    assert recipe.terrain()["bedrock"].shape == (256, 256)


@pytest.mark.filterwarnings("default::slopewash.errors.UnusualWarning")
@pytest.mark.parametrize("tiled", [False, True])
def test_parts_without_effect_are_questioned(tmp_path: Path, tiled: bool) -> None:
    talus = sw.Stage(model=sw.SteepestTalus(), steps=2)
    mapped = talus.with_parameters(talus_slope_bias=sw.Map.of_layer("rainfall", 0.3, 0.9))
    closed = sw.Stage(model=sw.VirtualPipes(sea_level=20.0), steps=2, edges="closed")

    def questions(*stages: sw.Stage, **layers: float) -> list[str]:
        recipe = sw.Recipe(source=sw.FromTerrain(terrain=CONE), stages=stages, layers=layers, backend="reference")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sw.erode_tiled(None, recipe, out=tmp_path / "out.zarr", tile=16, workers=0) if tiled else recipe.run()
        return [str(warning.message) for warning in caught if warning.category is UnusualWarning]

    assert questions(talus, rainfall=0.5) == ["layer rainfall has no effect: steepest_talus does not read it"]
    assert questions(closed) == ["sea_level is 20 m, but no edge is open: there is no sea"]
    assert questions(mapped, rainfall=0.5) == questions(talus, mask=0.5) == questions(talus, erodibility=0.5) == []
    assert questions(talus, dataclasses.replace(closed, edges="open"), rainfall=0.5) == []
