"""Layers as 16-bit grey pictures for texturing, each on a scale that shows it, and a file that says which."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.drafts import staged
from slopewash.errors import InvalidFile
from slopewash.io.heights import bands
from slopewash.io.notes import MADE_BY, Notes, notes_text
from slopewash.io.png import RANGE, write_samples
from slopewash.paths import confined_to, file_in, make_folder
from slopewash.terrain import Terrain
from slopewash.terrain.fields import Scale, layer_spec

SIDE_FILE = "layers.json"
WHITE = 65535
DARKEST = 1.0
"""Percentile of the positive values that is black on a logarithmic scale: what is less is nothing to look at."""

FORMULAS: dict[Scale, str] = {
    "linear": "value = low + (high - low) * sample / 65535",
    "log": "value = low * (high / low) ** (sample / 65535); sample 0 is low or less",
    "diverging": "value = low + (high - low) * sample / 65535; low is -high, so that 0 is middle grey",
}


@dataclass(frozen=True)
class Mapping16:
    """How the values of a layer become 16-bit samples."""

    scale: Scale
    low: float
    high: float

    @classmethod
    def of(cls, terrain: Terrain, layer: str) -> Mapping16:
        """Scale that shows a layer well: the one it declares, over the range of its values.

        >>> Mapping16.of(Terrain([[0.0, 1.0]], difference=[[-3.0, 1.0]]), "difference")
        Mapping16(scale='diverging', low=-3.0, high=3.0)
        """
        scale = layer_spec(layer).scale
        low, high = terrain.range(layer)
        if scale == "diverging":
            most = max(abs(low), abs(high)) or 1.0
            return cls(scale, -most, most)
        if scale == "log":
            values = terrain[layer] if terrain.nodata is None else terrain[layer][~terrain.nodata]
            positive = values[values > 0]
            if positive.size:
                dark = float(np.percentile(positive, DARKEST))
                return cls(scale, dark if dark < high else high / 2, high)
        return cls("linear", low, high if high > low else low + 1.0)

    def samples(self, values: NDArray[np.float32]) -> NDArray[np.uint16]:
        """Convert values to samples, rounded to the nearest.

        >>> Mapping16("log", 1.0, 100.0).samples(np.array([[0, 1, 10, 100]], np.float32)).tolist()
        [[0, 0, 32768, 65535]]
        """
        made = np.empty(values.shape, np.uint16)
        for rows in bands(values.shape):
            v = values[rows].astype(np.float64)
            if self.scale == "log":
                share = np.log(np.maximum(v, self.low) / self.low) / np.log(self.high / self.low)
            else:
                share = (v - self.low) / (self.high - self.low)
            made[rows] = np.rint(WHITE * share).clip(0, WHITE)
        return made

    def values(self, samples: NDArray[np.uint16]) -> NDArray[np.float64]:
        """Convert samples back, to half a step."""
        share = samples / WHITE
        if self.scale == "log":
            return np.asarray(self.low * (self.high / self.low) ** share)
        return self.low + (self.high - self.low) * share


def write_masks(
    terrain: Terrain, folder: str | os.PathLike[str], layers: Sequence[str], notes: Notes | None = None
) -> list[Path]:
    """Write layers as 16-bit masks: `NAME.png` for each, and `layers.json` with scale and range; nodata is black.

    Each is on the scale that it declares: flow and drainage logarithmic, differences around middle grey. The folder
    is created if it is missing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_masks(Terrain([[0.0, 1.0]], water=0.5), f"{folder}/masks", ["water"])]
    ['water.png', 'layers.json']
    """
    for layer in layers:
        terrain[layer]  # an unknown one raises before anything is written
    place = Path(folder)
    try:
        make_folder(place)
    except OSError as error:
        raise InvalidFile(f"folder {place} cannot be created: {error.strerror}") from error
    with confined_to(place):
        return _written(terrain, place, layers, notes)


def mask_names(layers: Sequence[str]) -> tuple[str, ...]:
    """Names of the files that `write_masks` writes.

    >>> mask_names(["wear"])
    ('wear.png', 'layers.json')
    """
    return (*(f"{layer}.png" for layer in layers), SIDE_FILE)


def _written(terrain: Terrain, place: Path, layers: Sequence[str], notes: Notes | None) -> list[Path]:
    files: list[Path] = []
    facts: dict[str, Any] = {}
    for layer in layers:
        mapping, file = Mapping16.of(terrain, layer), file_in(place, f"{layer}.png", "layer")
        samples = mapping.samples(terrain[layer])
        if terrain.nodata is not None:
            samples[terrain.nodata] = 0
        # A logarithmic mask holds no range that `read` would take for a linear one.
        texts = {} if mapping.scale == "log" else {RANGE: f"{mapping.low!r},{mapping.high!r}"}
        write_samples(samples, file, terrain.cell_size, texts | ({MADE_BY: notes_text(notes)} if notes else {}))
        files.append(file)
        facts[layer] = {
            "file": file.name, "units": terrain.units(layer), "scale": mapping.scale, "low": mapping.low,
            "high": mapping.high, "formula": FORMULAS[mapping.scale],
        }  # fmt: skip
    rows, columns = terrain.shape
    side = place / SIDE_FILE
    with staged(side) as temporary:
        whole = {"width": columns, "height": rows, "cell_size": terrain.cell_size, "layers": facts}
        temporary.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return [*files, side]
