"""Layers that a recipe adds to its terrain: rain, hardness and the like, painted or measured elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from slopewash.errors import InvalidParameter, InvalidTerrain, unknown_name
from slopewash.io import read
from slopewash.io.options import HeightRange, check_height_range
from slopewash.models import find_model, model_names
from slopewash.recipes.masking import MASK
from slopewash.terrain import Layer, Terrain
from slopewash.terrain.fields import LAYERS

SHARE = (0.0, 1.0)
"""What black and white of a picture stand for where nothing else is asked for or recorded."""


class Shaped(Protocol):
    """A terrain, or one that no memory holds."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""


@dataclass(frozen=True, kw_only=True)
class LayerFile:
    """A layer read from a file of one channel, resampled to the terrain where it has other cells.

    >>> import slopewash as sw
    >>> sw.LayerFile(path="rain.png").path.name
    'rain.png'
    """

    path: Path
    range: HeightRange | None = None
    """Values of black and white of a file of integers; those recorded in it, or 0 and 1, if not given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        if self.range is not None:
            check_height_range(self.range)

    def values(self, name: str, terrain: Shaped, *, integers: HeightRange | None = None) -> Layer:
        """Read it for the cells of a terrain; `integers` gives black and white where no range was asked for."""
        given = self._read(integers)
        if given.nodata is not None:
            raise InvalidTerrain(f"{self.path} has no data in {int(given.nodata.sum())} cells; fill them first")
        if given.shape != terrain.shape:
            given = given.resampled(max(terrain.shape))
        if given.shape != terrain.shape:
            rows, columns = terrain.shape
            raise InvalidTerrain(
                f"{self.path} is not of the same ground: {name} needs the proportions of {columns} x {rows} cells; "
                "crop it first"
            )
        return given["elevation"]

    def _read(self, integers: HeightRange | None) -> Terrain:
        if integers is not None and self.range is None:
            with contextlib.suppress(InvalidParameter):  # floats
                return read(self.path, height_range=integers, allow_8bit=True)
        if self.range is not None:
            return read(self.path, height_range=self.range, allow_8bit=True)
        try:
            return read(self.path, allow_8bit=True)
        except InvalidParameter:  # integers without a recorded range
            return read(self.path, height_range=SHARE, allow_8bit=True)


LayerSource = float | LayerFile


def input_layers() -> list[str]:
    """Names of the layers that some model starts from, besides the elevation.

    >>> "rainfall" in input_layers(), "wear" in input_layers()
    (True, False)
    """
    models = [find_model(name) for name in model_names()]
    return [
        name
        for name in LAYERS
        if name == MASK
        or (
            name != "elevation"
            and any(name in m.layers() and m.layers()[name].role in ("prognostic", "input") for m in models)
        )
    ]


def as_layer_sources(given: Mapping[str, Any]) -> dict[str, LayerSource]:
    """Check names; a path becomes a file to read.

    >>> as_layer_sources({"rainfall": 2, "erodibility": "rock.png"})["rainfall"]
    2.0
    """
    sources: dict[str, LayerSource] = {}
    for name, source in given.items():
        if name not in input_layers():
            raise unknown_name("layer", name, input_layers())
        if isinstance(source, str | Path):
            source = LayerFile(path=Path(source))
        elif isinstance(source, int | float) and not isinstance(source, bool):
            source = float(source)
        elif not isinstance(source, LayerFile):
            raise InvalidParameter(f"layer {name} is {source!r}; pass a file, a number or LayerFile(...)")
        sources[name] = source
    return sources


def with_layers(terrain: Terrain, layers: Mapping[str, LayerSource]) -> Terrain:
    """Return the terrain with the layers on it.

    >>> with_layers(Terrain([[0.0, 1.0]]), {"rainfall": 0.5})["rainfall"].tolist()
    [[0.5, 0.5]]
    """
    if not layers:
        return terrain
    made = {name: s.values(name, terrain) if isinstance(s, LayerFile) else s for name, s in layers.items()}
    return terrain.replace(**made)


def layer_facts(layers: Mapping[str, LayerSource]) -> dict[str, Any]:
    """Facts that JSON and TOML can hold."""
    return {
        name: s if isinstance(s, float) else {"file": str(s.path)} | ({} if s.range is None else {"range": [*s.range]})
        for name, s in layers.items()
    }


def layers_from(facts: Mapping[str, Any]) -> dict[str, LayerSource]:
    """Layers that `layer_facts` described."""
    return {
        name: LayerFile(path=Path(s["file"]), range=tuple(s["range"]) if "range" in s else None)
        if isinstance(s, Mapping) else s
        for name, s in facts.items()
    }  # fmt: skip
