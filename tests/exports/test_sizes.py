"""Sizes: what targets take, and what is done to a terrain of another size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidFile, InvalidParameter, UnknownName
from slopewash.exports.fitting import fitted
from slopewash.exports.sizes import UNITY, UNREAL, Sizes, plan_sizes
from slopewash.exports.targets import TARGETS

Make = Callable[..., sw.Terrain]
SQUARE = [("unreal", side) for side in UNREAL] + [("unity", side) for side in UNITY]


def plan(shape: tuple[int, int], target: str, **options: Any) -> Any:
    given = {"size": None, "tiles": (1, 1), "fit": None, "shared": None} | options
    return plan_sizes(shape, TARGETS[target].sizes, **given)


def test_the_sizes_are_those_of_the_engines() -> None:
    # Unreal: sections of 63 or 127 quads, 2 x 2 sections a component, whole numbers of components.
    assert list(UNREAL) == [2 * 63 * n + 1 for n in (1, 2, 4, 8, 16, 32)] + [2 * 127 * 32 + 1]
    assert list(UNITY) == [2**n + 1 for n in range(5, 13)]


@pytest.mark.parametrize(("target", "side"), SQUARE)
def test_a_terrain_of_a_valid_size_is_left_alone(target: str, side: int) -> None:
    assert plan((side, side), target).fit is None
    assert plan((side, side), target).whole == (side, side)


@pytest.mark.parametrize(("target", "side"), SQUARE)
def test_a_terrain_one_cell_too_large_is_refused_with_the_nearest_size(target: str, side: int) -> None:
    with pytest.raises(InvalidParameter, match=rf"the nearest (is|are) {side}\b"):
        plan((side + 1, side + 1), target)
    assert plan((side + 1, side + 1), target, fit="crop").whole == (side, side)


@pytest.mark.parametrize(("target", "side"), SQUARE)
@pytest.mark.parametrize("fit", ["crop", "resample"])
def test_every_size_can_be_asked_for(target: str, side: int, fit: str) -> None:
    assert plan((9000, 9000), target, size=side, fit=fit).whole == (side, side)


def test_a_size_between_two_valid_ones_names_both() -> None:
    with pytest.raises(InvalidParameter, match="the nearest are 505 and 1009"):
        plan((512, 512), "unreal", size=600)
    with pytest.raises(InvalidParameter, match="the nearest is 8129"):
        plan((9000, 9000), "unreal")


def test_another_size_without_a_fit_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="resample, crop or pad"):
        plan((512, 512), "unity", size=513)


@pytest.mark.parametrize(
    ("fit", "size", "remedy"), [("crop", 1009, "pad or resample"), ("pad", 253, "crop or resample")]
)
def test_a_fit_that_cannot_work_names_one_that_can(fit: str, size: int, remedy: str) -> None:
    with pytest.raises(InvalidParameter, match=remedy):
        plan((512, 512), "unreal", size=size, fit=fit)


def test_an_oblong_terrain_is_not_squeezed_into_a_square() -> None:
    with pytest.raises(InvalidParameter, match="without distortion"):
        plan((256, 512), "unreal", size=253, fit="resample")
    assert plan((256, 512), "unity", size=129, tiles=(2, 1), fit="resample", shared=False).whole == (129, 258)


def test_tiles_with_shared_edges_overlap_by_a_vertex() -> None:
    assert plan((1009, 1009), "unreal", tiles=(2, 2)).tile == (505, 505)
    assert plan((1010, 1010), "unreal", tiles=(2, 2), shared=False).tile == (505, 505)
    assert plan((1025, 513), "unity", tiles=(1, 2)).tile == (513, 513)
    with pytest.raises(InvalidParameter, match="for each of 2 x 2 files"):
        plan((1010, 1010), "unreal", tiles=(2, 2))


def test_free_targets_take_any_rectangle() -> None:
    assert plan((77, 130), "godot").whole == (77, 130)
    assert plan((100, 200), "blender", size=50, fit="resample").whole == (25, 50)
    with pytest.raises(InvalidParameter, match="510 x 510 and 513 x 513"):
        plan((512, 512), "godot", tiles=(3, 3))
    with pytest.raises(InvalidParameter, match="takes one file"):
        plan((64, 64), "gis", tiles=(2, 2))


def test_cropping_and_padding_keep_the_ground_where_it_is(make: Make) -> None:
    terrain = make(
        40, 60, crs="EPSG:32633", transform=(8, 0, 1000, 0, -8, 5000), nodata=np.arange(60) > 57 * np.ones((40, 1))
    )
    for fit, size in (("crop", 30), ("pad", 80)):
        wanted = plan_sizes(terrain.shape, Sizes(target="any"), size=size, tiles=(1, 1), fit=fit, shared=None)  # type: ignore[arg-type]
        changed = fitted(terrain, wanted)
        assert changed.shape == wanted.whole
        assert changed.transform is not None
        a, _, c, _, e, f = changed.transform
        # The cell in the middle of the new grid has the same place and values in the old one.
        row, column = wanted.whole[0] // 2, wanted.whole[1] // 2
        old_row, old_column = round((f + e * row - 5000) / -8), round((c + a * column - 1000) / 8)
        for name in terrain:
            assert changed[name][row, column] == terrain[name][old_row, old_column]
        assert (changed.nodata is not None) == (fit == "pad")


def test_unknown_words_are_refused(make: Make, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match='did you mean "unreal"'):
        sw.export(make(33), "unrael", tmp_path)
    with pytest.raises(UnknownName, match="fit"):
        sw.export(make(33), "unity", tmp_path, fit="stretch")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="water"):
        sw.export(make(33), "unity", tmp_path, water="wet")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="png or r16"):
        sw.export(make(127), "unreal", tmp_path, heights="exr")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidFile, match="cannot be created"):
        sw.export(make(33), "unity", tmp_path / "file")
