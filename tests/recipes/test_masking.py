"""A mask keeps parts of the ground as they were, after every stage and on every way to the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidParameter, InvalidTerrain

GROUND = sw.generate("dome", size=24, seed=3, extent=600.0)
HALVES = np.where(np.arange(24) < 12, 0.0, 1.0) * np.ones((24, 24))
STAGES = (
    sw.Stage.of("single_grid", steps=6, settle=4),
    sw.Stage.of("landscape", steps=8, settle=4, gullies=0.3),
)


def run(mask: Any, *stages: sw.Stage) -> sw.Result:
    return masked(mask, *stages).run()


def masked(mask: Any, *stages: sw.Stage) -> sw.Recipe:
    return sw.Recipe(source=sw.FromTerrain(terrain=GROUND.replace(mask=mask)), stages=stages, backend="reference")


@pytest.mark.parametrize("stages", [STAGES[:1], STAGES[1:], STAGES], ids=["one grid", "levels", "both"])
def test_nothing_is_kept_or_everything(stages: tuple[sw.Stage, ...]) -> None:
    free = run(None, *stages).terrain
    whole, nothing = run(1.0, *stages).terrain, run(0.0, *stages).terrain
    for name, layer in free.items():
        np.testing.assert_array_equal(whole[name], layer, err_msg=name)
    np.testing.assert_array_equal(nothing["elevation"], GROUND["elevation"])
    assert not nothing["wear"].any()
    assert not nothing["water"].any()
    assert free["wear"].any()


def test_the_masked_half_stays_as_it_was_and_the_other_erodes() -> None:
    eroded = run(HALVES, *STAGES).terrain
    np.testing.assert_array_equal(eroded["elevation"][:, :12], GROUND["elevation"][:, :12])
    assert np.abs(eroded["elevation"] - GROUND["elevation"])[:, 12:].mean() > 0.01
    np.testing.assert_array_equal(eroded["mask"], HALVES)


def test_between_it_is_blended() -> None:
    free, half = run(None, STAGES[0]).terrain, run(0.5, STAGES[0]).terrain
    expected = 0.5 * (GROUND["elevation"].astype(float) + free["elevation"])
    np.testing.assert_allclose(half["elevation"], expected, rtol=1e-6)
    np.testing.assert_allclose(half["difference"], half["elevation"] - GROUND["elevation"], atol=1e-4)


def test_what_a_mask_restores_is_in_the_budget() -> None:
    result = run(HALVES, STAGES[0])
    assert abs(result.budget.solids_drift) < 1e-5
    assert result.budget.solids_resampled != 0
    low = GROUND.range("elevation")[0]
    solids = (result.terrain["elevation"].astype(float) - low).sum() * GROUND.cell_size**2
    water = result.terrain["water"].astype(float).sum() * GROUND.cell_size**2
    assert result.budget.solids_now == pytest.approx(solids, rel=1e-5)
    assert result.budget.water_now == pytest.approx(water, rel=1e-5)


def test_a_resumed_run_is_masked_alike(tmp_path: Path) -> None:
    recipe = masked(HALVES, *STAGES)
    whole = recipe.run().terrain
    running = sw.Running(recipe, checkpoint=tmp_path / "run.ckpt", every=500)
    running.write_checkpoint()
    running.close()
    resumed = sw.resume(tmp_path / "run.ckpt").terrain
    np.testing.assert_array_equal(resumed["elevation"], whole["elevation"])


def test_a_mask_is_a_layer_of_a_recipe(tmp_path: Path) -> None:
    sw.write(sw.Terrain(HALVES), tmp_path / "mask.png")
    stage = '[[stages]]\npreset = "single_grid"\nsteps = 6\nsettle = 4'
    text = f'backend = "reference"\n[source]\ngenerator = "dome"\nsize = 24\n[layers]\nmask = "mask.png"\n{stage}'
    (tmp_path / "my.toml").write_text(text)
    recipe = sw.Recipe.read(tmp_path / "my.toml")
    np.testing.assert_array_equal(recipe.run().terrain["elevation"][:, :12], recipe.source.make()["elevation"][:, :12])


def test_masks_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidTerrain, match="must lie within"):
        GROUND.replace(mask=2.0)
    with pytest.raises(InvalidParameter, match="leave out the mask"):
        run(0.5, sw.Stage.of("bezin2010", steps=1))
