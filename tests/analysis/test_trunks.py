from __future__ import annotations

import math

import numpy as np
import pytest

import slopewash as sw
from slopewash.analysis.trunks import trunk_channels
from slopewash.errors import InvalidParameter, InvalidTerrain

SIDE = 960.0


def valleys(size: int, *middles: float, shape: tuple[int, int] | None = None) -> sw.Terrain:
    """V-shaped valleys that run down to the south, their channels in the columns of the given positions in metres."""
    cell = SIDE / size
    rows, columns = shape or (size, size)
    x, y = (np.arange(columns) + 0.5) * cell, (np.arange(rows)[:, None] + 0.5) * cell
    across = np.min([np.abs(x - middle) for middle in middles], axis=0)
    return sw.Terrain(100 + across - 0.2 * y, cell_size=cell)


def test_a_trunk_begins_where_its_share_of_the_terrain_has_drained_into_it() -> None:
    marked = trunk_channels(valleys(48, 470.0), share=0.5, gather=False)
    # Two edge columns and the ends drain over the edges; the rest of each row goes to the middle.
    rows, columns = np.nonzero(marked)
    assert set(columns) == {23}
    assert rows.max() == 47
    assert rows.min() == pytest.approx(48 * 0.5, abs=4)
    larger = trunk_channels(valleys(48, 470.0), share=0.8, gather=False)
    assert larger.sum() < marked.sum()
    assert not (larger & ~marked).any()


def test_a_trunk_is_one_cell_wide_across_a_lake() -> None:
    ground = valleys(48, 470.0)["elevation"].copy()
    ground[44] += 60.0  # a dam: the valley above it is flat once it is filled
    crossed = trunk_channels(sw.Terrain(ground, cell_size=20.0), share=0.3)
    assert (crossed[30:].sum(axis=1) == 1).all()


def test_streams_on_a_floor_are_gathered() -> None:
    # On a floor that is level across, the water of each wall keeps to its own side.
    y = np.arange(48)[:, None] * 20.0 + 10.0
    flat = sw.Terrain(np.maximum(valleys(48, 470.0)["elevation"], 160 - 0.2 * y), cell_size=20.0)
    lines, streams = (trunk_channels(flat, share=0.2, gather=gather)[-8:] for gather in (False, True))
    assert (lines.sum(axis=1) == 2).all()
    assert (streams.sum(axis=1) == 1).all()


def test_the_same_ground_agrees_whatever_the_grid() -> None:
    for fine in (48, 96, 192):
        assert sw.trunk_agreement(valleys(48, 470.0), valleys(fine, 470.0), share=0.02) == 1


def test_agreement_ends_at_the_reach() -> None:
    def moved(cells: float, reach: float = 3) -> float:
        fine = valleys(96, 470.0 + 20.0 * cells)
        return sw.trunk_agreement(valleys(48, 470.0), fine, share=0.02, reach=reach, gather=False)

    # Near its head, where the area that drains is just the share, a trunk may begin a cell earlier or later.
    assert moved(3) == pytest.approx(1, abs=0.05)
    assert moved(-3) == pytest.approx(1, abs=0.05)
    assert moved(4) == 0
    assert moved(4, reach=4) == pytest.approx(1, abs=0.05)
    assert moved(1, reach=0) == 0


def test_one_of_two_equal_valleys_is_half_of_the_trunks() -> None:
    # In the other terrain the eastern valley has moved by more than the reach.
    coarse, fine = valleys(48, 230.0, 710.0), valleys(96, 230.0, 800.0)
    assert sw.trunk_agreement(coarse, fine, share=0.02, gather=False) == pytest.approx(0.5, abs=0.02)


def test_gathered_streams_of_another_valley_do_not_agree() -> None:
    coarse = valleys(48, 470.0)
    assert sw.trunk_agreement(coarse, valleys(96, 470.0), share=0.2) == 1
    assert sw.trunk_agreement(coarse, valleys(96, 630.0), share=0.2) == 0


def test_only_trunks_of_the_first_terrain_count() -> None:
    one, two = valleys(48, 230.0), valleys(96, 230.0, 710.0)
    assert sw.trunk_agreement(one, two, share=0.02, gather=False) == 1
    assert sw.trunk_agreement(two, one, share=0.02, gather=False) == pytest.approx(0.5, abs=0.02)


def test_nodata_is_no_part_of_the_terrain() -> None:
    half = np.zeros((48, 48), bool)
    half[:, 24:] = True
    terrain = valleys(48, 230.0, 710.0)
    cut = trunk_channels(terrain.replace(nodata=half), share=0.4, gather=False)
    np.testing.assert_array_equal(cut[:, :24], trunk_channels(terrain, share=0.2, gather=False)[:, :24])
    assert not cut[half].any()


def test_a_terrain_without_trunks_has_no_agreement() -> None:
    assert math.isnan(sw.trunk_agreement(valleys(48, 470.0), valleys(96, 470.0), share=1.0))


def test_other_ground_and_impossible_values_are_refused() -> None:
    here = valleys(48, 470.0)
    with pytest.raises(InvalidTerrain, match="960 x 960 m and 960 x 480 m; pass two grids of the same ground"):
        sw.trunk_agreement(here, valleys(48, 470.0, shape=(24, 48)))
    with pytest.raises(InvalidParameter, match="share is 0; it must be above 0 and at most 1"):
        trunk_channels(here, share=0)
    with pytest.raises(InvalidParameter, match="reach is -1; it must be finite and not negative"):
        sw.trunk_agreement(here, here, reach=-1)
