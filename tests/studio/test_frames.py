"""Frames as bytes."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from slopewash.studio.frames import Block, assemble, disassemble, field_block, sampled

FIELDS = arrays.arrays(
    np.float32,
    arrays.array_shapes(min_dims=2, max_dims=2, max_side=40),
    elements=st.floats(-1e4, 1e4, width=32),
)


@settings(deadline=None)  # the first call compiles
@given(values=FIELDS)
def test_a_value_comes_back_within_half_a_step(values: np.ndarray) -> None:
    _, fields = disassemble(assemble({}, [field_block("elevation", values, 4096)]))
    step = (float(values.max()) - float(values.min())) / 65535
    # Half a step, and what float32 itself rounds at the largest value.
    np.testing.assert_allclose(fields["elevation"], values, rtol=0, atol=0.5 * step + 4e-3 * step + 1e-3)


def test_every_block_begins_at_a_multiple_of_eight() -> None:
    blocks = [Block(str(n), np.arange(n, dtype=np.uint16), {"low": 0, "high": 65535}) for n in (1, 3, 4, 7, 1000)]
    frame = assemble({"frame": 1, "note": "ä" * 5}, blocks)
    (length,) = struct.unpack_from("<I", frame, 4)
    header = json.loads(frame[8 : 8 + length])
    for entry, block in zip(header["blocks"], blocks, strict=True):
        assert entry["offset"] % 8 == 0
        stored = np.frombuffer(frame, np.uint16, entry["length"] // 2, entry["offset"])
        np.testing.assert_array_equal(stored, block.values)
    assert header["blocks"][0]["offset"] == 8 + length


def test_a_block_may_be_empty() -> None:
    particles = np.zeros((0, 4), np.float32)
    _, fields = disassemble(assemble({}, [Block("particles", particles, {}), Block("more", np.ones((2, 3)), {})]))
    assert fields["particles"].shape == (0, 4)
    np.testing.assert_array_equal(fields["more"], 1)


def test_flat_ground_keeps_its_height() -> None:
    _, fields = disassemble(assemble({}, [field_block("elevation", np.full((3, 5), 1234.5, np.float32), 64)]))
    np.testing.assert_array_equal(fields["elevation"], 1234.5)


@pytest.mark.parametrize("shape", [(100, 100), (100, 37), (33, 100), (1, 100)])
def test_sampling_keeps_the_shape_of_the_land(shape: tuple[int, int]) -> None:
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    small = sampled(x / shape[1], 10)
    assert max(small.shape) == 10
    assert small.shape[0] == max(1, round(10 * shape[0] / max(shape)))
    places = (np.arange(small.shape[1]) + 0.5) / small.shape[1]
    np.testing.assert_allclose(small[0], places, atol=1 / shape[1])  # the cell it falls into
    np.testing.assert_allclose(sampled(y, 10)[:, 0] / shape[0], (np.arange(small.shape[0]) + 0.5) / small.shape[0],
                               atol=1 / shape[0])  # fmt: skip
