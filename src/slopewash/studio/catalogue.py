"""The welcome message: what models, presets and generators declare, from which the page builds its panels."""

from __future__ import annotations

import dataclasses
import functools
import math
import secrets
from typing import Any, Literal, cast

import slopewash as sw
from slopewash.plain import plain
from slopewash.studio import protocol
from slopewash.studio.colours import maps
from slopewash.studio.messages import LARGEST_FINISH, LARGEST_MESSAGE, MOST_POINTS, MOST_SOURCES, SIZES

PROTOCOL = 1
_SERVER = secrets.token_hex(8)
"""Shows a page that reconnects whether the server was restarted."""
UPLOAD_BYTES = 256 * 2**20

FORMATS = {
    ".exr": "OpenEXR with every layer in metres, as 32-bit floats",
    ".npy": "NumPy array of elevation in metres",
    ".npz": "NumPy archive of every layer, cell size and water sources",
    ".png": "16-bit greyscale PNG with its height range",
    ".r16": "16-bit raw heights for Unreal",
    ".raw": "16-bit raw heights for Unity",
    ".tif": "TIFF of elevation in metres, as 32-bit floats",
    ".tiff": "TIFF of elevation in metres, as 32-bit floats",
}

MESHES = {
    ".glb": "glTF mesh for Blender, Unity and the web, with layers as attributes",
    ".obj": "Wavefront mesh",
    ".ply": "mesh with layers as attributes",
    ".stl": "mesh for 3D printing",
}


def welcome(*, resumed: bool) -> protocol.Welcome:
    """Everything there is to choose from, and whether the run is one that was kept."""
    return {
        "type": "welcome",
        "protocol": PROTOCOL,
        "version": sw.__version__,
        "server": _SERVER,
        "resumed": resumed,
        "models": [_model(name) for name in sw.model_names()],
        "presets": [_preset(name) for name in sw.presets()],
        "looks": [_look(look) for look in sw.looks().values()],
        "generators": [_generator(name) for name in sw.generator_names()],
        "tools": [
            {"name": b.name, "doc": b.doc, "layer": b.layer, "unit": b.unit, "strength": b.strength,
             "signed": b.signed, "most": None if math.isinf(b.most) else b.most}
            for b in sw.brushes()
        ],
        "maps": maps(),
        "palettes": {name: _palette(name) for name, palette in sw.palettes().items() if not palette.plain},
        "formats": [{"suffix": suffix, "doc": doc} for suffix, doc in (FORMATS | MESHES).items()],
        "backends": [{"name": n, "works": works, "doc": doc} for n, works, doc in sw.describe_backends()],
        "limits": {
            "size": SIZES, "finish_size": LARGEST_FINISH, "upload_bytes": UPLOAD_BYTES,
            "message_bytes": LARGEST_MESSAGE, "points": MOST_POINTS, "sources": MOST_SOURCES,
        },
    }  # fmt: skip


def _palette(name: str) -> protocol.Palette:
    palette = sw.palettes()[name]
    facts = {field.name: getattr(palette, field.name) for field in dataclasses.fields(palette)}
    colours = {key: value for key, value in facts.items() if isinstance(value, str) and key != "doc"}
    known = {key: facts[key] for key in protocol.Palette.__annotations__ if key != "colours"}
    return cast("protocol.Palette", {**known, "colours": colours})


def _model(name: str) -> protocol.ModelDeclaration:
    model = sw.find_model(name)
    return {
        "name": model.name,
        "summary": model.summary,
        "paper": model.paper,
        "backends": list(model.backends),
        "edges": list(model.edges()),
        "layers": {
            layer.name: {"unit": layer.units, "doc": layer.doc, "map": layer.colour_map, "scale": layer.scale}
            for layer in model.layers().values()
        },
        "editable": list(model.editable()),
        "sources": model.has_sources(),
        "emitters": model.particles,
        "parameters": [_parameter(p) for p in model.parameters()],
        "sliders": [
            {"name": s.name, "low": s.low, "high": s.high, "doc": s.doc, "moves": dict(s.moves)}
            for s in model.sliders()
        ],
        "presets": [p.name for p in sw.presets().values() if isinstance(p.model, model)],
    }


def _parameter(p: Any) -> protocol.ParameterDeclaration:
    flag = isinstance(p.default, bool)
    kind: Literal["number", "choice", "flag"] = "choice" if p.choices else "flag" if flag else "number"
    return {
        "name": p.name, "symbol": p.symbol, "units": p.units, "doc": p.doc, "eq": p.eq,
        "group": p.group,
        "default": plain(p.default), "typical": plain(p.typical), "log": p.log, "choices": list(p.choices),
        "kind": kind, "whole": isinstance(p.default, int) and not flag,
        "must_be": p.rule.must_be if p.rule is not None else "",
    }  # fmt: skip


def _preset(name: str) -> protocol.PresetDeclaration:
    preset = sw.presets()[name]
    return {
        "name": preset.name, "doc": preset.doc, "model": preset.model.name, "edges": preset.edges,
        "steps": preset.steps, "settle": preset.settle,
        "generator": _generator_of(preset),
        "changed": plain(preset.model.changed()), "strata": preset.strata is not None,
        "levels": bool(preset.levels),
    }  # fmt: skip


def _look(look: sw.Look) -> protocol.LookDeclaration:
    """A named landscape, and in which country it lies: that of its pictures."""
    named = [look.picture.get("season"), look.picture.get("palette")]
    country = next((name for name in named if name in sw.palettes()), "alpine")
    return {"name": look.name, "doc": look.doc, "kind": look.start.kind, "preset": look.preset, "country": country}


def _generator_of(preset: Any) -> protocol.PresetGenerator:
    """The start of a preset: what all kinds of terrain take, and the options of its own kind."""
    source = sw.preset_source(preset.name)
    common = {k: v for k, v in preset.start.items() if k in ("size", "seed", "relief")}
    options = {"options": dict(source.options)} if source.options else {}
    generator = {"kind": source.kind, "extent": source.side, **common, **options}
    return cast("protocol.PresetGenerator", generator)


@functools.cache
def _generator(name: str) -> protocol.GeneratorDeclaration:
    doc, options = sw.describe_generator(name)
    return {"name": name, "doc": doc, "options": plain(options)}
