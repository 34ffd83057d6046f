"""Binary glTF 2.0 of the ground with its texture, and of the water on it."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.exports.files import COMPRESSION, write_bytes
from slopewash.exports.surface_mesh import Surface
from slopewash.io.glb import BINARY, FLOAT, INDICES, JSON, MAGIC, UNSIGNED, VERSION, VERTICES

GROUND = {
    "name": "ground",
    "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0.0, "roughnessFactor": 1.0},
}
WATER = {
    "name": "water",
    "alphaMode": "BLEND",
    "pbrMetallicRoughness": {
        "baseColorFactor": [0.02, 0.08, 0.12, 0.75], "metallicFactor": 0.0, "roughnessFactor": 0.08,
    },
}  # fmt: skip


class _Buffer:
    """Bytes of a file, and the views and accessors into them."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length = 0
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def view(self, data: bytes, target: int | None = None) -> int:
        whole = data + b"\0" * (-len(data) % 4)
        facts = {"buffer": 0, "byteOffset": self.length, "byteLength": len(data)}
        self.views.append(facts if target is None else {**facts, "target": target})
        self.parts.append(whole)
        self.length += len(whole)
        return len(self.views) - 1

    def accessor(self, values: NDArray[Any], kind: str, *, limits: bool = False) -> int:
        whole = values.dtype.kind == "u"
        entry: dict[str, Any] = {
            "bufferView": self.view(
                np.ascontiguousarray(values, "<u4" if whole else "<f4").tobytes(), INDICES if whole else VERTICES
            ),
            "componentType": UNSIGNED if whole else FLOAT,
            "count": len(values),
            "type": kind,
        }
        if limits:
            entry |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def primitive(self, surface: Surface, material: int) -> dict[str, Any]:
        attributes = {
            "POSITION": self.accessor(surface.points, "VEC3", limits=True),
            "NORMAL": self.accessor(surface.normals, "VEC3"),
            "TEXCOORD_0": self.accessor(surface.texture, "VEC2"),
        }
        for name, values in surface.attributes.items():
            attributes[f"_{name.upper()}"] = self.accessor(values, "SCALAR")  # the standard asks for the underscore
        indices = self.accessor(surface.triangles.ravel(), "SCALAR")
        return {"attributes": attributes, "indices": indices, "material": material}


def write_glb(ground: Surface, water: Surface | None, texture: NDArray[np.uint8], path: Path) -> Path:
    """Write the two meshes as nodes called terrain and water."""
    from PIL import Image

    picture = io.BytesIO()
    Image.fromarray(texture).save(picture, format="PNG", compress_level=COMPRESSION)
    buffer = _Buffer()
    meshes = [{"name": "terrain", "primitives": [buffer.primitive(ground, 0)]}]
    if water is not None:
        meshes.append({"name": "water", "primitives": [buffer.primitive(water, 1)]})
    image = buffer.view(picture.getvalue())
    document = {
        "asset": {"version": "2.0", "generator": "slopewash"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(meshes)))}],
        "nodes": [{"mesh": k, "name": mesh["name"]} for k, mesh in enumerate(meshes)],
        "meshes": meshes,
        "materials": [GROUND, WATER][: len(meshes)],
        "textures": [{"source": 0, "sampler": 0}],
        "samplers": [{"wrapS": 33071, "wrapT": 33071}],  # clamp to the edge
        "images": [{"bufferView": image, "mimeType": "image/png", "name": "colour"}],
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{"byteLength": buffer.length}],
    }
    head = json.dumps(document, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 4)
    chunks = [
        struct.pack("<III", MAGIC, VERSION, 12 + 8 + len(head) + 8 + buffer.length),
        struct.pack("<II", len(head), JSON), head,
        struct.pack("<II", buffer.length, BINARY), *buffer.parts,
    ]  # fmt: skip
    return write_bytes(b"".join(chunks), path)
