"""Frames: fields as 16-bit numbers with their range, behind a JSON header."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

MAGIC = b"SWF1"
ALIGNMENT = 8
STEPS = 65535
"""Largest 16-bit value."""

SMALLEST_RANGE = 1e-30
"""Below, 16-bit steps are smaller than what float32 holds: such a field is flat."""

Field = NDArray[np.float32]


@dataclass(frozen=True)
class Block:
    """One array of a frame and what its header says of it."""

    name: str
    values: NDArray[Any]
    facts: Mapping[str, Any]


def field_block(name: str, values: Field, resolution: int, **facts: Any) -> Block:
    """Round a field to 16 bits over its own range; a value v stands for low + v (high - low) / 65535."""
    small = sampled(values, resolution)
    low, high = float(small.min()), float(small.max())
    return Block(name, _quantised(small, low, high), {"low": low, "high": high, **facts})


def _quantised(values: Field, low: float, high: float) -> NDArray[np.uint16]:
    result = np.zeros(values.shape, np.uint16)
    if high - low > SMALLEST_RANGE:
        _round_to_steps(np.ascontiguousarray(values).ravel(), np.float32(low), np.float32(STEPS / (high - low)),
                        np.float32(STEPS), result.ravel())  # fmt: skip
    return result


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _round_to_steps(values, low, scale, most, result):  # type: ignore[no-untyped-def]
    """One pass without temporaries: a third of what NumPy's passes take."""
    for i in range(values.size):
        result[i] = np.uint16(min((values[i] - low) * scale + np.float32(0.5), most))


def sampled(values: Field, resolution: int) -> Field:
    """Field with at most `resolution` cells per side: sample i of n stands at (i + ½)/n of the side.

    >>> sampled(np.arange(16, dtype=np.float32).reshape(4, 4), 2).tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    longest = max(values.shape)
    if longest <= resolution:
        return values
    rows, columns = (max(1, round(side * resolution / longest)) for side in values.shape)
    y, x = (((np.arange(n) + 0.5) * side / n).astype(np.intp) for n, side in ((rows, values.shape[0]),
                                                                               (columns, values.shape[1])))  # fmt: skip
    return np.take(values[y], x, axis=1)


def assemble(header: Mapping[str, Any], blocks: Sequence[Block]) -> bytes:
    """Put a frame together.

    >>> frame = assemble({"frame": 1}, [Block("elevation", np.zeros((2, 2), np.uint16), {})])
    >>> frame[:4], len(frame) % 8
    (b'SWF1', 0)
    """
    entries: list[dict[str, Any]] = []
    offset = 0
    for block in blocks:
        entries.append({
            "name": block.name, "dtype": str(block.values.dtype), "shape": list(block.values.shape),
            "offset": offset, "length": block.values.nbytes, **block.facts,
        })  # fmt: skip
        offset += -(-block.values.nbytes // ALIGNMENT) * ALIGNMENT
    # Offsets count from the frame's start, so they depend on the header's own length: room for the largest is kept.
    text = _header(header, entries, 0)
    body = _padded(len(MAGIC) + 4 + len(text) + 16 * len(entries) + 16)
    for entry in entries:
        entry["offset"] += body
    text = _header(header, entries, body)
    parts: list[bytes | memoryview] = [MAGIC, struct.pack("<I", len(text)), text]
    for block in blocks:
        data = np.ascontiguousarray(block.values)
        parts += [data.data.cast("B") if data.size else b"", b"\0" * (-data.nbytes % ALIGNMENT)]
    return b"".join(parts)


def _padded(length: int) -> int:
    return -(-length // ALIGNMENT) * ALIGNMENT


def _header(header: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], body: int) -> bytes:
    """The header as JSON, filled with spaces so that the blocks begin at `body`."""
    text = json.dumps({**header, "blocks": entries}, allow_nan=False, separators=(",", ":")).encode()
    return text + b" " * (body - len(MAGIC) - 4 - len(text)) if body else text


def disassemble(frame: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a frame back: its header, and its blocks with 16-bit fields in their own units.

    >>> block = field_block("water", np.array([[0.0, 2.0]], np.float32), 16)
    >>> disassemble(assemble({"frame": 7}, [block]))[1]["water"].tolist()
    [[0.0, 2.0]]
    """
    (length,) = struct.unpack_from("<I", frame, len(MAGIC))
    header = json.loads(frame[8 : 8 + length])
    fields = {}
    for entry in header["blocks"]:
        values = np.frombuffer(frame, entry["dtype"], int(np.prod(entry["shape"])), entry["offset"])
        if entry["dtype"] == "uint16":
            values = entry["low"] + values * ((entry["high"] - entry["low"]) / STEPS)
        fields[entry["name"]] = values.reshape(entry["shape"])
    return header, fields
