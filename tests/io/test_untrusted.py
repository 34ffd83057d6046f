from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import slopewash as sw
from slopewash import untrusted
from slopewash.errors import InvalidFile


@pytest.fixture
def file(tmp_path: Path) -> Path:
    ground = np.random.default_rng(1).normal(100.0, 20.0, (20, 30))
    return sw.write(sw.Terrain(ground, water=0.5, cell_size=3.0, crs="EPSG:32611"), tmp_path / "upload.npz")


def test_a_file_decoded_in_its_own_process_is_the_same(file: Path) -> None:
    decoded = untrusted.decode(file, {"cell_size": 4.0}, largest_side=64).terrain
    read = sw.read(file, cell_size=4.0)
    assert {name: decoded[name].tobytes() for name in decoded} == {name: read[name].tobytes() for name in read}
    assert (decoded.cell_size, decoded.crs) == (4.0, "EPSG:32611")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [("SECONDS", 0, "takes more than 0 s"), ("MEMORY", 1 << 25, "needs about .* of memory")],
)
def test_a_decoder_that_takes_too_much_ends_alone(
    file: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: int, reason: str
) -> None:
    monkeypatch.setattr(untrusted, name, value)
    with pytest.raises(InvalidFile, match=reason):
        untrusted.decode(file, {}, largest_side=64)


def test_what_the_decoder_questions_reaches_its_parent_once(tmp_path: Path) -> None:
    heights = np.random.default_rng(1).normal(100.0, 20.0, (20, 30)).astype(np.float32)
    heights[0] = -9999
    np.save(tmp_path / "dem.npy", heights)
    (question,) = untrusted.decode(tmp_path / "dem.npy", {}, largest_side=64).suspects.items()
    assert question[0] == -9999
    assert "nodata = -9999" not in question[1]
    assert "give nodata (slopewash studio FILE --nodata -9999)" in question[1]
    decoded = untrusted.decode(tmp_path / "dem.npy", {"nodata": -9999.0}, largest_side=64)
    assert decoded.terrain.nodata is not None
    assert not decoded.suspects
