"""Wavefront OBJ: text, z up, with colours after the coordinates, as most programs read them."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from slopewash.drafts import staged
from slopewash.io.decoding import Damaged, decoding
from slopewash.io.mesh_parts import Parts, colours


def write(parts: Parts, path: Path) -> None:
    """Write points with the full precision of float64."""
    shades = colours(parts) / 255
    with staged(path) as temporary, temporary.open("w", encoding="ascii", newline="\n") as file:
        file.write("# slopewash: metres, x east, y north, z up\n")
        for (x, y, z), (r, g, b) in zip(parts.points.tolist(), shades.tolist(), strict=True):
            file.write(f"v {x!r} {y!r} {z!r} {r:.4f} {g:.4f} {b:.4f}\n")
        for a, b, c in (parts.faces + 1).tolist():
            file.write(f"f {a} {b} {c}\n")


def read(path: Path) -> Parts:
    """Read vertices and faces; faces with more corners are split into triangles."""
    points: list[tuple[float, ...]] = []
    faces: list[tuple[int, int, int]] = []
    with decoding(path, "OBJ"), path.open(encoding="utf-8", errors="strict") as file:
        for line in file:
            word, *rest = line.split() or [""]
            if word == "v":
                points.append(_point(line, rest))
            elif word == "f":
                corners = [int(corner.split("/")[0]) for corner in rest]
                corners = [c - 1 if c > 0 else len(points) + c for c in corners]
                faces += [(corners[0], b, c) for b, c in itertools.pairwise(corners[1:])]
        return Parts(np.array(points, np.float64).reshape(-1, 3), np.array(faces, np.int64).reshape(-1, 3))


def _point(line: str, words: list[str]) -> tuple[float, ...]:
    try:
        x, y, z = (float(word) for word in words[:3])
    except ValueError:
        raise Damaged(f"{line.strip()[:60]!r} are not three coordinates") from None
    return x, y, z
