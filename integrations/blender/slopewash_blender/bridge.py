# SPDX-License-Identifier: GPL-3.0-or-later
"""From a height map to the arrays of a mesh, by way of the slopewash command; nothing here needs Blender."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np


class Failed(Exception):
    """The command could not be run, or refused its input; the message is what it said."""


@dataclass(frozen=True)
class Grid:
    """Points (n, 3) row by row from the north-west, quads (m, 4), and a value per point for each layer."""

    points: np.ndarray
    quads: np.ndarray
    layers: Mapping[str, np.ndarray]


def eroded(command: str, source: Path, *, preset: str = "landscape", options: Sequence[str] = ()) -> Grid:
    """Erode a height map with a preset; `options` are further ones of `slopewash erode`."""
    with tempfile.TemporaryDirectory(prefix="slopewash-") as folder:
        result = Path(folder) / "eroded.npz"
        _run([command, "erode", str(source), "-o", str(result), "--preset", preset, *options])
        return read_grid(result)


def _run(words: Sequence[str]) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Failed(
            f"cannot run {words[0]}: {error.strerror}; set its path in the preferences of the add-on"
        ) from error
    if done.returncode != 0:
        raise Failed(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"{words[0]} failed")


def read_grid(path: Path) -> Grid:
    """Make the arrays of a mesh from an .npz file of slopewash; nothing spans cells without data."""
    with np.load(path) as file:
        elevation = file["elevation"]
        cell_size = float(file["cell_size"])
        layers = {
            name: file[name].astype(np.float32).ravel()
            for name in file.files
            if name != "elevation" and file[name].shape == elevation.shape and file[name].dtype.kind == "f"
        }
        there = ~file["nodata"] if "nodata" in file.files else np.isfinite(elevation)
    rows, columns = elevation.shape
    north, east = np.meshgrid((rows - 1) / 2 - np.arange(rows), np.arange(columns) - (columns - 1) / 2, indexing="ij")
    points = np.stack([east * cell_size, north * cell_size, np.where(there, elevation, 0)], axis=-1)
    corner = np.arange(rows * columns).reshape(rows, columns)
    whole = there[1:, 1:] & there[1:, :-1] & there[:-1, 1:] & there[:-1, :-1]
    # Counter-clockwise as seen from above.
    quads = np.stack([corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]], axis=-1)[whole]
    return Grid(points.reshape(-1, 3).astype(np.float32), quads.astype(np.int32), layers)
