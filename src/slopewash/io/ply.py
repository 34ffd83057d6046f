"""PLY: points with any properties. Binary is written, with eroded and deposited; binary and text are read."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from slopewash.drafts import staged
from slopewash.errors import InvalidFile
from slopewash.io.decoding import Damaged, decoding
from slopewash.io.mesh_parts import Parts, colours, identifiers

TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip
ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": ""}
KNOWN = frozenset({"x", "y", "z", "nx", "ny", "nz", "s", "t", "red", "green", "blue", "alpha"})
"""Properties that are not terrain attributes."""
LONGEST_HEADER = 1000
"""Lines."""

Element = tuple[str, int, list[tuple[str, ...]]]


def write(parts: Parts, path: Path) -> None:
    """Write points as float64, attributes as float32, and colours."""
    names = identifiers(parts.attributes, taken=KNOWN)
    kinds: list[Any] = [(axis, "<f8") for axis in "xyz"] + [(name, "<f4") for name in names.values()]
    kinds += [(shade, "u1") for shade in ("red", "green", "blue")]
    points = np.zeros(len(parts.points), kinds)
    for k, axis in enumerate("xyz"):
        points[axis] = parts.points[:, k]
    for layer, name in names.items():
        points[name] = parts.attributes[layer]
    for k, shade in enumerate(("red", "green", "blue")):
        points[shade] = colours(parts)[:, k]
    faces = np.zeros(len(parts.faces), [("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, parts.faces
    header = [
        "ply", "format binary_little_endian 1.0", "comment slopewash: metres, x east, y north, z up",
        f"element vertex {len(points)}", *(f"property double {axis}" for axis in "xyz"),
        *(f"property float {name}" for name in names.values()),
        *(f"property uchar {s}" for s in ("red", "green", "blue")),
        f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header",
    ]  # fmt: skip
    with staged(path) as temporary, temporary.open("wb") as file:
        file.write("\n".join([*header, ""]).encode("ascii"))
        file.write(points.tobytes())
        file.write(faces.tobytes())


def read(path: Path) -> Parts:
    """Read points, their other properties and faces."""
    with decoding(path, "PLY"), path.open("rb") as file:
        order, elements = _header(file, path)
        body = file.read()
        reader = _text(body, elements) if order == "" else _binary(body, elements, order)
    columns, faces = reader.get("vertex", {}), reader.get("face", {})
    if not (columns.keys() >= {"x", "y", "z"} and "corners" in faces):
        raise InvalidFile(f"{path} is not a readable PLY file: it has no vertices with x, y and z, or no faces")
    points = np.stack([columns[axis].astype(np.float64) for axis in "xyz"], axis=1)
    extra = {name: values.astype(np.float32) for name, values in columns.items() if name not in KNOWN}
    return Parts(points, faces["corners"], extra)


def _header(file: IO[bytes], path: Path) -> tuple[str, list[Element]]:
    if file.readline(8).strip() != b"ply":
        raise InvalidFile(f'{path} is not a readable PLY file: it does not begin with "ply"')
    order, elements = "", list[Element]()
    for _ in range(LONGEST_HEADER):
        word, *rest = file.readline(4096).decode("ascii").split() or [""]
        if word == "format":
            order = ORDERS[rest[0]]
        elif word == "element":
            elements.append((rest[0], int(rest[1]), []))
        elif word == "property":
            elements[-1][2].append(tuple(rest))
        elif word == "end_header":
            return order, elements
    raise InvalidFile(f"{path} is not a readable PLY file: its header has no end")


def _triangulate(polygons: list[list[int]]) -> dict[str, NDArray[Any]]:
    faces = [(p[0], b, c) for p in polygons for b, c in itertools.pairwise(p[1:])]
    return {"corners": np.array(faces, np.int64).reshape(-1, 3)}


def _text(body: bytes, elements: list[Element]) -> dict[str, dict[str, NDArray[Any]]]:
    lines = iter(body.decode("ascii").splitlines())
    found: dict[str, dict[str, NDArray[Any]]] = {}
    for name, count, properties in elements:
        rows = [line.split() for line in itertools.islice(lines, count)]
        if len(rows) < count:
            raise Damaged(f"it is truncated: it has {len(rows)} of {count} {name} lines")
        if name == "face":
            found[name] = _triangulate([[int(v) for v in row[1 : 1 + int(row[0])]] for row in rows])
        elif all(p[0] != "list" for p in properties):
            table = np.array(rows, np.float64).reshape(count, len(properties))
            found[name] = {p[1]: table[:, k] for k, p in enumerate(properties)}
    return found


def _binary(body: bytes, elements: list[Element], order: str) -> dict[str, dict[str, NDArray[Any]]]:
    found: dict[str, dict[str, NDArray[Any]]] = {}
    at = 0
    for name, count, properties in elements:
        if all(p[0] != "list" for p in properties):
            kind = np.dtype([(p[1], order + TYPES[p[0]]) for p in properties])
            rows = np.frombuffer(body, kind, count, at)
            found[name] = {p[1]: rows[p[1]] for p in properties}
            at += rows.nbytes
            continue
        if len(properties) != 1:
            raise Damaged(f"element {name} has a list among other properties")
        number, item = (np.dtype(order + TYPES[word]) for word in properties[0][1:3])
        triangle = np.dtype([("count", number), ("corners", item, 3)])
        whole = len(body) - at >= count * triangle.itemsize
        rows = np.frombuffer(body, triangle, count, at) if whole else np.zeros(0, triangle)
        if whole and (rows["count"] == 3).all():
            found[name] = {"corners": rows["corners"]}
            at += rows.nbytes
            continue
        polygons = []
        for _ in range(count):
            length = int(np.frombuffer(body, number, 1, at)[0])
            polygons.append(np.frombuffer(body, item, length, at + number.itemsize).tolist())
            at += number.itemsize + length * item.itemsize
        found[name] = _triangulate(polygons)
    return found
