"""Binary glTF 2.0: y up, colours as COLOR_0, attributes named with a leading underscore, as the standard requires."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.drafts import staged
from slopewash.errors import InvalidFile
from slopewash.io.decoding import Damaged, decoding
from slopewash.io.limits import Allowance, mesh_allowance
from slopewash.io.mesh_parts import Parts, colours, welded
from slopewash.plain import plain

MAGIC, VERSION, JSON, BINARY = 0x46546C67, 2, 0x4E4F534A, 0x004E4942
FLOAT, BYTE, UNSIGNED = 5126, 5121, 5125
VERTICES, INDICES = 34962, 34963
COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
TRIANGLES = 4


def write(parts: Parts, path: Path) -> None:
    """Write float32 positions and normals; the ground plane is x and z, heights are along y."""
    points = np.stack([parts.points[:, 0], parts.points[:, 2], -parts.points[:, 1]], axis=1).astype("<f4")
    shades = np.full((len(points), 4), 255, "u1")
    shades[:, :3] = _linear(colours(parts))
    blocks: list[tuple[str, NDArray[Any], str, int]] = [
        ("POSITION", points, "VEC3", FLOAT),
        ("NORMAL", _normals(points, parts.faces), "VEC3", FLOAT),
        ("COLOR_0", shades, "VEC4", BYTE),
    ]
    blocks += [(f"_{name.upper()}", v.astype("<f4"), "SCALAR", FLOAT) for name, v in parts.attributes.items()]
    blocks.append(("indices", parts.faces.astype("<u4").ravel(), "SCALAR", UNSIGNED))
    body, views, accessors = b"", [], []
    for name, values, kind, component in blocks:
        target = INDICES if name == "indices" else VERTICES
        views.append({"buffer": 0, "byteOffset": len(body), "byteLength": values.nbytes, "target": target})
        accessors.append(
            {"bufferView": len(views) - 1, "componentType": component, "count": len(values), "type": kind}
            | ({"normalized": True} if component == BYTE else {})
            | ({"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()} if name == "POSITION" else {})
        )
        body += values.tobytes()
    primitive = {
        "attributes": {name: k for k, (name, *_) in enumerate(blocks[:-1])}, "indices": len(blocks) - 1, "material": 0,
    }  # fmt: skip
    document = {
        "asset": {
            "version": "2.0",
            "generator": "slopewash",
            **({"extras": plain(parts.notes)} if parts.notes else {}),
        },
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "terrain"}],
        "meshes": [{"primitives": [primitive]}],
        "materials": [{"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0}, "doubleSided": True}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(body)}],
    }
    head = json.dumps(document, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 4)
    body += b"\0" * (-len(body) % 4)
    with staged(path) as temporary, temporary.open("wb") as file:
        file.write(struct.pack("<III", MAGIC, VERSION, 12 + 8 + len(head) + 8 + len(body)))
        file.write(struct.pack("<II", len(head), JSON) + head)
        file.write(struct.pack("<II", len(body), BINARY) + body)


def _linear(colour: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Vertex colours of glTF are linear light, not sRGB."""
    share = colour / 255
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.rint(255 * light).astype(np.uint8)


def _normals(points: NDArray[np.float32], faces: NDArray[np.integer]) -> NDArray[np.float32]:
    corners = points[faces].astype(np.float64)
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = [np.bincount(faces.ravel(), np.repeat(flat[:, k], 3), minlength=len(points)) for k in range(3)]
    normals = np.stack(sums, axis=1)
    return (normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)).astype("<f4")


def read(path: Path) -> Parts:
    """Read all triangles of a file whose nodes have no transforms."""
    with decoding(path, "GLB"):
        document, body = _chunks(path)
        allowance = mesh_allowance(path)
        for node in document.get("nodes", []):
            # A node without a mesh transforms the meshes of its children.
            if {"mesh", "children"} & node.keys() and {"matrix", "translation", "rotation", "scale"} & node.keys():
                raise InvalidFile(f"{path} has meshes with transforms; apply the transforms before exporting")
        points: list[NDArray[Any]] = []
        faces: list[NDArray[Any]] = []
        extra: list[dict[str, NDArray[Any]]] = []
        for mesh in document["meshes"]:
            for primitive in mesh["primitives"]:
                if primitive.get("mode", TRIANGLES) != TRIANGLES:
                    continue
                names = primitive["attributes"]
                place = _accessor(document, body, names["POSITION"], allowance).astype(np.float64)
                index = np.arange(len(place))
                if "indices" in primitive:
                    index = _accessor(document, body, primitive["indices"], allowance).astype(np.int64).ravel()
                for wrong in index[(index < 0) | (index >= len(place))][:1]:
                    raise Damaged(f"a triangle refers to vertex {wrong}; there are {len(place)}, numbered from 0")
                faces.append(index.reshape(-1, 3) + sum(map(len, points)))
                points.append(np.stack([place[:, 0], -place[:, 2], place[:, 1]], axis=1) + 0.0)
                own = {n[1:].lower(): _accessor(document, body, k, allowance) for n, k in names.items() if n[:1] == "_"}
                extra.append({n: values for n, values in own.items() if values.shape == (len(place),)})
    if not points:
        raise InvalidFile(f"{path} contains no triangles")
    shared = set.intersection(*(set(e) for e in extra))
    attributes = {
        name: np.concatenate([e[name] for e in extra]).astype(np.float32) for name in extra[0] if name in shared
    }
    return welded(Parts(np.concatenate(points), np.concatenate(faces).astype(np.int32), attributes))


def _chunks(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    magic, version, _ = struct.unpack_from("<III", data)
    if magic != MAGIC or version != VERSION:
        raise InvalidFile(f"{path} is not a readable GLB file: it is not binary glTF 2.0")
    length, kind = struct.unpack_from("<II", data, 12)
    if kind != JSON:
        raise Damaged("its first chunk is not JSON")
    document = json.loads(data[20 : 20 + length])
    return document, data[20 + length + 8 :]


def _accessor(document: dict[str, Any], body: bytes, number: int, allowance: Allowance) -> NDArray[Any]:
    accessor = document["accessors"][number]
    if "sparse" in accessor or "bufferView" not in accessor:
        raise Damaged("sparse accessors are not supported")
    view = document["bufferViews"][accessor["bufferView"]]
    kind, width = np.dtype(COMPONENTS[accessor["componentType"]]), WIDTHS[accessor["type"]]
    offset = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    stride, count = view.get("byteStride", kind.itemsize * width), int(accessor["count"])
    if stride < kind.itemsize * width:
        raise Damaged(f"byteStride is {stride}, less than the {kind.itemsize * width} bytes of a value")
    if min(count, offset) < 0 or offset + stride * (count - 1) + kind.itemsize * width > len(body):
        raise Damaged("an accessor reaches beyond the end of the file")
    allowance.take(count * width * kind.itemsize)
    values = np.ndarray((count, width), kind, body, offset, (stride, kind.itemsize)).copy()
    return values if width > 1 else values[:, 0]
