"""Recipes: what they hold, how they run, and how they are written down."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidParameter, UnknownName

MODEL = sw.VirtualPipes(dig_limit=math.inf, rain_rate=0.03)
STRATA = sw.Strata([sw.Stratum(thickness=20, erodibility=0.1), sw.Stratum(thickness=math.inf)], dip=3.0, direction=45.0)


def written_and_read(recipe: sw.Recipe) -> sw.Recipe:
    """Through JSON as the standard has it: without infinity."""
    return sw.Recipe.from_dict(json.loads(json.dumps(recipe.as_dict(), allow_nan=False)))


def assert_same(first: sw.Terrain, second: sw.Terrain) -> None:
    assert set(first) == set(second)
    for name, layer in first.items():
        np.testing.assert_array_equal(layer, second[name], err_msg=name)


@pytest.mark.parametrize(
    "source",
    [
        sw.Generated(kind="ridged", size=24, cell_size=2.5, seed=4, relief=80.0),
        sw.Generated(kind="diamond_square", options={"roughness": 0.4}),
        sw.Generated(kind="cone", size=24, extent=900.0),
        sw.FromFile(path=Path("dem.tif"), options={"cell_size": 30.0, "height_range": None}),
        sw.FromFile(path=Path("dem.r16"), options={"height_range": (0.0, 90.5), "shape": (24, 32)}),
    ],
    ids=lambda source: source.name,
)
def test_sources_survive_json(source: Any) -> None:
    recipe = sw.Recipe(source=source, stages=(sw.Stage.of("single_grid"),))
    read = written_and_read(recipe).source
    assert type(read) is type(source)
    assert read.script() == source.script()


@pytest.mark.parametrize("name", sorted(sw.presets()))
def test_another_size_of_a_preset_is_the_same_ground(name: str) -> None:
    own = sw.preset_source(name)
    coarse = sw.recipe(name, size=32).source
    assert isinstance(coarse, sw.Generated)
    assert coarse.make().width == pytest.approx(own.side)
    assert coarse.make().relief == pytest.approx(own.relief or 0.25 * own.side)
    assert sw.preset_source(name, size=32, extent=640.0).make().cell_size == 20.0


def test_a_script_makes_the_ground_of_its_source() -> None:
    for source in (sw.Generated(size=24), sw.Generated(size=24, cell_size=3.0), sw.Generated(size=24).resized(30)):
        made = eval(source.script(), {"sw": sw})
        assert made.cell_size == source.make().cell_size
        assert_same(made, source.make())


def test_a_terrain_in_memory_survives_json_by_name_code_and_size() -> None:
    source = sw.FromTerrain(name="mine", terrain=sw.generate("cone", size=16), code="make()", size=24)
    read = written_and_read(sw.Recipe(source=source, stages=(sw.Stage.of(),))).source
    assert isinstance(read, sw.FromTerrain)
    assert read.script() == source.script() == "make().resampled(24)"
    with pytest.raises(InvalidParameter, match="mine, a terrain in memory"):
        read.make()


def test_strata_infinite_parameters_sides_and_outputs_survive_json() -> None:
    sides = sw.Sides(north="open", south="closed", west="periodic", east="periodic")
    recipe = sw.Recipe(
        source=sw.Generated(kind="dome", size=24),
        strata=sw.Beds(STRATA, shares=False, replace=True),
        stages=(
            sw.Stage(model=MODEL, steps=4, settle=None, edges=sides),
            sw.Stage.of("jako2011", steps=3, dry=True),
        ),
        seed=5,
        backend="reference",
        outputs=(sw.Output(Path("out.exr")), sw.Output(Path("out.png"), "picture")),
    )
    read = written_and_read(recipe)
    assert read.stages == recipe.stages
    assert read.stage.model.values()["dig_limit"] == math.inf
    assert read.stage.model.values()["sea_level"] == -math.inf
    assert read.stage.edges == sides
    assert read.outputs == recipe.outputs
    assert (read.seed, read.backend) == (5, "reference")
    assert read.strata is not None
    assert read.strata.strata.layers == STRATA.layers
    assert_same(read.terrain(), recipe.terrain())
    assert read.as_dict() == recipe.as_dict()


@pytest.mark.parametrize("preset", sorted(sw.presets()))
def test_every_preset_s_recipe_survives_json(preset: str) -> None:
    recipe = sw.recipe(preset, size=24)
    read = written_and_read(recipe)
    assert read.stages == recipe.stages
    assert read.as_dict() == recipe.as_dict()


def two_stages(**changes: Any) -> sw.Recipe:
    stages = (
        sw.Stage(model=sw.VirtualPipes(rain_rate=0.05), steps=30, settle=10),
        sw.Stage(model=sw.SteepestTalus(), steps=20, settle=0, edges="closed"),
    )
    source = sw.Generated(kind="ridged", size=24, seed=3)
    return sw.Recipe(source=source, stages=stages, backend="reference", **changes)


def test_stages_run_one_after_the_other() -> None:
    recipe = two_stages()
    first, second = recipe.stages
    simulation = sw.Simulation(recipe.terrain(), first.model, backend="reference")
    simulation.run(30)
    simulation.settle(10)
    simulation = sw.Simulation(simulation.terrain, second.model, backend="reference", edges="closed")
    simulation.run(20)
    simulation.settle(0)
    result = recipe.run()
    assert_same(result.terrain, simulation.terrain)
    assert result.stage is second
    assert result.progress == "20 steps"
    assert result.budget == simulation.budget


@pytest.mark.parametrize(("stage", "taken"), [(0, 20), (0, 35), (0, 40), (1, 5), (1, 20)])
def test_a_run_stopped_in_any_stage_is_resumed_to_the_same_result(stage: int, taken: int, tmp_path: Path) -> None:
    running = sw.Running(two_stages(), checkpoint=tmp_path, every=5)

    def die(simulation: sw.Simulation) -> None:
        if (running.number, simulation.steps_taken) == (stage, taken):
            raise SystemError

    die_often = dataclasses.make_dataclass("Dying", [("every", int, 5)])()
    die_often.start = die_often.finish = lambda *_, **__: None
    die_often.observe = die
    with pytest.raises(SystemError):
        running.run(die_often)
    result = running.result()
    assert (result.stage, result.steps) == (running.stage, running.simulation.step)
    assert result.interrupted
    resumed = sw.Running.resumed(tmp_path)
    assert resumed.number <= stage
    resumed.run()
    whole = two_stages().run()
    assert_same(resumed.result().terrain, whole.terrain)
    assert resumed.result().budget == whole.budget
    assert_same(sw.resume(tmp_path).terrain, whole.terrain)  # finished: nothing is left to do


@pytest.mark.parametrize(("moment", "stage"), [("_prepared", 0), ("_take_over", 1)])
def test_an_interrupt_between_two_stages_leaves_a_run_that_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, stage: int
) -> None:
    usual = getattr(sw.Running, moment)

    def interrupted(self: sw.Running, number: int, given: object) -> object:
        if number == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return usual(self, number, given)

    monkeypatch.setattr(sw.Running, moment, interrupted)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may start tests with it ignored
    running = sw.Running(two_stages(), checkpoint=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        running.run()
    signal.signal(signal.SIGINT, handler)
    monkeypatch.undo()
    assert running.number == stage
    running.write_checkpoint()
    assert_same(sw.resume(tmp_path).terrain, two_stages().run().terrain)


@pytest.mark.parametrize("preset", ["single_grid", "salamin", "chiba_strata", "outerrain", "bezin2010"])
@pytest.mark.parametrize("dry", [False, True])
def test_sediment_that_is_deposited_already_is_not_deposited_twice(preset: str, dry: bool) -> None:
    """A run that is killed after its last step, before that is noted, deposits again when it is resumed."""
    recipe = sw.recipe(preset, size=24, steps=12, settle=4, dry=dry)
    stage = recipe.stage
    with sw.Simulation(recipe.terrain(), stage.model, edges=stage.edges, backend="auto") as simulation:
        simulation.run(12)
        simulation.settle(4, dry=dry)
        terrain, budget = simulation.terrain, simulation.budget
        simulation.settle(4, dry=dry, done=4)
        assert_same(simulation.terrain, terrain)
        assert simulation.budget == budget


def test_erode_takes_a_model_a_preset_s_name_or_nothing() -> None:
    terrain = sw.generate("dome", size=16)
    by_model = sw.erode(terrain, sw.preset("single_grid"), steps=4, backend="reference", settle=0)
    by_name = sw.erode(terrain, "single_grid", steps=4, backend="reference", settle=0)
    assert_same(sw.erode(terrain, "landscape", steps=4), sw.erode(terrain, steps=4))
    assert_same(by_name, by_model)
    with pytest.raises(UnknownName, match='did you mean "landscape"'):
        sw.erode(terrain, "landscap", steps=1)


def test_a_recipe_without_stages_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="a recipe has no stages; give it at least one"):
        sw.Recipe(source=sw.Generated(), stages=())


def test_layers_of_one_s_own_come_through_runs_files_and_checkpoints_untouched(tmp_path: Path) -> None:
    own = np.random.default_rng(3).normal(size=(24, 24)).astype(np.float32)
    terrain = sw.generate("dome", size=24)
    terrain = sw.Terrain(terrain["elevation"], cell_size=terrain.cell_size, own_layers={"snow_days": own})
    eroded = sw.erode(terrain, sw.VirtualPipes(), steps=3, backend="reference")
    np.testing.assert_array_equal(eroded["snow_days"], own)
    for suffix in (".npz", ".exr"):
        read = sw.read(sw.write(eroded, tmp_path / f"eroded{suffix}"))
        np.testing.assert_array_equal(read["snow_days"], own)
        assert "snow_days" in read.own_layers
    simulation = sw.Simulation(terrain, sw.VirtualPipes(), backend="reference")
    simulation.run(2)
    simulation.checkpoint(tmp_path / "kept")
    resumed = sw.Simulation.resume(tmp_path / "kept")
    resumed.run(1)
    np.testing.assert_array_equal(resumed.terrain["snow_days"], own)
    assert "snow_days" in resumed.terrain.own_layers


def test_misspelled_layers_and_numbers_as_crs_are_refused() -> None:
    terrain = sw.generate("dome", size=16)
    with pytest.raises(sw.SlopewashError, match=r"rainfal.*rainfall"):
        terrain.replace(rainfal=1.0)
    with pytest.raises(sw.InvalidTerrain, match="crs"):
        sw.Terrain(np.zeros((4, 4)), crs=32611)  # type: ignore[arg-type]


def test_observers_are_objects_or_functions_but_not_classes() -> None:
    simulation = sw.Simulation(sw.generate("dome", size=16), sw.VirtualPipes(), backend="reference")
    seen: list[int] = []

    def look(simulation: sw.Simulation) -> None:
        seen.append(simulation.step)

    simulation.add(look).run(50)
    assert seen == [20, 40, 50]
    simulation.remove(look).run(1)
    assert seen == [20, 40, 50]
    with pytest.raises(InvalidParameter, match=r"Progress is a class; add an observer made from it, Progress\(...\)"):
        simulation.add(sw.Progress)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="3 cannot observe a run"):
        simulation.add(3)  # type: ignore[arg-type]


def test_a_preset_in_place_of_its_model_is_refused() -> None:
    with pytest.raises(
        InvalidParameter, match=r'model is the preset "single_grid"; pass its model, preset\("single_grid"\)'
    ):
        sw.Simulation(sw.generate("dome", size=16), sw.presets()["single_grid"])  # type: ignore[arg-type]


def test_replace_takes_parameters_of_the_model_and_the_number_of_cells() -> None:
    changed = sw.recipe("landscape", size=64).replace(rain_rate=0.004, size=32, steps=5)
    assert changed.stage.settings == {"rain_rate": 0.004}
    assert isinstance(changed.source, sw.Generated)
    assert (changed.source.size, changed.source.side, changed.stage.steps) == (32, 5120.0, 5)
    with pytest.raises(UnknownName, match='did you mean "rain_rate"'):
        changed.replace(rain_rat=1)
    with pytest.raises(UnknownName, match="size"):
        sw.recipe("landscape", source=sw.generate("dome", size=16)).replace(size=8)
