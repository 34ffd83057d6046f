"""STL: bare triangles, for printing. Binary is written; binary and text are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from slopewash.drafts import staged
from slopewash.errors import InvalidFile
from slopewash.io.decoding import decoding
from slopewash.io.mesh_parts import Parts, welded

HEADER = 80
FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def write(parts: Parts, path: Path) -> None:
    """Write float32 coordinates."""
    facets = np.zeros(len(parts.faces), FACET)
    corners = parts.points[parts.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facets["normal"] = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    facets["corners"] = corners
    with staged(path) as temporary, temporary.open("wb") as file:
        file.write(b"slopewash: metres, x east, y north, z up".ljust(HEADER, b"\0"))
        file.write(np.uint32(len(facets)).tobytes())
        file.write(facets.tobytes())


def read(path: Path) -> Parts:
    """Read triangles and merge their corners."""
    with decoding(path, "STL"):
        data = path.read_bytes()
        count = int.from_bytes(data[HEADER : HEADER + 4], "little")
        if len(data) == HEADER + 4 + count * FACET.itemsize:
            corners = np.frombuffer(data, FACET, count, HEADER + 4)["corners"].astype(np.float64)
        elif data.lstrip()[:5].lower() == b"solid":
            words = data.decode("ascii").lower().split()
            at = [i for i, word in enumerate(words) if word == "vertex"]
            corners = np.array([[float(v) for v in words[i + 1 : i + 4]] for i in at], np.float64).reshape(-1, 3, 3)
        else:
            raise InvalidFile(f"{path} is not a readable STL file: its length does not match its {count} triangles")
    faces = np.arange(3 * len(corners), dtype=np.int32).reshape(-1, 3)
    return welded(Parts(corners.reshape(-1, 3), faces))
