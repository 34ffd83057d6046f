"""From coarse to fine: levels of a recipe give one landscape, whatever the grid and wherever a run is interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.recipes.levels import expanded, sizes, terrain_of

EXTENT = 2560.0


def dome(size: int, seed: int = 7, **changes: Any) -> sw.Terrain:
    return sw.generate("dome", size=size, cell_size=EXTENT / size, seed=seed, relief=0.19 * EXTENT).replace(**changes)


def ladder(terrain: sw.Terrain, strength: float = 1.0, **changes: Any) -> sw.Recipe:
    return sw.recipe("landscape", source=terrain, seed=7, backend="cpu", strength=strength).replace(**changes)


def low_passed(change: Any, cells: int) -> Any:
    """The change on a grid of so many cells."""
    return sw.Terrain(change).resampled(cells)["elevation"].astype(np.float64)


def test_levels_double_up_to_the_size_of_the_terrain() -> None:
    assert sizes(2048) == [64, 128, 256, 512, 1024, 2048]
    stages = expanded(ladder(dome(256)).stage, dome(256))
    assert [stage.cells for stage in stages] == [64, 128, 256]
    talus = [stage.model.talus_slope_bias for stage in stages]  # type: ignore[attr-defined]
    assert talus == sorted(talus)
    assert [bool(stage.low_water) for stage in stages] == [False, False, True]


def test_parameters_that_a_user_sets_hold_on_every_level() -> None:
    stage = ladder(dome(256)).stage.replace(settings={"rain_rate": 0.005})
    assert [level.model.rain_rate for level in expanded(stage, dome(256))] == [0.005] * 3  # type: ignore[attr-defined]


def test_gentle_relief_takes_more_steps_and_steep_relief_fewer() -> None:
    usual = expanded(ladder(dome(256)).stage, dome(256))[0].steps
    for factor, expected in ((0.5, 2**0.3), (2.0, 0.5)):
        other = sw.Terrain(dome(256)["elevation"] * np.float32(factor), cell_size=10.0)
        assert expanded(ladder(dome(256)).stage, other)[0].steps == pytest.approx(expected * usual, rel=0.01)


@pytest.mark.slow
def test_about_the_same_share_of_the_relief_is_taken_away_whatever_it_is() -> None:
    shares = []
    for relief in (0.05, 0.1, 0.19, 0.35):
        start = sw.generate("dome", size=128, extent=EXTENT, seed=7, relief=relief * EXTENT)
        shares.append(float(ladder(start).run().terrain["wear"].mean()) / start.relief)
    assert max(shares) < 1.5 * min(shares)


def test_another_model_s_values_hold_on_every_level() -> None:
    recipe = ladder(dome(256)).replace(model=sw.preset("landscape").replace(rain_rate=0.005))
    assert [level.model.rain_rate for level in expanded(recipe.stage, dome(256))] == [0.005] * 3  # type: ignore[attr-defined]
    talus = ladder(dome(256)).replace(model=sw.SteepestTalus()).stage
    assert expanded(talus, dome(256)) == [talus]


@pytest.mark.parametrize("size", [64, 200, 512])
def test_steps_are_those_of_all_levels(size: int) -> None:
    start = sw.generate("dome", size=size, seed=7, relief=970.0)
    stage = sw.recipe("landscape", source=start, steps=740).stage
    for asked in (stage, sw.recipe("landscape", source=start).replace(steps=740).stage):
        assert sum(level.steps for level in expanded(asked, start)) == pytest.approx(740, abs=2)


def test_a_preset_states_the_steps_of_its_levels_on_the_usual_terrain() -> None:
    start = sw.generate("dome", size=512, seed=7, relief=970.0)
    stage = sw.recipe("landscape", source=start).stage
    assert sum(level.steps for level in expanded(stage, start)) == stage.steps


def test_closed_basins_get_a_way_out_or_become_lakes() -> None:
    start = sw.generate("ridged", size=96, cell_size=50.0, seed=4, relief=900.0)
    basins = sw.fill_depressions(start) - start["elevation"]
    assert basins.max() > 100
    stage = ladder(start).stage
    breached, lakes = (
        terrain_of(expanded(stage.replace(basins=way), start)[0], start, None, seed=4) for way in ("breached", "lakes")
    )
    left = sw.fill_depressions(breached) - breached["elevation"]
    assert left.max() < 1e-3
    standing = sw.fill_depressions(lakes) - lakes["elevation"]
    np.testing.assert_array_equal(lakes["water"], standing)
    closed = expanded(stage.replace(edges="closed"), start)[0]
    np.testing.assert_array_equal(
        terrain_of(closed, start, None, seed=4)["elevation"], start.resampled(48)["elevation"]
    )


def test_a_run_that_is_interrupted_on_a_coarse_level_gives_the_full_size() -> None:
    running = sw.Running(ladder(dome(192), 0.05))

    def interrupt(simulation: sw.Simulation) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        running.run(interrupt)
    result = running.result()
    assert result.terrain.shape == (192, 192)
    assert result.level == (1, 3)
    assert "on level 1 of 3" in result.progress
    carried = float(running.simulation.terrain["suspended"].mean())
    assert float(result.terrain["suspended"].mean()) == pytest.approx(carried, rel=0.02)
    coarse = running.simulation.terrain["difference"]
    fine = low_passed(result.terrain["difference"], 48)
    assert np.corrcoef(coarse.ravel(), fine.ravel())[0, 1] > 0.7  # besides the noise of the finer levels


def test_a_level_alone_is_not_written_over_its_recipe(tmp_path: Path) -> None:
    running = sw.Running(ladder(dome(100), 0.01), checkpoint=tmp_path)
    running.write_checkpoint()
    alone = sw.Simulation.resume(tmp_path)
    alone.run(1)
    with pytest.raises(sw.CheckpointError, match="holds a recipe of which this simulation is a part"):
        alone.checkpoint(tmp_path)
    assert sw.Running.resumed(tmp_path).stages == running.stages


@pytest.mark.parametrize("shape", [(1, 100), (100, 1), (2, 99)])
def test_a_line_of_cells_goes_through_the_levels(shape: tuple[int, int]) -> None:
    line = sw.Terrain(np.linspace(0, 50, shape[0] * shape[1]).reshape(shape), cell_size=10.0)
    assert ladder(line, 0.01).run().terrain.shape == shape


def test_sediment_of_the_start_is_counted_once() -> None:
    start = dome(100, suspended=1.0)
    result = ladder(start, 0.01).run()
    assert abs(result.budget.solids_resampled) < 0.2 * start.area


def test_cells_without_ground_hold_no_solids() -> None:
    hole = np.zeros((100, 100), bool)
    hole[:40, 60:] = True
    high = dome(100).replace(elevation=dome(100)["elevation"] + 2000.0, nodata=hole)
    result = ladder(high, 0.01).run()
    ground = (high["elevation"].astype(np.float64) - high.range("elevation")[0])[~hole].sum() * high.cell_size**2
    assert result.budget.solids_start == pytest.approx(ground, rel=1e-6)


def test_land_too_small_for_a_coarse_level_keeps_its_height() -> None:
    hole = np.ones((100, 100), bool)
    hole[20:80, 20:80] = False
    hole[5, 5] = False
    start = dome(100).replace(elevation=dome(100)["elevation"] + 2000.0, nodata=hole)
    coarse = expanded(ladder(start).stage, start)[0]
    first = terrain_of(coarse, start, None, seed=7).replace(water=0.0)
    fine = terrain_of(expanded(ladder(start).stage, start)[1], start, first, seed=7)
    assert fine["elevation"][5, 5] == pytest.approx(start["elevation"][5, 5], abs=60.0)


def test_the_start_s_detail_and_noise_stay_off_floors() -> None:
    """A plain that the level before has laid down, beside a flank: both had the same rough start."""
    size = 128
    rough = np.random.default_rng(3).normal(0.0, 5.0, (size, size))
    flank = np.maximum(np.arange(size) - size / 2, 0.0) * 20.0
    start = sw.Terrain(rough + flank, cell_size=20.0)
    coarse = start.resampled(64)
    made = np.maximum(np.arange(64) - 31.5, 0.0) * 40.0 + np.zeros((64, 1)) + 50.0
    stage = expanded(ladder(start).stage, start)[1]
    fine = terrain_of(stage, start, coarse.replace(elevation=made, water=0.0), seed=7)["elevation"]
    assert fine[:, : size // 2 - 8].std() < 0.01
    assert (fine - flank)[:, size // 2 + 8 :].std() > 1.0
    # Gentle ground that no level has touched keeps its detail.
    kept = terrain_of(stage, start, coarse.replace(water=0.0), seed=7)["elevation"]
    assert kept[:, : size // 2 - 8].std() > 2.0


def test_a_large_stream_has_a_bed_on_the_next_level() -> None:
    size = 1024
    y, x = np.mgrid[:512, :512] + 0.5
    valley = 0.05 * np.abs(x - 256) + 0.01 * y  # in cells: a floor level enough to lose a stream on
    start = sw.Terrain(np.zeros((size, size)), cell_size=5.0)
    before = sw.Terrain(100.0 + 10.0 * valley, cell_size=10.0).replace(water=0.0)
    stages = expanded(ladder(start).stage, start)
    fine = terrain_of(stages[-1], start, before, seed=7)["elevation"].astype(np.float64)
    bed = before.resampled(size)["elevation"] - fine
    assert bed[:200, 500:524].max() == pytest.approx(5120 / 385, abs=0.1)  # a share of the side
    assert bed[:200, :480].mean() < 0.1 * bed[:200, 508:516].mean()
    wet = terrain_of(stages[-1].replace(model=stages[-1].model.replace(sea_level=1000.0)), start, before, seed=7)
    np.testing.assert_allclose(wet["elevation"], before.resampled(size)["elevation"], atol=0.01)


def test_what_was_asked_of_the_water_holds_after_the_flood_has_receded() -> None:
    assert sw.erode(dome(64), "landscape", steps=8, dry=True)["water"].max() == 0
    assert sw.erode(dome(64), "landscape", steps=8, settle=False)["suspended"].max() > 0
    for asked in ({"processes": "thermal"}, {"rain_rate": 0.0}):
        assert ladder(dome(64), 0.01).replace(**asked).run().budget.water_rain == 0


def test_settling_lasts_as_long_as_was_asked_for() -> None:
    usual = [level.settle for level in expanded(sw.Stage.of("landscape"), dome(256))]
    asked = [level.settle for level in expanded(sw.Stage.of("landscape", settle=1200), dome(256))]
    assert asked == [2 * (steps or 0) for steps in usual]
    assert [level.settle for level in expanded(sw.Stage.of("landscape", settle=0), dome(256))] == [0, 0, 0]


def test_another_model_leaves_all_of_the_preset_behind() -> None:
    for name in ("gentle", "landscape"):
        result = sw.recipe(name, size=48).replace(model=sw.SteepestTalus(), steps=3).run()
        assert result.steps == 3


def test_a_sea_stays_where_a_run_is_interrupted_on_a_coarse_level() -> None:
    running = sw.Running(sw.recipe("volcanic_island", size=100))

    def interrupt(simulation: sw.Simulation) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        running.run(interrupt)
    result = running.result()
    held = float(result.terrain["water"].sum(dtype=np.float64)) * result.terrain.cell_size**2
    assert held == pytest.approx(result.budget.water_now, rel=0.05)


def test_progress_names_the_level(capsys: pytest.CaptureFixture[str]) -> None:
    titles = []

    class Listening(sw.Progress):
        def start(self, simulation: sw.Simulation, steps: int, *, label: str = "eroding") -> None:
            titles.append(self.title)

    sw.Running(ladder(dome(100), 0.01)).run(Listening())
    assert list(dict.fromkeys(titles)) == ["level 1 of 2 (50 x 50)", "level 2 of 2 (100 x 100)"]


def test_progress_names_the_flood_that_recedes() -> None:
    labels = []

    class Listening(sw.Progress):
        def start(self, simulation: sw.Simulation, steps: int, *, label: str = "eroding") -> None:
            labels.append(label)

    sw.Running(sw.recipe("landscape", source=dome(50), strength=0.01)).run(Listening())
    assert labels[-3:] == ["eroding", "settling", "receding"]


def test_the_sea_stays_level_from_level_to_level() -> None:
    start, level = dome(128), 180.0
    before, after = expanded(ladder(start).stage.replace(settings={"sea_level": level}), start)
    with sw.Simulation(start.resampled(64), before.model, backend="cpu") as simulation:
        coarse = simulation.terrain
        assert (coarse["water"] > 0).any()
    fine = terrain_of(after, start, coarse, seed=7)
    assert fine["water"].max() < 1e-3  # no part of the sea is left on land
    with sw.Simulation(fine, after.model, backend="cpu") as simulation:
        filled = simulation.terrain
    assert np.abs(filled["elevation"] + filled["water"] - level)[filled["water"] > 0].max() < 1e-3


@pytest.mark.slow
def test_a_lake_below_sea_level_keeps_its_water_from_level_to_level() -> None:
    y, x = np.indices((128, 128))
    lake = np.hypot(y - 64, x - 64) < 20
    start = sw.Terrain(np.where(lake, 0.0, 200.0), cell_size=10.0, water=np.where(lake, 40.0, 0.0))
    before, after = expanded(ladder(start).stage.replace(settings={"sea_level": 100.0}, basins="kept"), start)
    fine = terrain_of(after, start, terrain_of(before, start, None, seed=1), seed=1)
    inner = np.hypot(y - 64, x - 64) < 14
    np.testing.assert_allclose(fine["water"][inner], 40.0, atol=0.5)


def test_an_island_keeps_its_sea_through_all_levels() -> None:
    start = dome(128)
    level = 0.5 * start.relief
    result = ladder(start, 0.3, settings={"sea_level": level}).run()
    terrain, budget = result.terrain, result.budget
    assert budget.water_drift < 1e-5
    assert budget.solids_drift < 1e-5
    sea = terrain["elevation"] < level - 5
    assert sea.mean() > 0.1
    np.testing.assert_allclose((terrain["elevation"] + terrain["water"])[sea], level, atol=0.1 * terrain.cell_size)
    watered = sw.add_water(terrain)
    assert watered["river"][sea].max() == 0
    assert watered["river"].max() > 0


@pytest.mark.slow
def test_mass_is_conserved_through_all_levels() -> None:
    result = ladder(dome(192), 0.2).run()
    assert result.budget.solids_drift < 1e-5  # float32 fields, float64 sums
    assert result.budget.water_drift < 1e-5
    assert result.budget.solids_resampled != 0  # what the detail noise adds is an entry of its own
    np.testing.assert_allclose(
        result.terrain["difference"], result.terrain["elevation"] - dome(192)["elevation"], atol=1e-3
    )


@pytest.mark.slow
def test_a_coarse_and_a_fine_grid_give_the_same_landscape() -> None:
    coarse, fine = (ladder(dome(256).resampled(n)).run().terrain for n in (128, 256))
    a, b = (low_passed(terrain["difference"], 64) for terrain in (coarse, fine))
    assert np.corrcoef(a.ravel(), b.ravel())[0, 1] > 0.97
    assert fine["wear"].mean() == pytest.approx(coarse["wear"].mean(), rel=0.15)
    # Streams of another seed agree by about 0.1.
    assert sw.trunk_agreement(coarse, fine) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("strength", [0.02, 0.1])
@pytest.mark.parametrize("kind", ["dome", "diamond_square", "fbm"])
def test_short_runs_leave_no_spires(strength: float, kind: str) -> None:
    start = sw.generate(kind, size=192, cell_size=EXTENT / 192, seed=3, relief=0.19 * EXTENT)
    result = ladder(start, strength).run()
    assert result.terrain["deposit"].max() < 0.2 * start.relief
    assert result.terrain["suspended"].max() == 0


@pytest.mark.slow
@pytest.mark.parametrize("kill_at", [1, 3, 5])
def test_a_run_resumed_between_or_within_levels_is_bit_identical(kill_at: int, tmp_path: Path) -> None:
    recipe = ladder(dome(192), 0.05)
    whole = sw.Running(recipe)
    whole.run()
    broken, looks = sw.Running(recipe, checkpoint=tmp_path, every=20), 0

    def interrupt(simulation: sw.Simulation) -> None:
        nonlocal looks
        looks += 1
        if looks == kill_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken.run(interrupt)
    broken.write_checkpoint()
    broken.close()
    resumed = sw.Running.resumed(tmp_path)
    resumed.run()
    expected, got = whole.result(), resumed.result()
    assert set(got.terrain) == set(expected.terrain)
    for name, layer in expected.terrain.items():
        np.testing.assert_array_equal(got.terrain[name], layer, err_msg=name)
    assert got.budget == expected.budget


@pytest.mark.slow
def test_strata_nodata_and_sources_go_through_every_level() -> None:
    hole = np.zeros((192, 192), bool)
    hole[:40, 150:] = True
    start = dome(192, nodata=hole, sources=[sw.WaterSource(x=900.0, y=900.0, radius=60.0, rate=0.2)])
    start = start.replace(strata=sw.strata_bands(count=9, dip=4.0).fitted(start.relief))
    result = ladder(start, 0.05).run()
    assert result.terrain.strata is not None
    np.testing.assert_array_equal(result.terrain.nodata, start.nodata)
    assert result.budget.water_sources > 0
    assert (result.terrain["bedrock"] <= result.terrain["elevation"] + 1e-3)[~hole].all()


def test_loose_cover_is_as_deep_on_the_next_level() -> None:
    stage = ladder(dome(128)).stage.replace(settings={"cover": "loose"})
    fine = expanded(stage, dome(128))[1]
    depth = np.repeat(np.linspace(0.0, 30.0, 64)[None], 64, axis=0)
    coarse = dome(64)
    before = coarse.replace(bedrock=coarse["elevation"] - depth, water=0.0)
    terrain = terrain_of(fine, dome(128), before, seed=7)
    expected = low_passed(terrain["elevation"].astype(np.float64) - terrain["bedrock"], 64)
    # Ground and rock are resampled apart: where a peak is kept from overshooting, they differ by less than 1 %.
    np.testing.assert_allclose(expected[:, 1:-1], depth[:, 1:-1], atol=0.1)
    with sw.Simulation(terrain, fine.model, backend="reference") as simulation:
        np.testing.assert_allclose(simulation.terrain["bedrock"], terrain["bedrock"], atol=1e-3)


def test_a_run_can_be_interrupted_within_its_first_step_of_low_water(tmp_path: Path) -> None:
    recipe = ladder(dome(32), strength=0.01, time_step=0.2)
    with pytest.warns(sw.StabilityWarning):
        running = sw.Running(recipe, checkpoint=tmp_path / "run.ckpt")
    stage = running.stage
    running.advance(stage.steps + (stage.settle or 0))
    running.advance(1, stop_after=1)
    assert running.simulation.substeps_done == 1
    assert running.simulation.step == stage.steps
    running.write_checkpoint()
    resumed = sw.Running.resumed(tmp_path / "run.ckpt")
    for each in (running, resumed):
        each.advance(10**6)
        assert each.finished
    whole, again = running.result(), resumed.result()
    for name, layer in whole.terrain.items():
        np.testing.assert_array_equal(again.terrain[name], layer, err_msg=name)
    assert again.budget == whole.budget
