"""Between stages and at the end the sea is level, and the same bits on tiles as in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.tiles.conftest import assert_same_bits

import slopewash as sw
from slopewash.models.catalogue import Level
from slopewash.models.sea import covered
from slopewash.models.state import Sides
from slopewash.tiles.run import MANIFEST
from slopewash.tiles.store import Store

LEVEL = 320.0
EAST = Sides(north="closed", south="closed", west="closed", east="open")
COAST = sw.Stage(model=sw.VirtualPipes(sea_level=LEVEL), steps=12, settle=4)
LEVELS = tuple(
    Level(cells=cells, steps=8, settle=2, parameters={"thermal_rate": rate}) for cells, rate in ((48, 1.0), (96, 0.5))
)
DRY_STAGES = {
    "talus": sw.Stage(model=sw.SteepestTalus(), steps=16),
    "soil alone": sw.Stage(model=sw.VirtualPipes(processes="thermal", thermal_rate=1.0), steps=20),
    "no sea": sw.Stage(model=sw.VirtualPipes(), steps=8),
    "no sea, eight pipes, dry": sw.Stage(model=sw.preset("landscape"), steps=8, settle=3, dry=True),
    "higher": sw.Stage(model=sw.VirtualPipes(sea_level=LEVEL + 25), steps=8),
    "lower": sw.Stage(model=sw.VirtualPipes(sea_level=LEVEL - 25), steps=8, settle=2),
    "gullies": sw.Stage(model=sw.SteepestTalus(), steps=9, gullies=0.5),
    "one open side": sw.Stage(model=sw.VirtualPipes(), steps=6, edges=EAST),
    "levels": sw.Stage(model=sw.VirtualPipes(), steps=16, settle=2, levels=LEVELS, strength=0.5, detail=0.1),
}  # fmt: skip
WHOLE_ONLY = {
    "low water": sw.Stage(model=sw.VirtualPipes(), steps=6, settle=2, low_water={"sea_level": LEVEL - 40}),
    "velocity": sw.Stage(model=sw.VelocityField(), steps=4),
    "mesh": sw.Stage(model=sw.MeshParticles(), steps=4),
}
ENDS = {"higher": LEVEL + 25, "lower": LEVEL - 25, "low water": LEVEL - 40}


def land(size: int = 48, **layers: object) -> sw.Terrain:
    """Hills around 320 m, basins that the sea does not reach, and nodata."""
    z = np.array(sw.generate("diamond_square", size=size, seed=1)["elevation"])
    hole = np.zeros(z.shape, bool)
    hole[size // 3 : size // 3 + 4, 20:30] = True
    return sw.Terrain(z, cell_size=40.0, nodata=layers.pop("nodata", hole), **layers)  # type: ignore[arg-type]


def in_stages(*stages: sw.Stage, terrain: sw.Terrain | None = None) -> sw.Recipe:
    """The stages as a recipe."""
    return sw.Recipe(source=sw.FromTerrain(terrain=terrain or land()), stages=stages, seed=2, backend="reference")


def assert_level(terrain: sw.Terrain, level: float, sides: Sides, *, diagonally: bool) -> None:
    """The sea stands at its level.

    Ground and depth are rounded to float32 once each; where a model begins, its level has one binary digit less.
    """
    z = terrain["elevation"].astype(np.float64)
    if terrain.nodata is not None:
        z[terrain.nodata] = np.inf
    sea = covered(z, level, sides, diagonally=diagonally)
    assert 50 < sea.sum() < sea.size
    np.testing.assert_allclose(
        (z + terrain["water"])[sea], level, rtol=0, atol=4 * float(np.spacing(np.float32(level)))
    )


def check(case: str, following: sw.Stage, terrain: sw.Terrain) -> None:
    """The sea is level in what a sequence leaves."""
    sides = EAST if case == "one open side" else Sides.of("open")
    assert_level(terrain, ENDS.get(case, LEVEL), sides, diagonally=following.model.fills_diagonally)


@pytest.mark.parametrize("case", DRY_STAGES)
def test_a_stage_after_a_sea_ends_with_a_level_sea_on_tiles_too(tmp_path: Path, case: str) -> None:
    following = DRY_STAGES[case]
    recipe = in_stages(COAST, following)
    whole = recipe.run()
    check(case, following, whole.terrain)
    made = sw.erode_tiled(None, recipe, tile=(24, 31), out=tmp_path / "out.zarr", workers=0, iterations=20)
    assert_same_bits(tmp_path / "out.zarr", whole.terrain)
    assert whole.budget.water_drift < 1e-5  # float32 fields
    for name in ("water_start", "water_sea", "water_now", "water_drift"):
        tolerance = 1e-6 if name.endswith("drift") else 1e-8 * whole.budget.water_now  # another order of summing
        assert getattr(made.budget, name) == pytest.approx(getattr(whole.budget, name), abs=tolerance), name
    lying = float(whole.terrain["water"].sum(dtype=np.float64)) * 40.0**2
    assert whole.budget.water_now == pytest.approx(lying, rel=1e-6)


@pytest.mark.parametrize("case", WHOLE_ONLY)
def test_models_on_the_whole_alone_leave_a_level_sea_too(case: str) -> None:
    following = WHOLE_ONLY[case]
    whole = in_stages(COAST, following, terrain=land(nodata=None)).run()
    check(case, following, whole.terrain)
    assert whole.budget.water_drift < 1e-5


@pytest.mark.parametrize("case", ["no sea", "soil alone", "lower", "levels"])
def test_the_next_stage_starts_with_a_level_sea(case: str) -> None:
    running = sw.Running(in_stages(COAST, DRY_STAGES[case]))
    running.advance(COAST.steps + 4 + 1)  # one step into the next stage, or the first of its levels
    start = running.simulation.start
    began = sw.Simulation(start, running.stage.model, backend="reference", edges=running.stage.edges).terrain
    check(case, DRY_STAGES[case], began)


def test_the_sea_of_two_stages_ago_stands_where_neither_model_moves_water() -> None:
    talus = DRY_STAGES["talus"]
    check("talus", talus, in_stages(COAST, talus, talus, DRY_STAGES["no sea"]).run().terrain)


def test_a_sea_that_nothing_lets_out_becomes_a_lake() -> None:
    """Closed edges have no sea: its water stays, and its volume is in the budget."""
    closed = sw.Stage(model=sw.VirtualPipes(rain_rate=0.0, evaporation_rate=0.0), steps=5, edges="closed")
    budget = in_stages(COAST, closed, terrain=land(nodata=None)).run().budget
    assert budget.water_sea == 0
    assert budget.water_now == pytest.approx(budget.water_start, rel=1e-6)


def test_a_mask_keeps_ground_and_not_the_water_of_the_sea(tmp_path: Path) -> None:
    mask = np.linspace(0, 1, 48, dtype=np.float32)[:, None].repeat(48, axis=1)
    recipe = in_stages(COAST, DRY_STAGES["talus"], terrain=land(mask=mask))
    whole = recipe.run().terrain
    check("talus", DRY_STAGES["talus"], whole)
    sw.erode_tiled(None, recipe, tile=(24, 31), out=tmp_path / "out.zarr", workers=0)
    assert_same_bits(tmp_path / "out.zarr", whole)


def test_an_interrupted_result_has_a_level_sea_on_a_coarse_level_too() -> None:
    levels = sw.Stage(
        model=sw.VirtualPipes(sea_level=LEVEL), steps=16, settle=2, levels=LEVELS, strength=0.5, detail=0.1
    )
    running = sw.Running(in_stages(levels, terrain=land(96)))
    running.advance(2)
    assert running.simulation.start.shape[0] == 48
    result = running.result()
    assert result.interrupted
    check("levels", levels, result.terrain)


@pytest.mark.parametrize("count", [4, 6, 7, 8])
def test_a_tiled_run_goes_on_from_any_manifest_to_the_same_sea(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    recipe, out = in_stages(COAST, DRY_STAGES["no sea"], DRY_STAGES["talus"]), tmp_path / "out.zarr"
    usual, written = Store.write_json, []

    def write(self: Store, name: str, facts: object) -> None:
        usual(self, name, facts)  # type: ignore[arg-type]
        written.extend([name] if name == MANIFEST else [])
        if len(written) == count:
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "write_json", write)
    with pytest.raises(KeyboardInterrupt):
        sw.erode_tiled(None, recipe, tile=(24, 48), out=out, workers=0, iterations=20)
    monkeypatch.undo()
    sw.resume_tiled(out, workers=0)
    assert_same_bits(out, recipe.run().terrain)


def test_a_recipe_goes_on_from_a_checkpoint_to_the_same_sea(tmp_path: Path) -> None:
    recipe = in_stages(COAST, DRY_STAGES["no sea"], DRY_STAGES["talus"])
    running = sw.Running(recipe, checkpoint=tmp_path / "run.ckpt", every=5)
    running.advance(COAST.steps + 4 + 3)
    running.write_checkpoint()
    resumed = sw.Running.resumed(tmp_path / "run.ckpt")
    resumed.run()
    np.testing.assert_array_equal(resumed.result().terrain["water"], recipe.run().terrain["water"])
